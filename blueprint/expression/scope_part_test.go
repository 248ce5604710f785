package expression

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// divided is a scope with parts for one name.
type divided struct {
	MapScope
	whole, parts int // number of lookups
}

func (s *divided) Lookup(name string) (any, bool) {
	if name == "nodes" {
		s.whole++
	}
	return s.MapScope.Lookup(name)
}

func (s *divided) HasParts(name string) bool { return name == "nodes" }

func (s *divided) Part(name, key string) (any, bool) {
	s.parts++
	value, ok := s.MapScope[name].(map[string]any)[key]
	return value, ok
}

func (s *divided) Nearby(name string) map[string]any { return s.MapScope[name].(map[string]any) }

// A scope with parts has the same values and errors as one without, and the whole is only
// looked up if an expression uses it.
func TestPartialScope(t *testing.T) {
	for source, whole := range map[string]int{
		`{{nodes.my}}`: 0, `{{nodes["my-node"].output.n}}`: 0, `{{nodes.nope ?? 1}}`: 0, `{{nodes.nope}}`: 0, `{{nodes.my.nope}}`: 0, `{{nodes.my.a.b}}`: 0, `{{nodes.nope.x}} {{limit}}`: 0,
		`{{nodes}}`: 1, `{{nodes[0]}}`: 2, `{{nodes[0] ?? 1}}`: 1,
		`{{= nodes.my }}`: 0, `{{= nodes["my-node"].output.n + 1 }}`: 0, `{{= nodes?.nope?.x }}`: 0, `{{= nodes.nope }}`: 0, `{{= map(1..3, nodes.my.b) }}`: 0,
		`{{= let nodes = 1; nodes }}`: 0, `{{= let nodes = {my: 2}; nodes.my }}`: 0, `{{= let n = nodes; n.my }}`: 1, `{{= keys(nodes) }}`: 1, `{{= nodes[text] }}`: 1,
		`{{= nodes.my.b.c }}`: 0, `{{= nodes.my + len(nodes) }}`: 1, `{{= inputData.nope }}`: 0, `{{= text.x }}`: 0, `{{= nope.x }}`: 0, `{{nope.x}}`: 0,
	} {
		t.Run(source, func(t *testing.T) {
			plainScope := testScope(t)
			scope := &divided{MapScope: maps.Clone(plainScope)}
			want, wantError := resolve(source, plainScope)
			got, gotError := resolve(source, scope)
			if fmt.Sprint(gotError) != fmt.Sprint(wantError) || encode(t, got) != encode(t, want) {
				t.Errorf("%v, %v; without parts %v, %v", got, gotError, want, wantError)
			}
			if scope.whole != whole {
				t.Errorf("%d lookups of the whole, want %d", scope.whole, whole)
			}
		})
	}
	x, err := CompileExpression(`nodes.a + nodes.b + limit`)
	if err != nil || !slices.Equal(x.Names(), []string{"limit", "nodes"}) {
		t.Errorf("names %q, %v; want %v", x.Names(), err, []string{"limit", "nodes"})
	}
}
