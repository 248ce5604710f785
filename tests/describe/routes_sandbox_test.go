package describe

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/server/sandbox"
)

// TestSandboxMembers compares the described members of rules with those that the sandbox
// accepts, which it lists when it refuses another one.
func TestSandboxMembers(t *testing.T) {
	rules := sandboxSchemas()["SandboxRules"].(object)["properties"].(object)["rules"].(object)["items"].(object)["properties"].(object)
	var s sandbox.Sandbox
	err := s.SetRules(map[string]any{"rules": []any{map[string]any{"match": map[string]any{"?": 1}, "answer": map[string]any{"?": 1}}}})
	var refused *blueprint.Error
	if !errors.As(err, &refused) {
		t.Fatalf("%v, want a refusal", err)
	}
	accepted := map[string][]string{}
	for _, issue := range refused.Issues {
		if list, is := strings.CutPrefix(issue.Message, "unknown key; the keys are "); is {
			accepted[issue.Path[2].(string)] = slices.Sorted(slices.Values(strings.Split(list, ", ")))
		}
	}
	want := map[string][]string{}
	for _, part := range []string{"match", "answer"} {
		want[part] = slices.Sorted(maps.Keys(rules[part].(object)["properties"].(object)))
	}
	if diff := cmp.Diff(want, accepted); diff != "" {
		t.Errorf("the sandbox accepts other members than openapi.json describes (-described +accepted):\n%s", diff)
	}
}
