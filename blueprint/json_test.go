package blueprint_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

func TestDecode(t *testing.T) {
	nested := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for _, test := range []struct{ name, given, want, problem string }{
		{"digits are kept", `[1.50, 1e2, 12345678901234567890, -0, 1E+400]`, `[1.50,1e2,12345678901234567890,-0,1E+400]`, ""},
		{"the last of a repeated key wins", `{"a": {"x": 1}, "a": {"y": 2}}`, `{"a":{"y":2}}`, ""},
		{"no HTML escaping", `"<&>"`, `"<&>"`, ""},
		{"a zero byte is kept", `"a\u0000b"`, `"a\u0000b"`, ""},
		{"surrounding white space", " \n1\t", "1", ""},
		{"brackets in strings do not nest", `"` + strings.Repeat("[", 200) + `\"{"`, `"` + strings.Repeat("[", 200) + `\"{"`, ""},
		{"as deep as allowed", nested(blueprint.MaxDepth), nested(blueprint.MaxDepth), ""},
		{"too deep", nested(blueprint.MaxDepth + 1), "", "JSON is nested deeper than 128 levels"},
		{"nothing", ``, "", "JSON ends unexpectedly"},
		{"half", `{"a": [`, "", "JSON ends unexpectedly"},
		{"half a string", `"abc`, "", "JSON ends unexpectedly"},
		{"two values", `1 2`, "", "JSON is followed by more text"},
		{"a value and a bracket", `{}]`, "", "JSON is followed by more text"},
		{"not JSON", `{a: 1}`, "", "JSON is malformed: invalid character 'a' looking for beginning of object key string"},
		{"a number with a leading zero", `01`, "", "JSON is followed by more text"},
		{"closing brackets", `]]]]`, "", "JSON is malformed: invalid character ']' looking for beginning of value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			value, err := blueprint.Decode([]byte(test.given))
			if test.problem != "" {
				if err == nil || err.Error() != test.problem || blueprint.CodeOf(err) != blueprint.CodeBadRequest {
					t.Errorf("got %v, want %q", err, test.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := blueprint.Encode(value); err != nil || string(got) != test.want {
				t.Errorf("got %s (%v), want %s", got, err, test.want)
			}
		})
	}
}

// standard is Encode by encoding/json alone.
func standard(value any) (string, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	text := escapes.ReplaceAllStringFunc(strings.TrimSuffix(buffer.String(), "\n"), func(escape string) string {
		switch escape {
		case `\u2028`:
			return "\u2028"
		case `\u2029`:
			return "\u2029"
		}
		return escape
	})
	return text, err
}

// escapes matches each escape of a JSON string from its backslash, so that the second of
// two backslashes starts none.
var escapes = regexp.MustCompile(`\\(u[0-9a-f]{4}|.)`)

func TestEncode(t *testing.T) {
	cycle := map[string]any{}
	cycle["again"] = []any{cycle}
	deep := any("end")
	for range 5000 {
		deep = []any{deep}
	}
	for name, value := range map[string]any{
		"nothing":            nil,
		"nil array":          []any(nil),
		"nil object":         map[string]any(nil),
		"array":              []any{true, false, nil, "x", json.Number("1"), []any{}, map[string]any{}},
		"object":             map[string]any{"b": 1, "a": map[string]any{"": "empty", "c": []string{"x"}}, "ä": 2.5, "<": uint8(3)},
		"many keys":          map[string]any{"j": 1, "i": 2, "h": 3, "g": 4, "f": 5, "e": 6, "d": 7, "c": 8, "b": 9, "a": 10},
		"control characters": "\x00\x01\b\t\n\v\f\r\x1f \x7f",
		"escapes":            "\"\\/<>&'",
		"separators":         "a\u2028b\u2029c",
		"strings":            []any{[]string(nil), []string{}, []string{"a", "\n"}},
		"headers":            []any{map[string][]string(nil), map[string][]string{}, map[string][]string{"b": {"1", "2"}, "a": {}, "c": nil}},
		"not UTF-8":          "a\xffb\xc3(\xed\xa0\x80é\xe2\x80",
		"empty number":       json.Number(""),
		"deep":               deep,
		"cycle":              cycle,
		"function":           []any{func() {}},
		"struct":             map[string]any{"at": blueprint.TimeOf(time.Unix(1, 0)), "s": struct{ A, B any }{"<", nil}},
	} {
		t.Run(name, func(t *testing.T) {
			want, refused := standard(value)
			got, err := blueprint.Encode(value)
			if string(got) != want || (err != nil) != (refused != nil) {
				t.Errorf("got %q, %v, want %q, %v", got, err, want, refused)
			}
		})
	}
	for _, number := range []string{"0", "-0", "00", "01", "1", "10", "-", "--1", "1.", ".5", "1.5", "-0.0", "1e5", "1E+5", "1e-07", "1e", "1e+", "1.e5", "0e0", "0x1", "1_0", "NaN", "+1", " 1", "1 "} {
		t.Run("number "+number, func(t *testing.T) {
			want, refused := standard(json.Number(number))
			got, err := blueprint.Encode(json.Number(number))
			if string(got) != want || (err != nil) != (refused != nil) {
				t.Errorf("got %q, %v, want %q, %v", got, err, want, refused)
			}
		})
	}
}

func FuzzEncodeString(f *testing.F) {
	f.Add("plain", "\xff\u2028\n")
	f.Add("\\\xf1", "\u2028")
	f.Add(`\u2028`, `\\u2029`)
	f.Fuzz(func(t *testing.T, key, text string) {
		value := []any{map[string]any{key: text}}
		want, _ := standard(value)
		if got, err := blueprint.Encode(value); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	})
}

func TestPlainAndEqual(t *testing.T) {
	value, err := blueprint.Plain(struct {
		A int             `json:"a"`
		B []time.Duration `json:"b"`
	}{7, []time.Duration{1}})
	if err != nil || !blueprint.Equal(value, decode(t, `{"b": [1], "a": 7}`)) {
		t.Errorf("got %v, %v", value, err)
	}
	if blueprint.Equal(decode(t, `1`), decode(t, `1.0`)) || blueprint.Equal(func() {}, func() {}) {
		t.Error("unequal values are equal")
	}
}

// Decode and Encode round-trip.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":[1.0,null,true,"x\u2028"]}`, `[[[]]]`, `"\ud800"`, `1e5`, `{"":{"":0}}`, `nul`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		value, err := blueprint.Decode(data)
		if err != nil {
			if blueprint.CodeOf(err) != blueprint.CodeBadRequest {
				t.Fatalf("%v is not a CodeBadRequest error, want %v", err, blueprint.CodeBadRequest)
			}
			return
		}
		written, err := blueprint.Encode(value)
		if err != nil {
			t.Fatal(err)
		}
		again, err := blueprint.Decode(written)
		if err != nil || !blueprint.Equal(value, again) {
			t.Fatalf("%s decoded again is %v, %v", written, again, err)
		}
	})
}

