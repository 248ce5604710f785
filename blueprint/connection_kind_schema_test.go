package blueprint_test

import (
	"testing"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
)

// Every key has a title and a description, and the schema accepts every config that
// CheckConnection accepts.
func TestConnectionForms(t *testing.T) {
	forms := blueprint.ConnectionForms()
	if len(forms) != len(blueprint.ConnectionTypes) {
		t.Errorf("%d types, want %v", len(forms), len(blueprint.ConnectionTypes))
	}
	var complete func(where string, s map[string]any)
	complete = func(where string, s map[string]any) {
		properties, _ := s["properties"].(map[string]any)
		for _, name := range s["x-order"].([]any) {
			property := properties[name.(string)].(map[string]any)
			if property["title"] == "" || property["description"] == "" || property["x-kind"] == "" {
				t.Errorf("%s.%s is not described", where, name)
			}
			if (property["x-kind"] == "secret") != (property["writeOnly"] == true) {
				t.Errorf("%s.%s is secret, or is not", where, name)
			}
			alternatives, _ := property["oneOf"].([]any)
			for _, one := range alternatives {
				complete(where+"."+name.(string), one.(map[string]any))
			}
		}
	}
	for _, form := range forms {
		if form.Title == "" || form.Description == "" {
			t.Errorf("%s is not described", form.Type)
		}
		complete(string(form.Type), form.Schema)
		compiled, err := jsonschema.Compile(form.Schema)
		if err != nil {
			t.Fatalf("%s: %v", form.Type, err)
		}
		if len(connections[form.Type]) == 0 {
			t.Errorf("there is no config of type %s to try", form.Type)
		}
		for _, text := range connections[form.Type] {
			config := configOf(t, text)
			taken := blueprint.CheckConnection(form.Type, config) == nil
			if issues := compiled.Validate(config); taken && issues != nil {
				t.Errorf("%s %s: %v", form.Type, text, issues)
			}
		}
	}
}
