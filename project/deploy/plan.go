// Package deploy makes a server match a folder of blueprint files: Compare returns the
// differences as a Plan, and Plan.Apply makes the changes.
//
// The source of a blueprint holds the name of the folder and the path of its file. A
// renamed file is recognized by its content. Other sources are never changed.
//
// References to files become the ids of their blueprints, which are created first.
//
// A missing description, tags or variables are empty. A missing status, visibility or
// budget keeps the value on the server. So do missing or null secrets; "" removes them.
package deploy

import (
	"cmp"
	"fmt"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// The actions of changes.
const (
	Create = "create"
	Update = "update"
	Delete = "delete"
	Keep   = "keep" // no change, only a note
)

// Plan holds the changes that make a server match a folder. It is immutable.
type Plan struct {
	Name    string   `json:"name"` // of the folder
	Changes []Change `json:"changes"`

	quiet []Change          // blueprints that match although they were changed: only their source is set
	aside []Change          // blueprints whose source another one needs
	ids   map[string]string // of the existing blueprints, by path
}

// Change is the change of a blueprint.
type Change struct {
	Action   string          `json:"action"` // Create, Update, Delete or Keep
	Path     string          `json:"path"`
	From     string          `json:"from,omitempty"` // the path that the file had before
	ID       string          `json:"id,omitempty"`   // "" before it is created
	Title    string          `json:"title"`
	Fields   []Field         `json:"fields,omitempty"`
	Nodes    []NodeChange    `json:"nodes,omitempty"`
	Triggers []TriggerChange `json:"triggers,omitempty"`
	// Conflict is the reason why the change is not made without Options.Force.
	Conflict string `json:"conflict,omitempty"`
	Note     string `json:"note,omitempty"`

	create blueprint.NewBlueprint
	patch  blueprint.BlueprintPatch
	after  blueprint.BlueprintPatch // applied to a new blueprint after its triggers
}

// TriggerChange is the change of a trigger.
type TriggerChange struct {
	Action string                `json:"action"`
	Type   blueprint.TriggerType `json:"type"`
	ID     string                `json:"id,omitempty"`
	Fields []Field               `json:"fields,omitempty"`
	Note   string                `json:"note,omitempty"`
	// Address is the URL or the mail address of a created trigger.
	Address string `json:"address,omitempty"`

	config map[string]any // the whole config of a new trigger, or its changes
	active *bool
}

// Options are the options of a comparison.
type Options struct {
	Name  string // of the folder
	Prune bool   // delete blueprints and triggers that have no file
	Force bool   // overwrite changes made on the server
	Adopt bool   // take over blueprints in Unsourced by their titles
	// Unsourced are the blueprints on the server that were not created from a folder.
	Unsourced []project.Deployed
	// Connections are the names of connections by id, for the text of a plan.
	Connections map[string]string
	// Secret generates a secret for a new trigger whose secret is null in its file.
	Secret func() string
}

// Compare returns the changes that make the blueprints of a folder on a server match its
// files. It ignores blueprints with other sources.
func Compare(files []project.Desired, have []project.Deployed, o Options) *Plan {
	p := &Plan{Name: o.Name, Changes: []Change{}}
	byPath, have := sourced(have, o.Name)
	pairs := pair(linked(files, idsOf(byPath)), byPath, o)
	notes, taken := adopt(files, &pairs, o)
	p.ids = idsOf(pairs.of)
	named := files
	files = linked(files, p.ids)
	for i := range files {
		file := &files[i]
		present := pairs.of[file.Path]
		var change Change
		switch {
		case present == nil:
			change = created(file, o)
		case taken[file.Path]:
			force := o
			force.Force = true
			change = updated(file, present, force)
			change.Triggers = triggerChanges(file.Triggers, present.Triggers, o)
		default:
			change = updated(file, present, o)
			if from := project.PathOf(o.Name, present.Source); from != file.Path {
				change.From = from
			}
		}
		if present != nil && present.Foreign && !o.Force {
			change.Conflict = foreign
		}
		if change.Note = notes[file.Path]; pairs.doubtful[file.Path] {
			change.Conflict = doubt
		}
		if present == nil || pairs.doubtful[file.Path] || taken[file.Path] {
			p.Changes = append(p.Changes, change)
		} else {
			p.add(change, present)
		}
	}
	for path, gone := range pairs.left {
		change := leftOver(path, gone, o)
		if change.Action == Delete && slices.ContainsFunc(files, func(f project.Desired) bool { return pairs.doubtful[f.Path] && f.Title == gone.Title }) {
			change.Conflict = doubt
		}
		p.Changes = append(p.Changes, change)
	}
	p.makeWay(have)
	slices.SortStableFunc(p.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(rank(a.Action), rank(b.Action)), cmp.Compare(a.Path, b.Path))
	})
	p.Changes = order(p.Changes, named)
	name(p.Changes, o.Connections, pathsOf(p.ids))
	return p
}

func rank(action string) int { return slices.Index([]string{Update, Create, Keep, Delete}, action) }

// add adds the change of an existing blueprint, unless there is nothing to change.
func (p *Plan) add(change Change, present *project.Deployed) {
	pending := slices.ContainsFunc(change.Triggers, func(t TriggerChange) bool { return t.Action != Keep })
	if len(change.Fields)+len(change.Nodes) > 0 || pending || change.From != "" {
		p.Changes = append(p.Changes, change)
		return
	}
	if present.SyncedVersion != present.Version || slices.ContainsFunc(present.Triggers, func(t blueprint.Trigger) bool { return len(t.Edited) > 0 }) {
		p.quiet = append(p.quiet, Change{Action: Update, ID: change.ID, patch: change.patch})
	}
	if len(change.Triggers) > 0 {
		change.Action, change.Conflict = Keep, ""
		p.Changes = append(p.Changes, change)
	}
}

