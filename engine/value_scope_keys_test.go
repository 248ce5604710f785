package engine

import (
	"maps"
	"slices"
	"testing"

	"blueprintd/blueprint"
)

// blueprint.ScopeKeys lists the keys that the scope has.
func TestScopeKeys(t *testing.T) {
	s := &scope{run: &run{fold: fold{begin: &begin{}, program: &program{definition: &blueprint.Definition{}}}}}
	for name, want := range blueprint.ScopeKeys {
		if name == "nodes" {
			continue // Part gives {"output": ...}
		}
		value, _ := s.Lookup(name)
		object, _ := value.(map[string]any)
		if got := slices.Sorted(maps.Keys(object)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s has %v, checked are %v", name, got, want)
		}
	}
}
