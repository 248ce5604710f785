package deploy

import (
	"context"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// A blueprint of another user that claims to come from this folder is not adopted by
// path, by title or on request, unless forced.
func TestForeignBlueprintIsNotAdopted(t *testing.T) {
	file := func(title string) project.Desired {
		return project.Desired{Path: "a.blueprint.yaml", Title: title, Map: map[string]any{"nodes": []any{map[string]any{"id": "n"}}}, Variables: []any{}}
	}
	planted := func(source, title string) project.Deployed {
		return project.Deployed{Foreign: true, Blueprint: blueprint.Blueprint{
			ID: "theirs", Title: title, Status: "draft", Visibility: "private", Version: "1", SyncedVersion: "1", Source: source, BlueprintMap: map[string]any{"nodes": []any{}}, EnvironmentVariables: []any{},
		}}
	}
	for _, test := range []struct {
		name string
		have project.Deployed
	}{
		{"by path", planted("sync:flows:a.blueprint.yaml", "Other")},
		{"by path and title", planted("sync:flows:a.blueprint.yaml", "A")},
		{"by title", planted("sync:flows:b.blueprint.yaml", "A")},
		{"to adopt", planted("", "A")},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, force := range []bool{false, true} {
				o := Options{Name: "flows", Force: force}
				var have []project.Deployed
				if test.have.Source == "" {
					o.Adopt, o.Unsourced = true, []project.Deployed{test.have}
				} else {
					have = []project.Deployed{test.have}
				}
				f := &fake{have: []project.Deployed{test.have}}
				plan := Compare([]project.Desired{file("A")}, have, o)
				if got := plan.Conflicts() == 0; got != force || len(plan.Changes) != 1 || plan.Changes[0].ID != "theirs" {
					t.Errorf("%s, force %v: %+v; want %v, length 1 and ID theirs", test.name, force, plan.Changes, force)
				}
				if err := plan.Apply(context.Background(), f, func(Change) error { return nil }); err != nil {
					t.Fatal(err)
				}
				if got := blueprint.Equal(f.have[0].BlueprintMap, file("A").Map); got != force {
					t.Errorf("%s, force %v: the map was taken over: %v", test.name, force, got)
				}
			}
		})
	}
}

// TestPruneSparesWhatOthersMade checks that a blueprint of another user without a file
// stays unless forced.
func TestPruneSparesWhatOthersMade(t *testing.T) {
	theirs := project.Deployed{Foreign: true, Blueprint: blueprint.Blueprint{ID: "theirs", Title: "B", Version: "1", SyncedVersion: "1", Source: "sync:flows:b.blueprint.yaml"}}
	for _, force := range []bool{false, true} {
		change := leftOver("b.blueprint.yaml", &theirs, Options{Name: "flows", Prune: true, Force: force})
		if change.Action != Delete || (change.Conflict == "") != force {
			t.Errorf("force %v: %+v, want Action %v and %v", force, change, Delete, force)
		}
	}
}
