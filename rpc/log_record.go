package rpc

import "blueprintd/blueprint"

// logRecord is one run in a listing.
type logRecord struct {
	ID             string           `json:"id"`
	BlueprintID    string           `json:"blueprintId"`
	OrganizationID string           `json:"organizationId"`
	UserID         string           `json:"userId"`
	Status         blueprint.Status `json:"status"` // running, completed or failed
	StartTime      blueprint.Time   `json:"startTime"`
	EndTime        blueprint.Time   `json:"endTime"`
	TotalSteps     int              `json:"totalSteps"`
	CompletedSteps int              `json:"completedSteps"`
	FailedSteps    int              `json:"failedSteps"`
	Progress       int              `json:"progress"`
	ExecutionData  executionData    `json:"executionData"`
	CreatedAt      blueprint.Time   `json:"createdAt"`
	UpdatedAt      blueprint.Time   `json:"updatedAt"`
	blueprint.Telemetry
	InputVariables    map[string]any    `json:"inputVariables"`
	OutputSummary     outputSummary     `json:"outputSummary"`
	ExecutionMetadata executionMetadata `json:"executionMetadata"`
}

type executionData struct {
	ExecutionID string               `json:"executionId"`
	Steps       []blueprint.Step     `json:"steps"`
	Logs        []blueprint.LogEntry `json:"logs"`
}

type outputSummary struct {
	Output any                          `json:"output"`
	Nodes  map[blueprint.StepStatus]int `json:"nodes"` // how many are in each status
}

type executionMetadata struct {
	BlueprintVersion  string `json:"blueprintVersion"`
	TriggerID         string `json:"triggerId,omitempty"`
	FiringID          string `json:"firingId,omitempty"`
	ParentExecutionID string `json:"parentExecutionId,omitempty"`
	RetryOf           string `json:"retryOf,omitempty"`
	Sandbox           bool   `json:"sandbox,omitempty"` // fakes answered what it sent
}

// logRecord gives the log record of a run.
func (s *Service) logRecord(x *blueprint.Execution) logRecord {
	out := logRecord{
		ID: x.LogID, BlueprintID: x.BlueprintID, OrganizationID: x.OrganizationID, UserID: x.UserID, Status: x.Status,
		StartTime: x.StartTime, EndTime: x.EndTime, TotalSteps: x.TotalSteps, CompletedSteps: x.CompletedSteps, FailedSteps: x.FailedSteps, Progress: x.Progress,
		ExecutionData: executionData{x.ID, x.Steps, x.Logs}, CreatedAt: x.CreatedAt, UpdatedAt: x.UpdatedAt, Telemetry: x.Telemetry,
		InputVariables: x.InputVariables, OutputSummary: outputSummary{x.Output, map[blueprint.StepStatus]int{}},
		ExecutionMetadata: executionMetadata{x.BlueprintVersion, x.TriggerID, x.FiringID, x.ParentExecutionID, x.RetryOf, s.Info().Sandbox},
	}
	if out.Status == blueprint.StatusPaused {
		out.Status = blueprint.StatusRunning
	}
	for i := range x.Steps {
		out.OutputSummary.Nodes[x.Steps[i].Status]++
	}
	return out
}
