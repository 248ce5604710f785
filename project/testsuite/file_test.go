package testsuite

import (
	"encoding/json"
	"testing"

	"blueprintd/blueprint"
)

func TestPlaceholders(t *testing.T) {
	for _, c := range []struct {
		name     string
		variable blueprint.Variable
		given    map[string]any
		want     any // nil = none
	}{
		{"not given", blueprint.Variable{Type: blueprint.VariableString, Required: true, Secret: true}, nil, "stand-in-for-a-secret"},
		{"given", blueprint.Variable{Type: blueprint.VariableString, Required: true, Secret: true}, map[string]any{"v": "x"}, "x"},
		{"masked", blueprint.Variable{Type: blueprint.VariableString, Required: true, Secret: true}, map[string]any{"v": "***"}, "***"},
		{"a masked number", blueprint.Variable{Type: blueprint.VariableNumber, Secret: true}, map[string]any{"v": "***"}, json.Number("1")},
		{"a masked boolean", blueprint.Variable{Type: blueprint.VariableBoolean, Secret: true}, map[string]any{"v": "***"}, true},
		{"a masked list", blueprint.Variable{Type: blueprint.VariableJSON, Secret: true}, map[string]any{"v": "***"}, "***"},
		{"a number", blueprint.Variable{Type: blueprint.VariableNumber, Required: true, Secret: true}, nil, json.Number("1")},
		{"optional", blueprint.Variable{Type: blueprint.VariableString, Secret: true}, nil, nil},
		{"with a default", blueprint.Variable{Type: blueprint.VariableString, Secret: true, Required: true, HasDefault: true, Default: "d"}, nil, nil},
		{"no secret", blueprint.Variable{Type: blueprint.VariableString, Required: true}, nil, nil},
		{"no secret, masked", blueprint.Variable{Type: blueprint.VariableNumber}, map[string]any{"v": "***"}, "***"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.variable.Name = "v"
			if got := Placeholders([]blueprint.Variable{c.variable}, c.given)["v"]; got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if _, issues := blueprint.BindVariables([]blueprint.Variable{c.variable}, Placeholders([]blueprint.Variable{c.variable}, c.given)); c.variable.Secret && len(issues) > 0 {
				t.Errorf("the run does not start: %v", issues)
			}
		})
	}
}
