package folder

import (
	"slices"
	"strings"

	"blueprintd/blueprint"
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
	to := references(files)
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

// references lists the references to files, by the paths of the files in which
// they stand.
func references(files []Desired) map[string][]Reference {
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

// wayBack gives the files on the shortest way from one to another along
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

// linked gives copies of files with the ids of blueprints in the place of their
// paths, as far as these have one yet.
func linked(files []Desired, ids map[string]string) []Desired {
	out := make([]Desired, len(files))
	for i := range files {
		out[i] = files[i].replace(func(r Reference) any {
			if id := ids[r.Target(files[i].Path)]; id != "" && r.Key == BlueprintKey {
				return id
			}
			return r.Back()
		})
	}
	return out
}

// idsOf gives the ids of blueprints by the paths of their files.
func idsOf(of map[string]*Deployed) map[string]string {
	ids := make(map[string]string, len(of))
	for path, d := range of {
		if d != nil {
			ids[path] = d.ID
		}
	}
	return ids
}

// pathsOf is the other way round.
func pathsOf(ids map[string]string) map[string]string {
	paths := make(map[string]string, len(ids))
	for path, id := range ids {
		paths[id] = path
	}
	return paths
}

// order puts changes behind those of the files that they refer to, and leaves them
// in their order otherwise.
func order(changes []Change, files []Desired) []Change {
	to, at := references(files), map[string]int{}
	for i := range changes {
		if changes[i].Action != Delete {
			at[changes[i].Path] = i
		}
	}
	out, done := make([]Change, 0, len(changes)), map[int]bool{}
	var visit func(i int)
	visit = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		if changes[i].Action != Delete {
			for _, r := range to[changes[i].Path] {
				if j, there := at[r.Target(changes[i].Path)]; there {
					visit(j)
				}
			}
		}
		out = append(out, changes[i])
	}
	for i := range changes {
		visit(i)
	}
	return out
}

// link puts the ids of blueprints that were made meanwhile in the place of their
// paths.
func (c *Change) link(ids map[string]string) (err error) {
	with := func(r Reference) any {
		id := ids[r.Target(c.Path)]
		if r.Key != BlueprintKey || id == "" {
			err = blueprint.Errorf(blueprint.CodeBadRequest, "%s %q is not on the server", r.Key, r.Name)
		}
		return id
	}
	c.create.Map = Replace(c.create.Map, nil, with)
	if c.patch.Map != nil {
		m := Replace(*c.patch.Map, nil, with)
		c.patch.Map = &m
	}
	c.Triggers = slices.Clone(c.Triggers)
	for i := range c.Triggers {
		if t := &c.Triggers[i]; t.config != nil {
			t.config, _ = Replace(t.config, nil, with).(map[string]any)
		}
	}
	return err
}

// name puts references in the place of ids in what is told of changes.
func name(changes []Change, connections, blueprints map[string]string) {
	of := func(path string, value any) any {
		id, _ := value.(string)
		member := path[strings.LastIndexByte(path, '.')+1:]
		switch {
		case connections[id] != "" && (member == oneConnection || strings.HasPrefix(member, severalConnections+"[")):
			return map[string]any{ConnectionKey: connections[id]}
		case blueprints[id] != "" && member == oneBlueprint:
			return map[string]any{BlueprintKey: blueprints[id]}
		}
		return value
	}
	each := func(fields []Field) {
		for i, f := range fields {
			fields[i].Before, fields[i].After = of(f.Path, f.Before), of(f.Path, f.After)
		}
	}
	for _, c := range changes {
		each(c.Fields)
		for _, n := range c.Nodes {
			each(n.Fields)
		}
		for _, t := range c.Triggers {
			each(t.Fields)
		}
	}
}
