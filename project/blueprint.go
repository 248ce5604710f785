// Package project reads the files of a project folder: blueprints (*.blueprint.yaml),
// tests and seeds. It lists them (Scan), watches them (Watcher), reports errors with
// their positions, and generates the JSON Schemas of these files for editors.
//
// Files refer to each other and to connections by name instead of by id (Reference), so
// that a folder works with several servers.
package project

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/secret"
)

// MessageOf returns the message of an error for the author of a file.
func MessageOf(err error) string {
	if known, ok := errors.AsType[*blueprint.Error](err); ok {
		return known.Message
	}
	return fileio.Cause(err).Error()
}

// Pointed returns issues of a document with their positions and source lines. others are
// issues that are not shown, but may be about secrets to hide.
func Pointed(d *document.Document, issues []blueprint.Issue, others ...blueprint.Issue) string {
	var out strings.Builder
	for _, issue := range issues {
		out.WriteString(blueprint.OneLine(d.Point(issue)) + "\n" + Excerpt(d, issue, slices.Concat(issues, others)))
	}
	return out.String()
}

// Errors returns the issues that are not warnings.
func Errors(issues []blueprint.Issue) []blueprint.Issue {
	return slices.DeleteFunc(slices.Clone(issues), func(i blueprint.Issue) bool { return i.Severity == blueprint.SeverityWarning })
}

// Blueprint is a parsed blueprint file.
type Blueprint struct {
	Document    *document.Document
	Title       string
	Description string
	Tags        []string
	Variables   []any
	Map         any // with placeholder ids instead of references
	Triggers    []Trigger
	References  []Reference

	// Import ignores these and creates a private draft, so that nothing is published
	// unseen. Sync applies those that are set.
	Status     string            // "" if not set
	Visibility string            // "" if not set
	Budget     *blueprint.Budget // nil if not set, without limits for none
}

// Trigger is a trigger of a blueprint file.
type Trigger struct {
	Kind   string
	Config map[string]any
	Active bool
}

// ReadFile reads a blueprint file and returns its issues. The error is a
// *document.SyntaxError, or a *blueprint.InputError for an unreadable file.
func ReadFile(in *Inputs, name string) (*Blueprint, []blueprint.Issue, error) {
	data, called, err := in.Read(name, document.MaxSize)
	if err != nil {
		return nil, nil, blueprint.InputErrorf("check the path; - is standard input", "%s cannot be read: %s", called, fileio.Cause(err))
	}
	return parseBlueprint(called, data)
}

func parseBlueprint(name string, data []byte) (*Blueprint, []blueprint.Issue, error) {
	doc, err := document.Parse(name, data)
	if err != nil {
		return nil, nil, err
	}
	r := &Reader{Blueprint: &Blueprint{Document: doc}}
	r.Read()
	return r.Blueprint, r.Issues, nil
}

// Definition returns the definition of a valid blueprint file.
func Definition(id string, b *Blueprint) *blueprint.Definition {
	variables, _ := blueprint.ParseVariables(b.Variables)
	m, _ := blueprint.ParseMap(b.Map)
	return &blueprint.Definition{BlueprintID: id, Title: b.Title, Version: blueprint.InitialVersion, Map: m, Variables: variables}
}

// stdinName is the name of standard input in messages.
const stdinName = "stdin"

// Inputs reads the files named on a command line; "-" is standard input.
type Inputs struct {
	Stdin io.Reader
	spent bool // standard input was read
}

// Read returns the content of a file within a limit, and its name for messages.
func (in *Inputs) Read(name string, most int64) (data []byte, called string, err error) {
	if name == "" {
		return nil, `""`, fs.ErrNotExist
	}
	if name != "-" {
		data, err = fileio.Read(name, most)
		return data, name, err
	}
	if in.spent || in.Stdin == nil {
		return nil, stdinName, errors.New("it was already read")
	}
	in.spent = true
	data, err = fileio.ReadAll(in.Stdin, most)
	return data, stdinName, err
}

// Dangling is a reference to a blueprint file that cannot be resolved.
type Dangling struct {
	Reference
	File     string // the file with the reference
	Message  string
	Indirect bool // the target exists, but has such a reference itself
}

