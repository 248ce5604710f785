package engine

import (
	"maps"
	"slices"
	"time"

	"blueprintd/blueprint"
)

// scope answers the names that a node's templates and expressions use. What a
// node may see is final before it starts, so most of it needs no lock; values
// are shared and never changed.
type scope struct {
	run     *run
	node    int
	now     time.Time
	input   any
	weight  int // of input
	writers *blueprint.Writers
	nodes   map[string]any // all that led here, once it was asked for
}

// scopeOf makes the scope of node i. r.mu is held.
func (r *run) scopeOf(i int, now time.Time) *scope {
	s := &scope{run: r, node: i, now: now, writers: r.nodes[i].writers}
	s.input, s.weight = r.input(i)
	return s
}

// Lookup answers a top-level name.
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
	if writer, ok := s.writers.Of(name); ok {
		values, _ := s.run.nodes[writer].output.(map[string]any)
		return values[name], true
	}
	value, ok := s.run.bound[name]
	return value, ok
}

// Names gives every top-level name, sorted.
func (s *scope) Names() []string {
	names := []string{"input", "inputData", "nodes", "execution", "blueprint", "trigger", "now"}
	names = slices.AppendSeq(names, maps.Keys(s.run.bound))
	names = slices.AppendSeq(names, maps.Keys(s.writers.All()))
	slices.Sort(names)
	return slices.Compact(names)
}

// HasParts tells that nodes is looked up one by one: in a run of ten thousand
// nodes of which each refers to another, the whole of it would be made ten
// thousand times.
func (s *scope) HasParts(name string) bool { return name == "nodes" }

// Part gives {"output": ...} of one node that led to this one. Nodes beside it
// are left out even when they are done: what a node sees must not depend on
// which branch was faster.
func (s *scope) Part(_, id string) (any, bool) {
	r := s.run
	r.mu.Lock()
	defer r.mu.Unlock()
	from := r.program.graph.Index(id)
	if from < 0 || !r.plan.LedTo(from, s.node) {
		return nil, false
	}
	return map[string]any{"output": r.handed(from).output}, true
}

// maxNearby is how many of the nodes that led to one an error suggests from.
const maxNearby = 100

// Nearby gives the nodes that led to this one on the shortest ways.
func (s *scope) Nearby(string) map[string]any { return s.upstream(maxNearby) }

// all gives every node that led to this one, as Part does.
func (s *scope) all() map[string]any {
	if s.nodes == nil {
		s.nodes = s.upstream(s.run.program.graph.Len())
	}
	return s.nodes
}

// upstream gives the nearest nodes that led to this one, at most a number.
func (s *scope) upstream(most int) map[string]any {
	r := s.run
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]any{}
	for queue := r.plan.Inputs(s.node); len(queue) > 0 && len(out) < most; queue = queue[1:] {
		address := r.address(queue[0])
		if _, seen := out[address]; seen {
			continue
		}
		out[address] = map[string]any{"output": r.handed(queue[0]).output}
		queue = append(queue, r.plan.Inputs(queue[0])...)
	}
	return out
}

// triggerValue is what templates see of the trigger; a run without one sees
// nulls, so that a blueprint can be tried by hand.
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
