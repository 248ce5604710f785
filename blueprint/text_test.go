package blueprint_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestIsUnprintable(t *testing.T) {
	for r, want := range map[rune]bool{
		'a': false, ' ': false, '\u00a0': false, '\u200c': false, '\u200d': false, 0xe0020: false, 0xe007f: false, 0x0600: false, // an Arabic number sign precedes digits
		'\n': true, 0x7f: true, '\u200b': true, '\u202e': true, '\u2028': true, '\u2029': true, '\ufeff': true, 0xe0001: true, 0xe0080: false, // unassigned
	} {
		t.Run(fmt.Sprint(r), func(t *testing.T) {
			if got := blueprint.IsUnprintable(r); got != want {
				t.Errorf("%U: got %v, want %v", r, got, want)
			}
		})
	}
}

func TestCounted(t *testing.T) {
	for want, got := range map[string]string{
		"0 runs": blueprint.Counted(0, "run"), "1 run": blueprint.Counted(1, "run"), "2 runs": blueprint.Counted(2, "run"),
		"1 process": blueprint.Counted(1, "process"), "2 processes": blueprint.Counted(2, "process"),
	} {
		t.Run(want, func(t *testing.T) {
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestIsOneLine(t *testing.T) {
	for text, want := range map[string]bool{"": true, "a ä 👩\u200d🚀": true, "a\nb": false, "a\tb": false, "a\u0085": false, "a\u2028b": false, "a\u2029b": false, "\xff": false} {
		t.Run(text, func(t *testing.T) {
			if got := blueprint.IsOneLine(text); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// A text that is no UTF-8 has no character to end at.
func TestPrefixOfBrokenText(t *testing.T) {
	for text, want := range map[string]string{"\x80\x80\x80": "", "a\x80\x80": ""} {
		t.Run(text, func(t *testing.T) {
			if got := blueprint.Prefix(text, 2); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"azAZ09@%+=:,./_-": "azAZ09@%+=:,./_-", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'", "`": "'`'", "{": "'{'", "[": "'['", ";": "';'", "é": "'é'", "~": "'~'",
	} {
		t.Run(word, func(t *testing.T) {
			if got := blueprint.ShellWord(word); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{"az AZ 09": "az-az-09", "a/b:c": "a-b-c", "`a{z@": "a-z", " -- ": "", "Äa": "a", "": ""} {
		t.Run(text, func(t *testing.T) {
			if got := blueprint.Slug(text); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	for name, test := range map[string]struct {
		name  string
		known []string
		want  string
	}{
		"one slip in five letters":   {"tokem", []string{"token"}, "token"},
		"two slips in five letters":  {"tokmm", []string{"token"}, ""},
		"two slips in six letters":   {"secrtt", []string{"secret"}, "secret"},
		"two letters more":           {"secretss", []string{"secret"}, "secret"},
		"three letters more":         {"secretsss", []string{"secret"}, ""},
		"two letters less":           {"secr", []string{"secret"}, "secret"},
		"the nearer one":             {"abcdefg", []string{"abcdeXY", "abcdefX", "abcXefX"}, "abcdefX"},
		"the first of two":           {"abcdefg", []string{"abcdefX", "abcdefY"}, "abcdefX"},
		"letters beyond ASCII count": {"größen", []string{"großen"}, "großen"},
		"exchanged letters":          {"tokne", []string{"token"}, "token"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := blueprint.Nearest(test.name, test.known); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			hint := ""
			if test.want != "" {
				hint = `; did you mean "` + test.want + `"?`
			}
			if got := blueprint.DidYouMean(test.name, test.known); got != hint {
				t.Errorf("hint: got %q, want %q", got, hint)
			}
		})
	}
}

func TestIsMailDomain(t *testing.T) {
	label := strings.Repeat("a", 63)
	long := strings.Join([]string{label, label, label, strings.Repeat("a", 61)}, ".") // 253
	for text, want := range map[string]bool{
		"example.org": true, "a": true, "xn--bcher-kva.example": true, "1.2": true, label + ".org": true, long: true,
		"": false, ".": false, "a.": false, ".a": false, "a..b": false, "Example.org": false, "a_b.org": false, "a b": false, "-a.org": false, "a-.org": false, label + "a.org": false, long + "a": false, "ä.org": false,
	} {
		t.Run(text, func(t *testing.T) {
			if got := blueprint.IsMailDomain(text); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestWithArticle(t *testing.T) {
	for word, want := range map[string]string{"event": "an event", "node": "a node", "": "a "} {
		t.Run(word, func(t *testing.T) {
			if got := blueprint.WithArticle(word); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestInWordsOfEveryLength(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		0: "0 seconds", time.Second: "1 second", 59 * time.Second: "59 seconds", time.Minute: "1 minute", 61 * time.Second: "1 min 1 s", 59 * time.Minute: "59 minutes", time.Hour: "1 hour", time.Hour + time.Second: "1 h 0 min",
		time.Hour + time.Minute: "1 h 1 min", 2 * time.Hour: "2 hours", 23*time.Hour + 59*time.Minute: "23 h 59 min", day: "1 day", day + time.Minute: "1 day 0 h", day + time.Second: "1 day 0 h", 25 * time.Hour: "1 day 1 h", 48 * time.Hour: "2 days", 50 * time.Hour: "2 days 2 h", -time.Minute: "1 minute", 1400 * time.Millisecond: "1 second",
	} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			if got := blueprint.InWords(d); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestReasonDetails(t *testing.T) {
	for name, test := range map[string]struct {
		why  blueprint.Reason
		want string
	}{
		"channel":              {blueprint.NewReason(blueprint.ReasonChannel, "got", "C1", "wanted", "x"), `the event is from channel "C1"; the trigger listens to "x"`},
		"sender not listed":    {blueprint.NewReason(blueprint.ReasonAllowFrom, "address", "a@b"), "allowFrom: a@b is not on the list"},
		"no sender":            {blueprint.NewReason(blueprint.ReasonAllowFrom), "allowFrom: the mail has no sender"},
		"not authenticated":    {blueprint.NewReason(blueprint.ReasonRequireAuth, "results", "spf=fail"), "(spf=fail)"},
		"repeated header":      {blueprint.NewReason(blueprint.ReasonRequireAuth, "repeated", "from", "results", "spf=pass"), "the header from several times"},
		"odd number of params": {blueprint.NewReason(blueprint.ReasonEvent, "event", "custom.x", "rest"), "received event custom.x"},
		"inner without params": {blueprint.NewReason(blueprint.ReasonMany, "count", int64(2)).WithInner(blueprint.NewReason(blueprint.ReasonSigned)), "2 more deliveries started no run and have no rows of their own; the last: the signature is valid"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.why.String(); !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if inner := blueprint.NewReason(blueprint.ReasonMany).WithInner(blueprint.NewReason(blueprint.ReasonSigned)); inner.Params["params"] != nil {
		t.Errorf("params of an inner reason without any: got %v, want none", inner.Params["params"])
	}
	at := blueprint.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	why := blueprint.NewReason(blueprint.ReasonMissed, "first", at, "last", "yesterday", "count", 7)
	if got := why.At("first"); got != at {
		t.Errorf("the first is at %v, want %v", got, at)
	}
	if got := why.At("last"); got != 0 {
		t.Errorf("a text that is no time is at %v, want 0", got)
	}
	if got := why.Int("first") + why.Int("none"); got != 0 {
		t.Errorf("what is no number is %d, want 0", got)
	}
	var none *blueprint.Trip
	if got := none.String(); got != "" {
		t.Errorf("no trip is %q, want none", got)
	}
}

func TestNameConnections(t *testing.T) {
	const one, other = "3b241101-e2bb-4255-8caf-4136c566a962", "11111111-e2bb-4255-8caf-4136c566a962"
	names := func(id string) string { return map[string]string{one: `C"RM`}[id] }
	text := fmt.Sprintf("connection (%s) and connection (%s), not connection (x)", one, other)
	want := fmt.Sprintf(`connection "C\"RM" and connection (%s), not connection (x)`, other)
	if got := blueprint.NameConnections(text, names); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, test := range []struct {
		name string
		got  string
		want string
	}{
		{"visible", (&blueprint.Connection{ID: one, Name: "CRM", NameVisible: true}).Text(), `connection "CRM"`},
		{"hidden", (&blueprint.Connection{ID: one, Name: "CRM"}).Text(), "connection (" + one + ")"},
		{"open", (&blueprint.OpenConnection{ID: one, Name: "CRM"}).Text(), `connection "CRM"`},
		{"open, personal", (&blueprint.OpenConnection{ID: one, Name: "CRM", Personal: true}).Text(), "connection (" + one + ")"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("got %s, want %s", test.got, test.want)
			}
		})
	}
}

// A body survives its way through JSON, whatever it is.
func TestBodies(t *testing.T) {
	for name, test := range map[string]struct {
		contentType string
		body        string
		want        any
		back        string // "" = the body
	}{
		"empty":             {"application/json", "", nil, ""},
		"JSON":              {"application/json; charset=utf-8", `{"a": 1.50}`, map[string]any{"a": json.Number("1.50")}, `{"a":1.50}`},
		"JSON by suffix":    {"application/problem+json", `[]`, []any{}, ""},
		"old JSON":          {"text/json", `true`, true, ""},
		"other type":        {"text/plain", `{"a": 1}`, `{"a": 1}`, ""},
		"no type":           {"", `{}`, `{}`, ""},
		"bad type":          {"application/json;;", `{}`, `{}`, ""},
		"broken JSON":       {"application/json", `{"a":`, `{"a":`, ""},
		"binary":            {"text/plain", "a\xff", map[string]any{"$base64": "Yf8="}, ""},
		"similar to binary": {"application/json", `{"$base64":"Yf8=","x":1}`, map[string]any{"$base64": "Yf8=", "x": json.Number("1")}, ""},
		"broken as binary":  {"application/json", `{"$base64":"?"}`, map[string]any{"$base64": "?"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := blueprint.BodyValue(test.contentType, []byte(test.body))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			back := test.back
			if back == "" {
				back = test.body
			}
			if got := string(blueprint.BodyBytes(got)); got != back {
				t.Errorf("bytes: got %q, want %q", got, back)
			}
		})
	}
	if got := blueprint.BodyBytes(func() {}); got != nil {
		t.Errorf("a value that is no JSON has the bytes %q, want none", got)
	}
}

func TestErrorTexts(t *testing.T) {
	cause := errors.New("disk I/O error")
	_, missing := os.Open("/nowhere/x")
	for name, test := range map[string]struct {
		err           error
		message, hint string
	}{
		"for users":              {fmt.Errorf("sync: %w", blueprint.Errorf(blueprint.CodeConflict, "it exists")), "it exists", ""},
		"for users, with cause":  {&blueprint.Error{Code: blueprint.CodeConflict, Message: "it exists", Err: cause}, "it exists", ""},
		"for users, with a hint": {blueprint.WithHint(blueprint.Errorf(blueprint.CodeConflict, "it exists"), "rename it"), "it exists", "rename it"},
		"internal":               {&blueprint.Error{Code: blueprint.CodeInternal, Message: "cannot save", Err: cause}, "cannot save: disk I/O error", ""},
		"unavailable":            {&blueprint.Error{Code: blueprint.CodeUnavailable, Message: "cannot save", Err: cause, Hint: "free space"}, "cannot save: disk I/O error", "free space"},
		"of the operator":        {blueprint.Hinted("free space", "disk %s", "full"), "disk full", "free space"},
		"input":                  {fmt.Errorf("x: %w", blueprint.InputErrorf("fix it", "%s is bad", "a")), "a is bad", "fix it"},
		"file":                   {fmt.Errorf("x: %w", missing), "/nowhere/x: no such file or directory", "check the path"},
		"forbidden file":         {&fs.PathError{Op: "open", Path: "/x", Err: fs.ErrPermission}, "/x: permission denied", "check the owner and the mode of the file and of its folder"},
		"any other":              {fmt.Errorf("x: %w", cause), "x: disk I/O error", ""},
	} {
		t.Run(name, func(t *testing.T) {
			message, hint := blueprint.DescribeError(test.err)
			if !strings.HasPrefix(message, test.message) || hint != test.hint {
				t.Errorf("got %q, %q; want %q, %q", message, hint, test.message, test.hint)
			}
		})
	}
}

// A hint is added once, and not to internal errors, which are not shown.
func TestWithHint(t *testing.T) {
	given := blueprint.Errorf(blueprint.CodeConflict, "it exists")
	hinted := &blueprint.Error{Code: blueprint.CodeConflict, Message: "it exists", Hint: "first"}
	internal := blueprint.Errorf(blueprint.CodeInternal, "broken")
	other := errors.New("other")
	for name, test := range map[string]struct {
		err  error
		want error
	}{
		"without a hint": {given, &blueprint.Error{Code: blueprint.CodeConflict, Message: "it exists", Hint: "second"}},
		"with a hint":    {hinted, hinted},
		"internal":       {internal, internal},
		"another error":  {other, other},
	} {
		t.Run(name, func(t *testing.T) {
			got := blueprint.WithHint(test.err, "second")
			var one, want *blueprint.Error
			if !errors.As(test.want, &want) {
				if !errors.Is(got, test.want) {
					t.Errorf("got %v, want %v", got, test.want)
				}
				return
			}
			if !errors.As(got, &one) {
				t.Fatalf("got %v, want %v", got, want)
			}
			if diff := cmp.Diff(want, one); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
	if given.Hint != "" {
		t.Errorf("the given error was changed: it has the hint %q, want nothing", given.Hint)
	}
}

func TestErrorReasons(t *testing.T) {
	plain := blueprint.Errorf(blueprint.CodeForbidden, "no")
	if got := plain.FiringReason(); got.Code != blueprint.ReasonMessage || got.String() != "no" {
		t.Errorf("without a reason: got %s %q, want %s and the message", got.Code, got, blueprint.ReasonMessage)
	}
	if got := plain.WithReason(blueprint.ReasonBody).FiringReason(); got.Code != blueprint.ReasonBody || got.String() != "no" {
		t.Errorf("with a reason: got %s %q, want %s and the message", got.Code, got, blueprint.ReasonBody)
	}
	for err, want := range map[error]blueprint.Code{
		nil: "", errors.New("x"): blueprint.CodeInternal, fmt.Errorf("x: %w", plain): blueprint.CodeForbidden,
	} {
		t.Run(fmt.Sprint(err), func(t *testing.T) {
			if got := blueprint.CodeOf(err); got != want {
				t.Errorf("got the code %q, want %q", got, want)
			}
		})
	}
	for status, want := range map[int]blueprint.Code{400: blueprint.CodeBadRequest, 403: blueprint.CodeForbidden, 503: blueprint.CodeUnavailable, 200: "", 418: ""} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			if got := blueprint.CodeForStatus(status); got != want {
				t.Errorf("got the code %q, want %q", got, want)
			}
		})
	}
	for _, code := range []blueprint.Code{blueprint.CodeForbidden, "ODD"} {
		want := map[bool][2]int{true: {-32003, 403}, false: {-32603, 500}}[code == blueprint.CodeForbidden]
		if got := [2]int{code.Number(), code.HTTPStatus()}; got != want {
			t.Errorf("%s: got %v, want %v", code, got, want)
		}
	}
}

// slow is an error of a connection.
type slow bool

func (s slow) Error() string { return "slow" }
func (s slow) Timeout() bool { return bool(s) }
func (slow) Temporary() bool { return false }

func TestBodyError(t *testing.T) {
	refused := blueprint.Errorf(blueprint.CodePayloadTooLarge, "too large")
	for name, test := range map[string]struct {
		err  error
		want blueprint.Code
	}{
		"refused":  {fmt.Errorf("x: %w", refused), blueprint.CodePayloadTooLarge},
		"too slow": {fmt.Errorf("x: %w", slow(true)), blueprint.CodeTimeout},
		"broken":   {slow(false), blueprint.CodeClientClosed},
		"other":    {errors.New("x"), blueprint.CodeClientClosed},
	} {
		t.Run(name, func(t *testing.T) {
			if got := blueprint.BodyError(test.err).Code; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestInvalidInput(t *testing.T) {
	issues := []blueprint.Issue{{Path: []any{"a", 1, "b"}, Message: "is bad"}, {Message: "is odd"}}
	got := blueprint.InvalidInput(issues)
	want := &blueprint.Error{Code: blueprint.CodeBadRequest, Message: "a[1].b: is bad; is odd", Issues: issues}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestWholeNumber(t *testing.T) {
	for text, want := range map[string]any{
		"0": int64(0), "-7": int64(-7), "1e3": int64(1000), "100.0": int64(100), "9223372036854775807": int64(1<<63 - 1), "9007199254740992.0": int64(1 << 53), "-9007199254740992.0": int64(-1 << 53),
		"9007199254740994.0": nil, "-9007199254740994.0": nil, "1.5": nil, "1e400": nil, `"1"`: nil, "null": nil,
	} {
		t.Run(text, func(t *testing.T) {
			var got any
			if n, ok := blueprint.WholeNumber(decode(t, text)); ok {
				got = n
			}
			if got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestEncodings(t *testing.T) {
	for name, test := range map[string]struct {
		value any
		want  string
	}{
		"separators":       {"a\u2028b\u2029c", "\"a\u2028b\u2029c\""},
		"similar escapes":  {"\\u2028 \\\u2028 \"\n\u0001", `"\\u2028 \\` + "\u2028" + ` \"\n\u0001"`},
		"one of them last": {"\u2029\\", "\"\u2029\\\\\""},
		"no separators":    {`\u202 \`, `"\\u202 \\"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := blueprint.Encode(test.value)
			if err != nil || string(got) != test.want {
				t.Errorf("got %s (%v), want %s", got, err, test.want)
			}
		})
	}
	got, err := blueprint.EncodeIndented(map[string]any{"b": []int{1}, "a": "\u2028"})
	if want := "{\n  \"a\": \"\u2028\",\n  \"b\": [\n    1\n  ]\n}\n"; err != nil || string(got) != want {
		t.Errorf("indented: got %s (%v), want %s", got, err, want)
	}
	if got, err := blueprint.EncodeIndented(func() {}); err == nil {
		t.Errorf("a value that is no JSON became %s, want an error", got)
	}
	for text, want := range map[string]int{"1": 0, "{}": 1, `[{"a":[1]},[]]`: 3, `"[[[\"[["`: 0, `["\\",[]]`: 2, `[[],[],[[]]]`: 3} {
		t.Run(text, func(t *testing.T) {
			if got := blueprint.Depth([]byte(text)); got != want {
				t.Errorf("got the depth %d, want %d", got, want)
			}
		})
	}
}

func TestNeedsStub(t *testing.T) {
	for by, want := range map[blueprint.Answerer]string{blueprint.AnsweredByItself: "false false", blueprint.AnsweredByCassette: "false true", blueprint.AnsweredByStub: "true true"} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			kind := &blueprint.NodeType{AnsweredBy: by}
			if got := fmt.Sprint(kind.NeedsStub(true), kind.NeedsStub(false)); got != want {
				t.Errorf("answered by %q, with and without a cassette: got %s, want %s", by, got, want)
			}
		})
	}
}
