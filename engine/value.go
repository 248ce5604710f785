package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"blueprintd/blueprint"
)

// Limits bound the memory and storage of one run, in approximate bytes of JSON. Values are
// shared in memory, but a value that is passed on many times could exceed the memory of any
// machine if it were written out each time.
type Limits struct {
	// Value bounds the input and the output of a node; 0 = 32 MiB.
	Value int
	// Outputs bounds the outputs of all nodes together; 0 = 128 MiB.
	Outputs int
	// Record bounds the inputs and outputs in a record that is shown; 0 = 64 MiB.
	Record int
	// Held bounds the memory of input data of all new runs together, exchanges of
	// recorded runs included; 0 = 64 MiB. Beyond it runs wait or are refused with
	// CodeUnavailable. Blocked runs of concurrency groups may take as much again.
	Held int
	// Family bounds how many descendants a run may have while it is unfinished; 0 =
	// 20,000.
	Family int
	// Tape bounds the exchanges of a recorded run; later ones are dropped, and the run's
	// log says so. 0 = 16 MiB.
	Tape int
}

func (l Limits) orDefaults() Limits {
	return Limits{Value: cmp.Or(l.Value, 32<<20), Outputs: cmp.Or(l.Outputs, 128<<20), Record: cmp.Or(l.Record, 64<<20), Held: cmp.Or(l.Held, 64<<20), Family: cmp.Or(l.Family, 20_000), Tape: cmp.Or(l.Tape, 16<<20)}
}

// maxDepth bounds the nesting of outputs: deeper than that of external input.
const maxDepth = 2 * blueprint.MaxDepth

// jsonSize returns the approximate size of a plain JSON value as text, at least 1. A
// value above limit, nested too deeply, or not plain JSON is an error, phrased to
// follow a noun such as "the output".
func jsonSize(value any, limit int) (int, error) {
	w := sizeBudget{left: limit}
	if err := w.add(value, 0); err != nil {
		return 0, err
	}
	if w.left < 0 {
		return 0, fmt.Errorf("is larger than %d KiB", limit>>10)
	}
	return limit - w.left, nil
}

// footprint returns the approximate size of a value in memory, which for many small
// values far exceeds its size as text.
func footprint(value any) int {
	const header = 16 // of a string, an interface, or an allocation
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

type sizeBudget struct{ left int }

// add subtracts the size of a value; it stops early once nothing is left.
func (w *sizeBudget) add(value any, depth int) error {
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
			if err := w.addNested(v[i], depth); err != nil {
				return err
			}
		}
	case map[string]any:
		w.left -= 2 + 4*len(v)
		for name, member := range v {
			if w.left -= len(name); w.left < 0 {
				return nil
			}
			if err := w.addNested(member, depth); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("holds a Go value of type %T, which is not JSON", value)
	}
	return nil
}

func (w *sizeBudget) addNested(value any, depth int) error {
	if depth == maxDepth {
		return fmt.Errorf("is nested deeper than %d levels", maxDepth)
	}
	return w.add(value, depth+1)
}

// withOutput returns n with its output set. That of a disabled node, which the plan
// passes over, is computed on first use.
func (r *fold) withOutput(n *nodeRun) *nodeRun {
	if !n.resolved && n.state() == blueprint.NodePassed {
		n.resolved = true
		n.output, n.outputSize = r.input(n)
		n.writers = r.visibleWriters(n)
	}
	return n
}

// input returns the input of a node and its size: the run's input data or the item; the
// output of a single predecessor, or the outputs of several by node id.
func (r *fold) input(n *nodeRun) (any, int) {
	if len(r.begin.Edits) > 0 {
		if edited, ok := r.begin.Edits[n.address()]; ok {
			weight, _ := jsonSize(edited, maxSize)
			return edited, weight
		}
	}
	inputs := n.inputs()
	switch len(inputs) {
	case 0:
		if n.frame.parent != nil {
			return n.frame.value.value, n.frame.value.size
		}
		return r.begin.InputData, r.inputSize
	case 1:
		from := r.withOutput(inputs[0])
		return from.output, from.outputSize
	default:
		out, weight := make(map[string]any, len(inputs)), 0
		for _, from := range inputs {
			id := from.node().ID
			out[id] = r.withOutput(from).output
			weight = min(weight+6+len(id)+from.outputSize, maxSize)
		}
		return out, weight
	}
}

