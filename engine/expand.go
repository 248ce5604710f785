package engine

import (
	"fmt"

	"blueprintd/blueprint"
)

// weighed is a value and how much it takes when it is written.
type weighed struct {
	value  any
	weight int
}

// tooHeavy is the weight of what fits nowhere.
const tooHeavy = 1 << 40

// values resolves the inputs and outputs that a record names instead of
// copying, as far as there is room: written out, one large value that passes
// through many nodes is there again and again.
type values struct {
	input   weighed
	steps   map[string]*step
	items   map[string]weighed  // by "loop[3]": what the for-each node gave it
	last    map[string][]string // by "loop[3]": the nodes whose output is the item's
	outputs map[string]weighed  // as far as they were asked for
	room    int                 // what may still be shown
	left    map[string]bool     // steps of which something is not shown
}

func newValues(s *stored) *values {
	v := &values{steps: make(map[string]*step, len(s.Steps)), items: map[string]weighed{}, last: map[string][]string{}, outputs: make(map[string]weighed, len(s.Steps)), room: s.room, left: map[string]bool{}}
	v.input = v.weigh(s.Begin.InputData)
	for i := range s.Steps {
		at := &s.Steps[i]
		v.steps[at.Node] = at
		if at.Last {
			v.last[at.In] = append(v.last[at.In], at.Node)
		}
		for k, item := range at.Items {
			v.items[fmt.Sprintf("%s[%d]", at.Node, k)] = v.weigh(item)
		}
	}
	return v
}

func (v *values) weigh(value any) weighed {
	weight, err := weigh(value, v.room)
	if err != nil {
		weight = tooHeavy
	}
	return weighed{value, weight}
}

// of gives what a node handed on.
func (v *values) of(node string) weighed {
	out, known := v.outputs[node]
	if known {
		return out
	}
	v.outputs[node] = weighed{} // a damaged record may lead back here
	switch at := v.steps[node]; {
	case at == nil:
	case at.Pass:
		out = v.joined(at.In, at.From)
	case at.Each && at.Status == blueprint.StepCompleted:
		out = v.all(at)
	default:
		out = v.weigh(at.Output)
	}
	v.outputs[node] = out
	return out
}

// all gives the outputs of the items of a for-each node.
func (v *values) all(at *step) weighed {
	out, weight := make([]any, len(at.Items)), 2
	for i := range at.Items {
		item := fmt.Sprintf("%s[%d]", at.Node, i)
		from := weighed{nil, 4}
		if last := v.last[item]; len(last) > 0 {
			from = v.joined(item, last)
		}
		out[i] = from.value
		weight = min(weight+2+from.weight, tooHeavy)
	}
	return weighed{out, weight}
}

// joined gives the input of a node of an item, or of the run, whose taken
// predecessors these are.
func (v *values) joined(in string, nodes []string) weighed {
	switch {
	case len(nodes) == 0 && in != "":
		return v.items[in]
	case len(nodes) == 0:
		return v.input
	case len(nodes) == 1:
		return v.of(nodes[0])
	}
	object, weight := make(map[string]any, len(nodes)), 0
	for _, node := range nodes {
		from := v.of(node)
		id := node
		if in != "" {
			id = node[len(in)+1:]
		}
		object[id] = from.value
		weight = min(weight+6+len(id)+from.weight, tooHeavy)
	}
	return weighed{object, weight}
}

// output gives the output of a run with these ends.
func (v *values) output(ends []string) any {
	if len(ends) == 0 {
		return nil
	}
	return v.fit(ends[0], v.joined("", ends))
}

// fit gives a value of a step if there is room for it, else null.
func (v *values) fit(node string, value weighed) any {
	if value.weight > v.room {
		v.left[node] = true
		return nil
	}
	v.room -= value.weight
	return value.value
}

// step makes the step that clients see.
func (v *values) step(at *step) blueprint.Step {
	out := blueprint.Step{NodeID: at.Node, NodeType: at.Type, Title: at.Title, Status: at.Status, StartTime: at.Start, EndTime: at.End, Attempt: at.Attempt, Error: at.Error, Masked: at.Masked}
	if at.Status == blueprint.StepCompleted || at.Status == blueprint.StepFailed || at.Status == blueprint.StepSkipped && at.Pass {
		out.Output = v.fit(at.Node, v.of(at.Node))
	}
	if at.Start != 0 {
		out.Input = v.fit(at.Node, v.joined(at.In, at.From))
	}
	if at.Error != nil && at.Error.Exchange != nil {
		if weight := stepHeft(at.Error.Exchange); weight <= v.room {
			v.room -= weight
		} else {
			bare := *at.Error
			bare.Exchange, out.Error = nil, &bare
			v.left[at.Node] = true
		}
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
