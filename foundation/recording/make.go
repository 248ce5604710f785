package recording

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/secret"
)

// Source is the input of Make.
type Source struct {
	Recording   *blueprint.Recording
	Blueprint   Blueprint
	Connections map[string]Connection // by id; may lack some of Recording
	At          blueprint.Time        // now
	Server      string                // its version
	Sandbox     bool                  // fakes answered the run's requests
}

// Make returns the file of a run. It does not change its argument.
func Make(s Source) *File {
	x := s.Recording.Execution
	r := secret.NewRedactor() // values from the blueprint may recur anywhere
	f := &File{Format: Format, ExportedAt: s.At, Server: s.Server, Blueprint: s.Blueprint}
	f.Run = Run{
		ExecutionStatus: x.ExecutionStatus, InputVariables: object(r, x.InputVariables), InputData: secret.Redact(x.InputData), Output: secret.Redact(x.Output),
		CreatedAt: x.CreatedAt, Handles: s.Recording.Handles, Telemetry: x.Telemetry, Sandbox: s.Sandbox,
		RetryOf: x.RetryOf, FromNodeID: x.RetryFrom, InputEdited: x.InputEdited,
	}
	if x.Failure != nil {
		failure := *x.Failure
		failure.Message, failure.Hint, failure.Grant = secret.RedactText(failure.Message), secret.RedactText(failure.Hint), grant(failure.Grant, secret.RedactText)
		f.Run.Error = &failure
	}
	f.Run.Telemetry.ErrorSummary = secret.RedactText(x.Telemetry.ErrorSummary)
	if from := s.Recording.Trigger; from != nil {
		f.Run.Trigger = &Trigger{from.ID, from.Type, object(new(secret.Redactor), headersOf(from.Headers))}
	}
	redactStatus(&f.Run.ExecutionStatus)
	f.Blueprint.Map = r.Value(s.Blueprint.Map)
	if s.Recording.Map != nil {
		f.Blueprint.Map = r.Value(s.Recording.Map)
	}
	f.Blueprint.Variables = variables(r, s.Blueprint.Variables)
	f.Blueprint.Description = secret.RedactText(s.Blueprint.Description)
	if s.Recording.Recorded {
		f.Cassette = cassette(s)
	}
	f.mask(r.Masker())
	return f
}

func object(r *secret.Redactor, given map[string]any) map[string]any {
	out, _ := r.Value(given).(map[string]any)
	return out
}

// mask masks a value that looked like a credential in one place everywhere in the results.
func (f *File) mask(m *secret.Masker) {
	if m == nil {
		return
	}
	x := &f.Run
	x.Output = m.Value(x.Output)
	if x.Error != nil {
		x.Error.Message, x.Error.Hint, x.Error.Grant = m.Text(x.Error.Message), m.Text(x.Error.Hint), grant(x.Error.Grant, m.Text)
	}
	x.Telemetry.ErrorSummary = m.Text(x.Telemetry.ErrorSummary)
	for i := range x.Steps {
		at := &x.Steps[i]
		at.Input, at.Output = m.Value(at.Input), m.Value(at.Output)
		if at.Error != nil {
			at.Error.Message, at.Error.Exchange = m.Text(at.Error.Message), m.StepExchange(at.Error.Exchange)
			at.Error.Hint, at.Error.Grant = m.Text(at.Error.Hint), grant(at.Error.Grant, m.Text)
		}
	}
	for i := range x.Logs {
		x.Logs[i].Message, x.Logs[i].Data = m.Text(x.Logs[i].Message), m.Value(x.Logs[i].Data)
	}
	if f.Cassette != nil {
		for i := range f.Cassette.Exchanges {
			f.Cassette.Exchanges[i] = m.Exchange(f.Cassette.Exchanges[i])
		}
	}
}

// headersOf masks headers with sensitive names.
func headersOf(headers map[string]any) map[string]any {
	out := make(map[string]any, len(headers))
	for name, value := range headers {
		out[name] = value
		if secret.SensitiveHeader(name) {
			out[name] = secret.Mask
		}
	}
	return out
}

