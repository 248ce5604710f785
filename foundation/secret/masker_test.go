package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestMaskerText(t *testing.T) {
	const value = `pa ss+wörd/!"<`
	encode := func(text string) string {
		data, _ := json.Marshal(text)
		return string(data)
	}
	for _, test := range []struct{ name, given, want string }{
		{"alone", value, "***"},
		{"inside", "Bearer " + value + ";", "Bearer ***;"},
		{"twice", value + value, "******"},
		{"hexadecimal", "x" + hex.EncodeToString([]byte(value)) + "y", "x***y"},
		{"upper-case hexadecimal", strings.ToUpper(hex.EncodeToString([]byte(value))), "***"},
		{"in a query", "?q=" + url.QueryEscape(value) + "&r=1", "?q=***&r=1"},
		{"in a path", "/a/" + url.PathEscape(value) + "/b", "/a/***/b"},
		{"as JavaScript escapes it", "?q=pa%20ss%2Bw%C3%B6rd%2F!%22%3C", "?q=***"},
		{"with lower-case escapes", "?q=pa%20ss%2bw%c3%b6rd%2f!%22%3c", "?q=***"},
		{"inside JSON", `{"a": "pa ss+wörd/!\"<"}`, `{"a": "***"}`},
		{"inside JSON for HTML", encode(value), `"***"`},
		{"inside XML", "<p>pa ss+wörd/!&quot;&lt;</p>", "<p>***</p>"},
		{"on two lines", "x " + value[:7] + "\r\n" + value[7:] + "\ny", "x ***\ny"},
		{"hexadecimal on lines", "x " + hex.EncodeToString([]byte(value))[:8] + "\n" + hex.EncodeToString([]byte(value))[8:] + "\ny", "x ***\ny"},
		{"base64 on lines", base64.StdEncoding.EncodeToString([]byte(value))[:8] + "\r\n" + base64.StdEncoding.EncodeToString([]byte(value))[8:], "***"},
		{"base64 on lines in JSON", `{"a": "` + base64.StdEncoding.EncodeToString([]byte(value))[:8] + `\n` + base64.StdEncoding.EncodeToString([]byte(value))[8:] + `\n"}`, `{"a": "***\n"}`},
		{"cut at the end", "x " + value[:9], "x ***"},
		{"cut before an ellipsis", "x " + value[:12] + "... and " + value[:9] + "… y", "x ***... and ***… y"},
		{"hexadecimal that was cut", "x " + hex.EncodeToString([]byte(value))[:13] + "...", "x ***..."},
		{"escaped and cut", "?q=" + url.QueryEscape(value)[:15] + "...", "?q=***..."},
		{"cut within an escape", "?q=" + url.QueryEscape(value)[:14] + "... y", "?q=***... y"},
		{"the beginning of one within", value[:9] + " y", value[:9] + " y"},
		{"as a service reads it", `{"q": "pa ss wörd/!\\"<"}`, `{"q": "***"}`},
		{"too short a part", "x " + value[:7], "x " + value[:7]},
		{"innocent", "password", "password"},
		{"empty", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := secret.NewMasker([]any{value}).Text(test.given); got != test.want {
				t.Errorf("%s became %s, want %s", test.given, got, test.want)
			}
		})
	}
}

