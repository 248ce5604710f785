package trpc

import (
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// readText decodes an envelope and returns the result as text: the value with annotated values
// as <kind value>, "nothing" for no input, or the error.
func readText(t *testing.T, envelope string) string {
	t.Helper()
	decoded, err := blueprint.Decode([]byte(envelope))
	if err != nil {
		t.Fatal(err)
	}
	in, err := readEnvelope(decoded)
	if err != nil {
		if blueprint.CodeOf(err) != blueprint.CodeBadRequest {
			t.Errorf("%s: code %s, want %v", envelope, blueprint.CodeOf(err), blueprint.CodeBadRequest)
		}
		return err.Error()
	}
	if !in.present {
		return "nothing"
	}
	encoded, err := blueprint.Encode(showMarks(in.value))
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func showMarks(value any) any {
	switch value := value.(type) {
	case undefinedElement:
		return "<undefined>"
	case foreign:
		inner, _ := blueprint.Encode(showMarks(value.value))
		return "<" + value.kind + " " + string(inner) + ">"
	case []any:
		for i := range value {
			value[i] = showMarks(value[i])
		}
	case map[string]any:
		for key := range value {
			value[key] = showMarks(value[key])
		}
	}
	return value
}

func TestAnnotations(t *testing.T) {
	const unknown, text, empty = "an unknown kind of value", "a string where a list is expected", "an empty annotation"
	meta := func(json, values string) string {
		return `{"json":` + json + `,"meta":{"values":` + values + `,"v":1}}`
	}
	for _, test := range []struct{ envelope, want string }{
		{meta(`{"a":null}`, `{"a":["undefined"]}`), `{}`},
		{meta(`{"a":5,"b":6}`, `{"a":["undefined"]}`), `{"b":6}`},
		{meta(`null`, `["undefined"]`), `nothing`},
		{meta(`{"a":1}`, `["undefined",{"a":["Date"]},5]`), `nothing`},
		{meta(`[1,2]`, `{"0":["undefined"]}`), `["<undefined>",2]`},
		{meta(`{"l":[{"x":null}]}`, `{"l.0.x":["undefined"]}`), `{"l":[{}]}`},
		{meta(`{"a":{"b":5,"c":1}}`, `{"a":{"b":["undefined"]}}`), `{"a":{"c":1}}`},
		{meta(`{"d":"2020"}`, `{"d":["Date"]}`), `{"d":"<Date \"2020\">"}`},
		{meta(`"2020"`, `["Date"]`), `"<Date \"2020\">"`},
		{meta(`{"s":["2020",1]}`, `{"s":["set",{"0":["Date"],"1":["undefined"]}]}`), `{"s":"<set [\"<Date \\\"2020\\\">\",\"<undefined>\"]>"}`},
		{meta(`{"m":[["k",1]]}`, `{"m":["map",{"0.1":["undefined"]}]}`), `{"m":"<map [[\"k\",\"<undefined>\"]]>"}`},
		{meta(`{"n":"-0"}`, `{"n":["number"]}`), `{"n":0}`},
		{meta(`{"n":"NaN"}`, `{"n":["number"]}`), `{"n":"<number \"NaN\">"}`},
		{meta(`{"n":"123"}`, `{"n":["bigint"]}`), `{"n":"<bigint 123>"}`},
		{meta(`{"n":"12x"}`, `{"n":["bigint"]}`), "a bigint that is not a string of digits"},
		{meta(`{"b":[1]}`, `{"b":[["typed-array","Uint8Array"]]}`), `{"b":"<typed-array [1]>"}`},
		{meta(`{"x":["set",1]}`, `{"x":["set",["Date"]]}`), `{"x":"<set \"<Date [\\\"set\\\",1]>\">"}`},

		{meta(`{"a":1}`, `{"a":["nonsense"]}`), unknown},
		{meta(`{"a":1}`, `{"z":["nonsense"]}`), unknown},
		{meta(`{"a":[1]}`, `{"a.9":["nonsense"]}`), unknown},
		{meta(`{"a":1}`, `{"a":[["class","User"]]}`), unknown},
		{meta(`{"a":1}`, `{"a":[["symbol","s"]]}`), unknown},
		{meta(`{"a":1}`, `{"a":[["undefined"]]}`), unknown},
		{meta(`{"a":1}`, `[5]`), unknown},
		{meta(`{"a":1}`, `[]`), empty},
		{meta(`{"a":1}`, `"bogus"`), text},
		{meta(`{"a":1}`, `{"a":"x"}`), text},
		{meta(`{"a":1}`, `{"a":["Date","x"]}`), text},
		{meta(`{"a":1}`, `{"__proto__.x":["Date"]}`), "__proto__ in a path"},
		{meta(`{"constructor":1}`, `{"constructor":["Date"]}`), "constructor in a path"},
		{meta(`{"a":{"prototype":1}}`, `{"a.prototype":["Date"]}`), "prototype in a path"},
		{meta(`{"a":1}`, `{"a\\x":["undefined"]}`), "a stray backslash"},

		{meta(`{"a":1}`, `null`), `{"a":1}`},
		{meta(`{"a":1}`, `5`), `{"a":1}`},
		{meta(`{"a":1}`, `true`), `{"a":1}`},
		{meta(`{"a":1}`, `{}`), `{"a":1}`},
		{meta(`{"a":1}`, `{"a":null}`), `{"a":1}`},
		{meta(`{"a":1}`, `{"z.y":["undefined"]}`), `{"a":1}`},
		{meta(`{"a":1}`, `{"z.y":["nonsense"]}`), `{"a":1}`},
		{meta(`{"a":1}`, `{"a.b.c":["undefined"]}`), `{"a":1}`},
		{meta(`{"a":[1]}`, `{"a.1":["undefined"],"a.-1":["undefined"],"a.x":["undefined"]}`), `{"a":[1]}`},
		{`{"json":{"a":1},"meta":null}`, `{"a":1}`},
		{`{"json":{"a":1},"meta":"x"}`, `{"a":1}`},
		{`{"json":{"a":1},"meta":{"referentialEqualities":{"a":["b"]}}}`, `{"a":1}`},
		{`{"meta":{"values":["undefined"]}}`, `nothing`},

		// Keys with dots and backslashes, escaped since version 1.
		{meta(`{"a.b":1,"a":{"b":2}}`, `{"a\\.b":["undefined"]}`), `{"a":{"b":2}}`},
		{meta(`{"a.b":1,"a":{"b":2}}`, `{"a.b":["undefined"]}`), `{"a":{},"a.b":1}`},
		{meta(`{"a\\":{"c":1}}`, `{"a\\\\.c":["undefined"]}`), `{"a\\":{}}`},
		{meta(`{"":1,"a":2}`, `{"":["undefined"]}`), `{"a":2}`},
		{`{"json":{"a.b":1},"meta":{"values":{"a\\.b":["undefined"]}}}`, `{}`},
		{`{"json":{"a.b":1,"c":2},"meta":{"values":{"a.b":["undefined"]}}}`, `{"c":2}`},
		{`{"json":{"a.b":1,"a":{"b":2}},"meta":{"values":{"a.b":["undefined"]}}}`, `{"a":{},"a.b":1}`},
		{`{"json":{"x":{"a.b.c":{"d":1}}},"meta":{"values":{"x.a.b.c.d":["undefined"]}}}`, `{"x":{"a.b.c":{}}}`},
		{`{"json":{"a\\x":1},"meta":{"values":{"a\\x":["undefined"]}}}`, `{}`},
		{`{"json":{"a":1},"meta":{"values":{"a.b":["undefined"]}}}`, `{"a":1}`},
		{`{"json":{"a.b":1},"meta":{"values":{"a.b":["undefined"]},"v":"1"}}`, `{"a.b":1}`},
		{`{"json":{"a.b":1},"meta":{"values":{"a.b":["undefined"]},"v":0}}`, `{}`},
	} {
		t.Run(test.envelope, func(t *testing.T) {
			got := readText(t, test.envelope)
			if got != test.want && !(strings.HasPrefix(got, "input: meta holds ") && strings.Contains(got, test.want)) {
				t.Errorf("%s\ngot  %s\nwant %s", test.envelope, got, test.want)
			}
		})
	}
}

// The cost of annotations is bounded by their length: neither paths that consist of dots
// nor paths below paths are followed deeper than the value.
func TestAnnotationsAreCheap(t *testing.T) {
	long := strings.Repeat("a.", 200_000)
	var children strings.Builder
	for i := range 20_000 {
		if i > 0 {
			children.WriteByte(',')
		}
		children.WriteString(`"` + strings.Repeat("b.", i%100) + `":["undefined"]`)
	}
	for _, version := range []string{"0", "1"} {
		text := `{"json":{"a":{"a":1}},"meta":{"values":{"` + long + `":{` + children.String() + `}},"v":` + version + `}}`
		if got := readText(t, text); got != `{"a":{"a":1}}` {
			t.Errorf("got %s, want {\"a\":{\"a\":1}}", got)
		}
	}
}
