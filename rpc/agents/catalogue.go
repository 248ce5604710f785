package agents

import (
	"strings"

	"blueprintd/blueprint"
)

func listNodeTypes(t *task, in map[string]any) (any, error) {
	types, err := t.callList("node.types", nil)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(str(in, "search")))
	found := []any{}
	for _, element := range types {
		kind, _ := element.(map[string]any)
		line, _, _ := strings.Cut(str(kind, "description"), ". ")
		about := strings.ToLower(str(kind, "type") + " " + str(kind, "title") + " " + str(kind, "description") + " " + str(kind, "category"))
		if fits(about, words) {
			found = append(found, map[string]any{"type": kind["type"], "title": kind["title"], "about": strings.TrimSuffix(line, ".")})
		}
	}
	return map[string]any{"nodeTypes": found}, nil
}

// fits reports whether a text contains all words.
func fits(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func getNodeType(t *task, in map[string]any) (any, error) {
	types, err := t.callList("node.types", nil)
	if err != nil {
		return nil, err
	}
	wanted, names := blueprint.NormalType(str(in, "type")), make([]string, 0, len(types))
	for _, element := range types {
		kind, _ := element.(map[string]any)
		if names = append(names, str(kind, "type")); str(kind, "type") == wanted {
			return pick(kind, "type", "title", "description", "configSchema", "handles", "effect", "waits", "passesInput", "expressions", "output", "example"), nil
		}
	}
	return nil, notFound("list them with build_list_node_types", "there is no node type %q%s", wanted, blueprint.DidYouMean(wanted, names))
}

func notFound(hint, format string, args ...any) *blueprint.Error {
	err := blueprint.Errorf(blueprint.CodeNotFound, format, args...)
	err.Hint = hint
	return err
}
