package simulation

import (
	"fmt"
	"maps"
	"slices"

	"blueprintd/blueprint"
)

// nodeResult is the outcome of one node.
type nodeResult struct {
	place   string
	status  blueprint.StepStatus
	begun   bool // it ran, so it has an input
	input   any
	output  any
	pass    bool // of kept ones: the input is the output
	handle  string
	failure *blueprint.StepError
	attempt int
	tokens  int64
	calls   int
	halts   bool // nothing may start after it
	quits   bool // the same for the whole run, from within an item
	ends    bool // the run may have this output
	kept    bool
	notSent bool           // it failed before it did anything
	acted   bool           // its child run ran a node with effect "once"
	open    bool           // it waits for an unfinished run
	final   bool           // a decision failed it or an item of it, which is not repeated
	items   []*graphResult // of a for-each node: after its last attempt, nil for one not started

	// Concurrent items stop each other when one fails; how far the others get depends on
	// timing.
	maybe          bool // whether it starts depends on that
	uncertain      bool // its outcome depends on that
	uncertainItem  bool // it fails, but the failing item depends on that
	uncertainItems bool // the progress of its items depends on that
}

// graphResult is the outcome of a graph: that of a run or of an item.
type graphResult struct {
	graph   *graph
	address string // prefix of the addresses of its nodes
	place   string // and of their places
	input   any
	results []nodeResult
	status  blueprint.Status
	output  any
	failed  int // the node whose failure stops it; -1 for none
	// exact means that the above is the only outcome. Without it, a node halts the graph
	// while others may be running, and each result is the outcome of a node if it starts.
	exact     bool
	fails     bool // it fails in any case, exact or not
	quits     bool // it ends the run, or may
	open      bool // it waits for an unfinished run
	uncertain bool // some of its results depend on timing
	halts     bool // a node halts it, or may
}

// model is the outcome of a run.
type model struct {
	script
	facts
	*graphResult
	kept  map[string]nodeResult   // by address: what a retried run takes over
	used  map[string]bool         // of these, what was used
	walks map[string]*graphResult // by place
	spent int64                   // calls to language models
	lost  bool                    // the tokens of some attempts are unknown
}

// facts are the inputs of a model.
type facts struct {
	asked   map[at]bool                   // attempts for which a user had to decide
	wasted  map[at]int64                  // calls to language models of cancelled attempts
	child   func(a at) *returned          // the result of the run that an attempt started; nil until it has ended
	deep    bool                          // it may not start a run
	allowed *blueprint.Budget             // for calls to language models
	missing func(blueprintID string) bool // there is no such blueprint
}

// returned is the result of a run for its parent.
type returned struct {
	output  any
	failure *blueprint.Failure
	tokens  int64
	acted   bool // it ran a node with effect "once"
}

// likelihood reports whether something happens.
type likelihood uint8

const (
	no likelihood = iota
	maybe
	yes
)

// interpret runs a blueprint, one node after the other. kept are the results that a retried
// run takes over.
func interpret(s script, input any, kept map[string]nodeResult, f facts) *model {
	m := &model{script: s, facts: f, kept: maps.Clone(kept), used: map[string]bool{}, walks: map[string]*graphResult{}}
	if m.kept == nil {
		m.kept = map[string]nodeResult{}
	}
	m.graphResult = m.runGraph(s.blueprint.graph, "", "", input)
	return m
}

