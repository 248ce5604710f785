package recording

import (
	"blueprintd/blueprint"
)

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
	Sandbox        bool                `json:"sandbox,omitempty"` // fakes answered its requests
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
