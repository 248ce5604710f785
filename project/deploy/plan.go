// Package deploy makes a server match a folder of blueprint files: it says what
// differs (Compare) and applies it (Plan.Apply).
//
// A file is known by its path in the folder: the blueprint made from it bears the
// path, under a name for the folder, as its source. So files may be edited as one
// likes, and a file that was renamed is told from one that is new by what stands in
// it. Blueprints without a source of the folder's name are never touched.
//
// A plan finds the blueprints of files, makes them before those that refer to them,
// and stores nothing but ids.
//
// What a file does not say is of three kinds. Description, tags and variables that
// are not there are empty. Status, visibility and budget stay as they are on the
// server. Secrets that are null, and those of triggers that are not there, are kept;
// "" removes them.
package deploy

import (
	"cmp"
	"fmt"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// What is to be done with a blueprint or a trigger.
const (
	Create = "create"
	Update = "update"
	Delete = "delete"
	Keep   = "keep" // nothing is done, but there is something to say
)

// Plan says what makes a server match a folder. It is never changed.
type Plan struct {
	Name    string   `json:"name"` // of the folder
	Changes []Change `json:"changes"`
	// quiet are blueprints that are as their files are, though somebody changed
	// them since: only what is known of them is brought up to date.
	quiet []Change
	// aside are blueprints that stand where another is to be.
	aside []Change
	ids   map[string]string // of the blueprints that are there, by path
}

// Change is what is to be done with one blueprint.
type Change struct {
	Action   string          `json:"action"` // Create, Update, Delete or Keep
	Path     string          `json:"path"`
	From     string          `json:"from,omitempty"` // the path that the file had before
	ID       string          `json:"id,omitempty"`   // "" before it is created
	Title    string          `json:"title"`
	Fields   []Field         `json:"fields,omitempty"`
	Nodes    []NodeChange    `json:"nodes,omitempty"`
	Triggers []TriggerChange `json:"triggers,omitempty"`
	// Conflict says why this is not done without force; Note says something else.
	Conflict string `json:"conflict,omitempty"`
	Note     string `json:"note,omitempty"`

	create blueprint.NewBlueprint
	patch  blueprint.BlueprintPatch
	after  blueprint.BlueprintPatch // what a new blueprint becomes once it is whole
}

// TriggerChange is what is to be done with one trigger.
type TriggerChange struct {
	Action string                `json:"action"`
	Type   blueprint.TriggerType `json:"type"`
	ID     string                `json:"id,omitempty"`
	Fields []Field               `json:"fields,omitempty"`
	Note   string                `json:"note,omitempty"`

	config map[string]any // of a new one, or what changes
	active *bool
}

// Options say how to compare.
type Options struct {
	Name  string // of the folder
	Prune bool   // delete what has no place in the folder any more
	Force bool   // overwrite what somebody changed on the server
	Adopt bool   // take over Unsourced ones by their titles
	// Unsourced are blueprints on the server that come from no folder.
	Unsourced []project.Deployed
	// Connections are the names of connections by id: a plan tells them so.
	Connections map[string]string
	// Secret makes a secret, for a trigger whose file leaves its own out.
	Secret func() string
}

// Compare says what makes the blueprints of the folder on a server be as its
// files are. Blueprints without a source of the folder's name are passed over.
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

// rank puts what makes things before what deletes them.
func rank(action string) int { return slices.Index([]string{Update, Create, Keep, Delete}, action) }

// add takes a change of a blueprint that is there, unless it changes nothing.
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

// Pending counts what Apply would do, by action.
func (p *Plan) Pending() map[string]int {
	counts := map[string]int{}
	for _, change := range p.Changes {
		if change.Action != Keep && change.Conflict == "" {
			counts[change.Action]++
		}
	}
	return counts
}

// Kept counts what Apply leaves alone with something to say about it.
func (p *Plan) Kept() (n int) {
	for _, change := range p.Changes {
		if change.Action == Keep && change.Conflict == "" {
			n++
		}
	}
	return n
}

// Conflicts counts what Apply leaves alone because somebody changed it.
func (p *Plan) Conflicts() (n int) {
	for _, change := range p.Changes {
		if change.Conflict != "" {
			n++
		}
	}
	return n
}

// created is a blueprint that the server does not have.
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

// updated is a blueprint that the server has.
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

// foreign says that a blueprint is somebody else's: anybody may say that theirs comes
// from this folder, and would read what the files put into it.
const foreign = "somebody else made the blueprint, who would see what the file holds; --force takes it over all the same"

// edited says that somebody changed a blueprint since it was made from its file.
func edited(b *blueprint.Blueprint) string {
	return fmt.Sprintf("it was changed on the server: it is version %s there, and the folder last made %s; --force overwrites that", b.Version, b.SyncedVersion)
}

// leftOver is a blueprint whose file is gone.
func leftOver(path string, gone *project.Deployed, o Options) Change {
	c := Change{Action: Delete, Path: path, ID: gone.ID, Title: gone.Title}
	switch {
	case !o.Prune:
		c.Action, c.Note = Keep, "its file is gone; --prune deletes it"
	case gone.Foreign && !o.Force:
		c.Conflict = "somebody else made it; --force deletes it all the same"
	case gone.SyncedVersion != gone.Version && !o.Force:
		c.Conflict = edited(&gone.Blueprint)
	}
	return c
}

// sameBudget reports whether two budgets bound the same, one without limits being
// none.
func sameBudget(a, b *blueprint.Budget) bool {
	same := func(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }
	if !a.Limits() || !b.Limits() {
		return a.Limits() == b.Limits()
	}
	return same(a.Tokens, b.Tokens) && same(a.Calls, b.Calls) && cmp.Or(a.OnBreach, blueprint.BreachFails) == cmp.Or(b.OnBreach, blueprint.BreachFails)
}