// runGraph runs a graph.
func (m *model) runGraph(g *graph, address, place string, input any) *graphResult {
	if known := m.walks[place]; known != nil {
		return known
	}
	w := &graphResult{graph: g, address: address, place: place, input: input, results: make([]nodeResult, len(g.nodes)), exact: true, status: blueprint.StatusCompleted, failed: -1}
	m.walks[place] = w
	edges := g.edges
	if g.sequential() {
		edges = nil
		for i := 1; i < len(g.nodes); i++ {
			edges = append(edges, blueprint.Edge{Source: g.nodes[i-1].ID, Target: g.nodes[i].ID})
		}
	}
	taken := make([]likelihood, len(edges))
	over := blueprint.StepStatus("") // the status of the remaining nodes once a sequence is over
	stopped := false                 // a node ended it without failing
	unsure := false                  // its last nodes are unknown
	for i := range g.nodes {
		f := &w.results[i]
		f.place = place + g.nodes[i].ID
		if over != "" {
			f.status = over
			continue
		}
		leads, reached, doubtful := false, no, false
		var sources []int
		for e, edge := range edges {
			if edge.Target != g.nodes[i].ID {
				continue
			}
			leads, reached = true, max(reached, taken[e])
			doubtful = doubtful || taken[e] == maybe
			if from := g.index[edge.Source]; taken[e] != no && !slices.Contains(sources, from) {
				sources = append(sources, from)
			}
		}
		if leads && reached == no {
			f.status = blueprint.StepSkipped
			continue
		}
		f.maybe = leads && reached == maybe
		if f.input = w.joinOutputs(sources, input); doubtful {
			f.input = unknown
		}
		take := m.runNode(w, i)
		any := no
		for e, edge := range edges {
			if edge.Source != g.nodes[i].ID {
				continue
			}
			if taken[e] = take(edge.Handle); f.maybe {
				taken[e] = min(taken[e], maybe)
			}
			any = max(any, taken[e])
		}
		f.ends = any != yes && !f.open && (f.status != blueprint.StepFailed || g.nodes[i].OnError != blueprint.OnErrorStop)
		w.uncertain = w.uncertain || f.maybe || f.uncertain || f.uncertainItem || f.uncertainItems || any == maybe
		unsure = unsure || f.maybe || f.uncertain || any == maybe
		w.open, w.quits = w.open || f.open && !f.maybe, w.quits || f.quits // a node that may never start keeps nothing waiting
		if !f.halts {
			continue
		}
		w.halts = true
		stopped = stopped || f.status != blueprint.StepFailed
		w.fails = w.fails || f.status == blueprint.StepFailed && !f.maybe && !f.uncertain
		if f.status == blueprint.StepFailed && w.failed < 0 {
			w.failed = i
		}
		w.exact = w.exact && g.sequential() && !f.maybe && !f.uncertain && !f.uncertainItem && !f.quits
		if g.sequential() && !f.maybe && !f.uncertain {
			over = blueprint.StepSkipped
			if f.status == blueprint.StepFailed {
				over, w.status = blueprint.StepPending, blueprint.StatusFailed
			}
		}
	}
	w.fails = w.fails && !stopped && !w.quits && !w.open
	var ends []int
	for i := range w.results {
		if w.results[i].ends {
			ends = append(ends, i)
		}
	}
	switch {
	case unsure:
		w.output = unknown
	case w.status == blueprint.StatusCompleted && len(ends) > 0:
		w.output = w.joinOutputs(ends, input)
	}
	return w
}

func (w *graphResult) joinOutputs(sources []int, input any) any {
	switch len(sources) {
	case 0:
		return input
	case 1:
		return w.results[sources[0]].output
	}
	object := map[string]any{}
	for _, from := range sources {
		if w.results[from].output == unknown {
			return unknown
		}
		object[w.graph.nodes[from].ID] = w.results[from].output
	}
	return object
}

// runNode computes the result of a node with predecessors, and returns which of its edges are
// taken.
func (m *model) runNode(w *graphResult, i int) (take func(handle string) likelihood) {
	f, n := &w.results[i], &w.graph.nodes[i]
	if n.Disabled {
		f.status, f.output = blueprint.StepSkipped, f.input
		return takes("")
	}
	f.begun = true
	if old, ok := m.kept[w.address+n.ID]; ok && !m.used[w.address+n.ID] {
		m.used[w.address+n.ID] = true
		input, maybe := f.input, f.maybe
		at := f.place
		*f = old
		f.place = at
		f.begun, f.input, f.maybe, f.kept = true, input, maybe, true
		if f.pass {
			f.output = input
		}
	} else {
		m.attempts(w, i)
	}
	switch {
	case f.open, f.quits && !f.uncertain, f.status == blueprint.StepCompleted && f.halts:
		return takes()
	case f.uncertain:
		f.output, f.halts = unknown, f.quits || n.OnError == blueprint.OnErrorStop
		return func(handle string) likelihood {
			switch {
			case handle == "" && n.OnError == blueprint.OnErrorContinue && !f.quits:
				return yes
			case handle == "", handle == blueprint.ErrorHandle && n.OnError == blueprint.OnErrorBranch:
				return maybe
			default:
				return no
			}
		}
	case f.status == blueprint.StepCompleted:
		return takes("", f.handle)
	case f.halts || n.OnError == blueprint.OnErrorStop:
		f.halts = true
		return takes()
	}
	f.output = map[string]any{"error": errorValue(f.failure)}
	if f.uncertainItem {
		f.output = unknown
	}
	if n.OnError == blueprint.OnErrorBranch {
		return takes(blueprint.ErrorHandle)
	}
	return takes("")
}

