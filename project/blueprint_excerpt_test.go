package project

import (
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
)

func TestExcerptsHideSecrets(t *testing.T) {
	for _, test := range []struct {
		name, text string
		path       []any
	}{
		{"a default", `environment_variables: [{name: a, secret: true, default: hunter22, x: 1}]`, []any{"environment_variables", 0, "x"}},
		{"of several lines", "environment_variables: [{name: a, secret: true, default: 'hunter22\n  hunter23', x: 1}]", []any{"environment_variables", 0, "x"}},
		{"a telling name", `config: {password: hunter22, x: 1}`, []any{"config", "x"}},
		{"a field", `list: [{name: apiKey, value: hunter22, x: 1}]`, []any{"list", 0, "x"}},
		{"a variable", `variables: {mine: hunter22, x: 1}`, []any{"variables", "x"}},
		{"itself", `password: hunter22`, []any{"password"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := document.Parse("x.yaml", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			shown := Excerpt(d, blueprint.Issue{Path: test.path}, nil, "mine")
			if strings.Contains(shown, "hunter") || !strings.Contains(shown, "****") || !strings.Contains(shown, "^") {
				t.Errorf("%s:\n%s", test.name, shown)
			}
		})
	}
}
