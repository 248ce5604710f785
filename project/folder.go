package project

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
)

// ReadFolder reads the blueprint files of a folder and shows what is wrong with
// them. It returns how many are bad; the others are wanted.
func ReadFolder(out io.Writer, dir string, listing Listing) (wanted []Desired, bad int) {
	for _, name := range slices.Sorted(maps.Keys(listing)) {
		if KindOf(name) != KindBlueprint {
			continue
		}
		desired, ok := ReadDesired(out, dir, name)
		if !ok {
			bad++
			continue
		}
		wanted = append(wanted, desired)
	}
	return wanted, bad + dangling(out, wanted, listing)
}

// dangling shows references to files that are not in the folder, or go round in
// circles, and gives in how many files such stand. A file that is there, and bad,
// was told already.
func dangling(out io.Writer, wanted []Desired, listing Listing) int {
	points, files := map[string]func([]any, string) string{}, map[string]bool{}
	for i := range wanted {
		points[wanted[i].Path] = wanted[i].Point
	}
	for _, d := range FindDangling(wanted) {
		if !d.Indirect && listing[d.Target(d.File)] == nil || points[d.Target(d.File)] != nil && !d.Indirect {
			fmt.Fprintln(out, blueprint.OneLine(points[d.File](d.Path, d.Message)))
			files[d.File] = true
		}
	}
	return len(files)
}

// ReadDesired reads one file of a folder and shows all that is wrong with it; it
// is wanted only when it can run.
func ReadDesired(out io.Writer, dir, name string) (Desired, bool) {
	called := filepath.Join(dir, filepath.FromSlash(name))
	data, err := ReadListed(dir, name, document.MaxSize)
	if err != nil {
		fmt.Fprintf(out, "%s: cannot be read: %s\n", blueprint.OneLine(called), fileio.Cause(err))
		return Desired{}, false
	}
	b, issues, err := parseBlueprint(called, data)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		fmt.Fprintln(out, blueprint.OneLine(syntax.Error()))
		fmt.Fprint(out, syntax.Excerpt())
		return Desired{}, false
	}
	all := slices.Clone(issues)
	issues = slices.DeleteFunc(issues, func(issue blueprint.Issue) bool { return ofLeftOutSecret(b, issue) })
	for _, issue := range issues {
		fmt.Fprint(out, showIssue(b.Document, issue, all))
	}
	if slices.ContainsFunc(issues, func(issue blueprint.Issue) bool { return issue.Severity != blueprint.SeverityWarning }) {
		return Desired{}, false
	}
	return desired(name, b), true
}

// parseBlueprint reads a file whose content is there already.
func parseBlueprint(called string, data []byte) (*Blueprint, []blueprint.Issue, error) {
	doc, err := document.Parse(called, data)
	if err != nil {
		return nil, nil, err
	}
	r := &Reader{Blueprint: &Blueprint{Document: doc}}
	r.Read()
	return r.Blueprint, r.Issues, nil
}

// ofLeftOutSecret reports whether an issue says what import does about a secret
// that is null: on a server it may be there already.
func ofLeftOutSecret(b *Blueprint, issue blueprint.Issue) bool {
	if issue.Severity != blueprint.SeverityWarning || len(issue.Path) != 4 || issue.Path[0] != "triggers" || issue.Path[2] != "config" {
		return false
	}
	i, _ := issue.Path[1].(int)
	raw := rawTrigger(b, i)
	return leftOut(&raw, issue.Path[3:])
}

// rawTrigger returns a trigger of a file that has no errors, with its secrets that
// are null.
func rawTrigger(b *Blueprint, i int) Trigger {
	entry := Trigger{Active: true, Config: map[string]any{}}
	object, _ := b.Document.Value.(map[string]any)
	list, _ := object["triggers"].([]any)
	if i < 0 || i >= len(list) {
		return entry
	}
	trigger, _ := list[i].(map[string]any)
	entry.Kind, _ = trigger["triggerType"].(string)
	if config, ok := trigger["config"].(map[string]any); ok {
		entry.Config, _, _ = blueprint.TriggerConfigSpelling(blueprint.TriggerType(entry.Kind), config)
	}
	if active, ok := trigger["isActive"].(bool); ok {
		entry.Active = active
	}
	return entry
}

// desired returns what a file without errors wants of a server.
func desired(path string, b *Blueprint) Desired {
	d := Desired{
		Path: path, Title: b.Title, Description: b.Description, Tags: b.Tags, Map: RawMap(b), Variables: b.Variables,
		Status: b.Status, Visibility: b.Visibility, Budget: b.Budget,
		Point: func(path []any, message string) string {
			return b.Document.Point(blueprint.Issue{Path: path, Message: message, Severity: blueprint.SeverityError})
		},
	}
	if d.Variables == nil {
		d.Variables = []any{}
	}
	for i := range b.Triggers {
		raw := rawTrigger(b, i)
		d.Triggers = append(d.Triggers, DesiredTrigger{Type: blueprint.TriggerType(raw.Kind), Config: raw.Config, Active: raw.Active})
	}
	return d
}