// outputsBefore returns the outputs that the input of a node consists of, in the order of
// the edges. Of an edited input of several nodes, it leaves out those that have no member.
func (r *fold) outputsBefore(n *nodeRun) (list []blueprint.NodeOutput) {
	edited, isEdited := any(nil), false
	if len(r.begin.Edits) > 0 {
		edited, isEdited = r.begin.Edits[n.address()]
	}
	before := n.inputs()
	for _, from := range before {
		id := from.node().ID
		output := r.withOutput(from).output
		if isEdited && len(before) == 1 {
			output = edited
		} else if isEdited {
			members, _ := edited.(map[string]any)
			member, ok := members[id]
			if !ok {
				continue
			}
			output = member
		}
		list = append(list, blueprint.NodeOutput{NodeID: id, Output: output})
	}
	return list
}

// visibleWriters returns the variables that nodes of its frame have set and n sees.
func (r *fold) visibleWriters(n *nodeRun) *blueprint.Writers {
	inputs := n.inputs()
	sources := make([]*blueprint.Writers, len(inputs))
	for at, from := range inputs {
		sources[at] = r.withOutput(from).writers
	}
	return n.frame.body.graph.MergeWriters(sources...)
}

type sizedValue struct {
	value any
	size  int
}

// maxSize is a size that exceeds every limit.
const maxSize = 1 << 40

// values resolves the inputs and outputs that a record refers to, within room: written
// out, a large value that passes through many nodes is repeated for each.
type values struct {
	input   sizedValue
	edits   map[string]any // inputs of nodes, by address
	steps   map[string]*step
	items   map[string]sizedValue // by "loop[3]"
	last    map[string][]string   // by "loop[3]": the nodes whose output is the item's
	outputs map[string]sizedValue // resolved so far
	room    int
	omitted map[string]bool // steps with a value that is not shown
}

func newValues(s *runRecord) *values {
	v := &values{edits: s.Begin.Edits, steps: make(map[string]*step, len(s.Steps)), items: map[string]sizedValue{}, last: map[string][]string{}, outputs: make(map[string]sizedValue, len(s.Steps)), room: s.room, omitted: map[string]bool{}}
	v.input = v.measure(s.Begin.InputData)
	for i := range s.Steps {
		at := &s.Steps[i]
		v.steps[at.Node] = at
		if at.Last {
			v.last[at.In] = append(v.last[at.In], at.Node)
		}
		for k, item := range at.Items {
			v.items[fmt.Sprintf("%s[%d]", at.Node, k)] = v.measure(item)
		}
	}
	return v
}

func (v *values) measure(value any) sizedValue {
	weight, err := jsonSize(value, v.room)
	if err != nil {
		weight = maxSize
	}
	return sizedValue{value, weight}
}

func (v *values) output(node string) sizedValue {
	out, known := v.outputs[node]
	if known {
		return out
	}
	v.outputs[node] = sizedValue{} // a damaged record may have cycles
	switch at := v.steps[node]; {
	case at == nil:
	case at.Pass:
		out = v.inputOf(at)
	case at.Each && at.Status == blueprint.StepCompleted:
		out = v.itemOutputs(at)
	default:
		out = v.measure(at.Output)
	}
	v.outputs[node] = out
	return out
}

func (v *values) itemOutputs(at *step) sizedValue {
	out, weight := make([]any, len(at.Items)), 2
	for i := range at.Items {
		item := fmt.Sprintf("%s[%d]", at.Node, i)
		from := sizedValue{nil, 4}
		if last := v.last[item]; len(last) > 0 {
			from = v.inputFrom(item, last)
		}
		out[i] = from.value
		weight = min(weight+2+from.size, maxSize)
	}
	return sizedValue{out, weight}
}

