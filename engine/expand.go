package engine

import "blueprintd/blueprint"

// maxRecord bounds what the inputs and outputs in one record take, in bytes of
// JSON. A record names most of them by where they came from; written out, one
// large value that passes through many nodes would be there again and again.
const maxRecord = 64 << 20

// values resolves the inputs and outputs that a record names instead of
// copying.
type values struct {
	input any
	steps map[string]*step
	made  map[string]any // outputs that were put together from several
	room  int            // what may still be shown
	left  []string       // steps of which something is not shown
}

func newValues(s *stored) *values {
	v := &values{input: s.Begin.InputData, steps: make(map[string]*step, len(s.Steps)), made: map[string]any{}, room: maxRecord}
	for i := range s.Steps {
		v.steps[s.Steps[i].Node] = &s.Steps[i]
	}
	return v
}

// of gives what a node handed on.
func (v *values) of(node string) any {
	at := v.steps[node]
	if at == nil {
		return nil
	}
	if !at.Pass {
		return at.Output
	}
	made, known := v.made[node]
	if !known {
		made = v.joined(at.From)
		v.made[node] = made
	}
	return made
}

// joined gives the input of a node whose taken predecessors these are.
func (v *values) joined(nodes []string) any {
	switch len(nodes) {
	case 0:
		return v.input
	case 1:
		return v.of(nodes[0])
	default:
		out := make(map[string]any, len(nodes))
		for _, node := range nodes {
			out[node] = v.of(node)
		}
		return out
	}
}

// output gives the output of a run with these ends.
func (v *values) output(ends []string) any {
	if len(ends) == 0 {
		return nil
	}
	return v.fit("", v.joined(ends))
}

// fit gives a value if there is room for it, else null.
func (v *values) fit(node string, value any) any {
	weight, err := weigh(value)
	if err == nil && weight <= v.room {
		v.room -= weight
		return value
	}
	if n := len(v.left); n == 0 || v.left[n-1] != node {
		v.left = append(v.left, node)
	}
	return nil
}

// step makes the step that clients see.
func (v *values) step(at *step) blueprint.Step {
	out := blueprint.Step{NodeID: at.Node, NodeType: at.Type, Title: at.Title, Status: at.Status, StartTime: at.Start, EndTime: at.End, Attempt: at.Attempt, Error: at.Error}
	switch {
	case at.Status == blueprint.StepCompleted, at.Status == blueprint.StepFailed, at.Status == blueprint.StepSkipped && at.Pass:
		out.Output = v.fit(at.Node, v.of(at.Node))
	}
	if at.Start != 0 {
		out.Input = v.fit(at.Node, v.joined(at.From))
	}
	if at.Start != 0 && at.End != 0 {
		duration := int64(at.End - at.Start)
		out.DurationMs = &duration
	}
	if at.Tokens > 0 {
		out.TokensUsed = &at.Tokens
	}
	return out
}
