package blueprint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// habits warns about likely mistakes: duplicate titles, misspelled members, and retries
// of nodes that must run once.
func (v *validator) habits(m *Map) {
	titled := map[string]int{}
	raw, _ := m.Raw["nodes"].([]any)
	for i := range m.Nodes {
		node := &m.Nodes[i]
		warn := func(message string, spot Spot, path ...any) {
			v.add(Issue{Path: append([]any{"nodes", i}, path...), NodeID: node.ID, Message: message, Severity: SeverityWarning, Spot: spot})
		}
		kind := v.catalogue[node.Type]
		if first, twice := titled[node.Title]; twice && (kind == nil || node.Title != kind.Title) { // not a default title
			warn(fmt.Sprintf("is also the title of nodes[%d]: their steps are hard to distinguish", first), Spot{}, "title")
		} else if strings.TrimSpace(node.Title) != "" {
			titled[node.Title] = i
		}
		if kind != nil && node.Retry != nil && node.Retry.MaxAttempts > 1 && effectOf(node, kind) == EffectOnce {
			warn("has little effect: this node must not act twice, so it is retried only if nothing was sent", Spot{}, "retry")
		}
		if i >= len(raw) {
			continue
		}
		object, _ := raw[i].(map[string]any)
		misspelt(object, nodeMembers, func(name, meant string) { warn(meant, Spot{OnKey: true}, name) })
		retry, _ := object["retry"].(map[string]any)
		misspelt(retry, retryMembers, func(name, meant string) { warn(meant, Spot{OnKey: true}, "retry", name) })
	}
	edges, _ := m.Raw["edges"].([]any)
	for i := range edges {
		object, _ := edges[i].(map[string]any)
		misspelt(object, edgeMembers, func(name, meant string) {
			v.add(Issue{Path: []any{"edges", i, name}, Message: meant, Severity: SeverityWarning, Spot: Spot{OnKey: true}})
		})
	}
}

func effectOf(node *Node, kind *NodeType) Effect {
	if node.Effect != "" {
		return node.Effect
	}
	return kind.Effect
}

// The known members. Others are kept without effect.
var (
	nodeMembers     = []string{"id", "type", "title", "config", "disabled", "retry", "timeoutMs", "onError", "effect"}
	retryMembers    = []string{"maxAttempts", "delayMs", "backoff"}
	edgeMembers     = []string{"source", "target", "sourceHandle"}
	variableMembers = []string{"name", "type", "default", "description", "required", "secret"}
)

// otherNames are common mistakes for members.
var otherNames = map[string]string{"retries": "retry", "attempts": "maxAttempts", "configuration": "config"}

// meantMember returns the hint for an unknown member. Members that are absent are more
// likely meant than present ones.
func meantMember(name string, absent, present []string) string {
	plain := strings.NewReplacer("_", "", "-", "").Replace(name)
	for _, known := range [][]string{absent, present} {
		if other := otherNames[strings.ToLower(plain)]; slices.Contains(known, other) {
			return "; did you mean " + strconv.Quote(other) + "?"
		}
		if hint := DidYouMean(plain, known); hint != "" {
			return hint
		}
	}
	return ""
}

// misspelt finds unknown members with a name similar to a known one.
func misspelt(object map[string]any, members []string, found func(name, message string)) {
	if len(object) > 100 {
		return
	}
	var unknown, absent, present []string
	for name := range object {
		if !slices.Contains(members, name) && name != "id" {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return
	}
	for _, name := range members {
		if _, given := object[name]; !given {
			absent = append(absent, name)
		} else if len(name) > 3 {
			present = append(present, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		if hint := meantMember(name, absent, present); hint != "" {
			found(name, "has no effect"+hint)
		}
	}
}

// usage records the variables that nodes use.
type usage struct {
	names  map[string]bool
	opaque bool // some node may use any of them
}

// AnyVariable is the name of a reference to potentially all variables.
const AnyVariable = "*"

func (u *usage) note(refs []Reference) {
	for _, ref := range refs {
		u.names[ref.Name] = true
		u.opaque = u.opaque || ref.Name == AnyVariable
	}
}

// variables warns of unused and misspelled variables, and of secrets in the defaults.
func (v *validator) variables(list []any, declared []Variable) {
	warn := func(message string, spot Spot, path ...any) {
		v.found.add(Issue{Path: path, Message: message, Severity: SeverityWarning, Spot: spot}, "environment_variables")
	}
	for i, variable := range declared {
		if !v.used.opaque && !v.used.names[variable.Name] {
			warn("is used by no node", Spot{}, i, "name")
		}
		object, _ := list[i].(map[string]any)
		misspelt(object, variableMembers, func(name, message string) { warn(message, Spot{OnKey: true}, i, name) })
		if !variable.Secret && variable.HasDefault {
			plainSecrets([]any{i, "default"}, variable.Name, variable.Default, nil, func(path []any, what string, spot Spot) {
				warn("looks like "+what+` in plain text: mark the variable with "secret": true and leave its default out of files`, spot, path...)
			})
		}
	}
}

// secrets warns of secrets in the config of node i.
func (v *validator) secrets(i int, node *Node) {
	var untouched func([]any) bool
	if kind := v.catalogue[node.Type]; kind != nil {
		untouched = kind.Verbatim
	}
	for _, key := range slices.Sorted(maps.Keys(node.Config)) {
		plainSecrets([]any{key}, key, node.Config[key], untouched, func(path []any, what string, spot Spot) {
			hint := "use {{name}} of a secret variable, or a connection"
			if node.Type == "code" && key == "source" { // templates are not resolved there
				hint = "use variables.name of a secret variable"
			}
			v.add(Issue{
				Path: append([]any{"nodes", i, "config"}, path...), NodeID: node.ID, Severity: SeverityWarning, Spot: spot,
				Message: "looks like " + what + " in plain text: " + hint,
			})
		})
	}
}
