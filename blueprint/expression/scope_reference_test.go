package expression

import (
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func shown(refs []blueprint.Reference) string {
	var out []string
	for _, r := range refs {
		text := fmt.Sprintf("%d:%d+%d %s", r.Spot.Line, r.Spot.Column, r.Spot.Length, r.Name)
		if r.NodeID != "" {
			text += "." + r.NodeID
		}
		if r.Optional {
			text += "?"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// References have spots.
func TestReferenceSpots(t *testing.T) {
	for source, want := range map[string]string{
		"plain":                         "",
		"é {{a}} {{ b.c ?? 1 }}":        "1:3+5 a, 1:9+14 b?",
		"x\n  y {{nodes.n.output}}":     "2:5+18 nodes.n",
		"{{= a + b.c + a }}":            "1:5+1 a, 1:9+1 b",
		"{{= nodes.n.output.x }}":       "1:5+5 nodes.n?",
		"é\n{{= len(\n  items) }}{{z}}": "3:3+5 items, 3:12+5 z",
		"{{= let q = 1; q + r }}":       "1:20+1 r",
	} {
		t.Run(source, func(t *testing.T) {
			c, issues := CompileConfig(map[string]any{"k": source}, nil)
			if len(issues) > 0 {
				t.Fatal(source, issues)
			}
			if got := shown(c.References()); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
	for source, want := range map[string]string{
		"a.b + nodes[\"n\"].output": "1:1+1 a, 1:7+5 nodes.n?",
		"filter(a,\n #.x > b)":      "1:8+1 a, 2:8+1 b",
		"nodes":                     "1:1+5 nodes",
	} {
		t.Run(source, func(t *testing.T) {
			x, err := CompileExpression(source)
			if err != nil {
				t.Fatal(source, err)
			}
			if got := shown(x.References()); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// Errors have spots; that of an unclosed placeholder is its start.
func TestErrorSpots(t *testing.T) {
	for source, want := range map[string]string{
		"é {{ a b }}":         "1:8",
		"x\n y {{a":           "2:7",
		"x {{a\n\n b":         "1:3",
		"x\n{{= 1 +\n }}":     "3:1",
		"{{= [1,\n 2,\n ) }}": "3:2",
	} {
		t.Run(source, func(t *testing.T) {
			_, issues := CompileConfig(map[string]any{"k": source}, nil)
			if len(issues) != 1 {
				t.Fatal(source, issues)
			}
			if got := fmt.Sprintf("%d:%d", issues[0].Spot.Line, issues[0].Spot.Column); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
