package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
)

// The limits of a folder.
const (
	MaxFiles   = 10_000  // blueprint, test and input files
	MaxEntries = 200_000 // files and folders of any kind
	maxDepth   = 64
)

// Kind is the kind of a project file.
type Kind string

const (
	KindBlueprint Kind = "blueprint" // *.blueprint.yaml, .yml or .json
	KindTest      Kind = "test"      // *.test.yaml, .yml or .json
	KindInput     Kind = "input"     // *.input.json
)

// KindOf returns the kind of a file by its name, "" for other files.
func KindOf(name string) Kind {
	stem, extension, _ := cutLast(path.Base(name))
	if extension != "yaml" && extension != "yml" && extension != "json" {
		return ""
	}
	first, kind, _ := cutLast(stem)
	switch {
	case first == "":
		return ""
	case kind == string(KindBlueprint), kind == string(KindTest), kind == string(KindInput) && extension == "json":
		return Kind(kind)
	}
	return ""
}

func cutLast(name string) (before, after string, found bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", "", false
	}
	return name[:i], name[i+1:], true
}

// Stem returns the path of a file without its kind and extension, which is the same for
// files that belong together.
func Stem(name string) string {
	stem, _, _ := cutLast(name)
	stem, _, _ = cutLast(stem)
	return stem
}

// Listing holds the files of a folder by their paths in it, with slashes.
type Listing map[string]fs.FileInfo

// Unseen is a blueprint file that Survey cannot read, or a folder that it does not enter.
type Unseen struct {
	Path   string
	Why    string
	Folder bool
}

// Scan lists the project files below a folder. It skips hidden folders, node_modules, and
// links that lead out of the folder, and does not enter linked folders.
func Scan(folder string) (Listing, error) {
	found, _, err := Survey(folder)
	return found, err
}

// Survey is Scan that also returns what was skipped for reasons other than its name, so
// that blueprints there are not mistaken for deleted ones.
func Survey(folder string) (Listing, []Unseen, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	found, entries := Listing{}, 0
	var unseen []Unseen
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if entries++; entries > MaxEntries {
			return fmt.Errorf("the folder holds more than %d files and folders", MaxEntries)
		}
		switch {
		case err != nil && name != "." && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir():
			deep := strings.Count(name, "/") >= maxDepth
			if name != "." && (skipped(entry) || deep) {
				if !skipped(entry) {
					unseen = append(unseen, Unseen{name, "it is too deep", true})
				}
				return fs.SkipDir
			}
			return nil
		case skipped(entry):
			return nil
		case KindOf(name) == "":
			if entry.Type()&fs.ModeSymlink != 0 {
				unseen = append(unseen, Unseen{name, "it is a link", true})
			}
			return nil
		}
		info, err := root.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			if why := notRead(entry, err); why != "" && KindOf(name) == KindBlueprint {
				unseen = append(unseen, Unseen{name, why, false})
			}
			return nil
		}
		if found[name] = info; len(found) > MaxFiles {
			return fmt.Errorf("the folder holds more than %d blueprint and test files", MaxFiles)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return found, unseen, nil
}

// Folders lists a folder and the readable folders below it that Scan enters.
func Folders(folder string) []string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	found := []string{folder}
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir() || path == folder:
			return nil
		case skipped(entry):
			return fs.SkipDir
		}
		found = append(found, path)
		return nil
	})
	return found
}

func skipped(entry fs.DirEntry) bool {
	return strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"
}

// notRead returns the reason why a file is not listed, "" if it does not exist.
func notRead(entry fs.DirEntry, err error) string {
	switch {
	case entry.Type()&fs.ModeSymlink != 0:
		return "it is a broken link, or a link out of the folder"
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return err.Error()
	}
	return "it is not a regular file"
}

// ReadListed returns the content of a file in a folder, of at most a number of bytes. It
// does not follow links out of the folder.
func ReadListed(folder, name string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is larger than %d bytes", most)
	}
	return data, err
}