// inputOf returns the input of a step.
func (v *values) inputOf(at *step) sizedValue {
	if edited, ok := v.edits[at.Node]; ok {
		return v.measure(edited)
	}
	return v.inputFrom(at.In, at.From)
}

// inputFrom returns the input of a node with these predecessors, in an item or the run.
func (v *values) inputFrom(in string, nodes []string) sizedValue {
	switch {
	case len(nodes) == 0 && in != "":
		return v.items[in]
	case len(nodes) == 0:
		return v.input
	case len(nodes) == 1:
		return v.output(nodes[0])
	}
	object, weight := make(map[string]any, len(nodes)), 0
	for _, node := range nodes {
		from := v.output(node)
		id := node
		if in != "" {
			id = node[len(in)+1:]
		}
		object[id] = from.value
		weight = min(weight+6+len(id)+from.size, maxSize)
	}
	return sizedValue{object, weight}
}

func (v *values) runOutput(ends []string) any {
	if len(ends) == 0 {
		return nil
	}
	return v.fit(ends[0], v.inputFrom("", ends))
}

// fit returns a value of a step if there is room for it, else null.
func (v *values) fit(node string, value sizedValue) any {
	if value.size > v.room {
		v.omitted[node] = true
		return nil
	}
	v.room -= value.size
	return value.value
}

