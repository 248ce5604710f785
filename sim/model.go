package sim

import (
	"fmt"
	"slices"

	"blueprintd/blueprint"
)

// fate is what becomes of one node.
type fate struct {
	status  blueprint.StepStatus
	begun   bool // it ran, so it has an input
	input   any
	output  any
	handle  string
	failure *blueprint.StepError
	attempt int
	tokens  int64
	calls   int
	halts   bool // nothing may start after it
	ends    bool // the run may have this as output
	kept    bool
}

// model is what becomes of a run.
type model struct {
	fates  []fate
	status blueprint.Status
	output any
	// exact says that the above is all that can happen. Without it a node halts
	// the run while others may be at work, and it depends on them how far the run gets:
	// then each fate is what becomes of a node if it gets so far.
	exact bool
}

// at is one attempt of one node.
type at struct {
	node, attempt int
}

// interpret walks through a blueprint, one node after the other. kept are the
// fates that a retried run hands on, asked the attempts about which a person
// had to decide.
func interpret(s script, input any, kept map[int]fate, asked map[at]bool) *model {
	b := s.book
	m := &model{fates: make([]fate, len(b.nodes)), exact: true, status: blueprint.StatusCompleted}
	edges := b.edges
	if b.sequential() {
		edges = nil
		for i := 1; i < len(b.nodes); i++ {
			edges = append(edges, blueprint.Edge{Source: b.nodes[i-1].ID, Target: b.nodes[i].ID})
		}
	}
	taken := make([]bool, len(edges))
	over := blueprint.StepStatus("") // what becomes of the rest once a sequence is over
	for i := range b.nodes {
		f := &m.fates[i]
		if over != "" {
			f.status = over
			continue
		}
		leads := false
		var sources []int
		for e, edge := range edges {
			if edge.Target != b.nodes[i].ID {
				continue
			}
			leads = true
			if from := b.index[edge.Source]; taken[e] && !slices.Contains(sources, from) {
				sources = append(sources, from)
			}
		}
		if leads && len(sources) == 0 {
			f.status = blueprint.StepSkipped
			continue
		}
		f.input = m.joined(b, sources, input)
		take := s.settle(f, i, kept, asked)
		any := false
		for e, edge := range edges {
			if edge.Source == b.nodes[i].ID && take(edge.Handle) {
				taken[e], any = true, true
			}
		}
		f.ends = !any && (f.status != blueprint.StepFailed || b.nodes[i].OnError != blueprint.OnErrorStop)
		if f.halts {
			m.exact = b.sequential()
			over = blueprint.StepSkipped
			if f.status == blueprint.StepFailed {
				over, m.status = blueprint.StepPending, blueprint.StatusFailed
			}
			if !b.sequential() {
				over = ""
			}
		}
	}
	var ends []int
	for i := range m.fates {
		if m.fates[i].ends {
			ends = append(ends, i)
		}
	}
	if m.status == blueprint.StatusCompleted && len(ends) > 0 {
		m.output = m.joined(b, ends, input)
	}
	for i := range m.fates { // one halt in a graph leaves nothing exact, whatever came after it
		m.exact = m.exact && (!m.fates[i].halts || b.sequential())
	}
	return m
}

func (m *model) joined(b *book, sources []int, input any) any {
	switch len(sources) {
	case 0:
		return input
	case 1:
		return m.fates[sources[0]].output
	}
	object := map[string]any{}
	for _, from := range sources {
		object[b.nodes[from].ID] = m.fates[from].output
	}
	return object
}

// settle works out the fate of a node that something leads to, and tells which
// of its edges are taken.
func (s script) settle(f *fate, i int, kept map[int]fate, asked map[at]bool) (take func(handle string) bool) {
	n := &s.book.nodes[i]
	none := func(string) bool { return false }
	main := func(handle string) bool { return handle == "" }
	if n.Disabled {
		f.status, f.output = blueprint.StepSkipped, f.input
		return main
	}
	f.begun = true
	if old, ok := kept[i]; ok {
		input := f.input
		*f = old
		f.input, f.kept, f.tokens, f.calls, f.halts = input, true, 0, 0, false
	} else {
		s.attempts(f, i, asked)
	}
	switch {
	case f.status == blueprint.StepCompleted && f.halts:
		return none
	case f.status == blueprint.StepCompleted:
		return func(handle string) bool { return handle == "" || handle == f.handle }
	case f.halts || n.OnError == blueprint.OnErrorStop:
		f.halts = true
		return none
	}
	f.output = map[string]any{"error": map[string]any{"message": f.failure.Message, "code": f.failure.Code}}
	if n.OnError == blueprint.OnErrorBranch {
		return func(handle string) bool { return handle == blueprint.ErrorHandle }
	}
	return main
}

// attempts works on a node until it is settled.
func (s script) attempts(f *fate, i int, asked map[at]bool) {
	n := &s.book.nodes[i]
	complete := func(output any, handle string) {
		f.status, f.output, f.handle = blueprint.StepCompleted, output, handle
	}
	fail := func(code, message string) {
		f.status, f.failure = blueprint.StepFailed, &blueprint.StepError{Code: code, Message: message}
	}
	for f.attempt = 1; ; f.attempt++ {
		if asked[at{i, f.attempt}] {
			switch decision := s.decision(i, f.attempt); decision["action"] {
			case "retry":
				continue
			case "mark-done":
				complete(decision["output"], "")
			default:
				fail("aborted", "aborted: whether the node took effect is unknown")
				f.halts = true
			}
			return
		}
		o := s.outcome(i, f.attempt)
		f.tokens += o.tokens
		f.calls += len(o.calls)
		if o.ending == asks {
			if o = s.answered(i); o.ending == fails { // a person's no is final
				fail(o.failure.Code, o.failure.Message)
				return
			}
		}
		failure := o.failureAt(n)
		if failure == nil {
			switch o.ending {
			case done:
				complete(o.output, o.handle)
			case stops:
				complete(f.input, "")
				f.halts = true
				if o.failed {
					fail("stopped", "the run was stopped")
				}
			default:
				complete(f.input, o.handle)
			}
			return
		}
		again := n.Retry != nil && f.attempt < n.Retry.MaxAttempts && !failure.Permanent && (s.book.effect(i) != blueprint.EffectOnce || failure.NotSent)
		if !again {
			fail(failure.Code, failure.Message)
			return
		}
	}
}

// failureAt gives the failure that an attempt ends with, nil for none.
func (o *outcome) failureAt(n *blueprint.Node) *blueprint.Failure {
	switch o.ending {
	case fails:
		return o.failure
	case panics:
		return &blueprint.Failure{Code: "internal", Message: "the node crashed; the server's log has the details"}
	case hangs:
		return &blueprint.Failure{Code: "timeout", Message: fmt.Sprintf("took longer than its timeoutMs of %d", n.Timeout.Milliseconds())}
	default:
		return nil
	}
}
