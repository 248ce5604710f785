package project

import (
	"slices"
	"strings"
)

// Dangling is a reference to a blueprint file that cannot be resolved.
type Dangling struct {
	Reference
	File     string // the file with the reference
	Message  string
	Indirect bool // the target exists, but has such a reference itself
}

// FindDangling returns the references to missing files, those that form a cycle, and
// those to files with such references. Without any, the blueprints can be created in an
// order in which each follows those to which it refers.
func FindDangling(files []Desired) (found []Dangling) {
	to := References(files)
	ready := settled(to)
	for i := range files {
		from := files[i].Path
		for _, r := range to[from] {
			target := r.Target(from)
			d := Dangling{Reference: r, File: from, Message: "waits for " + target, Indirect: true}
			if _, exists := to[target]; !exists {
				d.Message, d.Indirect = "there is no such blueprint file here: "+target, false
			} else if ready[target] {
				continue
			} else if path := shortestPath(to, target, from); path != nil {
				d.Message = "leads back to this file (" + strings.Join(append([]string{from}, path...), " -> ") + "); remove one of these references"
				d.Indirect = false
			}
			found = append(found, d)
		}
	}
	return found
}

// References returns the references to files, by the path of the referring file.
func References(files []Desired) map[string][]Reference {
	to := make(map[string][]Reference, len(files))
	for i := range files {
		to[files[i].Path] = slices.DeleteFunc(files[i].References(), func(r Reference) bool { return r.Key != BlueprintKey })
	}
	return to
}

// settled reports for each file whether its references lead to existing files without a
// cycle.
func settled(to map[string][]Reference) map[string]bool {
	ready := map[string]bool{}
	var visit func(path string) bool
	visit = func(path string) bool {
		references, exists := to[path]
		if known, seen := ready[path]; seen || !exists {
			return known
		}
		ready[path] = false // so that a cycle ends here
		ready[path] = !slices.ContainsFunc(references, func(r Reference) bool { return !visit(r.Target(path)) })
		return ready[path]
	}
	for path := range to {
		visit(path)
	}
	return ready
}

// shortestPath returns the files on the shortest path of references, including both
// ends; nil if there is none.
func shortestPath(to map[string][]Reference, from, end string) []string {
	before := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == end {
			var path []string
			for ; at != ""; at = before[at] {
				path = append(path, at)
			}
			slices.Reverse(path)
			return path
		}
		for _, r := range to[at] {
			next := r.Target(at)
			if _, seen := before[next]; !seen {
				before[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}
