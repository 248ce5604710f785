package rpc

import (
	"context"
	"maps"
	"time"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// executionStore returns CodeNotFound for runs that the principal may not see.
type executionStore interface {
	Execution(ctx context.Context, p blueprint.Principal, id string) (stored *blueprint.StoredExecution, canManage bool, err error)
	ExecutionLogs(ctx context.Context, p blueprint.Principal, blueprintID string, limit, offset int) ([]*blueprint.StoredExecution, error)
	RecentExecutions(ctx context.Context, p blueprint.Principal, organizationID *string, limit, offset int) ([]*blueprint.StoredExecution, error)
}

func (s *Service) executions() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Mutation("execution.executeBlueprintWithLogging", blueprint.ScopeRun, s.executeWithLogging),
		trpc.Query("execution.getExecutionStatus", blueprint.ScopeRead, s.executionStatus),
		trpc.Query("execution.getExecutionLogs", blueprint.ScopeRead, s.executionLogs),
		trpc.Query("execution.getRecord", blueprint.ScopeRead, s.executionRecord),
		trpc.Query("execution.getExchanges", blueprint.ScopeRead, s.executionExchanges),
		trpc.Query("execution.export", blueprint.ScopeRead, s.executionExport),
		trpc.Query("execution.exportTest", blueprint.ScopeRead, s.executionExportTest),
		trpc.Query("execution.listRecentExecutions", blueprint.ScopeRead, s.recentExecutions),
		trpc.Mutation("execution.resume", blueprint.ScopeRun, s.executionResume),
		trpc.Mutation("execution.cancel", blueprint.ScopeRun, s.executionCancel),
		trpc.Mutation("execution.retry", blueprint.ScopeRun, s.executionRetry),
		trpc.Mutation("execution.fork", blueprint.ScopeRun, s.executionFork),
		trpc.Subscription("execution.subscribe", blueprint.ScopeRead, s.executionSubscribe),
	}
}

type executionID struct {
	ID string `json:"executionId" check:"required"`
}

func (s *Service) executionStatus(ctx context.Context, caller *trpc.Caller, in executionID) (*blueprint.ExecutionStatus, error) {
	record, err := s.status(ctx, caller, in.ID)
	if blueprint.CodeOf(err) == blueprint.CodeNotFound {
		return &blueprint.ExecutionStatus{ID: in.ID, Status: blueprint.StatusNotFound, Steps: []blueprint.Step{}, Logs: []blueprint.LogEntry{}}, nil
	}
	return record, err
}

