package deploy

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
)

// Server is a server with which a folder is synced.
type Server interface {
	// List returns the blueprints that the caller can manage whose source has a prefix,
	// with their triggers; for an empty prefix all of them, without triggers.
	List(ctx context.Context, source string) ([]project.Deployed, error)
	Create(ctx context.Context, b blueprint.NewBlueprint) (id string, err error)
	Update(ctx context.Context, id string, patch blueprint.BlueprintPatch) error
	Delete(ctx context.Context, id string) error
	Connections(ctx context.Context) ([]blueprint.Connection, error)
	Triggers(ctx context.Context, blueprintID string) ([]blueprint.Trigger, error)
	// CreateTrigger also returns the URL or the mail address of the trigger, "" without one.
	CreateTrigger(ctx context.Context, blueprintID string, kind blueprint.TriggerType, config map[string]any, active bool) (id, address string, err error)
	// UpdateTrigger merges change into the config as blueprint.MergeConfig does.
	UpdateTrigger(ctx context.Context, id string, change map[string]any, isActive *bool) error
	DeleteTrigger(ctx context.Context, id string) error
}

// Files is the content of a folder.
type Files struct {
	dir    string
	wanted []project.Desired
	unseen []project.Unseen
	chosen bool // the name of the folder was; see Name
}

// ReadFolder reads all blueprint files of a folder. It prints their issues to errors and
// fails if one is invalid, or unless empty is set if there are none. name may be "".
func ReadFolder(dir, name string, errors io.Writer, empty bool) (of Files, err error) {
	of.dir = dir
	if _, of.chosen, err = Name(dir, name); err != nil {
		return of, err
	}
	listing, unseen, err := project.Survey(dir)
	if err != nil {
		return of, blueprint.InputErrorf("check the path", "%s cannot be read: %s", dir, fileio.Cause(err))
	}
	var bad int
	for _, place := range unseen {
		if place.Folder {
			of.unseen = append(of.unseen, place)
			continue
		}
		fmt.Fprintf(errors, "%s: cannot be read: %s\n", blueprint.OneLine(filepath.Join(dir, filepath.FromSlash(place.Path))), place.Why)
		bad++
	}
	wanted, wrong := project.ReadFolder(errors, dir, listing)
	of.wanted = wanted
	if bad += wrong; bad > 0 {
		return of, blueprint.InputErrorf("fix the files; nothing was changed", "%s of %s cannot be used", blueprint.Counted(bad, "file"), dir)
	}
	if len(wanted) == 0 && !empty {
		return of, blueprint.InputErrorf("check the path, or delete all blueprints of the folder with --prune --force", "no file named *.blueprint.yaml in %s", dir)
	}
	return of, nil
}

// Prepare compares a folder with a server.
func Prepare(ctx context.Context, server Server, of Files, o Options) (*Plan, error) {
	have, err := server.List(ctx, project.SourceOf(o.Name, ""))
	if err != nil {
		return nil, err
	}
	if err := sameSource(have); err != nil {
		return nil, err
	}
	if err := allSeen(of, have, o.Name); err != nil {
		return nil, err
	}
	if of.wanted, err = connectFolder(ctx, server, of.wanted, &o); err != nil {
		return nil, err
	}
	plan := Compare(of.wanted, have, o)
	if plan.Pending()[Create] == 0 {
		return plan, nil
	}
	all, err := server.List(ctx, "")
	if err != nil {
		return nil, err
	}
	if len(have) == 0 && !of.chosen {
		if err := sameFolder(o.Name, of.wanted, all); err != nil {
			return nil, err
		}
	}
	for i := range all {
		if all[i].Source != "" {
			continue
		}
		if o.Adopt && slices.ContainsFunc(of.wanted, func(d project.Desired) bool { return d.Title == all[i].Title }) {
			if all[i].Triggers, err = server.Triggers(ctx, all[i].ID); err != nil {
				return nil, err
			}
		}
		o.Unsourced = append(o.Unsourced, all[i])
	}
	return Compare(of.wanted, have, o), nil
}

// allSeen returns an error for a folder with places that are not scanned and may contain
// the files of blueprints, which would then look deleted.
func allSeen(of Files, have []project.Deployed, name string) error {
	for _, place := range of.unseen {
		for _, d := range have {
			if path := project.PathOf(name, d.Source); strings.HasPrefix(path, place.Path+"/") {
				return blueprint.InputErrorf("copy the files there; nothing was changed", "%s is not read: %s, and the server has %s from it", blueprint.OneLine(filepath.Join(of.dir, place.Path)), place.Why, blueprint.OneLine(path))
			}
		}
	}
	return nil
}

// sameSource returns an error if two blueprints belong to one file, which is possible if
// their owner has two organizations.
func sameSource(have []project.Deployed) error {
	seen := map[string]string{}
	for _, d := range have {
		if other := seen[d.Source]; other != "" {
			return blueprint.Hinted("name one of the organizations with --organization", "blueprints %s and %s both have the source %s", other, d.ID, d.Source)
		}
		seen[d.Source] = d.ID
	}
	return nil
}

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

// order moves changes after those to which they refer, and otherwise keeps their order.
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
