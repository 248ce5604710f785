package project

import (
	"slices"
	"strings"
)

// Dangling is a reference to a blueprint file that nothing can be made of.
type Dangling struct {
	Reference
	File    string // in which it stands
	Message string
	// Indirect tells that the file it names is there, and itself has such a
	// reference.
	Indirect bool
}

// FindDangling tells which references to files lead nowhere, or back to where they
// stand; an order in which to make the blueprints is there only without them. All
// of the files are told whose blueprints cannot be made because of that.
func FindDangling(files []Desired) (found []Dangling) {
	to := References(files)
	ready := settled(to)
	for i := range files {
		from := files[i].Path
		for _, r := range to[from] {
			target := r.Target(from)
			d := Dangling{Reference: r, File: from, Message: "waits for " + target, Indirect: true}
			if _, there := to[target]; !there {
				d.Message, d.Indirect = "there is no such blueprint file here: "+target, false
			} else if ready[target] {
				continue
			} else if way := wayBack(to, target, from); way != nil {
				d.Message = "leads back to this file (" + strings.Join(append([]string{from}, way...), " -> ") + "); a blueprint can be made only after those that it refers to"
				d.Indirect = false
			}
			found = append(found, d)
		}
	}
	return found
}

// References lists the references to files, by the paths of the files in which
// they stand.
func References(files []Desired) map[string][]Reference {
	to := make(map[string][]Reference, len(files))
	for i := range files {
		to[files[i].Path] = slices.DeleteFunc(files[i].References(), func(r Reference) bool { return r.Key != BlueprintKey })
	}
	return to
}

// settled tells which files lead to nothing that is not there, and to no circle.
func settled(to map[string][]Reference) map[string]bool {
	open, users := map[string]int{}, map[string][]string{}
	var queue []string
	for from, list := range to {
		if open[from] = len(list); len(list) == 0 {
			queue = append(queue, from)
		}
		for _, r := range list {
			users[r.Target(from)] = append(users[r.Target(from)], from)
		}
	}
	out := map[string]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		out[queue[0]] = true
		for _, from := range users[queue[0]] {
			if open[from]--; open[from] == 0 {
				queue = append(queue, from)
			}
		}
	}
	return out
}

// wayBack returns the files on the shortest way from one to another along
// references, with both; nil when there is none.
func wayBack(to map[string][]Reference, from, back string) []string {
	before := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == back {
			var way []string
			for ; at != ""; at = before[at] {
				way = append(way, at)
			}
			slices.Reverse(way)
			return way
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