func TestTime(t *testing.T) {
	at := time.Date(2024, 2, 29, 23, 59, 59, 123_999_999, time.FixedZone("", 3600))
	for _, test := range []struct {
		given time.Time
		want  string
	}{
		{at, `"2024-02-29T22:59:59.123Z"`},
		{time.Time{}, `null`},
		{time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), `"2000-01-01T00:00:00.000Z"`},
		{time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), `"1969-12-31T00:00:00.000Z"`},
		{time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600)), `"9999-12-31T23:59:59.999Z"`},
		{time.Date(300_000_000, 1, 1, 0, 0, 0, 0, time.UTC), `"9999-12-31T23:59:59.999Z"`},
	} {
		t.Run(test.want, func(t *testing.T) {
			given := blueprint.TimeOf(test.given)
			data, err := given.MarshalJSON()
			if err != nil || string(data) != test.want {
				t.Errorf("%v encodes as %s, %v; want %s", test.given, data, err, test.want)
			}
			var back blueprint.Time
			if err := back.UnmarshalJSON(data); err != nil || back != given {
				t.Errorf("%s decodes as %v, %v; want %v", data, back, err, given)
			}
		})
	}
	for _, bad := range []string{`1`, `"tomorrow"`, `"2024-13-01T00:00:00Z"`} {
		if err := new(blueprint.Time).UnmarshalJSON([]byte(bad)); blueprint.CodeOf(err) != blueprint.CodeBadRequest {
			t.Errorf("%s: %v, want %v", bad, err, blueprint.CodeBadRequest)
		}
	}
}

func TestDeliveryHead(t *testing.T) {
	full := &blueprint.Delivery{
		From: "::1", Header: map[string][]string{"b": {"x", "y"}, "a": {"<"}}, Proof: map[string][]string{"p": {"q"}}, Hidden: []string{"h"},
		Size: 12, Facts: map[string]any{"f": true}, Body: []byte("body"), Sealed: []byte("sealed"),
	}
	for i := range reflect.TypeOf(*full).NumField() {
		if reflect.ValueOf(*full).Field(i).IsZero() {
			t.Errorf("the test does not set %s", reflect.TypeOf(*full).Field(i).Name)
		}
	}
	for _, d := range []*blueprint.Delivery{full, {}, {Size: 1}, {Facts: map[string]any{"f": "x"}}, {Hidden: []string{"a"}}} {
		want, err := standard(d)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.AppendHead([]byte("before")); err != nil || string(got) != "before"+want {
			t.Errorf("got %s, %v, want before%s", got, err, want)
		}
	}
}

func TestDecodeInto(t *testing.T) {
	deep := strings.Repeat(`{"a":`, blueprint.MaxDepth+1) + "1.50" + strings.Repeat("}", blueprint.MaxDepth+1)
	for _, test := range []struct{ name, given, problem string }{
		{"white space around it", " {\"a\": 1.50} \n", ""},
		{"deeper than data from outside", deep, ""},
		{"another type", `{"b": 1}`, "cannot unmarshal number"},
		{"nothing", " ", "EOF"},
		{"cut off", `{"a": 1`, "unexpected EOF"},
		{"malformed", `{"a": x}`, "invalid character 'x'"},
		{"another value", `{"a": 1} {}`, "followed by more text"},
		{"text that is not JSON", `{"a": 1}x`, "followed by more text"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var into struct {
				A any `json:"a"`
				B string
			}
			err := blueprint.DecodeInto([]byte(test.given), &into)
			switch {
			case test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)):
				t.Errorf("the error is %v, want %q in it", err, test.problem)
			case test.problem == "" && err != nil:
				t.Error(err)
			}
			if _, float := into.A.(float64); float {
				t.Error("a number lost its digits")
			}
		})
	}
}
