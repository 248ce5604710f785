package engine

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"blueprintd/blueprint"
)

// scope resolves the names in a node's templates and expressions. What a node sees is
// final before it starts, so most of it needs no lock; values are shared and never
// changed.
type scope struct {
	run       *run
	node      *nodeRun
	now       time.Time
	input     any
	inputSize int
	nodes     map[string]any // everything that led here, once used
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

// Part returns {"output": ...} of a node that led to this one. Parallel nodes are left
// out even when they are done: what a node sees must not depend on timing.
func (s *scope) Part(_, id string) (any, bool) {
	r := s.run
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := s.node; n != nil; n = n.frame.loopNode() {
		f := n.frame
		if from := f.body.graph.Index(id); from >= 0 && f.plan.Precedes(from, n.index) {
			return map[string]any{"output": r.withOutput(&f.nodes[from]).output}, true
		}
	}
	return nil, false
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
