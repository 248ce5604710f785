package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
)

// NewCassette returns a cassette whose lists are not null.
func NewCassette(exchanges []blueprint.Exchange, connections map[string]Connection) *Cassette {
	if exchanges == nil {
		exchanges = []blueprint.Exchange{}
	}
	if connections == nil {
		connections = map[string]Connection{}
	}
	return &Cassette{Format: CassetteFormat, Exchanges: exchanges, Connections: connections}
}

// ReadCassette reads a *.cassette.json file. Errors are CodeBadRequest with the path.
func ReadCassette(data []byte) (*Cassette, error) {
	if len(data) > MaxSize {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the cassette is larger than %d MiB", MaxSize>>20)
	}
	value, err := blueprint.Decode(data)
	if err != nil {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the cassette is not JSON: %s", err)
	}
	return cassetteFrom(value)
}

// ReadCassetteFile reads a cassette from a file or a pipe.
func ReadCassetteFile(path string) (*Cassette, error) {
	data, err := fileio.Read(path, MaxSize)
	if err != nil {
		return nil, err
	}
	return ReadCassette(data)
}

func cassetteFrom(value any) (*Cassette, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, wrong("", "must be an object")
	}
	if format, _ := object["format"].(string); format != CassetteFormat {
		return nil, wrong("format", fmt.Sprintf("must be %q", CassetteFormat))
	}
	list, ok := object["exchanges"].([]any)
	switch {
	case !ok:
		return nil, wrong("exchanges", "must be an array")
	case len(list) > MaxExchanges: // before any of them is decoded
		return nil, wrong("exchanges", fmt.Sprintf("must hold at most %d", MaxExchanges))
	}
	c := NewCassette(make([]blueprint.Exchange, 0, len(list)), nil)
	for i, element := range list {
		var x blueprint.Exchange
		if err := convert(element, &x); err != nil {
			return nil, wrong(fmt.Sprintf("exchanges[%d]", i), err.Error())
		}
		c.Exchanges = append(c.Exchanges, x)
	}
	var at checker
	if at.cassette(c); len(at.issues) > 0 {
		return nil, wrong(blueprint.PathText(at.issues[0].Path), at.issues[0].Message)
	}
	if given := object["connections"]; given != nil {
		if err := convert(given, &c.Connections); err != nil {
			return nil, wrong("connections", err.Error())
		}
	}
	return c, nil
}

