package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

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

// runResult is what a run gave. Output and Outputs are there once it ended.
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
	Edges   *[]any                    `json:"edges"`
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

// executeWithLogging runs the nodes that the caller sends. They are mostly the
// stored ones; others run only for who could have stored them.
func (s *Service) executeWithLogging(ctx context.Context, caller *trpc.Caller, in executeWithLogging) (started, error) {
	given := map[string]any{"nodes": []any(in.Nodes)}
	if in.Edges != nil {
		given["edges"] = *in.Edges
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
		return m.RunsNodes(stored) && (in.Edges == nil || m.RunsAs(stored))
	}
	differs := !same(m, definition.Map)
	if differs && access < blueprint.AccessManage {
		if differs = !same(s.known(m), s.known(definition.Map)); differs {
			return started{}, blueprint.Errorf(blueprint.CodeForbidden, "the nodes differ from the stored ones; only who can manage the blueprint may run others")
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
