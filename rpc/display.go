package rpc

import (
	"context"

	"blueprintd/blueprint"
)

// display filters stored blueprints and runs for a user: maps, records, errors in lists
// and recorded traffic. The data of a run belongs to its principal if they could only
// start the blueprint; its managers see ids, status, times, counts and codes.
type display struct {
	store     displayStore
	runs      Recordings
	catalogue blueprint.Catalogue
}

type displayStore interface {
	GetBlueprint(ctx context.Context, p blueprint.Principal, id string) (blueprint.BlueprintDetails, error)
	Connection(ctx context.Context, p blueprint.Principal, id string) (blueprint.Connection, error)
	MissingGrantFor(ctx context.Context, p blueprint.Principal, stored *blueprint.MissingGrant) (*blueprint.MissingGrant, error)
}

// Recordings returns stored runs with their recorded traffic.
type Recordings interface {
	Recording(ctx context.Context, stored *blueprint.StoredExecution) (*blueprint.Recording, error)
}

func (s *display) blueprint(ctx context.Context, principal blueprint.Principal, id string) (blueprint.BlueprintDetails, error) {
	details, err := s.store.GetBlueprint(ctx, principal, id)
	s.hideUnknown(&details.Blueprint)
	return details, err
}

// listed returns a page of a list of blueprints as a user may see them.
func (s *Service) listed(ctx context.Context, principal blueprint.Principal, filter blueprint.BlueprintFilter) ([]blueprint.Blueprint, int, error) {
	found, total, err := s.Store.ListBlueprints(ctx, principal, filter)
	for i := range found {
		s.hideUnknown(&found[i])
	}
	return found, total, err
}

// hideUnknown removes config keys that the node types do not define, for users who cannot
// manage the blueprint. Managers receive them, so that saving the blueprint keeps them.
func (s *display) hideUnknown(b *blueprint.Blueprint) {
	if b.Access < blueprint.AccessManage {
		b.BlueprintMap = s.catalogue.StripUnknownConfig(b.BlueprintMap)
	}
}

// known returns a map without the keys that hideUnknown removes; nil for nil.
func (s *display) known(m *blueprint.Map) *blueprint.Map {
	if m == nil {
		return nil
	}
	shown, _ := blueprint.ParseMap(s.catalogue.StripUnknownConfig(m.Raw))
	return shown
}

// hiddenData replaces the error texts of a run whose data belongs to another user.
const hiddenData = "only the caller of this run can see its data"

var errHiddenData = blueprint.Errorf(blueprint.CodeForbidden, hiddenData)

// view returns a run as a user may see it, with inputs and outputs of at most room
// bytes of JSON; 0 leaves them out, a negative room is the engine's own limit.
func (s *Service) view(ctx context.Context, principal blueprint.Principal, stored *blueprint.StoredExecution, room int) (*blueprint.Execution, error) {
	read := s.Runner.View
	if room >= 0 {
		read = func(ctx context.Context, stored *blueprint.StoredExecution) (*blueprint.Execution, error) {
			return s.Runner.ViewWithin(ctx, stored, room)
		}
	}
	x, err := read(ctx, stored)
	if err != nil {
		return nil, err
	}
	if hides(x.PrivateTo, principal) {
		x = withoutData(x)
	}
	hideSignIn(x, principal.UserID)
	return x, s.showNames(ctx, principal, x)
}

// summarize sets the error of a listed run and what it waits for, as a user may see them.
func (s *Service) summarize(ctx context.Context, principal blueprint.Principal, run *blueprint.ListedRun) {
	problem, awaiting, privateTo := s.Runner.Summary(ctx, run.Stored)
	run.Error, run.Awaiting = problem, awaiting
	if problem == nil {
		return
	}
	shown := hiddenData
	if !hides(privateTo, principal) {
		shown = s.naming(ctx, principal)(*problem)
	}
	run.Error = &shown
}

// recording returns a run with what it exchanged, as a user may see it.
func (s *display) recording(ctx context.Context, principal blueprint.Principal, stored *blueprint.StoredExecution) (*blueprint.Recording, error) {
	recording, err := s.runs.Recording(ctx, stored)
	if err != nil {
		return nil, err
	}
	if hides(recording.PrivateTo, principal) {
		recording = &blueprint.Recording{Execution: withoutData(recording.Execution), Recorded: recording.Recorded}
	}
	hideSignIn(recording.Execution, principal.UserID)
	return recording, s.showNames(ctx, principal, recording.Execution)
}

