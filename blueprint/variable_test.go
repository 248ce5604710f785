package blueprint_test

import (
	"testing"

	"blueprintd/blueprint"
)

func array(t testing.TB, text string) []any {
	t.Helper()
	return decode(t, text).([]any)
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	return decode(t, text).(map[string]any)
}

func TestParseVariables(t *testing.T) {
	for _, test := range []struct{ given, want string }{
		{`[]`, ""},
		{`[{"name": "a"}]`, ""},
		{`[{"name": "a_1", "type": "json", "default": null, "required": true, "secret": false, "description": "x", "more": 1}]`, ""},
		{`[{"name": "a", "type": "number", "default": null}]`, ""},
		{`["a"]`, "[0]: must be an object"},
		{`[{}]`, "[0].name: required"},
		{`[{"name": null}]`, "[0].name: required"},
		{`[{"name": 1}]`, "[0].name: must be a string"},
		{`[{"name": ""}]`, "[0].name: must be letters, digits and _"},
		{`[{"name": "a-b"}]`, "[0].name: must be letters, digits and _"},
		{`[{"name": "a\n"}]`, "[0].name: must be letters, digits and _"},
		{`[{"name": "input"}]`, `[0].name: "input" is a name that the service sets itself`},
		{`[{"name": "a"}, {"name": "a"}]`, `[1].name: "a" is declared already`},
		{`[{"name": "a", "type": "integer"}]`, `[0].type: must be "string", "number", "boolean" or "json"`},
		{`[{"name": "a", "type": null, "required": null, "secret": null, "description": null, "default": null}]`, ""},
		{`[{"name": "a", "required": "yes", "secret": 1}]`, "[0].required: must be true or false\n[0].secret: must be true or false"},
		{`[{"name": "a", "description": 1}]`, "[0].description: must be a string"},
		{`[{"name": "a", "default": 1}]`, "[0].default: must be a string"},
		{`[{"name": "a", "type": "number", "default": "1"}]`, "[0].default: must be a number"},
		{`[{"name": "a", "type": "number", "value": "1"}]`, "[0].value: must be a number"},
		{`[{"name": "a", "isSecret": "yes"}]`, "[0].isSecret: must be true or false"},
		{`[{"name": "a", "default": null, "value": "1"}]`, "[0].value: is another spelling of default, which is also given; leave one out"},
		{`[{"name": "a", "is_secret": true, "isSecret": true}]`, "[0].is_secret: is another spelling of isSecret, which is also given; leave one out"},
		{`[{"name": "a", "type": "number", "is_secret": true, "defaultValue": ""}]`, ""},
		{`[{"name": "a", "type": "boolean", "default": 0}]`, "[0].default: must be a boolean"},
	} {
		t.Run(test.given, func(t *testing.T) {
			if _, issues := blueprint.ParseVariables(array(t, test.given)); issueTexts(issues) != test.want {
				t.Errorf("got\n%s\nwant\n%s", issueTexts(issues), test.want)
			}
		})
	}
	for _, name := range blueprint.ReservedNames {
		if _, issues := blueprint.ParseVariables([]any{map[string]any{"name": name}}); issues == nil {
			t.Errorf("%s is accepted as the name of a variable", name)
		}
	}
}

func TestBindVariables(t *testing.T) {
	for _, test := range []struct{ name, declared, given, want, issues string }{
		{"nothing", `[]`, "", `{}`, ""},
		{"default", `[{"name": "a", "default": "x"}]`, "", `{"a":"x"}`, ""},
		{"given", `[{"name": "a", "default": "x"}]`, `{"a": "y"}`, `{"a":"y"}`, ""},
		{"neither", `[{"name": "a"}]`, "", `{"a":null}`, ""},
		{"null is the default of json", `[{"name": "a", "type": "json", "default": null, "required": true}]`, "", `{"a":null}`, ""},
		{"null is no default of a secret", `[{"name": "a", "type": "json", "default": null, "required": true, "secret": true}]`, "", `{}`, "a: required"},
		{"null is no default of a string", `[{"name": "a", "default": null, "required": true}]`, "", `{}`, "a: required"},
		{"required has a default", `[{"name": "a", "default": "", "required": true}]`, "", `{"a":""}`, ""},
		{"wrong types", `[{"name": "a", "type": "number"}, {"name": "b", "type": "boolean"}, {"name": "c"}]`, `{"a": "1", "b": "true", "c": 1}`,
			`{"a":"1","b":"true","c":1}`, "a: must be a number\nb: must be a boolean\nc: must be a string"},
		{"null is absent", `[{"name": "a", "default": "x"}, {"name": "b", "required": true}, {"name": "c"}]`, `{"a": null, "b": null, "c": null}`, `{"a":"x","b":null,"c":null}`, "b: required"},
		{"null is a value of json", `[{"name": "a", "type": "json", "default": 1}]`, `{"a": null}`, `{"a":null}`, ""},
		{"an alias of default", `[{"name": "a", "value": "x"}, {"name": "b", "defaultValue": "y"}, {"name": "c", "default_value": "z"}]`, "", `{"a":"x","b":"y","c":"z"}`, ""},
		{"a secret with an empty default has none", `[{"name": "a", "isSecret": true, "default": "", "required": true}, {"name": "b", "secret": true, "default": ""}]`, "", `{"b":null}`, "a: required"},
		{"any json", `[{"name": "a", "type": "json"}]`, `{"a": [1.50, {}]}`, `{"a":[1.50,{}]}`, ""},
		{"undeclared", `[]`, `{"z": 1, "a": 2}`, `{"a":2,"z":1}`, ""},
		{"reserved", `[]`, `{"nodes": 1, "input": 2}`, `{}`, "input: is a name that the service sets itself\nnodes: is a name that the service sets itself"},
	} {
		t.Run(test.name, func(t *testing.T) {
			declared, issues := blueprint.ParseVariables(array(t, test.declared))
			if issues != nil {
				t.Fatalf("%v, want nil", issueTexts(issues))
			}
			bound, issues := blueprint.BindVariables(declared, object(t, test.given))
			if got := issueTexts(issues); got != test.issues {
				t.Errorf("issues\n%s\nwant\n%s", got, test.issues)
			}
			if got, _ := blueprint.Encode(bound); string(got) != test.want {
				t.Errorf("bound %s, want %s", got, test.want)
			}
		})
	}
}

