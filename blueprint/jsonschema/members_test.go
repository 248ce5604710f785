package jsonschema

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestMembers(t *testing.T) {
	for source, want := range map[string][]Member{
		`true`: nil,
		`{"properties": {"b": {"type": "string"}, "a": true, "d": {}, "c": {}}, "required": ["c", "x", "c"], "x-order": ["d", 1, "y", "d"]}`: {
			{"d", map[string]any{}, false}, {"c", map[string]any{}, true}, {"a", nil, false}, {"b", map[string]any{"type": "string"}, false},
		},
	} {
		t.Run(source, func(t *testing.T) {
			schema, err := blueprint.Decode([]byte(source))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, Members(schema)); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
		})
	}
}
