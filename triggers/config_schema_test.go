package triggers

import (
	"maps"
	"slices"
	"testing"

	"blueprintd/blueprint"
)

// TestConfigSchemas holds the schemas against the keys that a check knows.
func TestConfigSchemas(t *testing.T) {
	for _, kind := range ConfigSchemas() {
		want := slices.Sorted(slices.Values(blueprint.TriggerConfigKeys(kind.Type)))
		if got := slices.Sorted(maps.Keys(kind.Schema["properties"].(map[string]any))); !slices.Equal(got, want) {
			t.Errorf("%s: the schema has %q, a check knows %q", kind.Type, got, want)
		}
	}
}
