package engine

import (
	"cmp"
	"encoding/json"
	"fmt"

	"blueprintd/blueprint"
)

// Limits bound what one run takes of memory and disk, in bytes of JSON, by and
// large. Values are shared, so a node that is given the outputs of two, one of
// them that of a node that was given two, and so on, would have more than fits
// into any machine once it is written.
type Limits struct {
	// Value is for what one node is given or hands on; 0 = 32 MiB.
	Value int
	// Outputs is for what all nodes of a run hand on; 0 = 128 MiB.
	Outputs int
	// Record is for the inputs and outputs in a record that is shown; what is
	// beyond is left out. 0 = 64 MiB.
	Record int
	// Held is for the input data of all new runs in memory together, not as
	// JSON but by what it takes there, and for what they exchanged when they are
	// recorded; one more waits or is refused with CodeUnavailable until some have
	// ended. Runs that a limit on those of their trigger held back may take as much
	// again. 0 = 64 MiB.
	Held int
	// Family is how many runs one may lead to, itself and through those that it
	// starts, as long as it goes on and the engine does; 0 = 20,000.
	Family int
	// Tape is for what a run that is recorded exchanges with other services; what
	// comes after is left out, and the log says so. 0 = 16 MiB.
	Tape int
}

func (l Limits) orDefaults() Limits {
	return Limits{Value: cmp.Or(l.Value, 32<<20), Outputs: cmp.Or(l.Outputs, 128<<20), Record: cmp.Or(l.Record, 64<<20), Held: cmp.Or(l.Held, 64<<20), Family: cmp.Or(l.Family, 20_000), Tape: cmp.Or(l.Tape, 16<<20)}
}

// maxDepth bounds how deeply what a node hands on may nest: a little more than
// what comes from outside.
const maxDepth = 2 * blueprint.MaxDepth

// weigh returns about how many bytes a plain JSON value takes as text, at least
// 1. A value that takes more than limit, is nested too deeply, or is no plain
// JSON is an error that says so after "the output" or the like.
func weigh(value any, limit int) (int, error) {
	w := weighing{left: limit}
	if err := w.add(value, 0); err != nil {
		return 0, err
	}
	if w.left < 0 {
		return 0, fmt.Errorf("is larger than %d KiB", limit>>10)
	}
	return limit - w.left, nil
}

// footprint returns about how many bytes a value takes in memory, which for many
// small values is far more than they take as text.
func footprint(value any) int {
	const header = 16 // of a string, an interface, and about that of whatever is allocated
	switch v := value.(type) {
	case string:
		return 2*header + len(v)
	case json.Number:
		return 3*header + len(v)
	case []any:
		size := 2 * header
		for _, member := range v {
			size += footprint(member)
		}
		return size
	case map[string]any:
		size := 3 * header
		for name, member := range v {
			size += 2*header + len(name) + footprint(member)
		}
		return size
	}
	return header
}

// weighing is what is left of a limit.
type weighing struct{ left int }

// add takes a value off what is left; with nothing left it looks no further.
func (w *weighing) add(value any, depth int) error {
	switch v := value.(type) {
	case nil, bool:
		w.left -= 4
	case string:
		w.left -= 2 + len(v)
	case json.Number:
		if v == "" || v[0] > '9' || !json.Valid([]byte(v)) {
			return fmt.Errorf("holds %.50q, which is not a number", string(v))
		}
		w.left -= len(v)
	case []any:
		w.left -= 2 + len(v)
		for i := 0; i < len(v) && w.left >= 0; i++ {
			if err := w.below(v[i], depth); err != nil {
				return err
			}
		}
	case map[string]any:
		w.left -= 2 + 4*len(v)
		for name, member := range v {
			if w.left -= len(name); w.left < 0 {
				return nil
			}
			if err := w.below(member, depth); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("holds a Go value of type %T, which is no JSON", value)
	}
	return nil
}

func (w *weighing) below(value any, depth int) error {
	if depth == maxDepth {
		return fmt.Errorf("is nested deeper than %d levels", maxDepth)
	}
	return w.add(value, depth+1)
}

// handed returns a node with what it hands on. That of a disabled node, which the
// plan passes over by itself, is worked out when it is first asked for.
func (r *fold) handed(n *nodeRun) *nodeRun {
	if !n.known && n.state() == blueprint.NodePassed {
		n.known = true
		n.output, n.weight = r.input(n)
		n.writers = r.seen(n)
	}
	return n
}

// input returns what a node gets, and its weight: the run's input data, or for a
// node of an item the item; the output of its one predecessor, or the outputs
// of several by node id.
func (r *fold) input(n *nodeRun) (any, int) {
	inputs := n.inputs()
	switch len(inputs) {
	case 0:
		if n.frame.parent != nil {
			return n.frame.value.value, n.frame.value.weight
		}
		return r.begin.InputData, r.weight
	case 1:
		from := r.handed(inputs[0])
		return from.output, from.weight
	default:
		out, weight := make(map[string]any, len(inputs)), 0
		for _, from := range inputs {
			id := from.node().ID
			out[id] = r.handed(from).output
			weight = min(weight+6+len(id)+from.weight, tooHeavy)
		}
		return out, weight
	}
}

// seen returns the variables that a node sees of those that nodes of its walk
// wrote.
func (r *fold) seen(n *nodeRun) *blueprint.Writers {
	inputs := n.inputs()
	sources := make([]*blueprint.Writers, len(inputs))
	for at, from := range inputs {
		sources[at] = r.handed(from).writers
	}
	return n.frame.body.graph.MergeWriters(sources...)
}

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

// of returns what a node handed on.
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

// all returns the outputs of the items of a for-each node.
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

// joined returns the input of a node of an item, or of the run, whose taken
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

// output returns the output of a run with these ends.
func (v *values) output(ends []string) any {
	if len(ends) == 0 {
		return nil
	}
	return v.fit(ends[0], v.joined("", ends))
}

// fit returns a value of a step if there is room for it, else null.
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
