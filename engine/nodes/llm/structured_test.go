package llm

import (
	"fmt"
	"strings"
	"testing"
)

// closed schemas as providers take them; "" = the model is asked in words.
func TestClosed(t *testing.T) {
	for _, test := range []struct{ schema, want string }{
		{objectOne, objectOne},
		{`{"type":"object","properties":{"a":{"type":"string","minLength":2,"format":"date"}}}`,
			`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string","format":"date","description":"It must also fit {\"minLength\":2}"}}}`},
		{`{"$schema":"x","$id":"y","type":"object","description":"D.","minProperties":1,"properties":{"a":{"format":"color","type":"string"}}}`,
			`{"type":"object","description":"D. It must also fit {\"minProperties\":1}","additionalProperties":false,"properties":{"a":{"type":"string","description":"It must also fit {\"format\":\"color\"}"}}}`},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/d","description":"x"}},"$defs":{"d":{"oneOf":[{"type":"null"},{"enum":[1]}]}}}`,
			`{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"anyOf":[{"type":"null"},{"enum":[1]}]}}}`},
		{`{"type":"object","properties":{"a":{"type":"array","items":{"type":["object","null"],"properties":{}}}},"additionalProperties":false}`,
			`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"array","items":{"type":["object","null"],"properties":{},"additionalProperties":false}}}}`},
		{`{"type":"object"}`, ""},
		{`{"type":"object","properties":{"a":{}}}`, ""},
		{`{"type":"object","properties":{"a":true}}`, ""},
		{`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}]}}}`, ""},
		{`{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`, ""},
		{`{"type":"object","properties":{},"patternProperties":{}}`, ""},
		{`{"type":"object","properties":{"a":{"anyOf":[{"type":"object"}]}}}`, ""},
		{`true`, ""},
	} {
		t.Run(test.schema, func(t *testing.T) {
			got, ok := closeSchema(plain(t, test.schema))
			if ok != (test.want != "") || ok && !same(t, asJSON(t, got), test.want) {
				t.Errorf("%v %s, want %v", ok, asJSON(t, got), test.want)
			}
		})
	}
}

func TestAskingForJSON(t *testing.T) {
	const loose = `{"type":"object","properties":{"a":{"type":"integer"}}}`
	for _, test := range []struct {
		protocol protocol
		schema   string
		quirks   quirks
		want     string
	}{
		{openAI{}, objectOne, quirks{}, `"response_format":{"json_schema":{"name":"answer","schema":` + asJSON(t, plain(t, objectOne)) + `,"strict":true},"type":"json_schema"}`},
		{openAI{}, loose, quirks{}, `"response_format":{"json_schema":{"name":"answer","schema":` + asJSON(t, plain(t, loose)) + `},"type":"json_schema"}`},
		{openAI{}, loose, quirks{noSchema: true}, ""},
		{openAI{}, `{"type":"array"}`, quirks{}, ""},
		{openAI{}, `true`, quirks{}, ""},
		{anthropic{}, loose, quirks{}, `"output_config":{"format":{"schema":` + asJSON(t, plain(t, `{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}`)) + `,"type":"json_schema"}}`},
		{anthropic{}, `{"type":"object"}`, quirks{}, ""},
		{anthropic{}, objectOne, quirks{noSchema: true}, ""},
	} {
		t.Run(fmt.Sprint(test.protocol, " ", test.want), func(t *testing.T) {
			r := question("Hi")
			r.System, r.Schema = "Be kind.", plain(t, test.schema)
			got := asJSON(t, test.protocol.request(r, test.quirks))
			inWords := strings.Contains(got, "Your final answer") && strings.Contains(got, "Be kind.")
			if inWords != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("%T %s: %s, want %v", test.protocol, test.schema, got, test.want)
			}
		})
	}
	if schemaPrompt("", true) == "" || strings.HasPrefix(schemaPrompt("", true), "\n") {
		t.Error("a rule is sent without a system prompt")
	}
	for schema, want := range map[string]bool{
		`true`: false, loose: false, objectOne: true, `{"$schema":"x",` + objectOne[1:]: true,
		`{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],"additionalProperties":false}`: false,
		// An inner property is not required.
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{"b":{"type":"null"}},"additionalProperties":false}]}},"required":["a"],"additionalProperties":false}`: false,
	} {
		t.Run(schema, func(t *testing.T) {
			if got := strict(plain(t, schema)); got != want {
				t.Errorf("strict: %v, want %v", got, want)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	for source, want := range map[string]string{
		`{"a":1.50}`:                              `{"a":1.50}`,
		" \n[1, 2]\n":                             `[1,2]`,
		"\uFEFF7":                                 `7`,
		"```json\n{\"a\":1}\n```":                 `{"a":1}`,
		"Here:\n```\n{\"a\":1}\n```\nDone.":       `{"a":1}`,
		`Sure! {"a":{"b":[1]}} Anything else?`:    `{"a":{"b":[1]}}`,
		`The list is [1,2].`:                      `[1,2]`,
		"<think>maybe {\"a\":0}</think>{\"a\":1}": `{"a":1}`,
		`null`: `null`,
		``:     "", `nothing`: "", `{"a":`: "", `}{`: "", "```": "", `{"a":1} and {"b":2}`: "", "<think>": "",
		strings.Repeat("[", 200) + strings.Repeat("]", 200): "",
	} {
		t.Run(fmt.Sprintf("%.200s", source), func(t *testing.T) {
			value, ok := JSON(source)
			if ok != (want != "") || ok && asJSON(t, value) != want {
				t.Errorf("%v %v, want %v", value, ok, want)
			}
		})
	}
}