func TestRedact(t *testing.T) {
	given := array(t, `[{"name": "a", "default": "open"}, {"name": "b", "secret": true, "default": "hidden", "more": 1}, {"name": "c", "secret": true}, "odd"]`)
	before, _ := blueprint.Encode(given)
	got, _ := blueprint.Encode(blueprint.RedactVariables(given))
	if want := `[{"default":"open","name":"a"},{"default":null,"more":null,"name":"b","secret":true},{"name":"c","secret":true},"odd"]`; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if after, _ := blueprint.Encode(given); string(after) != string(before) {
		t.Errorf("the argument was changed: %v, want %v", string(after), string(before))
	}
	config := object(t, `{"secret": "s", "path": "/x"}`)
	if got := blueprint.RedactConfig(config); !blueprint.Equal(got, object(t, `{"secret": null, "path": "/x"}`)) || config["secret"] != "s" {
		t.Errorf("config %v, given %v", got, config)
	}
}

func TestKeepSecrets(t *testing.T) {
	for _, test := range []struct{ name, before, after, want string }{
		{"null stays", `[{"name":"a","secret":true,"default":"old"}]`, `[{"name":"a","secret":true,"default":null}]`, `[{"default":"old","name":"a","secret":true}]`},
		{"a new value", `[{"name":"a","secret":true,"default":"old"}]`, `[{"name":"a","secret":true,"default":"new"}]`, `[{"default":"new","name":"a","secret":true}]`},
		{"empty removes", `[{"name":"a","secret":true,"default":"old"}]`, `[{"name":"a","secret":true,"default":""}]`, `[{"name":"a","secret":true}]`},
		{"another name", `[{"name":"a","secret":true,"default":"old"}]`, `[{"name":"b","secret":true,"default":null}]`, `[{"default":null,"name":"b","secret":true}]`},
		{"no longer secret", `[{"name":"a","secret":true,"default":"old"}]`, `[{"name":"a","default":null}]`, `[{"default":null,"name":"a"}]`},
		{"null stays under any key", `[{"name":"a","secret":true,"more":"old","description":"d"}]`, `[{"name":"a","is_secret":true,"more":null,"description":null,"new":null}]`, `[{"description":null,"more":"old","name":"a","new":null,"secret":true}]`},
		{"aliases", `[]`, `[{"name":"a","value":"x"},{"name":"b","is_secret":true,"default_value":""}]`, `[{"default":"x","name":"a"},{"name":"b","secret":true}]`},
		{"was not secret", `[{"name":"a","default":"open"}]`, `[{"name":"a","secret":true,"default":null}]`, `[{"default":null,"name":"a","secret":true}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, _ := blueprint.Encode(blueprint.KeepSecrets(array(t, test.before), array(t, test.after))); string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestMergeConfig(t *testing.T) {
	for _, test := range []struct{ name, before, change, want string }{
		{"into nothing", "", `{"a": 1}`, `{"a":1}`},
		{"replaces whole keys", `{"a": {"x": 1}, "b": 2}`, `{"a": {"y": 2}}`, `{"a":{"y":2},"b":2}`},
		{"null removes", `{"a": 1, "b": 2}`, `{"a": null}`, `{"b":2}`},
		{"a secret stays with null", `{"secret": "s"}`, `{"secret": null}`, `{"secret":"s"}`},
		{"an empty secret is removed", `{"secret": "s", "signingSecret": "t"}`, `{"secret": ""}`, `{"signingSecret":"t"}`},
		{"a new secret removes the previous one", `{"secret": "s", "previousSecret": "r", "previousSecretUntil": "x"}`, `{"secret": "t"}`, `{"secret":"t"}`},
		{"removing a secret removes the previous one", `{"secret": "s", "previousSecret": "r", "previousSecretUntil": "x"}`, `{"secret": ""}`, `{}`},
		{"the same secret keeps the previous one", `{"secret": "s", "previousSecret": "r"}`, `{"secret": "s"}`, `{"previousSecret":"r","secret":"s"}`},
		{"an explicit previous secret is kept", `{"signingSecret": "s", "previousSigningSecret": "r"}`, `{"signingSecret": "t", "previousSigningSecret": null}`, `{"previousSigningSecret":"r","signingSecret":"t"}`},
		{"the previous secret of another key is kept", `{"signingSecret": "s", "previousSigningSecret": "r"}`, `{"secret": {}}`, `{"previousSigningSecret":"r","secret":{},"signingSecret":"s"}`},
		{"an empty text is kept", `{"a": "x"}`, `{"a": ""}`, `{"a":""}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := object(t, test.before)
			kept, _ := blueprint.Encode(before)
			if got, _ := blueprint.Encode(blueprint.MergeConfig(before, object(t, test.change))); string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if after, _ := blueprint.Encode(before); string(after) != string(kept) {
				t.Errorf("the previous config was changed: %v, want %v", string(after), string(kept))
			}
		})
	}
}
