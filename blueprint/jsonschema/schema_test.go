package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"blueprintd/blueprint"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

func compile(t testing.TB, text string) *Schema {
	t.Helper()
	schema, err := Compile(decode(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return schema
}

// lines formats issues as "path: message" lines.
func lines(issues []blueprint.Issue) string {
	var out []string
	for _, issue := range issues {
		line := issue.Message
		if len(issue.Path) > 0 {
			line = blueprint.PathText(issue.Path) + ": " + line
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestValidate(t *testing.T) {
	tests := []struct{ name, schema, value, want string }{
		{"true", `true`, `{"a":1}`, ""},
		{"false", `false`, `1`, "is not allowed"},
		{"empty", `{}`, `[1]`, ""},
		{"type", `{"type":"string"}`, `1`, "must be a string"},
		{"types", `{"type":["string","null"]}`, `1`, "must be null or a string"},
		{"integer", `{"type":"integer"}`, `1.5`, "must be a whole number"},
		{"integer written as a float", `{"type":"integer"}`, `10e-1`, ""},
		{"large integer", `{"type":"integer"}`, `12345678901234567890123`, ""},
		{"exact numbers", `{"const":12345678901234567890}`, `12345678901234567891`, "must be 12345678901234567890"},
		{"numbers by value", `{"enum":[1.0,"1"]}`, `1`, ""},
		{"enum", `{"enum":["a","b",3,null,{"x":1}]}`, `"c"`, `must be one of "a", "b", 3, null, {"x":1}`},
		{"required", `{"required":["b","a"]}`, `{}`, "a: required\nb: required"},
		{"additional", `{"properties":{"a":true},"additionalProperties":false}`, `{"a":1,"c":1,"b":2}`, "b: is not allowed\nc: is not allowed"},
		{"additional of a form", `{"additionalProperties":{"type":"number"}}`, `{"a":1,"b":"x"}`, "b: must be a number"},
		{"pattern properties", `{"patternProperties":{"^n":{"type":"number"}},"additionalProperties":false}`, `{"n1":"x","o":1}`, "n1: must be a number\no: is not allowed"},
		{"nested", `{"properties":{"list":{"items":{"properties":{"n":{"minimum":2}}}}}}`, `{"list":[{"n":1},{"n":2},{"n":1.5}]}`, "list[0].n: must be at least 2\nlist[2].n: must be at least 2"},
		{"a key that looks like a position", `{"properties":{"0":{"type":"string"}}}`, `{"0":1}`, "0: must be a string"},
		{"prefix items", `{"prefixItems":[{"type":"string"}],"items":false}`, `[1,2]`, "[0]: must be a string\n[1]: is not allowed"},
		{"items of draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `["a",2]`, "[1]: is not allowed"},
		{"dependencies of draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1,"c":1}`, "b: required when \"a\" is given\nd: required"},
		{"dependent", `{"dependentRequired":{"card":["address"]},"dependentSchemas":{"card":{"properties":{"n":{"type":"string"}}}}}`, `{"card":1,"n":1}`, "address: required when \"card\" is given\nn: must be a string"},
		{"names", `{"propertyNames":{"maxLength":3}}`, `{"abcd":1,"ab":2}`, "abcd: is not an allowed name (must have at most 3 characters)"},
		{"names, place", `{"properties":{"a":{"propertyNames":{"pattern":"^x"}},"b":{"type":"string"},"z":{"type":"string"}}}`, `{"a":{"q":1},"b":1,"z":2}`, "a.q: is not an allowed name (must match the pattern ^x)\nb: must be a string\nz: must be a string"},
		{"length", `{"minLength":2,"maxLength":1}`, `"é"`, "must have at least 2 characters"},
		{"not empty", `{"minLength":1}`, `""`, "must not be empty"},
		{"bounds", `{"exclusiveMinimum":1,"exclusiveMaximum":0.5,"multipleOf":0.1}`, `1`, "must be less than 0.5\nmust be more than 1"},
		{"multiple", `{"multipleOf":0.01}`, `19.99`, ""},
		{"counts", `{"minItems":2,"maxItems":1}`, `[]`, "must have at least 2 items"},
		{"properties", `{"minProperties":1,"maxProperties":1}`, `{"a":1,"b":1}`, "must have at most 1 property"},
		{"unique", `{"uniqueItems":true}`, `[1,2,1.0]`, "items 0 and 2 must differ"},
		{"contains", `{"contains":{"type":"string"},"minContains":2}`, `["a",1]`, "must contain at least 2 items that fit the schema of contains"},
		{"any of types", `{"anyOf":[{"type":"string"},{"type":"number"}]}`, `null`, "must be a string or a number"},
		{"any of forms", `{"anyOf":[{"type":"string"},{"properties":{"a":{"type":"string"}}}]}`, `{"a":1}`, "fits none of the allowed schemas (a: must be a string)"},
		{"one of", `{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `1`, "fits more than one of the allowed schemas"},
		{"all of", `{"allOf":[{"minimum":5},{"multipleOf":2}]}`, `3`, "must be a multiple of 2\nmust be at least 5"},
		{"not", `{"not":{"type":"string"}}`, `"x"`, "must not fit the schema of not"},
		{"if then", `{"if":{"properties":{"k":{"const":1}}},"then":{"required":["a"]},"else":{"required":["b"]}}`, `{"k":1}`, "a: required"},
		{"reference", `{"$defs":{"n":{"type":"number"}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":"x"}`, "a: must be a number"},
		{"anchor", `{"$defs":{"n":{"$anchor":"num","type":"number"}},"items":{"$ref":"#num"}}`, `["x"]`, "[0]: must be a number"},
		{"own id", `{"$id":"https://example.com/a","$defs":{"n":{"$id":"b","type":"number"}},"items":{"$ref":"b"}}`, `["x"]`, "[0]: must be a number"},
		{"recursive", `{"properties":{"next":{"$ref":"#"},"n":{"type":"number"}}}`, `{"next":{"next":{"n":"x"}}}`, "next.next.n: must be a number"},
		{"built-in meta-schema", `{"$ref":"http://json-schema.org/draft-07/schema#"}`, `{"type":1}`, `type: fits none of the allowed schemas (type: must be one of "array", "boolean", "integer", "null", "number", "object", "string")`},
		{"unevaluated", `{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`, "b: is not allowed"},
		{"unevaluated, deep", `{"anyOf":[{"patternProperties":{"^a":true}},{"additionalProperties":true}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`, ""},
		{"unevaluated items", `{"prefixItems":[true],"contains":{"type":"string"},"unevaluatedItems":false}`, `[1,"a",2]`, "[2]: is not allowed"},
		{"format", `{"properties":{"m":{"format":"email"},"d":{"format":"date"},"u":{"format":"uuid"},"x":{"format":"made-up"}}}`, `{"m":"a","d":"x","u":"1","x":"y"}`, "d: must be a date such as 2026-01-31\nm: must be an email address\nu: must be a UUID"},
		{"format of another type", `{"format":"email"}`, `1`, ""},
		{"pattern", `{"pattern":"^[a-z]+$"}`, `"A"`, "must match the pattern ^[a-z]+$"},
		{"a number with a large exponent", `{"items":{"minimum":1}}`, `[1,1e999999999]`, "[1]: is a number with too large an exponent"},
		{"a number of many digits", `{}`, `{"b":` + strings.Repeat("9", 2000) + `}`, "b: is a number with too many digits"},
		{"annotations only", `{"contentEncoding":"base64","contentMediaType":"application/json","title":"x","default":1,"examples":[2],"x-own":3}`, `"?"`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			issues := compile(t, test.schema).Validate(decode(t, test.value))
			if got := lines(issues); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	deep := strings.Repeat(`{"not":`, 70) + "{}" + strings.Repeat("}", 70)
	chain := `{"$defs":{"d0":{"type":"string"}`
	for i := 1; i <= 150; i++ {
		chain += fmt.Sprintf(`,"d%d":{"$ref":"#/$defs/d%d"}`, i, i-1)
	}
	chain += `},"$ref":"#/$defs/d150"}`
	references, programs := "true", "true"
	for i := range 500 {
		references += fmt.Sprintf(`,{"$ref":"#/x/%d"}`, i)
		programs += fmt.Sprintf(`,{"pattern":"(a{100}){10}%d"}`, i)
	}
	tests := []struct{ name, schema, want string }{
		{"not a schema", `1`, "must be true or false or an object"},
		{"null", `null`, "must be true or false or an object"},
		{"wrong type", `{"type":"text"}`, "type: fits none of the allowed schemas"},
		{"wrong keyword value", `{"properties":{"a":{"minimum":"1"}}}`, "properties.a.minimum: must be a number"},
		{"remote", `{"$ref":"https://example.com/schema.json"}`, `refers to "https://example.com/schema.json": references must stay within the schema`},
		{"file", `{"$ref":"file:///etc/passwd"}`, `refers to "file:///etc/passwd"`},
		{"relative file", `{"$ref":"other.json"}`, `references must stay within the schema`},
		{"id does not open a file", `{"$id":"file:///etc/","$ref":"passwd"}`, `refers to "file:///etc/passwd"`},
		{"own meta-schema", `{"$schema":"https://example.com/meta"}`, `refers to "https://example.com/meta"`},
		{"meta-schema of itself", `{"$schema":"schema:///root"}`, "unknown $schema"},
		{"missing target", `{"$ref":"#/$defs/none"}`, "a $ref has no target"},
		{"no anchor", `{"$ref":"#none"}`, "a $ref has no target"},
		{"pattern", `{"pattern":"(?=a)"}`, "pattern: must be a regular expression (RE2): invalid or unsupported Perl syntax"},
		{"pattern of names", `{"patternProperties":{"(":true}}`, "(: is not an allowed name"},
		{"long pattern", `{"pattern":"` + strings.Repeat("a", 1001) + `"}`, "it has more than 1000 characters"},
		{"self", `{"$ref":"#"}`, "a $ref refers to itself"},
		{"circle", `{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}},"items":{"$ref":"#/$defs/a"}}`, "a $ref refers to itself"},
		{"chain", chain, "too many rules are nested"},
		{"deep", deep, "at most 64 levels"},
		{"large", `{"enum":["` + strings.Repeat("a", 256<<10) + `"]}`, "at most 262144 bytes"},
		{"many", `{"enum":[0` + strings.Repeat(",0", 5_000) + `]}`, "at most 5000 values"},
		{"references", `{"allOf":[` + references + `]}`, "at most 300 different references"},
		{"programs", `{"allOf":[` + programs + `]}`, "the patterns of the schema are too large together"},
		{"number", `{"multipleOf":1e-999999999}`, "multipleOf: is a number with too large an exponent"},
		{"dynamic", `{"$dynamicRef":"#a","$defs":{"a":{"$dynamicAnchor":"a"}}}`, "not supported"},
		{"recursive of 2019", `{"$schema":"https://json-schema.org/draft/2019-09/schema","items":{"$recursiveRef":"#"}}`, "not supported"},
		{"two ids", `{"$defs":{"a":{"$id":"https://x.example/"},"b":{"$id":"https://x.example/"}}}`, "duplicate"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compile(decode(t, test.schema))
			var refused *blueprint.Error
			if !errors.As(err, &refused) || refused.Code != blueprint.CodeBadRequest {
				t.Fatalf("got %v, want Code %v", err, blueprint.CodeBadRequest)
			}
			if !strings.Contains(refused.Message, test.want) {
				t.Errorf("got %q, want it to contain %q", refused.Message, test.want)
			}
			for _, issue := range refused.Issues {
				if issue.Path == nil {
					t.Errorf("an issue without a path: %q", issue.Message)
				}
			}
		})
	}
}

func TestCompileRefusesGoValues(t *testing.T) {
	if _, err := Compile(map[string]any{"default": make(chan int)}); err == nil {
		t.Error("a channel was accepted, want an error")
	}
	if got := lines(compile(t, `{}`).Validate(map[string]any{"a": struct{}{}})); got != "a: is not a JSON value" {
		t.Errorf("got %q, want a: is not a JSON value", got)
	}
}

func TestIssuesAreCapped(t *testing.T) {
	list := make([]any, 10_000)
	for i := range list {
		list[i] = json.Number("1")
	}
	issues := compile(t, `{"items":{"type":"string"}}`).Validate(list)
	if len(issues) != MaxIssues {
		t.Fatalf("%d issues, want %v", len(issues), MaxIssues)
	}
	for i, issue := range issues {
		if blueprint.PathText(issue.Path) != fmt.Sprintf("[%d]", i) {
			t.Fatalf("issue %d is at %v, want %v", i, issue.Path, fmt.Sprintf("[%d]", i))
		}
	}
}

// A message must never show the value, which may be a secret.
func TestMessagesShowNoValues(t *testing.T) {
	const secret = "s3cr3t-value"
	for _, schema := range []string{
		`{"format":"email"}`, `{"pattern":"^x$"}`, `{"enum":["a"]}`, `{"const":1}`, `{"type":"number"}`, `{"maxLength":1}`,
		`{"not":{}}`, `{"anyOf":[{"const":1},{"pattern":"^x"}]}`, `{"format":"regex","pattern":"^y"}`, `false`,
	} {
		for _, issue := range compile(t, schema).Validate(secret) {
			if strings.Contains(issue.Message, secret) {
				t.Errorf("%s: %s, want no %q", schema, issue.Message, secret)
			}
		}
	}
}

// The order of issues must not depend on the order of a Go map.
func TestIssuesAreDeterministic(t *testing.T) {
	schema := compile(t, `{"additionalProperties":{"anyOf":[{"type":"string","minLength":3},{"required":["a","b"]}]},"propertyNames":{"maxLength":2},"required":["zz"]}`)
	value := map[string]any{}
	for i := range 40 {
		value[fmt.Sprint("k", i)] = map[string]any{"a": "x"}
	}
	want := lines(schema.Validate(value))
	for range 20 {
		if got := lines(schema.Validate(value)); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	}
}

func TestValidateConcurrently(t *testing.T) {
	schema := compile(t, `{"$defs":{"tree":{"properties":{"kids":{"items":{"$ref":"#/$defs/tree"}},"n":{"type":"number","pattern":"a"}}}},"$ref":"#/$defs/tree"}`)
	value := decode(t, `{"kids":[{"n":1},{"n":"x","kids":[{"n":null}]}]}`)
	want := lines(schema.Validate(value))
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 50 {
				if got := lines(schema.Validate(value)); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	group.Wait()
}
