package recording

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/secret"
)

// NamedFile is a file with its content.
type NamedFile struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

// TestFiles returns a blueprint file, a test that expects what the run did and, if
// the run was recorded, the cassette for the test. kinds is the catalogue of node
// types.
//
// The test expects the status, the output and the outcome of each step, except for
// unstable values (see stable) and outputs beyond 64 KiB. Steps that need a person
// or another run are stubbed with their outputs; without a cassette, so is every
// step that is not pure. Secret variables get placeholders, which a comment names.
func (f *File) TestFiles(kinds map[string]*blueprint.NodeType) ([]NamedFile, error) {
	name := slug(f.Blueprint.Title)
	plan, err := document.Marshal(f.Blueprint.members(), false)
	if err != nil {
		return nil, err
	}
	files := []NamedFile{{name + ".blueprint.yaml", string(plan)}}
	test := f.test(name, kinds)
	text, err := document.Marshal([]document.Member{{Name: "blueprint", Value: files[0].Name}, {Name: "tests", Value: []any{test}}}, false)
	if err != nil {
		return nil, err
	}
	files = append(files, NamedFile{name + ".test.yaml", f.comment() + string(text)})
	if f.Cassette != nil {
		tape, err := f.Cassette.Bytes()
		if err != nil {
			return nil, err
		}
		files = append(files, NamedFile{name + ".cassette.json", string(tape)})
	}
	return files, nil
}

func (b *Blueprint) members() []document.Member {
	members := []document.Member{{Name: "title", Value: b.Title}}
	if b.Description != "" {
		members = append(members, document.Member{Name: "description", Value: b.Description})
	}
	if len(b.Tags) > 0 {
		tags := make([]any, len(b.Tags))
		for i, tag := range b.Tags {
			tags[i] = tag
		}
		members = append(members, document.Member{Name: "tags", Value: tags})
	}
	if len(b.Variables) > 0 {
		members = append(members, document.Member{Name: "environment_variables", Value: b.Variables})
	}
	return append(members, document.Member{Name: "blueprint_map", Value: b.Map})
}

func (f *File) test(name string, kinds map[string]*blueprint.NodeType) map[string]any {
	r, stable := &f.Run, newStable(f)
	test := map[string]any{"name": "as run " + r.ID, "clock": r.StartTime.String(), "inputData": r.InputData}
	if variables := f.givenVariables(); len(variables) > 0 {
		test["variables"] = variables
	}
	if f.Cassette != nil {
		test["cassette"] = name + ".cassette.json"
	}
	steps, stubs := map[string]any{}, map[string]any{}
	for i := range r.Steps {
		at := &r.Steps[i]
		if at.Status != blueprint.StepCompleted && at.Status != blueprint.StepFailed && at.Status != blueprint.StepSkipped {
			continue
		}
		expected := map[string]any{"status": string(at.Status)}
		if at.Status == blueprint.StepCompleted && !tooLong(at.Output) {
			expected["output"] = stable.value(at.Output)
			if f.IsRandom(at.NodeID) {
				expected["output"] = anyValue()
			}
		}
		steps[at.NodeID] = expected
		if stub := f.stub(at, kinds); stub != nil {
			stubs[at.NodeID] = stub
		}
	}
	if len(stubs) > 0 {
		test["stubs"] = stubs
	}
	expect := map[string]any{"status": string(r.Status)}
	if r.Status == blueprint.StatusCompleted && !tooLong(r.Output) {
		expect["output"] = stable.value(r.Output)
	}
	if len(steps) > 0 {
		expect["steps"] = steps
	}
	test["expect"] = expect
	return test
}

// stub returns the stub of a step, nil when it needs none.
func (f *File) stub(at *blueprint.Step, kinds map[string]*blueprint.NodeType) map[string]any {
	kind := kinds[blueprint.NormalType(at.NodeType)]
	if kind == nil || !kind.NeedsStub(f.Cassette != nil) {
		return nil
	}
	switch {
	case at.Status == blueprint.StepFailed && at.Error != nil:
		return map[string]any{"error": at.Error.Message}
	case at.Status != blueprint.StepCompleted:
		return nil
	}
	stub := map[string]any{"output": at.Output}
	if handle := f.Run.Handles[at.NodeID]; handle != "" && kind.Answer == nil {
		stub["handle"] = handle
	}
	return stub
}

// givenVariables returns the variables of the run with placeholders for secret ones.
func (f *File) givenVariables() map[string]any {
	out := map[string]any{}
	maps.Copy(out, f.Run.InputVariables)
	maps.Copy(out, f.Placeholders())
	return out
}

// comment returns the comment at the top of the test file.
func (f *File) comment() string {
	lines := []string{fmt.Sprintf("The run %s of %s, version %s.", f.Run.ID, f.Blueprint.ID, f.Blueprint.Version)}
	if names := slices.Sorted(maps.Keys(f.Placeholders())); len(names) > 0 {
		lines = append(lines, "Secret variables have placeholders: "+strings.Join(names, ", ")+".")
	}
	if f.Cassette == nil {
		lines = append(lines, "The run was not recorded: stubs return the outputs of its steps.")
	}
	var out strings.Builder
	for _, line := range lines {
		out.WriteString("# " + strings.Map(printable, secret.RedactText(line)) + "\n")
	}
	return out.String()
}

// printable replaces control characters and line separators.
func printable(c rune) rune {
	if c < ' ' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029 {
		return ' '
	}
	return c
}

// slug returns a file name for a title.
func slug(title string) string {
	name := blueprint.Slug(title)
	if len(name) > 60 {
		name = strings.Trim(name[:60], "-")
	}
	if name == "" {
		return "blueprint"
	}
	return name
}
