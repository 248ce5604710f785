package testsuite

import (
	"fmt"
	"maps"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// WaysOf gives the handles at which each node of a map may go on, by its address
// as nodesOf gives it; nil for a node that may take any.
func WaysOf(m any, before string, out map[string][]string) {
	object, _ := m.(map[string]any)
	nodes, _ := object["nodes"].([]any)
	for _, element := range nodes {
		node, _ := element.(map[string]any)
		id, _ := node["id"].(string)
		config, _ := node["config"].(map[string]any)
		kind := project.Catalogue()[blueprint.NormalType(fmt.Sprint(node["type"]))]
		if kind == nil || slices.Contains(kind.Handles, "*") {
			out[before+id] = nil
			continue
		}
		ways := append([]string{"main"}, kind.Handles...)
		if node["onError"] == string(blueprint.OnErrorBranch) {
			ways = append(ways, blueprint.ErrorHandle)
		}
		cases, _ := config["cases"].([]any)
		for _, element := range cases {
			object, _ := element.(map[string]any)
			if handle, ok := object["handle"].(string); ok {
				ways = append(ways, handle)
			}
		}
		out[before+id] = ways
		if kind.Type == "for-each" {
			WaysOf(config, before+id+"[*]/", out)
		}
	}
}

// UnknownWays tells which branches a test expects that their nodes do not have.
func UnknownWays(test *Test, ways map[string][]string) (issues []blueprint.Issue) {
	branches, _ := test.Expect["branches"].(map[string]any)
	for _, address := range slices.Sorted(maps.Keys(branches)) {
		handle, _ := branches[address].(string)
		known := ways[EveryItem(address)]
		if known == nil || slices.Contains(known, handle) {
			continue
		}
		issues = append(issues, blueprint.Issue{
			Path: []any{"tests", test.Index, "expect", "branches", address}, Severity: blueprint.SeverityError,
			Message: fmt.Sprintf("the node has no handle %q", handle) + blueprint.DidYouMean(handle, known),
		})
	}
	return issues
}
