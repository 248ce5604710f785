package blueprint_test

import (
	"fmt"
	"testing"

	"blueprintd/blueprint"
)

func TestTriggerIsOpen(t *testing.T) {
	for _, c := range []struct {
		kind   blueprint.TriggerType
		config string
		want   bool
	}{
		{"webhook", `{}`, true},
		{"webhook", `{"secret": "s"}`, false},
		{"webhook", `{"secret": 1}`, false}, // refuses every sender
		{"email", `{}`, true},
		{"email", `{"requireAuth": true}`, true}, // any sender has a domain
		{"email", `{"allowFrom": ["a@b.c"]}`, true},
		{"email", `{"allowFrom": ["a@b.c"], "requireAuth": true}`, false},
		{"slack", `{}`, false},
		{"api", `{}`, false},
	} {
		t.Run(fmt.Sprint(c.kind, " ", c.config), func(t *testing.T) {
			trigger := blueprint.Trigger{Type: c.kind, Config: object(t, c.config)}
			if got := trigger.IsOpen(); got != c.want {
				t.Errorf("%s %s: %v, want %v", c.kind, c.config, got, c.want)
			}
		})
	}
}
