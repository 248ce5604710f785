package deploy

import (
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// linked returns copies of files with paths replaced by the ids of existing blueprints.
func linked(files []project.Desired, ids map[string]string) []project.Desired {
	out := make([]project.Desired, len(files))
	for i := range files {
		out[i] = files[i].Replace(func(r project.Reference) any {
			if id := ids[r.Target(files[i].Path)]; id != "" && r.Key == project.BlueprintKey {
				return id
			}
			return r.Back()
		})
	}
	return out
}

// idsOf returns the ids of blueprints by the paths of their files.
func idsOf(of map[string]*project.Deployed) map[string]string {
	ids := make(map[string]string, len(of))
	for path, d := range of {
		if d != nil {
			ids[path] = d.ID
		}
	}
	return ids
}

// pathsOf returns the paths of files by the ids of their blueprints.
func pathsOf(ids map[string]string) map[string]string {
	paths := make(map[string]string, len(ids))
	for path, id := range ids {
		paths[id] = path
	}
	return paths
}

// order moves changes after those of the files to which they refer, and otherwise keeps
// their order.
func order(changes []Change, files []project.Desired) []Change {
	to, at := project.References(files), map[string]int{}
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

// link replaces the paths of files by the ids of blueprints created meanwhile.
func (c *Change) link(ids map[string]string) (err error) {
	with := func(r project.Reference) any {
		id := ids[r.Target(c.Path)]
		if r.Key != project.BlueprintKey || id == "" {
			err = blueprint.Errorf(blueprint.CodeBadRequest, "%s %q is not on the server", r.Key, r.Name)
		}
		return id
	}
	c.create.Map = project.Replace(c.create.Map, nil, with)
	if c.patch.Map != nil {
		m := project.Replace(*c.patch.Map, nil, with)
		c.patch.Map = &m
	}
	c.Triggers = slices.Clone(c.Triggers)
	for i := range c.Triggers {
		if t := &c.Triggers[i]; t.config != nil {
			t.config, _ = project.Replace(t.config, nil, with).(map[string]any)
		}
	}
	return err
}

// name replaces ids by references in the fields of changes.
func name(changes []Change, connections, blueprints map[string]string) {
	of := func(path string, value any) any {
		id, _ := value.(string)
		member := path[strings.LastIndexByte(path, '.')+1:]
		switch {
		case connections[id] != "" && (member == project.OneConnection || strings.HasPrefix(member, project.SeveralConnections+"[")):
			return map[string]any{project.ConnectionKey: connections[id]}
		case blueprints[id] != "" && member == project.OneBlueprint:
			return map[string]any{project.BlueprintKey: blueprints[id]}
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
