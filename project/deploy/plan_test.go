package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/project"
)

func value(t *testing.T, text string) any {
	t.Helper()
	v, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// fake is a server in memory.
type fake struct {
	Server // for the methods that Apply does not call
	have   []project.Deployed
	made   int
	calls  []string
	fails  int // the call that fails; 0 = none
}

var errCall = errors.New("the line is cut")

func (f *fake) call(format string, args ...any) error {
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
	if len(f.calls) == f.fails {
		return errCall
	}
	return nil
}

func (f *fake) id() string {
	f.made++
	return fmt.Sprintf("id%d", f.made)
}

func (f *fake) at(id string) *project.Deployed {
	return &f.have[slices.IndexFunc(f.have, func(d project.Deployed) bool { return d.ID == id })]
}

func (f *fake) List(_ context.Context, source string) ([]project.Deployed, error) {
	var out []project.Deployed
	for _, d := range f.have {
		if strings.HasPrefix(d.Source, source) {
			d.Triggers = slices.Clone(d.Triggers)
			out = append(out, d)
		}
	}
	return out, nil
}

func (f *fake) Create(_ context.Context, b blueprint.NewBlueprint) (string, error) {
	if err := f.call("create %s", b.Source); err != nil {
		return "", err
	}
	d := project.Deployed{Blueprint: blueprint.Blueprint{
		ID: f.id(), Title: b.Title, Description: b.Description, Status: b.Status, Visibility: "private", Version: "1", Tags: b.Tags,
		BlueprintMap: b.Map, EnvironmentVariables: blueprint.KeepSecrets(nil, b.Variables), Budget: b.Budget, Source: b.Source, SyncedVersion: "1",
	}}
	if d.Status == "" {
		d.Status = "draft"
	}
	f.have = append(f.have, d)
	return d.ID, nil
}

func (f *fake) Update(_ context.Context, id string, p blueprint.BlueprintPatch) error {
	if err := f.call("update %s", id); err != nil {
		return err
	}
	d := f.at(id)
	for from, to := range map[*string]*string{p.Title: &d.Title, p.Description: &d.Description, p.Status: &d.Status, p.Visibility: &d.Visibility} {
		if from != nil {
			*to = *from
		}
	}
	if p.Tags != nil {
		d.Tags = *p.Tags
	}
	if p.Budget != nil {
		d.Budget = p.Budget
	}
	if p.Map != nil {
		d.BlueprintMap = *p.Map
	}
	if p.Variables != nil {
		d.EnvironmentVariables = blueprint.KeepSecrets(d.EnvironmentVariables, *p.Variables)
	}
	d.Version += "x"
	if p.Source != nil {
		for _, other := range f.have {
			if other.ID != id && other.Source == *p.Source {
				return fmt.Errorf("%s and %s have %s", id, other.ID, other.Source)
			}
		}
		d.Source, d.SyncedVersion = *p.Source, d.Version
		for i := range d.Triggers {
			d.Triggers[i].Edited = nil
		}
	}
	return nil
}

func (f *fake) Delete(_ context.Context, id string) error {
	err := f.call("delete %s", id)
	if err == nil {
		f.have = slices.DeleteFunc(f.have, func(d project.Deployed) bool { return d.ID == id })
	}
	return err
}

func (f *fake) CreateTrigger(_ context.Context, blueprintID string, kind blueprint.TriggerType, config map[string]any, active bool) (id, address string, err error) {
	if err := f.call("create trigger %s of %s", kind, blueprintID); err != nil {
		return "", "", err
	}
	d, id := f.at(blueprintID), f.id()
	if kind == blueprint.TriggerEmail {
		config = maps.Clone(config)
		config["address"] = "x@localhost"
	}
	d.Triggers = append(d.Triggers, blueprint.Trigger{ID: id, BlueprintID: blueprintID, Type: kind, Config: config, IsActive: active})
	trigger := d.Triggers[len(d.Triggers)-1]
	return id, trigger.Address("https://flows.example.org"), nil
}

func (f *fake) trigger(id string) (*project.Deployed, int) {
	for i := range f.have {
		if j := slices.IndexFunc(f.have[i].Triggers, func(t blueprint.Trigger) bool { return t.ID == id }); j >= 0 {
			return &f.have[i], j
		}
	}
	panic(id)
}

func (f *fake) UpdateTrigger(_ context.Context, id string, change map[string]any, active *bool) error {
	if err := f.call("update trigger %s", id); err != nil {
		return err
	}
	d, i := f.trigger(id)
	d.Triggers[i].Config = blueprint.MergeConfig(d.Triggers[i].Config, change)
	for name := range change {
		d.Triggers[i].Edited = append(d.Triggers[i].Edited, name)
	}
	if active != nil {
		d.Triggers[i].IsActive = *active
	}
	return nil
}

func (f *fake) DeleteTrigger(_ context.Context, id string) error {
	err := f.call("delete trigger %s", id)
	if err == nil {
		d, i := f.trigger(id)
		d.Triggers = slices.Delete(d.Triggers, i, i+1)
	}
	return err
}

func options(prune, force bool) Options {
	return Options{Name: "shop", Prune: prune, Force: force, Secret: func() string { return "made" }}
}

// sync makes the server match, and gives the plan.
func (f *fake) sync(t *testing.T, files []project.Desired, o Options) *Plan {
	t.Helper()
	have, _ := f.List(t.Context(), project.SourceOf(o.Name, ""))
	p := Compare(files, have, o)
	if err := p.Apply(t.Context(), f, func(Change) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return p
}

func text(p *Plan) string {
	var lines []string
	for i := range p.Changes {
		lines = append(lines, p.Changes[i].Lines()...)
	}
	return strings.Join(append(lines, p.Summary(false)), "\n")
}

// TestPlan changes something in a folder of two files, or on the server that
// matched it, and looks at the plan; then at what is left to do once it is done.
func TestPlan(t *testing.T) {
	base := func() []project.Desired {
		return []project.Desired{{
			Path: "a.blueprint.yaml", Title: "A", Description: "d", Tags: []string{"x"},
			Map:       value(t, `{"nodes":[{"id":"one","type":"template","title":"One","config":{"text":"hi","token":"t0p"}},{"id":"two","type":"set","title":"Two","config":{}}],"edges":[{"source":"one","target":"two"}]}`),
			Variables: value(t, `[{"name":"key","secret":true,"default":"s3cret"},{"name":"n","type":"number","default":1}]`).([]any),
			Triggers: []project.DesiredTrigger{
				{Type: blueprint.TriggerWebhook, Config: map[string]any{"secret": "h00k", "respond": "wait"}, Active: true},
				{Type: blueprint.TriggerWebhook, Config: map[string]any{"secret": nil}, Active: true},
				{Type: blueprint.TriggerScheduled, Config: map[string]any{"cron": "0 5 * * *"}, Active: false},
				{Type: blueprint.TriggerEmail, Config: map[string]any{}, Active: true},
			},
		}, {Path: "sub/b.blueprint.json", Title: "B", Map: value(t, `{"nodes":[]}`), Variables: []any{}}}
	}
	no := func([]project.Desired) []project.Desired { return nil }
	set := func(change func(a *project.Desired)) func([]project.Desired) []project.Desired {
		return func(files []project.Desired) []project.Desired {
			change(&files[0])
			return files
		}
	}
	same := func(files []project.Desired) []project.Desired { return files }
	edit := func(a *project.Deployed) { a.Version, a.Title = "9", "Edited" }
	for _, c := range []struct {
		name   string
		change func([]project.Desired) []project.Desired
		server func(a *project.Deployed)
		o      Options
		want   string
		left   string // "" = nothing
	}{
		{"nothing", same, nil, options(false, false), "nothing to do", ""},
		{"fields", set(func(a *project.Desired) {
			limit := int64(5)
			a.Title, a.Description, a.Tags, a.Status, a.Visibility, a.Budget = "New", "", []string{"x", "y"}, "published", "public", &blueprint.Budget{Calls: &limit}
		}), nil, options(false, false), `~ a.blueprint.yaml  "New"  id1
    title: "A" -> "New"
    description: "d" -> ""
    status: "draft" -> "published"
    visibility: "private" -> "public"
    tags: ["x"] -> ["x","y"]
    budget: none -> {"calls":5}
1 to update`, ""},
		{"nodes", set(func(a *project.Desired) {
			a.Map = value(t, `{"nodes":[{"id":"one","type":"template","title":"One","config":{"text":"hello\nthere","token":"other"}},{"id":"new","type":"stop","title":"N","config":{}}],"edges":[{"source":"one","target":"new"}],"zoom":2}`)
		}), nil, options(false, false), `~ a.blueprint.yaml  "A"  id1
    edges: 1 added, 1 removed
    zoom: none -> 2
    ~ node one: config.text: "hi" -> "hello\nthere", config.token changed
    + node new (stop)
    - node two
1 to update`, ""},
		{"the order of nodes", set(func(a *project.Desired) { slices.Reverse(a.Map.(map[string]any)["nodes"].([]any)) }), nil, options(false, false), `~ a.blueprint.yaml  "A"  id1
    order of nodes changed
1 to update`, ""},
		{"variables", set(func(a *project.Desired) {
			a.Variables = value(t, `[{"name":"key","secret":true,"default":"0ther"},{"name":"m"}]`).([]any)
		}), nil, options(false, false), `~ a.blueprint.yaml  "A"  id1
    environment_variables.key.default changed
    environment_variables.m: added
    environment_variables.n: removed
1 to update`, ""},
		{"a secret variable left out", set(func(a *project.Desired) { a.Variables[0].(map[string]any)["default"] = nil }), nil, options(false, false), "nothing to do", ""},
		{"triggers", set(func(a *project.Desired) {
			a.Triggers[0].Config = map[string]any{"secret": nil, "respond": "accept"}
			a.Triggers[2].Active = true
			a.Triggers[3] = project.DesiredTrigger{Type: blueprint.TriggerManual, Config: map[string]any{}, Active: true}
		}), nil, options(false, false), `~ a.blueprint.yaml  "A"  id1
    ~ trigger webhook id2: config.respond: "wait" -> "accept"
    ? trigger scheduled id4: it is paused on the server; --force activates it
    + trigger manual
    ? trigger email id5: not in the file; --prune deletes it
1 to update`, `? a.blueprint.yaml  "A"  id1
    ? trigger scheduled id4: it is paused on the server; --force activates it
    ? trigger email id5: not in the file; --prune deletes it
1 kept`},
		{"triggers pruned", set(func(a *project.Desired) { a.Triggers = a.Triggers[1:2] }), nil, options(true, false), `~ a.blueprint.yaml  "A"  id1
    - trigger webhook id2
    - trigger scheduled id4
    - trigger email id5
1 to update`, ""},
		{"a secret of a trigger", set(func(a *project.Desired) { a.Triggers[0].Config["secret"] = "0ther" }), nil, options(false, false), `~ a.blueprint.yaml  "A"  id1
    ~ trigger webhook id2: config.secret changed
1 to update`, ""},
		{"secrets made on the server stay", set(func(a *project.Desired) { delete(a.Triggers[1].Config, "secret") }), func(a *project.Deployed) {
			a.Triggers[1].Config = map[string]any{"secret": "theirs", "previousSecret": "old", "previousSecretUntil": "2030-01-01T00:00:00Z"}
		}, options(false, false), "nothing to do", ""},
		{"a new file with a secret left out", func(files []project.Desired) []project.Desired {
			return append(files, project.Desired{Path: "c.blueprint.yaml", Title: "C", Map: value(t, `{"nodes":[{"id":"x","type":"set"}]}`), Visibility: "public", Triggers: []project.DesiredTrigger{
				{Type: blueprint.TriggerSlack, Config: map[string]any{"signingSecret": nil}, Active: true}, {Type: blueprint.TriggerManual, Config: map[string]any{}, Active: false}}})
		}, nil, options(false, false), `+ c.blueprint.yaml  "C"
    1 node
    visibility: "private" -> "public"
    + trigger slack: with a new signingSecret, which is null in the file
    + trigger manual: paused
1 to create`, ""},
		{"gone", no, nil, options(false, false), `? a.blueprint.yaml  "A"  id1
    its file is gone; --prune deletes it
? sub/b.blueprint.json  "B"  id6
    its file is gone; --prune deletes it
2 kept`, "="},
		{"pruned", no, nil, options(true, false), `- a.blueprint.yaml  "A"  id1
- sub/b.blueprint.json  "B"  id6
2 to delete`, ""},
		{"renamed", set(func(a *project.Desired) { a.Path = "z.blueprint.yaml" }), nil, options(true, false), `~ z.blueprint.yaml  "A"  id1
    renamed from a.blueprint.yaml
1 to update`, ""},
		{"renamed and changed", set(func(a *project.Desired) { a.Path, a.Description = "z.blueprint.yaml", "e" }), nil, options(true, false), `~ z.blueprint.yaml  "A"  id1
    renamed from a.blueprint.yaml
    description: "d" -> "e"
1 to update`, ""},
		{"edited on the server", set(func(a *project.Desired) { a.Tags = nil }), edit, options(true, false), `! a.blueprint.yaml  "A"  id1
    it was changed on the server: it is version 9 there, and the last sync made version 1; --force overwrites the change
    title: "Edited" -> "A"
    tags: ["x"] -> []
1 conflict`, "="},
		{"edited and overwritten", same, edit, options(false, true), `~ a.blueprint.yaml  "A"  id1
    title: "Edited" -> "A"
1 to update`, ""},
		{"edited and gone", no, edit, options(true, false), `! a.blueprint.yaml  "Edited"  id1
    it was changed on the server: it is version 9 there, and the last sync made version 1; --force overwrites the change
- sub/b.blueprint.json  "B"  id6
1 to delete, 1 conflict`, `! a.blueprint.yaml  "Edited"  id1
    it was changed on the server: it is version 9 there, and the last sync made version 1; --force overwrites the change
1 conflict`},
		{"edited to what the file says", same, func(a *project.Deployed) { a.Version = "9" }, options(false, false), "nothing to do", ""},
		{"published there", same, func(a *project.Deployed) { a.Status, a.Version = "published", "9" }, options(false, false), "nothing to do", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{}
			f.have = append(f.have, project.Deployed{Blueprint: blueprint.Blueprint{ID: "mine", Title: "A", Version: "1", Source: "sync:other:a.blueprint.yaml", SyncedVersion: "1"}})
			f.sync(t, base(), c.o)
			if c.server != nil {
				c.server(f.at("id1"))
			}
			files := c.change(base())
			if got := text(f.sync(t, files, c.o)); got != c.want {
				t.Errorf("the plan:\n%s", cmp.Diff(c.want, got))
			}
			switch c.left {
			case "":
				c.left = "nothing to do"
			case "=":
				c.left = c.want
			}
			if got := text(f.sync(t, files, c.o)); got != c.left {
				t.Errorf("again:\n%s", cmp.Diff(c.left, got))
			}
			if f.have[0].ID != "mine" || f.have[0].Version != "1" {
				t.Error("it touched what is not of the folder")
			}
			for _, d := range f.have {
				if d.ID != "mine" && c.server == nil && d.Version != d.SyncedVersion {
					t.Errorf("%s is version %s, and %s is noted", d.ID, d.Version, d.SyncedVersion)
				}
			}
		})
	}
}

// TestApplyStops cuts the line at every call of a plan; what is left is done by
// the next one, and the order is the same whole plan's.
func TestApplyStops(t *testing.T) {
	first := []project.Desired{{Path: "a.blueprint.yaml", Title: "A", Map: value(t, `{"nodes":[]}`), Variables: []any{}, Triggers: []project.DesiredTrigger{{Type: blueprint.TriggerManual, Config: map[string]any{}, Active: true}}}, {Path: "gone.blueprint.yaml", Title: "G", Map: value(t, `{"nodes":[]}`), Variables: []any{}}}
	second := []project.Desired{{Path: "a.blueprint.yaml", Title: "A2", Map: value(t, `{"nodes":[]}`), Variables: []any{}, Triggers: []project.DesiredTrigger{{Type: blueprint.TriggerAPI, Config: map[string]any{"label": "x"}, Active: true}}},
		{Path: "new.blueprint.yaml", Title: "N", Map: value(t, `{"nodes":[]}`), Variables: []any{}, Visibility: "public", Triggers: []project.DesiredTrigger{{Type: blueprint.TriggerManual, Config: map[string]any{}, Active: false}}}}
	whole := []string{"update id1", "create trigger api of id1", "delete trigger id2", "create sync:shop:new.blueprint.yaml", "create trigger manual of id5", "update id5", "delete id3"}
	for cut := 1; cut <= len(whole)+1; cut++ {
		f := &fake{}
		f.sync(t, first, options(true, false))
		f.calls, f.fails = nil, cut
		have, _ := f.List(t.Context(), "sync:shop:")
		err := Compare(second, have, options(true, false)).Apply(t.Context(), f, func(Change) error { return nil })
		if want := whole[:min(cut, len(whole))]; !slices.Equal(f.calls, want) || (cut <= len(whole)) != errors.Is(err, errCall) {
			t.Errorf("cut at %d: %q, %v, want %q", cut, f.calls, err, want)
		}
		f.fails = 0
		f.sync(t, second, options(true, false))
		if got := text(f.sync(t, second, options(true, false))); got != "nothing to do" || len(f.have) != 2 {
			t.Errorf("cut at %d: %d blueprints, left: %s; want nothing to do and 2", cut, len(f.have), got)
		}
	}
}