func errorValue(e *blueprint.StepError) map[string]any {
	value := map[string]any{"message": e.Message}
	if e.Code != "" {
		value["code"] = e.Code
	}
	return value
}

// takes takes the edges with these handles.
func takes(handles ...string) func(string) likelihood {
	return func(handle string) likelihood {
		if slices.Contains(handles, handle) {
			return yes
		}
		return no
	}
}

// attempts runs a node until it is settled.
func (m *model) attempts(w *graphResult, i int) {
	f, n, place := &w.results[i], &w.graph.nodes[i], w.place+w.graph.nodes[i].ID
	complete := func(output any, handle string) {
		f.status, f.output, f.handle = blueprint.StepCompleted, output, handle
	}
	fail := func(code, message string) {
		f.status, f.failure = blueprint.StepFailed, &blueprint.StepError{Code: code, Message: message}
	}
	for f.attempt = 1; ; f.attempt++ {
		here := at{place, f.attempt}
		m.spent += m.wasted[here]
		if m.asked[here] {
			switch decision := m.decision(here); decision["action"] {
			case "retry":
				continue
			case "mark-done":
				complete(decision["output"], "")
			default:
				fail("aborted", "aborted: whether the node took effect is unknown")
				f.halts, f.quits = true, w.place != ""
			}
			return
		}
		o := m.outcome(place, f.attempt)
		failure := o.failureAt(n)
		if o.asks > 0 && failure == nil {
			o.tokens, failure = m.callModel(o.asks)
		}
		f.tokens += o.tokens
		f.calls += len(o.calls)
		if o.ending == asks {
			if o = m.answered(place); o.ending == fails { // a user's refusal is final
				fail(o.failure.Code, o.failure.Message)
				return
			}
		}
		chance := false // the failing item depends on timing, and so does what the next attempt keeps
		if failure == nil {
			switch o.ending {
			case done:
				complete(o.output, o.handle)
			case links:
				complete(linked(place), "")
			case stops:
				complete(f.input, "")
				f.halts, f.quits = true, w.place != "" && !o.item
				if o.failed {
					f.final = o.item
					fail("stopped", "the run was stopped")
				}
			case loops:
				if failure, chance = m.runItems(w, i, o.items); failure == nil {
					return
				}
				f.final = failure.Permanent
			case calls:
				r := m.called(n, here)
				if f.open = r == nil; f.open {
					return
				}
				f.tokens += r.tokens
				f.acted = r.acted
				if failure = r.failure; failure == nil {
					complete(r.output, "")
				}
			default:
				complete(f.input, o.handle)
			}
			if failure == nil {
				return
			}
		}
		again := n.Retry != nil && f.attempt < n.Retry.MaxAttempts && !failure.Permanent && (n.effect() != blueprint.EffectOnce || failure.NotSent)
		again = again && (n.body == nil || chance || !f.mayHaveActed())
		f.notSent = failure.NotSent
		switch {
		case again && chance:
			m.markUncertain(f, n)
			return
		case !again:
			fail(failure.Code, failure.Message)
			return
		}
		f.uncertainItem = false
	}
}

// linked is the output of a node that opened its connection.
func linked(place string) any { return map[string]any{"linked": place} }

// callModel makes calls to a language model, each of which takes a token.
func (m *model) callModel(calls int) (tokens int64, failure *blueprint.Failure) {
	for range calls {
		if b := m.allowed; b != nil && b.OnBreach == blueprint.BreachFails && m.spent >= *b.Calls {
			message := fmt.Sprintf("the budget of language model calls of the run is spent: %d of %d used", m.spent, *b.Calls)
			return tokens, &blueprint.Failure{Code: "budget_exceeded", Message: message, Permanent: true, NotSent: true}
		}
		m.spent++
		tokens++
	}
	return tokens, nil
}