// FindDangling returns the references to missing files, those that form a cycle, and
// those to files with such references. Without any, the blueprints can be created in an
// order in which each follows those to which it refers.
func FindDangling(files []Desired) (found []Dangling) {
	to := References(files)
	ready := settled(to)
	for i := range files {
		from := files[i].Path
		for _, r := range to[from] {
			target := r.Target(from)
			d := Dangling{Reference: r, File: from, Message: "waits for " + target, Indirect: true}
			if _, exists := to[target]; !exists {
				d.Message, d.Indirect = "there is no such blueprint file here: "+target, false
			} else if ready[target] {
				continue
			} else if path := shortestPath(to, target, from); path != nil {
				d.Message = "refers back to this file (" + strings.Join(append([]string{from}, path...), " -> ") + "); remove one of these references"
				d.Indirect = false
			}
			found = append(found, d)
		}
	}
	return found
}

// References returns the references to files, by the path of the referring file.
func References(files []Desired) map[string][]Reference {
	to := make(map[string][]Reference, len(files))
	for i := range files {
		to[files[i].Path] = slices.DeleteFunc(files[i].References(), func(r Reference) bool { return r.Key != BlueprintKey })
	}
	return to
}

// settled reports for each file whether its references exist and have no cycle.
func settled(to map[string][]Reference) map[string]bool {
	ready := map[string]bool{}
	var visit func(path string) bool
	visit = func(path string) bool {
		references, exists := to[path]
		if known, seen := ready[path]; seen || !exists {
			return known
		}
		ready[path] = false // so that a cycle ends here
		ready[path] = !slices.ContainsFunc(references, func(r Reference) bool { return !visit(r.Target(path)) })
		return ready[path]
	}
	for path := range to {
		visit(path)
	}
	return ready
}

// shortestPath returns the files on the shortest path of references, including both
// ends; nil if there is none.
func shortestPath(to map[string][]Reference, from, end string) []string {
	before := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == end {
			var path []string
			for ; at != ""; at = before[at] {
				path = append(path, at)
			}
			slices.Reverse(path)
			return path
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

// Excerpt returns the source line of an issue without the secrets of the file: those that
// other issues mark, defaults of secret variables, members with sensitive names, and
// the variables in names.
func Excerpt(d *document.Document, issue blueprint.Issue, others []blueprint.Issue, names ...string) string {
	hidden := secretsIn(nil, nil, d.Value, names)
	shown := d.ExcerptOf(issue, slices.Concat(others, hidden)...)
	for _, each := range slices.Concat(others, hidden) {
		if each.Spot.Secret {
			shown = withoutWords(shown, ValueAt(d.Value, each.Path))
		}
	}
	return shown
}

// ExcerptOf is Excerpt without names.
func ExcerptOf(d *document.Document, issue blueprint.Issue, others []blueprint.Issue) string {
	return Excerpt(d, issue, others)
}

// withoutWords masks the words of a secret, which may span several lines.
func withoutWords(shown string, value any) string {
	text, _ := value.(string)
	for _, word := range strings.Fields(text) {
		if len(word) >= 6 {
			shown = strings.ReplaceAll(shown, word, strings.Repeat("*", utf8.RuneCountInString(word)))
		}
	}
	return shown
}

// ValueAt returns the value at a path of a value, nil if there is none.
func ValueAt(value any, path []any) any {
	for _, part := range path {
		switch at := part.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[at]
		case int:
			list, _ := value.([]any)
			if at < 0 || at >= len(list) {
				return nil
			}
			value = list[at]
		}
	}
	return value
}

func secretsIn(found []blueprint.Issue, path []any, value any, names []string) []blueprint.Issue {
	switch v := value.(type) {
	case []any:
		for i, element := range v {
			found = secretsIn(found, append(slices.Clip(path), i), element, names)
		}
	case map[string]any:
		hidden := blueprint.HiddenOfVariable(v)
		for name, element := range v {
			at := append(slices.Clip(path), name)
			text, isText := element.(string)
			_, isObject := element.(map[string]any)
			called, _ := v["name"].(string)
			switch {
			case slices.Contains(hidden, name), name == "value" && secret.SensitiveName(called),
				slices.Contains(names, name) && !isObject, secret.SensitiveName(name) && isText && !strings.Contains(text, "{{"):
				found = append(found, blueprint.Issue{Path: at, Spot: blueprint.Spot{Secret: true}})
			default:
				found = secretsIn(found, at, element, names)
			}
		}
	}
	return found
}

// MayShow reports whether the content of a file may be shown: the file and the target of
// a link must be named like a blueprint. A reference may name any file of the machine.
func MayShow(path string) bool {
	target, err := filepath.EvalSymlinks(path)
	return err == nil && KindOf(path) == KindBlueprint && KindOf(target) == KindBlueprint
}
