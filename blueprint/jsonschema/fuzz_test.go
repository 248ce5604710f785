package jsonschema

import (
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"blueprintd/blueprint"
)

// FuzzValidate compares results with those of the unchanged library.
func FuzzValidate(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`, `{"a":1.0}`},
		{`{"items":{"anyOf":[{"type":"string"},{"minimum":2}]},"uniqueItems":true}`, `[1,"a",1e0]`},
		{`{"patternProperties":{"^a":{"type":"string"}},"additionalProperties":false,"propertyNames":{"maxLength":2}}`, `{"ab":"x","b":1}`},
		{`{"prefixItems":[{"const":1}],"items":{"$ref":"#"},"unevaluatedItems":false,"contains":{"type":"null"}}`, `[1,[1,null]]`},
		{`{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":{"type":"string"}}`, `{"a":1,"b":"x","c":2}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[true],"additionalItems":{"type":"string"},"dependencies":{"a":["b"]}}`, `[1,2]`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`},
		{`{"if":{"type":"string"},"then":{"format":"date"},"else":{"multipleOf":0.1}}`, `0.3`},
		{`{"dependentSchemas":{"a":{"required":["b"]}},"dependentRequired":{"b":["c"]},"not":{"required":["z"]}}`, `{"a":1,"b":2}`},
		{`{"$id":"https://e.example/x","$defs":{"a":{"$anchor":"q","enum":[1,{"x":[]}]}},"oneOf":[{"$ref":"#q"},false]}`, `{"x":[]}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, schemaText, valueText string) {
		source, err := blueprint.Decode([]byte(schemaText))
		if err != nil {
			return
		}
		value, err := blueprint.Decode([]byte(valueText))
		if err != nil {
			return
		}
		schema, err := Compile(source)
		if err != nil {
			return
		}
		issues := schema.Validate(value)
		if len(issues) > MaxIssues {
			t.Fatalf("%d issues, want at most %v", len(issues), MaxIssues)
		}
		if len(issues) == 1 && (issues[0].Message == tooLarge || unfit(value, 0) != "") {
			return
		}
		compiler := jsonschema.NewCompiler()
		compiler.UseLoader(noLoader{})
		compiler.AssertFormat()
		if err := compiler.AddResource(location, source); err != nil {
			t.Fatal(err)
		}
		plain, err := compiler.Compile(location)
		if err != nil {
			t.Fatalf("only the library returns an error: %v", err)
		}
		if err := plain.Validate(value); (err == nil) != (issues == nil) {
			t.Fatalf("the library returns %v, Validate %s", err, lines(issues))
		}
	})
}
