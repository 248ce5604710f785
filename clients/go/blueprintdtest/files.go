package blueprintdtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"blueprintd/clients/go/program"
)

// CreateFile stores the blueprint of a YAML or JSON file with its triggers and returns its
// id. Triggers returns the triggers' ids.
//
// A reference such as {$connection: crm} becomes the id of the connection with that name,
// which must exist, for example from a seed file. The file of {$blueprint: child.blueprint.yaml}
// is stored too.
func (s *Server) CreateFile(path string) string {
	s.t.Helper()
	id, err := s.createFile(path)
	if err != nil {
		s.t.Fatalf("blueprintdtest: %v", err)
	}
	return id
}

func (s *Server) createFile(path string) (string, error) {
	f := files{server: s, ids: map[string]string{}}
	return f.create(path)
}

// files stores files and those to which they refer.
type files struct {
	server      *Server
	ids         map[string]string   // of blueprints by path; "" while one is being stored
	connections map[string][]string // ids by name; nil until they are needed
}

func (f *files) create(path string) (string, error) {
	path = filepath.Clean(path)
	if id, begun := f.ids[path]; begun {
		if id == "" {
			return "", fmt.Errorf("%s refers to itself, directly or through other files", path)
		}
		return id, nil
	}
	f.ids[path] = ""
	file, err := f.read(path)
	if err != nil {
		return "", err
	}
	blueprint := object{}
	for _, name := range []string{"title", "description", "status", "tags", "blueprint_map", "environment_variables", "budget"} {
		if value, given := file[name]; given {
			blueprint[name] = value
		}
	}
	var made struct {
		ID string `json:"id"`
	}
	ctx, s := f.server.t.Context(), f.server
	if err := s.Mutate(ctx, "blueprint.create", blueprint, &made); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if visibility, given := file["visibility"]; given {
		if err := s.Mutate(ctx, "blueprint.update", object{"id": made.ID, "visibility": visibility}, nil); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	triggers, _ := file["triggers"].([]any)
	for i, each := range triggers {
		trigger, _ := each.(object)
		input := object{"blueprintId": made.ID, "triggerType": trigger["triggerType"], "config": object{}}
		for _, name := range []string{"config", "isActive"} {
			if value := trigger[name]; value != nil {
				input[name] = value
			}
		}
		if err := s.Mutate(ctx, "blueprintTriggers.create", input, nil); err != nil {
			return "", fmt.Errorf("%s: triggers[%d]: %w", path, i, err)
		}
	}
	f.ids[path] = made.ID
	return made.ID, nil
}

// read returns the content of a file with ids in place of its references.
func (f *files) read(path string) (object, error) {
	if err := touch(path); err != nil {
		return nil, err
	}
	blueprintd := f.server.program
	if blueprintd == "" { // the server was not started here
		var err error
		if blueprintd, err = program.Find(""); err != nil {
			return nil, err
		}
	}
	var stdout, stderr bytes.Buffer
	convert := exec.CommandContext(f.server.t.Context(), blueprintd, "convert", path)
	convert.Stdout, convert.Stderr = &stdout, &stderr
	if err := convert.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", path, err, &stderr)
	}
	var file object
	decoder := json.NewDecoder(&stdout)
	decoder.UseNumber() // numbers keep their digits
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s is not a blueprint file: %w", path, err)
	}
	if _, err := f.resolve(path, file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// touch opens a file that another process reads. "go test" caches the result of a test that
// opened files until one of them changes, but does not know what other processes read.
func touch(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return file.Close()
}

// resolve replaces the references in a value, in place, and returns it.
func (f *files) resolve(path string, value any) (any, error) {
	switch v := value.(type) {
	case []any:
		for i := range v {
			var err error
			if v[i], err = f.resolve(path, v[i]); err != nil {
				return nil, err
			}
		}
	case object:
		for name, member := range v {
			var err error
			if list, several := member.([]any); several && name == "mcpConnectionIds" {
				for i := range list {
					if list[i], err = f.id(path, "connectionId", list[i]); err != nil {
						return nil, err
					}
				}
			}
			if v[name], err = f.id(path, name, member); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// id returns the id for a reference in a member, or the member with its references replaced.
func (f *files) id(path, name string, member any) (any, error) {
	reference, _ := member.(object)
	connection, isConnection := reference["$connection"].(string)
	file, isFile := reference["$blueprint"].(string)
	switch {
	case len(reference) == 1 && isConnection && name == "connectionId":
		return f.connection(connection)
	case len(reference) == 1 && isFile && name == "blueprintId":
		return f.create(filepath.Join(filepath.Dir(path), filepath.FromSlash(file)))
	}
	return f.resolve(path, member)
}

// connection returns the id of the connection with a name.
func (f *files) connection(name string) (string, error) {
	if f.connections == nil {
		var all []struct{ ID, Name string }
		if err := f.server.Query(f.server.t.Context(), "connection.list", object{}, &all); err != nil {
			return "", err
		}
		f.connections = map[string][]string{}
		for _, each := range all {
			f.connections[each.Name] = append(f.connections[each.Name], each.ID)
		}
	}
	switch ids := f.connections[name]; len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		var known []string
		for other := range f.connections {
			known = append(known, other)
		}
		slices.Sort(known)
		if len(known) == 0 {
			return "", fmt.Errorf("there is no connection %q; add it to the seed file, or create it with connection.create", name)
		}
		return "", fmt.Errorf("there is no connection %q; the server has %s", name, strings.Join(known, ", "))
	default:
		return "", fmt.Errorf("there are %d connections with the name %q; rename all but one", len(ids), name)
	}
}
