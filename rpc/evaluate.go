package rpc

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/expression"
	"blueprintd/foundation/secret"
	"blueprintd/rpc/trpc"
)

type evaluateExpressions struct {
	Expressions []expressionSource `json:"expressions" check:"required,min=1,max=50"`
	ExecutionID string             `json:"executionId" check:"max=100"`
	NodeID      string             `json:"nodeId" check:"max=1000"` // of a step
	Data        map[string]any     `json:"data"`                    // values of names; they take precedence
}

type expressionSource struct {
	Text     string `json:"text" check:"required,max=65536"`
	Language string `json:"language" check:"enum=template|expression|condition,default=template"`
}

type evaluated struct {
	Results []expressionResult `json:"results"` // in the order of the expressions
}

// expressionResult is a value or an error, or both for a condition that is neither true nor
// false.
type expressionResult struct {
	Value   any              `json:"value"`
	Masked  bool             `json:"masked,omitempty"`  // computed with a masked value
	Omitted bool             `json:"omitted,omitempty"` // too large for the response
	Error   *expressionError `json:"error,omitempty"`
}

type expressionError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"` // from 1, in characters
	Column  int    `json:"column,omitempty"`
}

// maxEvaluated bounds the values of one response, in bytes of JSON.
const maxEvaluated = 1 << 20

// evaluationSlots limits concurrent evaluations to half of the processors, so that runs have
// the others. A call evaluates for about a second at most.
func evaluationSlots() chan struct{} { return make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)) }

// blueprintEvaluate evaluates expressions over data that the caller sends, or that of a run
// as execution.getExecutionStatus shows it to the caller. Masked values are masked before an
// expression reads them, so it can neither return nor compare them.
func (s *Service) blueprintEvaluate(ctx context.Context, caller *trpc.Caller, in evaluateExpressions) (evaluated, error) {
	caller.NoteNothing()
	names := expression.MapScope{"now": s.Info().Now.Time().UTC().Format(blueprint.TimeFormat)}
	if in.ExecutionID != "" {
		view, err := s.single(ctx, caller, in.ExecutionID)
		if err != nil {
			return evaluated{}, err
		}
		if hides(view.PrivateTo, caller.Principal) {
			return evaluated{}, errHiddenData
		}
		if err := namesOf(names, view, in.NodeID); err != nil {
			return evaluated{}, err
		}
	} else if in.NodeID != "" {
		return evaluated{}, trpc.InvalidInput(trpc.IssueAt("needs executionId", "nodeId"))
	}
	for name, value := range in.Data {
		given, both := value.(map[string]any)
		if known, ok := names[name].(map[string]any); ok && both && name == "nodes" {
			value = merged(known, given)
		}
		names[name] = value
	}
	select {
	case s.evaluations <- struct{}{}:
		defer func() { <-s.evaluations }()
	case <-ctx.Done():
		return evaluated{}, ctx.Err()
	}
	preview := expression.NewPreview(names, secret.Mask, maxEvaluated)
	out := evaluated{Results: make([]expressionResult, len(in.Expressions))}
	for i, source := range in.Expressions {
		evaluate := preview.Template
		switch source.Language {
		case "expression":
			evaluate = preview.Expression
		case "condition":
			evaluate = preview.Condition
		}
		found, err := evaluate(source.Text)
		out.Results[i] = expressionResult{Value: found.Value, Masked: found.Masked, Omitted: found.Omitted, Error: expressionErrorOf(err)}
	}
	return out, nil
}

func expressionErrorOf(err error) *expressionError {
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*expression.Error](err)
	if !ok {
		return &expressionError{Code: expression.CodeExpressionFailed, Message: err.Error()}
	}
	out := &expressionError{Code: refused.Code, Message: refused.Message}
	if refused.Path != "" {
		out.Message = refused.Path + ": " + refused.Message
	}
	spot := refused.Spot()
	out.Line, out.Column = spot.Line, spot.Column
	return out
}

// namesOf adds the names that a node of a run can use, with the values that the run shows. It
// adds the outputs of all finished nodes, even of those that do not lead to the node. The item
// and its index are missing for a node in a loop, because steps do not contain them.
func namesOf(names expression.MapScope, x *blueprint.Execution, nodeID string) error {
	names["inputData"] = x.InputData
	names["execution"] = map[string]any{"id": x.ID}
	maps.Copy(names, x.InputVariables)
	nodes, found := map[string]any{}, nodeID == ""
	for i := range x.Steps {
		step := &x.Steps[i]
		if step.NodeID == nodeID {
			found = true
			names["input"] = step.Input
		}
		at := 0
		if end := strings.LastIndex(step.NodeID, "]/"); end >= 0 {
			at = end + len("]/")
		}
		if !strings.HasPrefix(nodeID, step.NodeID[:at]) || step.Status == blueprint.StepPending || step.Status == blueprint.StepRunning {
			continue
		}
		nodes[step.NodeID[at:]] = map[string]any{"output": step.Output}
		if values, ok := step.Output.(map[string]any); ok && step.NodeType == "set" && step.Status == blueprint.StepCompleted {
			maps.Copy(names, values)
		}
	}
	names["nodes"] = nodes
	if !found {
		return blueprint.FieldErrorf("nodeId", "the run has no step %q", nodeID)
	}
	return nil
}

// merged returns the members of both objects; those of over take precedence.
func merged(under, over map[string]any) map[string]any {
	out := maps.Clone(under)
	maps.Copy(out, over)
	return out
}
