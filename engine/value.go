package engine

import (
	"encoding/json"
	"fmt"

	"blueprintd/blueprint"
)

// maxValue bounds what a node is given or hands on, in bytes of JSON. Values
// are shared, so a node that is given the outputs of two, one of them that of a
// node that was given two, and so on, would have more than fits into any
// machine once it is written.
const maxValue = 64 << 20

// maxDepth bounds how deeply what a node hands on may nest: a little more than
// what comes from outside.
const maxDepth = 2 * blueprint.MaxDepth

// weigh gives about how many bytes a plain JSON value takes as text, at least
// 1. It stops with an error at a value that is too large, nested too deeply,
// or no plain JSON.
func weigh(value any) (int, error) { return weighBelow(value, 0, 0) }

func weighBelow(value any, weight, depth int) (int, error) {
	switch v := value.(type) {
	case nil, bool:
		weight += 4
	case string:
		weight += 2 + len(v)
	case json.Number:
		if v == "" || v[0] > '9' || !json.Valid([]byte(v)) {
			return weight, fmt.Errorf("%.50q is not a number", string(v))
		}
		weight += len(v)
	case []any:
		weight += 2
		if depth == maxDepth {
			return weight, errTooDeep
		}
		for _, element := range v {
			var err error
			if weight, err = weighBelow(element, weight+1, depth+1); err != nil {
				return weight, err
			}
		}
	case map[string]any:
		weight += 2
		if depth == maxDepth {
			return weight, errTooDeep
		}
		for name, member := range v {
			var err error
			if weight, err = weighBelow(member, weight+4+len(name), depth+1); err != nil {
				return weight, err
			}
		}
	default:
		return weight, fmt.Errorf("a Go value of type %T is no JSON", value)
	}
	if weight > maxValue {
		return weight, errTooLarge
	}
	return weight, nil
}

var (
	errTooLarge = fmt.Errorf("is larger than %d MiB", maxValue>>20)
	errTooDeep  = fmt.Errorf("is nested deeper than %d levels", maxDepth)
)

// handed gives node i with what it hands on. That of a disabled node, which the
// plan passes over by itself, is worked out when it is first asked for.
func (r *run) handed(i int) *nodeRun {
	n := &r.nodes[i]
	if !n.known && r.plan.State(i) == blueprint.NodePassed {
		n.known = true
		n.output, n.weight = r.input(i)
		n.writers = r.seen(i)
	}
	return n
}

// input gives what node i gets, and its weight: the run's input data, the
// output of its one predecessor, or the outputs of several by node id.
func (r *run) input(i int) (any, int) {
	inputs := r.plan.Inputs(i)
	switch len(inputs) {
	case 0:
		return r.begin.InputData, r.weight
	case 1:
		from := r.handed(inputs[0])
		return from.output, from.weight
	default:
		out, weight := make(map[string]any, len(inputs)), 0
		for _, from := range inputs {
			n := r.handed(from)
			out[r.address(from)] = n.output
			weight = min(weight+len(r.address(from))+n.weight, 2*maxValue)
		}
		return out, weight
	}
}

// seen gives the variables that node i sees.
func (r *run) seen(i int) *blueprint.Writers {
	inputs := r.plan.Inputs(i)
	sources := make([]*blueprint.Writers, len(inputs))
	for at, from := range inputs {
		sources[at] = r.handed(from).writers
	}
	return r.program.graph.MergeWriters(sources...)
}
