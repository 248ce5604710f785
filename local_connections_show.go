package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"blueprintd/blueprint"
)

// shownMembers are the members of configs that an excerpt may show. What stands
// under any other may be a secret, also one whose name has a slip.
var shownMembers = []string{"type", "provider", "flow", "tls", "host", "hosts", "port", "from", "$connection"}

// point shows issues of the file with their places, and no secret of it.
func (g *givenConnections) point(out io.Writer, issues []blueprint.Issue) {
	hidden := hiddenBelow(nil, nil, g.document.Value, false)
	fmt.Fprint(out, pointed(g.document, issues, hidden...))
}

// hiddenBelow adds an issue for each text and number within a config, wherever it stands.
func hiddenBelow(found []blueprint.Issue, path []any, value any, inside bool) []blueprint.Issue {
	switch v := value.(type) {
	case string, json.Number:
		if inside {
			found = append(found, blueprint.Issue{Path: path, Spot: blueprint.Spot{Secret: true}})
		}
	case []any:
		for i, element := range v {
			found = hiddenBelow(found, append(slices.Clip(path), i), element, inside)
		}
	case map[string]any:
		for name, element := range v {
			if !inside || !slices.Contains(shownMembers, name) {
				found = hiddenBelow(found, append(slices.Clip(path), name), element, inside || name == "config")
			}
		}
	}
	return found
}