func hides(privateTo string, principal blueprint.Principal) bool {
	return privateTo != "" && privateTo != principal.UserID
}

// withoutData returns a run without its caller's data. It copies the fields that may be
// shown, so that a new field is hidden by default.
func withoutData(x *blueprint.Execution) *blueprint.Execution {
	out := &blueprint.Execution{
		LogID: x.LogID, BlueprintID: x.BlueprintID, BlueprintVersion: x.BlueprintVersion, OrganizationID: x.OrganizationID, UserID: x.UserID, PrivateTo: x.PrivateTo,
		RetryOf: x.RetryOf, RetryFrom: x.RetryFrom, InputEdited: x.InputEdited, OtherNodes: x.OtherNodes, CreatedAt: x.CreatedAt, UpdatedAt: x.UpdatedAt, InputVariables: map[string]any{}, Outputs: map[string]any{}, Telemetry: blueprint.NewTelemetry(),
	}
	out.ExecutionStatus = blueprint.ExecutionStatus{
		ID: x.ID, Status: x.Status, Progress: x.Progress, StartTime: x.StartTime, EndTime: x.EndTime, TotalSteps: x.TotalSteps, CompletedSteps: x.CompletedSteps, FailedSteps: x.FailedSteps,
		Steps: make([]blueprint.Step, len(x.Steps)), Logs: []blueprint.LogEntry{}, CurrentStep: x.CurrentStep,
	}
	for i := range x.Steps {
		step := &x.Steps[i]
		out.Steps[i] = blueprint.Step{
			NodeID: step.NodeID, NodeType: step.NodeType, Title: step.Title, Status: step.Status,
			StartTime: step.StartTime, EndTime: step.EndTime, DurationMs: step.DurationMs, Attempt: step.Attempt, TokensUsed: step.TokensUsed,
		}
		if step.Error != nil {
			out.Steps[i].Error = &blueprint.StepError{Message: hiddenData, Code: step.Error.Code}
		}
	}
	for _, asked := range x.AwaitingInputs {
		shown := &blueprint.AwaitingInput{NodeID: asked.NodeID, Kind: asked.Kind, Options: asked.Options, RequestedAt: asked.RequestedAt, ExpiresAt: asked.ExpiresAt}
		switch asked.Kind {
		case blueprint.AwaitApproval, blueprint.AwaitUnknownOutcome, blueprint.AwaitBudget: // answered by managers
			shown.Prompt = asked.Prompt
		}
		out.AwaitingInputs = append(out.AwaitingInputs, shown)
	}
	if len(out.AwaitingInputs) > 0 {
		out.AwaitingInput = out.AwaitingInputs[0]
	}
	if x.Failure != nil {
		out.Failure = &blueprint.RunError{NodeID: x.Failure.NodeID, Message: hiddenData, Code: x.Failure.Code}
	}
	from, to := &x.Telemetry, &out.Telemetry
	to.TotalTokensUsed, to.UsedMCPServers, to.MCPServerCount = from.TotalTokensUsed, from.UsedMCPServers, from.MCPServerCount
	to.ReachedOutForData, to.ExternalDataSourcesCount, to.AIProvidersUsedCount = from.ReachedOutForData, from.ExternalDataSourcesCount, from.AIProvidersUsedCount
	to.RequiredLogin, to.OAuthFlowsTriggered = from.RequiredLogin, from.OAuthFlowsTriggered
	to.HasErrors, to.ErrorCount, to.CriticalErrors = from.HasErrors, from.ErrorCount, from.CriticalErrors
	return out
}

// hideSignIn removes the URL and the prompt of a sign-in for everyone but the run's
// principal: visiting the URL signs in for that user, and the prompt names the connection.
func hideSignIn(x *blueprint.Execution, userID string) {
	if x.UserID == userID {
		return
	}
	for i, asked := range x.AwaitingInputs {
		if asked.Kind != blueprint.AwaitOAuth {
			continue
		}
		hidden := *asked
		hidden.URL, hidden.Prompt = "", blueprint.SignInPromptForOthers
		x.AwaitingInputs[i] = &hidden
	}
	if len(x.AwaitingInputs) > 0 {
		x.AwaitingInput = x.AwaitingInputs[0]
	}
}
