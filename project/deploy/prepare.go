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
// fails if one is invalid, or unless empty is set if there are none. name is the wanted
// name or "".
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

// allSeen refuses a folder with places that are not scanned and may contain the files of
// blueprints, which would look deleted.
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

// sameSource refuses two blueprints of one file, which an owner may have in two
// organizations.
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
