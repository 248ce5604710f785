package deploy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// TestMoved changes the places of files and looks whether each blueprint, with the
// triggers that others call, is still the one of its content.
func TestMoved(t *testing.T) {
	file := func(path, title string, nodes ...string) project.Desired {
		list := []any{}
		for _, id := range nodes {
			list = append(list, map[string]any{"id": id, "type": "set"})
		}
		return project.Desired{Path: path, Title: title, Map: map[string]any{"nodes": list}, Variables: []any{}, Tags: []string{}, Triggers: []project.DesiredTrigger{{Type: blueprint.TriggerWebhook, Config: map[string]any{}, Active: true}}}
	}
	three := []project.Desired{file("1", "A", "a"), file("2", "B", "b"), file("3", "C", "c")} // id1, id3, id5
	twins := []project.Desired{file("1", "T", "a"), file("2", "T", "b")}                      // id1, id3
	edit := func(i int) func(f *fake) { return func(f *fake) { f.have[i].Version = "9" } }
	for _, c := range []struct {
		name          string
		before, after []project.Desired
		server        func(f *fake)
		o             Options
		want          map[string]string // title and nodes by path
		plan          string
	}{
		{"a chain", three, []project.Desired{file("2", "A", "a"), file("3", "B", "b"), file("4", "C", "c")}, nil, options(true, false), map[string]string{"2": "id1", "3": "id3", "4": "id5"}, ""},
		{"a chain whose last is gone, pruned", three, []project.Desired{file("2", "A", "a"), file("3", "B", "b")}, nil, options(true, false), map[string]string{"2": "id1", "3": "id3"}, ""},
		{"a chain whose last is gone, kept", three, []project.Desired{file("2", "A", "a"), file("3", "B", "b")}, nil, options(false, false), map[string]string{"2": "id1", "3": "id3", "3~id5": "id5"}, ""},
		{"a swap", three[:2], []project.Desired{file("1", "B", "b"), file("2", "A", "a")}, nil, options(true, false), map[string]string{"1": "id3", "2": "id1"}, ""},
		{"a ring of edited ones", three, []project.Desired{file("2", "A", "x"), file("3", "B", "y"), file("1", "C", "z")}, nil, options(true, false), map[string]string{"2": "id1", "3": "id3", "1": "id5"}, ""},
		{"a swap of twins", twins, []project.Desired{file("1", "T", "b"), file("2", "T", "a")}, nil, options(true, false), map[string]string{"1": "id3", "2": "id1"}, ""},
		{"a title edited", three[:2], []project.Desired{file("1", "A2", "a"), file("2", "B", "b")}, nil, options(true, false), map[string]string{"1": "id1", "2": "id3"}, ""},
		{"titles edited to each other's", three[:2], []project.Desired{file("1", "B", "a"), file("2", "A", "b")}, nil, options(true, false), map[string]string{"1": "id1", "2": "id3"}, ""},
		{"all edited", three[:1], []project.Desired{file("1", "Z", "z")}, nil, options(true, false), map[string]string{"1": "id1"}, ""},
		{"several of the title are gone", twins, []project.Desired{file("3", "T", "c")}, nil, options(true, false), map[string]string{"1": "id1", "2": "id3"}, `! 3  "T"
    ` + doubt + `
    1 node
    + trigger webhook
! 1  "T"  id1
    ` + doubt + `
! 2  "T"  id3
    ` + doubt + `
3 conflicts`},
		{"several of the title are gone, forced", twins, []project.Desired{file("3", "T", "c")}, nil, options(true, true), map[string]string{"3": "id5"}, ""},
		{"one of a chain was edited on the server", three[:2], []project.Desired{file("2", "A", "a"), file("3", "B", "b")}, edit(1), options(true, false), map[string]string{"1": "id1", "2": "id3"}, `! 2  "A"  id1
    its path belongs to blueprint id3, which is not changed
    renamed from 1
! 3  "B"  id3
    it was changed on the server: it is version 9 there, and the last sync made version 1; --force overwrites the change
    renamed from 2
2 conflicts`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{}
			f.sync(t, c.before, options(false, false))
			if c.server != nil {
				c.server(f)
			}
			p := f.sync(t, c.after, c.o)
			got := map[string]string{}
			for i := range f.have {
				got[project.PathOf("shop", f.have[i].Source)] = f.have[i].ID
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n%s", diff, text(p))
			}
			if c.plan != "" && text(p) != c.plan {
				t.Error(cmp.Diff(c.plan, text(p)))
			}
			if again := f.sync(t, c.after, c.o); c.plan == "" && len(again.Pending())+again.Conflicts() > 0 {
				t.Errorf("again:\n%s", text(again))
			}
		})
	}
}