// convert decodes a plain JSON value into a struct; numbers keep their digits.
func convert(value, into any) error {
	data, err := blueprint.Encode(value)
	if err != nil {
		return err
	}
	if err := blueprint.DecodeInto(data, into); err != nil {
		return fmt.Errorf("has another shape: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func wrong(where, message string) error {
	if where != "" {
		where += ": "
	}
	return blueprint.Errorf(blueprint.CodeBadRequest, "the cassette's %s%s", where, message)
}

// CassetteSchema returns the JSON Schema (2020-12) of a cassette as a plain JSON value.
func CassetteSchema() map[string]any {
	text := map[string]any{"type": "string"}
	headers := map[string]any{"type": "object", "additionalProperties": text}
	object := func(required []any, properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "required": required, "properties": properties}
	}
	request := object([]any{"method", "url"}, map[string]any{
		"method": map[string]any{"type": "string", "description": "The HTTP method, or MAIL."}, "url": text, "headers": headers, "body": map[string]any{}, "cut": map[string]any{"type": "boolean"},
	})
	response := object([]any{"status"}, map[string]any{
		"status": map[string]any{"type": "integer", "minimum": 100, "maximum": 999}, "headers": headers, "body": map[string]any{}, "cut": map[string]any{"type": "boolean"},
	})
	exchange := object([]any{"request"}, map[string]any{
		"at": text, "executionId": text, "nodeId": map[string]any{"type": "string", "description": "The node's address."}, "nodeType": text,
		"attempt": map[string]any{"type": "integer", "minimum": 1}, "request": request, "response": response, "error": text,
	})
	connection := object([]any{"type", "config"}, map[string]any{"name": text, "type": text, "config": map[string]any{"type": "object"}})
	out := object([]any{"format", "exchanges"}, map[string]any{
		"format": map[string]any{"const": CassetteFormat}, "exchanges": map[string]any{"type": "array", "items": exchange},
		"connections": map[string]any{"type": "object", "additionalProperties": connection},
	})
	out["$schema"], out["title"] = "https://json-schema.org/draft/2020-12/schema", "A cassette of blueprintd"
	return out
}

// Limits of a file: its bytes, its exchanges and the steps of its run.
const (
	MaxSize      = 64 << 20
	MaxExchanges = 100_000
	MaxSteps     = 200_000
	// maxDepth allows for an output of the greatest depth and its envelope.
	maxDepth = 2*blueprint.MaxDepth + 16
)

// Parse reads a *.run.json file. Errors have CodeBadRequest or CodePayloadTooLarge.
func Parse(data []byte) (*File, error) {
	f := &File{}
	if err := decode(data, f); err != nil {
		return nil, err
	}
	if issues := f.issues(); len(issues) > 0 {
		return nil, blueprint.InvalidInput(issues)
	}
	return f, nil
}

// decode reads exactly one JSON value whose numbers keep their digits.
func decode(data []byte, into any) error {
	if len(data) > MaxSize {
		return blueprint.Errorf(blueprint.CodePayloadTooLarge, "the file is larger than %d MiB", MaxSize>>20)
	}
	if blueprint.Depth(data) > maxDepth {
		return blueprint.Errorf(blueprint.CodeBadRequest, "the file is nested deeper than %d levels", maxDepth)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err := decoder.Decode(into)
	if err == nil {
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return blueprint.Errorf(blueprint.CodeBadRequest, "the file is followed by more text")
		}
		return nil
	}
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var known *blueprint.Error
	switch {
	case errors.As(err, &wrongType):
		return blueprint.InvalidInput([]blueprint.Issue{{Path: pathOf(wrongType.Field), Message: "must not be a JSON " + wrongType.Value}})
	case errors.As(err, &syntax):
		line, column := place(data, int(syntax.Offset))
		return blueprint.Errorf(blueprint.CodeBadRequest, "line %d, column %d: not JSON: %s", line, column, syntax)
	case errors.As(err, &known):
		return known
	}
	return blueprint.Errorf(blueprint.CodeBadRequest, "not JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func pathOf(field string) (path []any) {
	for name := range strings.SplitSeq(field, ".") {
		if name != "ExecutionStatus" { // embedded in Run
			path = append(path, name)
		}
	}
	return path
}

// place returns the line and column of an offset, both from 1.
func place(data []byte, offset int) (line, column int) {
	before := data[:max(0, min(offset-1, len(data)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// The formats that this package reads and writes.
const (
	Format         = "blueprintd-run/1"
	CassetteFormat = "blueprintd-cassette/1"
)

// File is the content of a *.run.json file.
type File struct {
	Format     string         `json:"format"`
	ExportedAt blueprint.Time `json:"exportedAt"`
	Server     string         `json:"server"` // the version of the server that wrote it
	Blueprint  Blueprint      `json:"blueprint"`
	Run        Run            `json:"run"`
	Cassette   *Cassette      `json:"cassette"` // null when the run was not recorded
}

// Blueprint is a blueprint as it ran: the content of a blueprint file, and its id
// and version on the server.
type Blueprint struct {
	ID          string   `json:"id"`
	Version     string   `json:"version"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Variables   []any    `json:"environment_variables,omitempty"`
	Map         any      `json:"blueprint_map"`
}

// Run is the status record of the run with its inputs and outputs.
type Run struct {
	blueprint.ExecutionStatus
	InputVariables map[string]any      `json:"inputVariables"`
	InputData      any                 `json:"inputData"`
	Output         any                 `json:"output"`
	Error          *blueprint.RunError `json:"error,omitempty"`
	CreatedAt      blueprint.Time      `json:"createdAt"`
	Trigger        *Trigger            `json:"trigger"` // null when none started it
	Handles        map[string]string   `json:"handles,omitempty"`
	Telemetry      blueprint.Telemetry `json:"telemetry"`
	Sandbox        bool                `json:"sandbox,omitempty"`     // fakes answered its requests
	RetryOf        string              `json:"retryOf,omitempty"`     // the run that it retries or forks
	FromNodeID     string              `json:"fromNodeId,omitempty"`  // where it began
	InputEdited    bool                `json:"inputEdited,omitempty"` // of that node: it is a fork
}

// Trigger is the trigger of the run as its nodes saw it.
type Trigger struct {
	ID      string                `json:"id"`
	Type    blueprint.TriggerType `json:"type"`
	Headers map[string]any        `json:"headers,omitempty"`
}

// Cassette holds the exchanges of a run with other services.
type Cassette struct {
	Format    string               `json:"format"`
	Exchanges []blueprint.Exchange `json:"exchanges"`
	// Connections are those that the run opened, by id.
	Connections map[string]Connection `json:"connections"`
}

// Connection is a connection without its secrets, which are null.
type Connection struct {
	Name   string                   `json:"name"`
	Type   blueprint.ConnectionType `json:"type"`
	Config map[string]any           `json:"config"`
}

// Bytes returns the file as indented JSON.
func (f *File) Bytes() ([]byte, error) { return blueprint.EncodeIndented(f) }

// Bytes returns the *.cassette.json file.
func (c *Cassette) Bytes() ([]byte, error) { return blueprint.EncodeIndented(c) }

// Execution returns the run as an execution of a user in an organization.
func (f *File) Execution(organizationID, userID string) *blueprint.Execution {
	x := &blueprint.Execution{
		ExecutionStatus: f.Run.ExecutionStatus, LogID: f.Run.ID, BlueprintID: f.Blueprint.ID, BlueprintVersion: f.Blueprint.Version, OrganizationID: organizationID, UserID: userID,
		CreatedAt: f.Run.CreatedAt, UpdatedAt: f.Run.CreatedAt, InputVariables: f.Run.InputVariables, InputData: f.Run.InputData,
		Output: f.Run.Output, Outputs: map[string]any{}, Failure: f.Run.Error, Telemetry: f.Run.Telemetry,
	}
	if f.Run.EndTime != 0 {
		x.UpdatedAt = f.Run.EndTime
	}
	if f.Run.Trigger != nil {
		x.TriggerID = f.Run.Trigger.ID
	}
	for i := range x.Steps {
		if step := &x.Steps[i]; step.Status == blueprint.StepCompleted {
			x.Outputs[step.NodeID] = step.Output
		}
	}
	return x
}

// checker collects the issues of a file.
type checker struct{ issues []blueprint.Issue }

func (c *checker) add(message string, path ...any) {
	c.issues = append(c.issues, blueprint.Issue{Path: path, Message: message, Severity: blueprint.SeverityError})
}

var (
	executionID = regexp.MustCompile(`^exec_[0-9]{1,20}_[0-9a-z]{1,40}$`)
	version     = regexp.MustCompile(`^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}$`)
)

func (f *File) issues() []blueprint.Issue {
	c := &checker{}
	if f.Format != Format {
		c.add("must be "+Format, "format")
		return c.issues // of another format nothing else can be checked
	}
	c.blueprint(&f.Blueprint)
	c.run(&f.Run)
	if f.Cassette != nil {
		c.cassette(f.Cassette, "cassette")
	}
	return c.issues
}

func (c *checker) blueprint(b *Blueprint) {
	if !blueprint.IsUUID(b.ID) {
		c.add("must be a UUID", "blueprint", "id")
	}
	if !version.MatchString(b.Version) {
		c.add("must be a version such as 1.0.0", "blueprint", "version")
	}
	if b.Title == "" || len(b.Title) > 2000 {
		c.add("required, with at most 500 characters", "blueprint", "title")
	}
	_, issues := blueprint.ParseMap(b.Map)
	for _, issue := range issues {
		c.add(issue.Message, append([]any{"blueprint", "blueprint_map"}, issue.Path...)...)
	}
	_, issues = blueprint.ParseVariables(b.Variables)
	for _, issue := range issues {
		c.add(issue.Message, append([]any{"blueprint", "environment_variables"}, issue.Path...)...)
	}
}

var (
	statuses     = []blueprint.Status{blueprint.StatusRunning, blueprint.StatusPaused, blueprint.StatusCompleted, blueprint.StatusFailed}
	stepStatuses = []blueprint.StepStatus{blueprint.StepPending, blueprint.StepRunning, blueprint.StepCompleted, blueprint.StepFailed, blueprint.StepSkipped, blueprint.StepPaused}
)

func (c *checker) run(r *Run) {
	if !executionID.MatchString(r.ID) {
		c.add("must be the id of a run", "run", "id")
	}
	if !slices.Contains(statuses, r.Status) {
		c.add("must be running, paused, completed or failed", "run", "status")
	}
	if r.CreatedAt <= 0 {
		c.add("required", "run", "createdAt")
	}
	if r.Status.Terminal() != (r.EndTime != 0) {
		c.add("required for a run that has ended, not allowed for another", "run", "endTime")
	}
	if len(r.Steps) > MaxSteps {
		c.add(fmt.Sprintf("must have at most %d elements", MaxSteps), "run", "steps")
		return
	}
	for i := range r.Steps {
		if r.Steps[i].NodeID == "" {
			c.add("required", "run", "steps", i, "nodeId")
		}
		if !slices.Contains(stepStatuses, r.Steps[i].Status) {
			c.add("must be pending, running, completed, failed, skipped or paused", "run", "steps", i, "status")
		}
		if len(c.issues) > 100 {
			return
		}
	}
	for i, input := range r.AwaitingInputs {
		if input == nil {
			c.add("must be an object", "run", "awaitingInputs", i)
		}
	}
	if r.Steps == nil {
		r.Steps = []blueprint.Step{}
	}
	if r.Logs == nil {
		r.Logs = []blueprint.LogEntry{}
	}
}

func (c *checker) cassette(tape *Cassette, under ...any) {
	at := func(path ...any) []any { return append(slices.Clone(under), path...) }
	if tape.Format != CassetteFormat {
		c.add("must be "+CassetteFormat, at("format")...)
		return
	}
	if len(tape.Exchanges) > MaxExchanges {
		c.add(fmt.Sprintf("must have at most %d elements", MaxExchanges), at("exchanges")...)
		return
	}
	for i := range tape.Exchanges {
		x := &tape.Exchanges[i]
		if x.Request.Method == "" {
			c.add("required", at("exchanges", i, "request", "method")...)
		}
		if x.Request.URL == "" {
			c.add("required", at("exchanges", i, "request", "url")...)
		}
		if x.Response != nil && (x.Response.Status < 100 || x.Response.Status > 999) {
			c.add("must be from 100 to 999", at("exchanges", i, "response", "status")...)
		}
		if len(c.issues) > 100 {
			return
		}
	}
}