// Base64 of a longer text that contains the secret is masked at every offset, so that
// the middle of the secret cannot be recovered.
func TestMaskerBase64(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[a-zA-Z0-9?>~]{6,20}`).Draw(t, "secret")
		before := rapid.StringN(0, 4, 10).Draw(t, "before")
		after := rapid.StringN(0, 4, 10).Draw(t, "after")
		m := secret.NewMasker([]any{value})
		for _, coding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			given := coding.EncodeToString([]byte(before + value + after))
			got := m.Text(given)
			if !strings.Contains(got, secret.Mask) {
				t.Fatalf("%s with %q, %q, %q stayed; want %q in it", given, before, value, after, secret.Mask)
			}
			// What is left of the secret is at most its first and its last byte.
			if left := len(given) - (len(got) - len(secret.Mask)); left < len(value)*4/3-3 {
				t.Fatalf("only %d characters of %s are masked: %s, want at least %v", left, given, got, len(value)*4/3-3)
			}
		}
	})
}

// Each row has a secret of its own, where its length or its characters matter.
func TestMaskerForms(t *testing.T) {
	for _, test := range []struct{ name, secret, given, want string }{
		{"six characters", "abcdef", "xabcdefx", "x***x"},
		{"five characters alone", "abcde", "abcde", "***"},
		{"five characters inside", "abcde", "xabcdex", "xabcdex"},
		{"trimmed to six characters", "abcdef\n", "xabcdefx", "x***x"},
		{"trimmed to five characters", " abcde\n", "xabcdex", "xabcdex"},
		{"up to a fragment after six characters", "abcdef#fragment", "/abcdef?", "/***?"},
		{"up to a fragment after five characters", "abcde#fragment", "/abcde?", "/abcde?"},
		{"parts of eight characters", "x=abcdefgh&y=ijklm#12345678", "x=abcdefgh, y=ijklm, 12345678", "***, y=ijklm, ***"},
		{"a part of eight characters", "abcdefgh&ij", "(abcdefgh)", "(***)"},
		{"a part of seven characters", "abcdefg&ijk", "(abcdefg)", "(abcdefg)"},
		{"the plus of a form read as a space, eight characters", "abc+defg", "(abc defg)", "(***)"},
		{"the plus of a form read as a space, seven characters", "abc+def", "(abc def)", "(abc def)"},
		{"base64 at the second byte", "hunter22", base64.StdEncoding.EncodeToString([]byte("xhunter22")), "eG***"},
		{"base64 at the third byte", "hunter22", base64.StdEncoding.EncodeToString([]byte("xyhunter22")), "eHl***g=="},
		{"escapes of the secret, three characters", "%41%42%43", "q=%41B%43", "q=***"},
		{"escapes of the secret, two characters", "%41%42", "q=%41B", "q=%41B"},
		{"as the name of a multipart part, where only %XX is an escape", `pass"word\`, `name="pass%22word\"`, `name="***"`},
		{"an escaped quote at the end", `say "hi"`, `say \"hi\"`, "***"},
		{"a character of two UTF-16 units", "pass😀word", `"pass\ud83d\ude00word"`, `"***"`},
		{"half a character of two UTF-16 units", "pass😀word", `"pass\ud83d\u0041word"`, `"pass\ud83d\u0041word"`},
		{"a character of two UTF-16 units cut in half", "pass😀word", `"pass\ud83d-xde00word"`, `"pass\ud83d-xde00word"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := secret.NewMasker([]any{test.secret}).Text(test.given); got != test.want {
				t.Errorf("%q with the secret %q became %q, want %q", test.given, test.secret, got, test.want)
			}
		})
	}
}

// Several secrets in one text are masked wherever they stand, whatever the order in
// which the Masker searches for them.
func TestMaskerOrder(t *testing.T) {
	for _, test := range []struct{ name, given, want string }{
		{"in order", "%61lpha-secret, %62eta-secret.", "***, ***."},
		{"in reverse", "%62eta-secret, %61lpha-secret.", "***, ***."},
		{"repeated", "%62eta-secret, %61lpha-secret, %62eta-secret.", "***, ***, ***."},
		{"within each other", "%61lpha-secret%2Dbeta-secret.", "***."},
		{"on lines", "beta-\nsecret, alpha-\nsecret, beta-\nsecret.", "***, ***, ***."},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := secret.NewMasker([]any{"alpha-secret", "beta-secret", "secret-beta"})
			if got := m.Text(test.given); got != test.want {
				t.Errorf("%s became %s, want %s", test.given, got, test.want)
			}
		})
	}
}

func TestMaskerValue(t *testing.T) {
	m := secret.NewMasker([]any{"hunter22", "abc", json.Number("1234567"), json.Number("7"), true, nil, decode(t, `{"user": "someone", "pin": "0000"}`)})
	for _, test := range []struct{ name, given, want string }{
		{"a string", `"x hunter22 y"`, `"x *** y"`},
		{"a short one alone", `"abc"`, `"***"`},
		{"a short one inside", `"abcd"`, `"abcd"`},
		{"a short one as a key", `{"abc": "abc"}`, `{"abc":"***"}`},
		{"a number", `[1234567, 12345678, "1234567"]`, `["***","***8","***"]`},
		{"short numbers are everywhere", `[7, true, null]`, `[7,true,null]`},
		{"a key", `{"a": 1, "hunter22": {"b": "hunter22"}}`, `{"***":{"b":"***"},"a":1}`},
		{"keys that mask alike", `{"hunter22": 1, "hunter%32%32": 2, "%68unter22": {"hunter22": 3}}`, `{"***":{"***":3},"*** (2)":2,"*** (3)":1}`},
		{"a key that looks masked", `{"***": 0, "hunter22": 1, "*** (2)": 2}`, `{"***":0,"*** (2)":2,"*** (3)":1}`},
		{"deep down", `[[{"a": ["hunter22"]}]]`, `[[{"a":["***"]}]]`},
		{"a leaf of an object", `"I am someone"`, `"I am ***"`},
		{"a short leaf of an object", `"0000"`, `"***"`},
		{"the whole object as text", `"{\"pin\":\"0000\",\"user\":\"someone\"}!"`, `"***!"`},
		{"nothing", `{"a": [1.50, "b"]}`, `{"a":[1.50,"b"]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			given := decode(t, test.given)
			before, _ := blueprint.Encode(given)
			got, err := blueprint.Encode(m.Value(given))
			if err != nil || string(got) != test.want {
				t.Errorf("got %s (%v), want %s", got, err, test.want)
			}
			if after, _ := blueprint.Encode(given); string(after) != string(before) {
				t.Errorf("what was given has changed: %v, want %v", string(after), string(before))
			}
		})
	}
}

func TestMaskerWithoutSecrets(t *testing.T) {
	for _, values := range [][]any{nil, {""}, {nil, false, json.Number("5")}, {map[string]any{}}} {
		m := secret.NewMasker(values)
		if m != nil {
			t.Errorf("%v needs a masker, want nil", values)
		}
		if m.Text("text") != "text" || m.Value("text") != "text" {
			t.Error("the nil masker masks")
		}
	}
}

// The longest of several secrets that begin alike is masked whole.
func TestMaskerTakesTheLongest(t *testing.T) {
	if got := secret.NewMasker([]any{"secret", "secret-longer"}).Text("secret-longer secret"); got != "*** ***" {
		t.Errorf("got %s, want *** ***", got)
	}
}

// A run may have very many secret variables.
func BenchmarkMaskerOfManySecrets(b *testing.B) {
	values := make([]any, 100_000)
	for i := range values {
		values[i] = fmt.Sprintf("%08d", i*7919)
	}
	for b.Loop() {
		if got := secret.NewMasker(values).Text("a 00007919 b"); got != "a *** b" {
			b.Fatalf("got %q", got)
		}
	}
}