// ReadFolder reads the blueprint files of a folder and prints their issues. It returns the
// valid files and the number of invalid ones.
func ReadFolder(out io.Writer, dir string, listing Listing) (wanted []Desired, bad int) {
	for _, name := range slices.Sorted(maps.Keys(listing)) {
		if KindOf(name) != KindBlueprint {
			continue
		}
		if desired, ok := ReadDesired(out, dir, name); ok {
			wanted = append(wanted, desired)
		} else {
			bad++
		}
	}
	return wanted, bad + dangling(out, wanted, listing)
}

// dangling prints references to missing files and those that form cycles. It returns the
// number of files with such references. References to invalid files are not printed, as
// those files have been.
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

// ReadDesired reads a file of a folder and prints its issues. ok is false if it has errors.
func ReadDesired(out io.Writer, dir, name string) (Desired, bool) {
	called := filepath.Join(dir, filepath.FromSlash(name))
	data, err := ReadListed(dir, name, document.MaxSize)
	if err != nil {
		fmt.Fprintf(out, "%s: cannot be read: %s\n", blueprint.OneLine(called), fileio.Cause(err))
		return Desired{}, false
	}
	b, issues, err := parseBlueprint(called, data)
	if syntax, ok := errors.AsType[*document.SyntaxError](err); ok {
		fmt.Fprintln(out, blueprint.OneLine(syntax.Error()))
		fmt.Fprint(out, syntax.Excerpt())
		return Desired{}, false
	}
	shown := slices.DeleteFunc(slices.Clone(issues), func(issue blueprint.Issue) bool { return aboutNullSecret(b, issue) })
	fmt.Fprint(out, Pointed(b.Document, shown, issues...))
	if len(Errors(shown)) > 0 {
		return Desired{}, false
	}
	return desired(name, b), true
}

// aboutNullSecret reports whether an issue is the warning of import about a null secret,
// which the server may have already.
func aboutNullSecret(b *Blueprint, issue blueprint.Issue) bool {
	if issue.Severity != blueprint.SeverityWarning || len(issue.Path) != 4 || issue.Path[0] != "triggers" || issue.Path[2] != "config" {
		return false
	}
	i, _ := issue.Path[1].(int)
	raw := rawTrigger(b, i)
	return isNullSecret(&raw, issue.Path[3:])
}

// rawTrigger returns a trigger of a valid file including its null secrets.
func rawTrigger(b *Blueprint, i int) Trigger {
	entry := Trigger{Active: true, Config: map[string]any{}}
	trigger, _ := ValueAt(b.Document.Value, []any{"triggers", i}).(map[string]any)
	entry.Kind, _ = trigger["triggerType"].(string)
	if config, ok := trigger["config"].(map[string]any); ok {
		entry.Config, _, _ = blueprint.TriggerConfigSpelling(blueprint.TriggerType(entry.Kind), config)
	}
	if active, ok := trigger["isActive"].(bool); ok {
		entry.Active = active
	}
	return entry
}

// desired returns the blueprint that a valid file describes.
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

// Desired is the blueprint that a file describes.
type Desired struct {
	Path        string // in the folder, with slashes
	Title       string
	Description string
	Tags        []string
	Map         any               // blueprint_map
	Variables   []any             // environment_variables
	Status      string            // "" leaves that of the server
	Visibility  string            // "" leaves that of the server
	Budget      *blueprint.Budget // nil leaves that of the server; without limits removes it
	Triggers    []DesiredTrigger
	// Point formats a message about a path as file:line:column: message; nil in tests.
	Point func(path []any, message string) string
}

// DesiredTrigger is the trigger that a file describes. A null secret in its config
// leaves that of the server.
type DesiredTrigger struct {
	Type   blueprint.TriggerType
	Config map[string]any
	Active bool
}

// Deployed is a blueprint on the server, with its secrets.
type Deployed struct {
	blueprint.Blueprint
	Triggers []blueprint.Trigger // oldest first
	Foreign  bool                // created by another user
}

// Scheme is the prefix of the sources of all folders.
const Scheme = "sync:"

// SourceOf returns the source of a blueprint from a file in a named folder. With an empty
// path, it returns the prefix of all sources of the folder.
func SourceOf(name, path string) string { return Scheme + name + ":" + path }

// PathOf returns the path of the file of a source of a named folder.
func PathOf(name, source string) string { return strings.TrimPrefix(source, SourceOf(name, "")) }