// status returns the status record of a run that the caller may see.
func (s *Service) status(ctx context.Context, caller *trpc.Caller, id string) (*blueprint.ExecutionStatus, error) {
	view, err := s.single(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	return &view.ExecutionStatus, nil
}

func (s *Service) single(ctx context.Context, caller *trpc.Caller, id string) (*blueprint.Execution, error) {
	stored, _, err := s.Store.Execution(ctx, caller.Principal, id)
	if err != nil {
		return nil, err
	}
	return s.view(ctx, caller.Principal, stored, -1)
}

// singleRecord is the log record of a single run. Listings omit the input data, which the
// steps of each run repeat.
type singleRecord struct {
	logRecord
	InputData any `json:"inputData"`
}

// executionRecord returns the log record of a single run.
func (s *Service) executionRecord(ctx context.Context, caller *trpc.Caller, in executionID) (singleRecord, error) {
	view, err := s.single(ctx, caller, in.ID)
	if err != nil {
		return singleRecord{}, err
	}
	return singleRecord{s.logRecord(view), view.InputData}, nil
}

type executionLogs struct {
	BlueprintID string `json:"blueprintId" check:"required,uuid"`
	Limit       int    `json:"limit" check:"min=1,max=100,default=20"`
	Offset      int    `json:"offset" check:"min=0,default=0"`
}

type logPage struct {
	Logs  []logRecord `json:"logs"`
	Total int         `json:"total"` // of this page
}

func (s *Service) executionLogs(ctx context.Context, caller *trpc.Caller, in executionLogs) (logPage, error) {
	stored, err := s.Store.ExecutionLogs(ctx, caller.Principal, in.BlueprintID, in.Limit, in.Offset)
	return s.logPage(ctx, caller.Principal, stored, err)
}

type recentExecutions struct {
	OrganizationID *string `json:"organizationId" check:"uuid"`
	Limit          int     `json:"limit" check:"min=1,max=100,default=20"`
	Offset         int     `json:"offset" check:"min=0,default=0"`
}

func (s *Service) recentExecutions(ctx context.Context, caller *trpc.Caller, in recentExecutions) (logPage, error) {
	stored, err := s.Store.RecentExecutions(ctx, caller.Principal, in.OrganizationID, in.Limit, in.Offset)
	return s.logPage(ctx, caller.Principal, stored, err)
}

// maxPage bounds the inputs and outputs of all runs of a page, in bytes of JSON;
// getExecutionStatus returns a single run in full.
const maxPage = 16 << 20

func (s *Service) logPage(ctx context.Context, principal blueprint.Principal, stored []*blueprint.StoredExecution, err error) (logPage, error) {
	if err != nil {
		return logPage{}, err
	}
	page := logPage{Logs: make([]logRecord, 0, len(stored))}
	room := maxPage
	for _, each := range stored {
		view, err := s.view(ctx, principal, each, max(room, 0))
		if blueprint.CodeOf(err) == blueprint.CodeNotFound {
			continue // it was removed just now
		}
		if blueprint.CodeOf(err) == blueprint.CodeInternal && ctx.Err() == nil {
			view, err = unreadable(&each.Row), nil // a damaged run must not hide the others
		}
		if err != nil {
			return logPage{}, err
		}
		room -= view.DataSize
		page.Logs = append(page.Logs, s.logRecord(view))
	}
	page.Total = len(page.Logs)
	return page, nil
}

// unreadable returns a record made from the row alone.
func unreadable(row *blueprint.ExecutionRow) *blueprint.Execution {
	x := &blueprint.Execution{
		LogID: row.LogID, BlueprintID: row.BlueprintID, BlueprintVersion: row.BlueprintVersion, OrganizationID: row.OrganizationID, UserID: row.UserID,
		TriggerID: row.TriggerID, FiringID: row.FiringID, ParentExecutionID: row.ParentExecutionID, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
		InputVariables: map[string]any{}, Telemetry: blueprint.NewTelemetry(),
	}
	x.ID, x.Status, x.StartTime, x.EndTime, x.Steps = row.ID, row.Status, row.StartTime, row.EndTime, []blueprint.Step{}
	x.Logs = []blueprint.LogEntry{{Timestamp: row.UpdatedAt, Level: "error", Message: "what is stored of this run cannot be read"}}
	return x
}

type executionResume struct {
	ID     string `json:"executionId" check:"required"`
	NodeID string `json:"nodeId"`
	Input  any    `json:"input"`
}

func (s *Service) executionResume(ctx context.Context, caller *trpc.Caller, in executionResume) (*blueprint.ExecutionStatus, error) {
	canManage, err := s.MayAct(ctx, caller.Principal, in.ID)
	if err != nil {
		return nil, err
	}
	if err := s.Runner.Resume(ctx, blueprint.ResumeAnswer{ExecutionID: in.ID, NodeID: in.NodeID, Input: in.Input, UserID: caller.UserID, CanManage: canManage}); err != nil {
		return nil, err
	}
	caller.Note("execution", in.ID, map[string]any{"nodeId": in.NodeID})
	return s.status(ctx, caller, in.ID)
}

type executionLink struct {
	ID     string `json:"executionId" check:"required"`
	NodeID string `json:"nodeId" check:"required"`
}

type approvalLink struct {
	URL       string         `json:"url"`
	ExpiresAt blueprint.Time `json:"expiresAt"`
}

// executionLink returns an approval link to an open question that the caller may answer. It
// permits the answer for as long as the caller may give it.
func (s *Service) executionLink(ctx context.Context, caller *trpc.Caller, in executionLink) (approvalLink, error) {
	canManage, err := s.MayAct(ctx, caller.Principal, in.ID)
	if err != nil {
		return approvalLink{}, err
	}
	address, id, expires, err := s.Link(ctx, caller.UserID, canManage, in.ID, in.NodeID)
	if err != nil {
		return approvalLink{}, err
	}
	caller.Note("execution", in.ID, map[string]any{"nodeId": in.NodeID, "link": id})
	return approvalLink{address, expires}, nil
}

// MayAct refuses a user who has left the organization or the blueprint of a run. Runs
// that they started without belonging to either stay theirs. For a deleted blueprint the
// runner decides.
func (s *Service) MayAct(ctx context.Context, principal blueprint.Principal, id string) (canManage bool, err error) {
	stored, canManage, err := s.Store.Execution(ctx, principal, id)
	if err != nil {
		return false, err
	}
	_, _, err = s.Store.Definition(ctx, principal, stored.Row.BlueprintID)
	switch blueprint.CodeOf(err) {
	case blueprint.CodeNotFound:
		return canManage, nil
	case blueprint.CodeForbidden:
		if view, viewErr := s.view(ctx, principal, stored, 0); viewErr != nil || view.PrivateTo == principal.UserID && stored.Row.UserID == principal.UserID {
			return canManage, viewErr
		}
	}
	return canManage, err
}

type executionCancel struct {
	ID     string `json:"executionId" check:"required"`
	Reason string `json:"reason" check:"max=1000"`
}

func (s *Service) executionCancel(ctx context.Context, caller *trpc.Caller, in executionCancel) (*blueprint.ExecutionStatus, error) {
	if _, err := s.MayAct(ctx, caller.Principal, in.ID); err != nil {
		return nil, err
	}
	if err := s.Runner.Cancel(ctx, in.ID, in.Reason); err != nil {
		return nil, err
	}
	caller.Note("execution", in.ID, nil)
	return s.status(ctx, caller, in.ID)
}

type executionRetry struct {
	ID         string `json:"executionId" check:"required"`
	FromNodeID string `json:"fromNodeId"`
}

// executionRetry starts a new run as the caller, who must still be allowed to start the
// blueprint.
func (s *Service) executionRetry(ctx context.Context, caller *trpc.Caller, in executionRetry) (started, error) {
	return s.again(ctx, caller, in.ID, nil, func(stored *blueprint.StoredExecution, canManage bool) (string, error) {
		return s.Runner.Retry(ctx, stored, in.FromNodeID, caller.Principal, canManage)
	})
}

type executionFork struct {
	ID         string `json:"executionId" check:"required"`
	FromNodeID string `json:"fromNodeId" check:"required"`
	Input      any    `json:"input" check:"required,nullable"`
}

// executionFork is executionRetry from a node with another input.
func (s *Service) executionFork(ctx context.Context, caller *trpc.Caller, in executionFork) (started, error) {
	noted := map[string]any{"fromNodeId": in.FromNodeID}
	return s.again(ctx, caller, in.ID, noted, func(stored *blueprint.StoredExecution, canManage bool) (string, error) {
		return s.Runner.Fork(ctx, stored, in.FromNodeID, in.Input, caller.Principal, canManage)
	})
}

// again starts a new run of a run that the caller may see, of a blueprint that the caller may
// start. The audit log gets noted and the id of the earlier run.
func (s *Service) again(ctx context.Context, caller *trpc.Caller, id string, noted map[string]any, start func(stored *blueprint.StoredExecution, canManage bool) (string, error)) (started, error) {
	stored, _, err := s.Store.Execution(ctx, caller.Principal, id)
	if err != nil {
		return started{}, err
	}
	_, access, err := s.Store.Definition(ctx, caller.Principal, stored.Row.BlueprintID)
	if err != nil {
		return started{}, err
	}
	newID, err := start(stored, access >= blueprint.AccessManage)
	if newID != "" {
		details := map[string]any{"retryOf": id}
		maps.Copy(details, noted)
		caller.Note("execution", newID, details)
	}
	return started{err == nil, newID}, err
}

// executionSubscribe sends the status record at once, after each change, and at the end.
func (s *Service) executionSubscribe(ctx context.Context, caller *trpc.Caller, in executionID, emit func(*blueprint.ExecutionStatus) error) error {
	changes, stop := s.Runner.Watch(in.ID)
	defer stop()
	look := time.NewTicker(waitForRun)
	defer look.Stop()
	var last []byte
	for {
		record, err := s.status(ctx, caller, in.ID)
		if err != nil {
			return err
		}
		text, err := blueprint.Encode(record)
		if err != nil {
			return err
		}
		if string(text) != string(last) {
			last = text
			if err := emit(record); err != nil {
				return err
			}
		}
		if record.Status.Terminal() {
			return nil
		}
		select {
		case <-changes:
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

type blueprintExecute struct {
	ID        string         `json:"id" check:"required,uuid"`
	Variables map[string]any `json:"variables"`
	InputData any            `json:"inputData"`
	Record    bool           `json:"record"`
}

type executed struct {
	Success     bool      `json:"success"`
	ExecutionID string    `json:"executionId"`
	Result      runResult `json:"result"`
}

// runResult is the outcome of a run. Output and Outputs are set once it has ended.
type runResult struct {
	Status        blueprint.Status         `json:"status"`
	Output        any                      `json:"output"`
	Outputs       map[string]any           `json:"outputs"`
	Error         *blueprint.RunError      `json:"error,omitempty"`
	AwaitingInput *blueprint.AwaitingInput `json:"awaitingInput,omitempty"`
}

var errNoNodes = blueprint.Errorf(blueprint.CodeBadRequest, "the blueprint has no nodes to execute")

func (s *Service) blueprintExecute(ctx context.Context, caller *trpc.Caller, in blueprintExecute) (executed, error) {
	definition, access, err := s.Store.Definition(ctx, caller.Principal, in.ID)
	if err != nil {
		return executed{}, err
	}
	if definition.Map == nil || len(definition.Map.Nodes) == 0 {
		return executed{}, errNoNodes
	}
	request := startRequest(caller, definition, access, in.Variables, in.InputData)
	request.Record = in.Record
	id, outcome, err := s.Runner.Execute(ctx, request)
	if id != "" {
		caller.Note("execution", id, map[string]any{"blueprintId": in.ID})
		caller.Noted.Organization = definition.OrganizationID
	}
	if err != nil {
		return executed{}, err
	}
	out := executed{ExecutionID: id, Result: runResult{Status: blueprint.StatusRunning, Outputs: map[string]any{}}}
	if outcome != nil {
		if err := s.showNames(ctx, caller.Principal, outcome); err != nil {
			return executed{}, err
		}
		out.Success = outcome.Status == blueprint.StatusCompleted
		out.Result = runResult{Status: outcome.Status, Output: outcome.Output, Outputs: outcome.Outputs, Error: outcome.Failure, AwaitingInput: outcome.AwaitingInput}
	}
	return out, nil
}

func startRequest(caller *trpc.Caller, definition *blueprint.Definition, access blueprint.Access, variables map[string]any, input any) *blueprint.StartRequest {
	if input == nil {
		input = map[string]any{}
	}
	return &blueprint.StartRequest{Definition: definition, Principal: caller.Principal, CanManage: access >= blueprint.AccessManage, Variables: variables, InputData: input}
}

type executeWithLogging struct {
	Nodes   nodesInput                `json:"nodes" check:"required"`
	Edges   []any                     `json:"edges"` // empty as none
	Options executeWithLoggingOptions `json:"options" check:"required"`
	Record  bool                      `json:"record"` // as in the options
}

type executeWithLoggingOptions struct {
	BlueprintID string         `json:"blueprintId" check:"required,uuid"`
	Variables   map[string]any `json:"variables"`
	InputData   any            `json:"inputData"`
	Record      bool           `json:"record"`
	Budget      budgetInput    `json:"budget" guards:"budget"`
}

// nodesInput is a list of nodes, whatever edges join them.
type nodesInput []any

func (n nodesInput) Faults() []blueprint.Issue {
	_, issues := blueprint.ParseMap(map[string]any{"nodes": []any(n)})
	for i := range issues {
		issues[i].Path = issues[i].Path[1:] // of "nodes"
	}
	return issues
}

// executeWithLogging runs the nodes that the caller sends. Nodes that differ from the
// stored ones need the right to store them.
func (s *Service) executeWithLogging(ctx context.Context, caller *trpc.Caller, in executeWithLogging) (started, error) {
	given := map[string]any{"nodes": []any(in.Nodes)}
	if len(in.Edges) > 0 {
		given["edges"] = in.Edges
	}
	m, issues := blueprint.ParseMap(given)
	if issues == nil {
		_, issues = blueprint.Compile(m)
	}
	if issues != nil {
		return started{}, trpc.InvalidInput(issues...)
	}
	definition, access, err := s.Store.Definition(ctx, caller.Principal, in.Options.BlueprintID)
	if err != nil {
		return started{}, err
	}
	if len(m.Nodes) == 0 {
		return started{}, errNoNodes
	}
	request := startRequest(caller, definition, access, in.Options.Variables, in.Options.InputData)
	request.Budget, request.Record = in.Options.Budget.budget(), in.Options.Record || in.Record
	same := func(m, stored *blueprint.Map) bool {
		return m.EquivalentNodes(stored) && (len(in.Edges) == 0 || m.Equivalent(stored))
	}
	differs := !same(m, definition.Map)
	if differs && access < blueprint.AccessManage {
		// The caller received the map without the keys that hideUnknown removes.
		if differs = !same(m, s.known(definition.Map)); differs {
			return started{}, blueprint.Errorf(blueprint.CodeForbidden, "the nodes differ from the stored ones; running others needs the right to manage the blueprint")
		}
	}
	if differs {
		changed := *definition
		changed.Map = m
		request.Definition, request.AdHoc = &changed, true
	}
	id, err := s.Runner.Start(ctx, request)
	if id != "" {
		caller.Note("execution", id, map[string]any{"blueprintId": in.Options.BlueprintID, "otherNodes": request.AdHoc})
		caller.Noted.Organization = definition.OrganizationID
	}
	return started{err == nil, id}, err
}

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
	FromNodeID        string `json:"fromNodeId,omitempty"`  // where the retry began
	InputEdited       bool   `json:"inputEdited,omitempty"` // of that node
	OtherNodes        bool   `json:"otherNodes,omitempty"`  // it ran other nodes than those of the version, such as one alone
	Sandbox           bool   `json:"sandbox,omitempty"`     // fakes answered its requests
}

func (s *Service) logRecord(x *blueprint.Execution) logRecord {
	out := logRecord{
		ID: x.LogID, BlueprintID: x.BlueprintID, OrganizationID: x.OrganizationID, UserID: x.UserID, Status: x.Status,
		StartTime: x.StartTime, EndTime: x.EndTime, TotalSteps: x.TotalSteps, CompletedSteps: x.CompletedSteps, FailedSteps: x.FailedSteps, Progress: x.Progress,
		ExecutionData: executionData{x.ID, x.Steps, x.Logs}, CreatedAt: x.CreatedAt, UpdatedAt: x.UpdatedAt, Telemetry: x.Telemetry,
		InputVariables: x.InputVariables, OutputSummary: outputSummary{x.Output, map[blueprint.StepStatus]int{}},
		ExecutionMetadata: executionMetadata{x.BlueprintVersion, x.TriggerID, x.FiringID, x.ParentExecutionID, x.RetryOf, x.RetryFrom, x.InputEdited, x.OtherNodes, s.Info().Sandbox},
	}
	if out.Status == blueprint.StatusPaused {
		out.Status = blueprint.StatusRunning
	}
	for i := range x.Steps {
		out.OutputSummary.Nodes[x.Steps[i].Status]++
	}
	return out
}