// redactStatus redacts a record in place, except for its lists, which it copies.
func redactStatus(x *blueprint.ExecutionStatus) {
	x.Steps = slices.Clone(x.Steps)
	for i := range x.Steps {
		at := &x.Steps[i]
		at.Input, at.Output = secret.Redact(at.Input), secret.Redact(at.Output)
		if at.Error != nil {
			failure := *at.Error
			failure.Message, failure.Hint, failure.Grant = secret.RedactText(failure.Message), secret.RedactText(failure.Hint), grant(failure.Grant, secret.RedactText)
			at.Error = &failure
		}
	}
	x.Logs = slices.Clone(x.Logs)
	for i := range x.Logs {
		at := &x.Logs[i]
		at.Message, at.Data = secret.RedactText(at.Message), secret.Redact(at.Data)
	}
	x.AwaitingInputs = slices.Clone(x.AwaitingInputs)
	for i, input := range x.AwaitingInputs {
		hidden := *input
		hidden.Prompt, hidden.URL, hidden.Schema = secret.RedactText(input.Prompt), "", secret.Redact(input.Schema)
		x.AwaitingInputs[i] = &hidden
	}
	if x.AwaitingInput = nil; len(x.AwaitingInputs) > 0 {
		x.AwaitingInput = x.AwaitingInputs[0]
	}
}

// grant returns a copy of a missing grant with its texts masked.
func grant(missing *blueprint.MissingGrant, masked func(string) string) *blueprint.MissingGrant {
	if missing == nil {
		return nil
	}
	out := *missing
	for _, text := range []*string{&out.Author.Name, &out.Author.Email, &out.Resource.Name} {
		*text = masked(*text)
	}
	return &out
}

// variables removes the secrets of declarations and masks defaults under sensitive names.
func variables(r *secret.Redactor, list []any) []any {
	out := slices.Clone(blueprint.RedactVariables(list))
	for i, element := range out {
		given, _ := element.(map[string]any)
		name, _ := given["name"].(string)
		if given["default"] == nil || name == "" {
			continue
		}
		changed := maps.Clone(given)
		changed["default"] = object(r, map[string]any{name: given["default"]})[name]
		out[i] = changed
	}
	return out
}

func cassette(s Source) *Cassette {
	c := &Cassette{Format: CassetteFormat, Exchanges: slices.Clone(s.Recording.Exchanges), Connections: map[string]Connection{}}
	if c.Exchanges == nil {
		c.Exchanges = []blueprint.Exchange{}
	}
	for _, used := range s.Recording.Connections {
		known, ok := s.Connections[used.ID]
		if !ok {
			known = Connection{Type: used.Type}
		}
		if known.Config = object(new(secret.Redactor), known.Config); known.Config == nil {
			known.Config = map[string]any{}
		}
		c.Connections[used.ID] = known
	}
	return c
}

// Placeholder returns a value for a secret variable whose secret is not available.
func Placeholder(kind blueprint.VariableType) any {
	switch kind {
	case blueprint.VariableNumber:
		return json.Number("1")
	case blueprint.VariableBoolean:
		return true
	case blueprint.VariableJSON:
		return map[string]any{"secret": "stand-in-for-a-secret"}
	}
	return "stand-in-for-a-secret"
}

// Placeholders returns values for the secret variables that the run had, none of
// which are in the file: those that were passed, are required or had a default.
func (f *File) Placeholders() map[string]any {
	out := map[string]any{}
	for _, element := range f.Blueprint.Variables {
		declared, _ := element.(map[string]any)
		name, named := declared["name"].(string)
		if !named || declared["secret"] != true {
			continue
		}
		_, given := f.Run.InputVariables[name]
		_, preset := declared["default"]
		if given || preset || declared["required"] == true {
			kind, _ := declared["type"].(string)
			out[name] = Placeholder(blueprint.VariableType(kind))
		}
	}
	return out
}

// NamedFile is a file with its content.
type NamedFile struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

// TestFiles returns a blueprint file, a test that expects the results of the run and, if
// the run was recorded, the cassette for the test. kinds is the catalogue of node types.
//
// The test expects the status, the output and the outcome of each step, except for unstable
// values (see stable) and outputs larger than 64 KiB. Steps that need a person or another
// run are stubbed with their outputs; without a cassette, so is every step that is not
// pure. Secret variables get placeholders, which a comment names.
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
	title := "as run " + r.ID
	switch {
	case r.InputEdited:
		title += ", a fork of run " + r.RetryOf
	case r.RetryOf != "":
		title += ", a retry of run " + r.RetryOf
	}
	test := map[string]any{"name": title, "clock": r.StartTime.String(), "inputData": r.InputData}
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
			if stable.randomNodes[nodeOf(at.NodeID)] {
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

// stub returns the stub of a step, nil if it needs none.
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
	if r := &f.Run; r.RetryOf != "" {
		line := "It repeats the run " + r.RetryOf
		if r.InputEdited {
			line = fmt.Sprintf("It is a fork of the run %s at the node %s", r.RetryOf, r.FromNodeID)
		} else if r.FromNodeID != "" {
			line += " from the node " + r.FromNodeID
		}
		lines = append(lines, line+".")
	}
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
