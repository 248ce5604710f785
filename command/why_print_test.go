package command

import (
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/triggers/explain"
)

// Control characters in a delivery are escaped on the terminal.
func TestWhyOnATerminal(t *testing.T) {
	const evil = "\x1b]0;OWNED\x07a\u009b2J\rb\u202ec\u2066\u2028d\ne\tü日\x7f\x9b"
	var out strings.Builder
	told := &explain.Answer{Words: []string{evil}, Next: evil, Rows: []explain.Row{{
		Firing: blueprint.Firing{ID: "01ID", Decision: blueprint.DecisionStarted, Reason: evil}, When: "today", Words: evil,
	}}}
	if err := printWhy(&out, told); err != nil {
		t.Fatal(err)
	}
	const shown = "�]0;OWNED�a�2J�b�c��d e ü日��"
	text := out.String()
	if strings.ContainsAny(text, "\x1b\x07\u009b\r\u202e\u2066\u2028\t\x7f") || strings.Count(text, shown) != 4 {
		t.Errorf("%q", text)
	}
}