// Pending counts the changes that Apply makes, by action.
func (p *Plan) Pending() map[string]int {
	counts := map[string]int{}
	for _, change := range p.Changes {
		if change.Action != Keep && change.Conflict == "" {
			counts[change.Action]++
		}
	}
	return counts
}

// Conflicts counts the changes that Apply does not make.
func (p *Plan) Conflicts() int { return p.count(func(c Change) bool { return c.Conflict != "" }) }

func (p *Plan) count(fits func(Change) bool) (n int) {
	for _, change := range p.Changes {
		if fits(change) {
			n++
		}
	}
	return n
}

func created(file *project.Desired, o Options) Change {
	c := Change{Action: Create, Path: file.Path, Title: file.Title, create: blueprint.NewBlueprint{
		Title: file.Title, Description: file.Description, Status: file.Status, Tags: file.Tags, Map: file.Map, Variables: file.Variables, Budget: file.Budget,
		Source: project.SourceOf(o.Name, file.Path),
	}}
	c.Nodes = nodeChanges(nil, file.Map)
	for _, f := range []Field{{Path: "status", After: file.Status}, {Path: "visibility", After: file.Visibility}} {
		if f.After != "" && f.After != blueprint.StatusDraft && f.After != blueprint.VisibilityPrivate {
			f.Before = map[string]any{"status": blueprint.StatusDraft, "visibility": blueprint.VisibilityPrivate}[f.Path]
			c.Fields = append(c.Fields, f)
		}
	}
	if file.Visibility != "" && file.Visibility != blueprint.VisibilityPrivate {
		c.after = blueprint.BlueprintPatch{Visibility: &file.Visibility, Source: &c.create.Source}
	}
	c.Triggers = triggerChanges(file.Triggers, nil, o)
	return c
}

// updated returns the change that makes a blueprint match its file.
func updated(file *project.Desired, have *project.Deployed, o Options) Change {
	source := project.SourceOf(o.Name, file.Path)
	c := Change{Action: Update, Path: file.Path, ID: have.ID, Title: file.Title, patch: blueprint.BlueprintPatch{Source: &source}}
	text := func(name, want, is string, into **string) {
		if want != is {
			c.Fields = append(c.Fields, Field{Path: name, Before: is, After: want})
			*into = &want
		}
	}
	text("title", file.Title, have.Title, &c.patch.Title)
	text("description", file.Description, have.Description, &c.patch.Description)
	text("status", cmp.Or(file.Status, have.Status), have.Status, &c.patch.Status)
	text("visibility", cmp.Or(file.Visibility, have.Visibility), have.Visibility, &c.patch.Visibility)
	if !slices.Equal(file.Tags, have.Tags) {
		tags := append([]string{}, file.Tags...)
		c.Fields = append(c.Fields, Field{Path: "tags", Before: have.Tags, After: tags})
		c.patch.Tags = &tags
	}
	if file.Budget != nil && !sameBudget(file.Budget, have.Budget) {
		c.Fields = append(c.Fields, Field{Path: "budget", Before: have.Budget, After: file.Budget})
		c.patch.Budget = file.Budget
	}
	if want := blueprint.KeepSecrets(have.EnvironmentVariables, file.Variables); !blueprint.Equal(want, have.EnvironmentVariables) {
		c.Fields = append(c.Fields, variableChanges(have.EnvironmentVariables, want)...)
		variables := append([]any{}, file.Variables...)
		c.patch.Variables = &variables
	}
	if !blueprint.Equal(file.Map, have.BlueprintMap) {
		c.Fields = append(c.Fields, mapChanges(have.BlueprintMap, file.Map)...)
		c.Nodes = nodeChanges(have.BlueprintMap, file.Map)
		if len(c.Nodes) == 0 && len(c.Fields) == 0 {
			c.Fields = append(c.Fields, Field{Path: "blueprint_map"})
		}
		c.patch.Map = &file.Map
	}
	c.Triggers = triggerChanges(file.Triggers, have.Triggers, o)
	if !o.Force {
		if c.Conflict = editedTriggers(c.Triggers, have.Triggers); have.SyncedVersion != have.Version {
			c.Conflict = edited(&have.Blueprint)
		}
	}
	return c
}

// foreign is the conflict of a blueprint created by another user: any user can claim the
// source of this folder, and would see the content of the file.
const foreign = "another user created the blueprint and would see the content of the file; --force takes it over"

// edited is the conflict of a blueprint that was changed since the last sync.
func edited(b *blueprint.Blueprint) string {
	return fmt.Sprintf("it was changed on the server: it is version %s there, and the last sync made version %s; --force overwrites the change", b.Version, b.SyncedVersion)
}

// leftOver returns the change of a blueprint whose file is gone.
func leftOver(path string, gone *project.Deployed, o Options) Change {
	c := Change{Action: Delete, Path: path, ID: gone.ID, Title: gone.Title}
	switch {
	case !o.Prune:
		c.Action, c.Note = Keep, "its file is gone; --prune deletes it"
	case gone.Foreign && !o.Force:
		c.Conflict = "another user created it; --force deletes it"
	case gone.SyncedVersion != gone.Version && !o.Force:
		c.Conflict = edited(&gone.Blueprint)
	}
	return c
}

// sameBudget reports whether two budgets have the same limits.
func sameBudget(a, b *blueprint.Budget) bool {
	same := func(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }
	if !a.Limits() || !b.Limits() {
		return a.Limits() == b.Limits()
	}
	return same(a.Tokens, b.Tokens) && same(a.Calls, b.Calls) && cmp.Or(a.OnBreach, blueprint.BreachFails) == cmp.Or(b.OnBreach, blueprint.BreachFails)
}
