package agents

import (
	"slices"

	"blueprintd/blueprint"
)

// difference describes what changed from one content to another: nodes by id, edges,
// variables by name, each with how; nil if nothing did.
func difference(before, after *plan) []any {
	var out []any
	add := func(kind, name, change string, keys []string) {
		entry := map[string]any{kind: name, "change": change}
		if len(keys) > 0 {
			list := make([]any, len(keys))
			for i, key := range keys {
				list[i] = key
			}
			entry["keys"] = list
		}
		out = append(out, entry)
	}
	compare := func(kind, by string, a, b []any) {
		for _, element := range a {
			old, _ := element.(map[string]any)
			if indexOf(b, by, str(old, by)) < 0 {
				add(kind, str(old, by), "removed", nil)
			}
		}
		for i, element := range b {
			now, _ := element.(map[string]any)
			index := indexOf(a, by, str(now, by))
			if index < 0 {
				add(kind, str(now, by), "added", nil)
				continue
			}
			old, _ := a[index].(map[string]any)
			if keys := changedKeys("", old, now); len(keys) > 0 {
				add(kind, str(now, by), "changed", keys)
			} else if kind == "node" && len(a) == len(b) && index != i {
				add(kind, str(now, by), "moved", nil)
			}
		}
	}
	compare("node", "id", arr(before.m, "nodes"), arr(after.m, "nodes"))
	edges := func(m map[string]any) (list []string) {
		for _, element := range arr(m, "edges") {
			edge, _ := element.(map[string]any)
			list = append(list, str(edge, "source")+"["+handleOf(edge)+"] -> "+str(edge, "target"))
		}
		return list
	}
	old, now := edges(before.m), edges(after.m)
	for _, edge := range old {
		if !slices.Contains(now, edge) {
			add("edge", edge, "removed", nil)
		}
	}
	for _, edge := range now {
		if !slices.Contains(old, edge) {
			add("edge", edge, "added", nil)
		}
	}
	compare("variable", "name", before.variables, after.variables)
	if before.title != after.title {
		out = append(out, map[string]any{"title": after.title, "change": "changed"})
	}
	return out
}

// changedKeys returns the members that differ, those of config by their names in it.
func changedKeys(prefix string, before, after map[string]any) (keys []string) {
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	for name := range names {
		a, hadBefore := before[name]
		b, hasAfter := after[name]
		if hadBefore == hasAfter && blueprint.Equal(a, b) {
			continue
		}
		left, isLeft := a.(map[string]any)
		right, isRight := b.(map[string]any)
		if name == "config" && prefix == "" && isLeft && isRight {
			keys = append(keys, changedKeys("config.", left, right)...)
			continue
		}
		keys = append(keys, prefix+name)
	}
	slices.Sort(keys)
	return keys
}

// sentences returns a difference as issues, for an error.
func sentences(changes []any) (issues []blueprint.Issue) {
	for _, element := range changes {
		change := element.(map[string]any)
		issue := blueprint.Issue{Path: []any{"blueprint_map"}, Message: str(change, "change")}
		for _, kind := range []string{"node", "edge", "variable", "title"} {
			name, given := change[kind].(string)
			if !given {
				continue
			}
			issue.Path = []any{kind, name}
			if kind == "node" {
				issue.NodeID = name
			}
		}
		if issues = append(issues, issue); len(issues) == maxIssues {
			break
		}
	}
	return issues
}
