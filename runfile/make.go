package runfile

import (
	"slices"

	"blueprintd/blueprint"
	"blueprintd/secret"
)

// Source is what a file is made from.
type Source struct {
	Recording   *blueprint.Recording
	Blueprint   Blueprint
	Connections map[string]Connection // those of Recording that are known
	At          blueprint.Time        // now
	Server      string                // its version
}

// Make makes the file of a run. What it is given is not changed.
func Make(s Source) *File {
	x := s.Recording.Execution
	f := &File{Format: Format, ExportedAt: s.At, Server: s.Server, Blueprint: s.Blueprint}
	f.Run = Run{
		ExecutionStatus: x.ExecutionStatus, InputVariables: object(x.InputVariables), InputData: secret.Redact(x.InputData), Output: secret.Redact(x.Output),
		CreatedAt: x.CreatedAt, Handles: s.Recording.Handles, Telemetry: x.Telemetry,
	}
	if x.Failure != nil {
		failure := *x.Failure
		failure.Message = secret.RedactText(failure.Message)
		f.Run.Error = &failure
	}
	if summary := x.Telemetry.ErrorSummary; summary != nil {
		text := secret.RedactText(*summary)
		f.Run.Telemetry.ErrorSummary = &text
	}
	if from := s.Recording.Trigger; from != nil {
		f.Run.Trigger = &Trigger{from.ID, from.Type, object(headersOf(from.Headers))}
	}
	redactStatus(&f.Run.ExecutionStatus)
	f.Blueprint.Map = secret.Redact(s.Blueprint.Map)
	if s.Recording.Map != nil {
		f.Blueprint.Map = secret.Redact(s.Recording.Map)
	}
	f.Blueprint.Variables = variables(s.Blueprint.Variables)
	f.Blueprint.Description = secret.RedactText(s.Blueprint.Description)
	if s.Recording.Recorded {
		f.Cassette = cassette(s)
	}
	return f
}

// object is Redact for an object.
func object(given map[string]any) map[string]any {
	out, _ := secret.Redact(given).(map[string]any)
	return out
}

// headersOf takes out of headers what only a header's name tells.
func headersOf(headers map[string]any) map[string]any {
	out := make(map[string]any, len(headers))
	for name, value := range headers {
		out[name] = value
		if secret.TellingHeader(name) {
			out[name] = secret.Mask
		}
	}
	return out
}

// redactStatus redacts a record that is a copy but for its lists.
func redactStatus(x *blueprint.ExecutionStatus) {
	x.Steps = slices.Clone(x.Steps)
	for i := range x.Steps {
		at := &x.Steps[i]
		at.Input, at.Output = secret.Redact(at.Input), secret.Redact(at.Output)
		if at.Error != nil {
			at.Error = &blueprint.StepError{Message: secret.RedactText(at.Error.Message), Code: at.Error.Code}
		}
	}
	x.Logs = slices.Clone(x.Logs)
	for i := range x.Logs {
		at := &x.Logs[i]
		at.Message, at.Data = secret.RedactText(at.Message), secret.Redact(at.Data)
	}
	x.AwaitingInputs = slices.Clone(x.AwaitingInputs)
	for i, asked := range x.AwaitingInputs {
		hidden := *asked
		hidden.Prompt, hidden.URL, hidden.Schema = secret.RedactText(asked.Prompt), "", secret.Redact(asked.Schema)
		x.AwaitingInputs[i] = &hidden
	}
	if x.AwaitingInput = nil; len(x.AwaitingInputs) > 0 {
		x.AwaitingInput = x.AwaitingInputs[0]
	}
}

// variables leaves out the secrets of declarations, and masks what is named like
// one.
func variables(list []any) []any {
	out := slices.Clone(blueprint.RedactVariables(list))
	for i, element := range out {
		given, _ := element.(map[string]any)
		name, _ := given["name"].(string)
		text, isText := given["default"].(string)
		if !isText || text == "" {
			continue
		}
		if hidden := secret.RedactText(text); hidden != text || secret.TellingMember(name) {
			if secret.TellingMember(name) {
				hidden = secret.Mask
			}
			changed := make(map[string]any, len(given))
			for key, value := range given {
				changed[key] = value
			}
			changed["default"] = hidden
			out[i] = changed
		}
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
		if known.Config = object(known.Config); known.Config == nil {
			known.Config = map[string]any{}
		}
		c.Connections[used.ID] = known
	}
	return c
}