// step returns the step as clients see it.
func (v *values) step(at *step) blueprint.Step {
	out := blueprint.Step{NodeID: at.Node, NodeType: at.Type, Title: at.Title, Status: at.Status, StartTime: at.Start, EndTime: at.End, Attempt: at.Attempt, Error: at.Error, Masked: at.Masked}
	if at.Status == blueprint.StepCompleted || at.Status == blueprint.StepFailed || at.Status == blueprint.StepSkipped && at.Pass {
		out.Output = v.fit(at.Node, v.output(at.Node))
	}
	if at.Start != 0 {
		out.Input = v.fit(at.Node, v.inputOf(at))
	}
	if at.Error != nil && at.Error.Exchange != nil {
		if weight := stepExchangeSize(at.Error.Exchange); weight <= v.room {
			v.room -= weight
		} else {
			bare := *at.Error
			bare.Exchange, out.Error = nil, &bare
			v.omitted[at.Node] = true
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

// scope resolves the names in a node's templates and expressions. What a node sees is
// final before it starts, so most of it needs no lock; values are shared and never
// changed.
type scope struct {
	run       *run
	node      *nodeRun
	now       time.Time
	input     any
	inputSize int
	nodes     map[string]any    // everything that led here, once used
	links     map[string]string // approval links by node id, if used; guarded by run.mu
}

// scopeOf returns the scope of a node. The caller holds r.mu.
func (r *run) scopeOf(n *nodeRun, now time.Time) *scope {
	s := &scope{run: r, node: n, now: now}
	s.input, s.inputSize = r.input(n)
	return s
}

// Lookup returns the value of a top-level name.
func (s *scope) Lookup(name string) (any, bool) {
	switch name {
	case "input":
		return s.input, true
	case "inputData":
		return s.run.begin.InputData, true
	case "nodes":
		return s.all(), true
	case "execution":
		return map[string]any{"id": s.run.id}, true
	case "blueprint":
		definition := s.run.program.definition
		return map[string]any{"id": definition.BlueprintID, "title": definition.Title}, true
	case "trigger":
		return triggerValue(s.run.begin.Trigger), true
	case "now":
		return s.now.UTC().Format(blueprint.TimeFormat), true
	}
	// A node of an item also sees what the for-each node sees.
	for n := s.node; n != nil; n = n.frame.loopNode() {
		if writer, ok := n.writers.Of(name); ok {
			values, _ := n.frame.nodes[writer].output.(map[string]any)
			return values[name], true
		}
		if f := n.frame; f.parent != nil {
			switch name {
			case "item":
				return f.value.value, true
			case "index":
				return json.Number(strconv.Itoa(f.item)), true
			}
		}
	}
	value, ok := s.run.variables[name]
	return value, ok
}

// Names returns every top-level name, sorted.
func (s *scope) Names() []string {
	names := []string{"input", "inputData", "nodes", "execution", "blueprint", "trigger", "now"}
	names = slices.AppendSeq(names, maps.Keys(s.run.variables))
	for n := s.node; n != nil; n = n.frame.loopNode() {
		names = slices.AppendSeq(names, maps.Keys(n.writers.All()))
		if n.frame.parent != nil {
			names = append(names, "item", "index")
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// HasParts reports that nodes is looked up by part: building all of it for each node of
// a large run would take quadratic time.
func (s *scope) HasParts(name string) bool { return name == "nodes" }

// Part returns {"output": ...} of a node that led to this one, and the link of one that asks
// a person, if it is used. Outputs of parallel nodes are left out even when they are done:
// what a node sees must not depend on timing.
func (s *scope) Part(_, id string) (any, bool) {
	r := s.run
	r.mu.Lock()
	defer r.mu.Unlock()
	part := map[string]any{}
	if link, made := s.links[id]; made {
		part[blueprint.KeyLink] = link
	}
	for n := s.node; n != nil; n = n.frame.loopNode() {
		f := n.frame
		if from := f.body.graph.Index(id); from >= 0 && f.plan.Precedes(from, n.index) {
			part["output"] = r.withOutput(&f.nodes[from]).output
			break
		}
	}
	return part, len(part) > 0
}

// maxNearby bounds the nodes that an error takes suggestions from.
const maxNearby = 100

// Nearby returns the closest nodes that led to this one.
func (s *scope) Nearby(string) map[string]any { return s.upstream(maxNearby) }

func (s *scope) all() map[string]any {
	if s.nodes == nil {
		s.nodes = s.upstream(math.MaxInt)
	}
	return s.nodes
}

// upstream returns the closest nodes that led to this one, at most most.
func (s *scope) upstream(most int) map[string]any {
	r := s.run
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]any{}
	for n := s.node; n != nil; n = n.frame.loopNode() {
		for queue := n.inputs(); len(queue) > 0 && len(out) < most; queue = queue[1:] {
			id := queue[0].node().ID
			if _, seen := out[id]; seen {
				continue
			}
			out[id] = map[string]any{"output": r.withOutput(queue[0]).output}
			queue = append(queue, queue[0].inputs()...)
		}
	}
	return out
}

// collect returns all variables, with item and index in an item, and all nodes that led
// to this one. With denied set, secret variables not passed are left out and named.
func (s *scope) collect(denied bool) blueprint.NodeScope {
	out := blueprint.NodeScope{Variables: map[string]any{}, Nodes: s.all()}
	for n := s.node; n != nil; n = n.frame.loopNode() {
		for name, writer := range n.writers.All() {
			if _, hidden := out.Variables[name]; !hidden {
				values, _ := n.frame.nodes[writer].output.(map[string]any)
				out.Variables[name] = values[name]
			}
		}
		if _, hidden := out.Variables["item"]; n.frame.parent != nil && !hidden {
			out.Variables["item"], out.Variables["index"] = n.frame.value.value, json.Number(strconv.Itoa(n.frame.item))
		}
	}
	for name, value := range s.run.variables {
		if _, hidden := out.Variables[name]; hidden {
			continue
		}
		if _, own := s.run.begin.Given[name]; denied && !own && s.run.program.secret(name) {
			out.Denied = append(out.Denied, name)
			continue
		}
		out.Variables[name] = value
	}
	slices.Sort(out.Denied)
	return out
}

// triggerValue returns the value of trigger in templates. In a run without a trigger its
// members are null, so that a blueprint can be tested manually.
func triggerValue(t *blueprint.TriggerContext) map[string]any {
	if t == nil {
		return map[string]any{"id": nil, "type": nil, "headers": map[string]any{}}
	}
	headers := t.Headers
	if headers == nil {
		headers = map[string]any{}
	}
	return map[string]any{"id": t.ID, "type": string(t.Type), "headers": headers}
}