// TestMovedStops cuts the line at every call of a swap with an edit; the next sync
// does the rest, and each blueprint stays the one of its title.
func TestMovedStops(t *testing.T) {
	one, two := map[string]any{"nodes": []any{}}, map[string]any{"nodes": []any{map[string]any{"id": "x"}}}
	before := []project.Desired{{Path: "1", Title: "A", Map: one, Variables: []any{}}, {Path: "2", Title: "B", Map: one, Variables: []any{}}}
	after := []project.Desired{{Path: "1", Title: "B", Map: two, Variables: []any{}}, {Path: "2", Title: "A", Map: two, Variables: []any{}}}
	for cut := 1; cut <= 5; cut++ {
		f := &fake{}
		f.sync(t, before, options(true, false))
		f.calls, f.fails = nil, cut
		have, _ := f.List(t.Context(), project.SourceOf("shop", ""))
		err := Compare(after, have, options(true, false)).Apply(t.Context(), f, func(Change) error { return nil })
		if (err != nil) != (cut <= 4) {
			t.Errorf("cut at %d: %v, %q", cut, err, f.calls)
		}
		f.fails = 0
		f.sync(t, after, options(true, false))
		if f.at("id1").Source != project.SourceOf("shop", "2") || f.at("id2").Source != project.SourceOf("shop", "1") || len(f.have) != 2 {
			t.Errorf("cut at %d: %+v", cut, f.have)
		}
	}
}

func TestAdopt(t *testing.T) {
	file := func(path, title string) project.Desired {
		return project.Desired{Path: path, Title: title, Map: map[string]any{"nodes": []any{}}, Variables: []any{}, Triggers: []project.DesiredTrigger{{Type: blueprint.TriggerScheduled, Config: map[string]any{"cron": "0 5 * * *"}, Active: true}}}
	}
	theirs := func(id, title string) project.Deployed {
		return project.Deployed{Blueprint: blueprint.Blueprint{ID: id, Title: title, Status: "draft", Visibility: "private", Version: "3", BlueprintMap: map[string]any{"nodes": []any{}}, EnvironmentVariables: []any{}},
			Triggers: []blueprint.Trigger{{ID: id + "t", Type: blueprint.TriggerScheduled, Config: map[string]any{"cron": "0 5 * * *"}, Edited: []string{"cron"}}}}
	}
	files := []project.Desired{file("a", "A"), file("b", "B"), file("c", "C")}
	f := &fake{have: []project.Deployed{theirs("u1", "A"), theirs("u2", "B"), theirs("u3", "B")}}
	o := options(true, false)
	o.Unsourced = slices.Clone(f.have)
	plan := Compare(files, nil, o)
	if got, want := text(plan), `+ a  "A"
    ? a blueprint with this title exists; --adopt adopts it
    0 nodes
    + trigger scheduled: cron "0 5 * * *"
+ b  "B"
    ? the title is not unique, so no blueprint can be adopted
    0 nodes
    + trigger scheduled: cron "0 5 * * *"
+ c  "C"
    0 nodes
    + trigger scheduled: cron "0 5 * * *"
3 to create`; got != want {
		t.Error(cmp.Diff(want, got))
	}
	o.Adopt = true
	plan = f.sync(t, files[:1], o)
	if got, want := text(plan), `~ a  "A"  u1
    adopts the blueprint with this title
    ? trigger scheduled u1t: it is paused on the server; --force activates it
1 to update`; got != want || f.have[0].Source != project.SourceOf("shop", "a") || f.have[0].Version == "3" {
		t.Errorf("%s, now %+v", cmp.Diff(want, got), f.have[0])
	}
	o.Unsourced = nil
	if got := text(f.sync(t, files[:1], o)); got != `? a  "A"  u1
    ? trigger scheduled u1t: it is paused on the server; --force activates it
1 kept` {
		t.Errorf("again: %s", got)
	}
}
