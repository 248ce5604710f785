package engine

import (
	"fmt"
	"slices"

	"blueprintd/blueprint"
)

// record applies an entry and keeps it for the next flush, which comes soon
// enough by itself. r.mu is held.
func (r *run) record(e *entry) {
	r.apply(e)
	r.pending = append(r.pending, e)
	r.soon(AtEnd)
}

// apply lets an entry happen to the run. It is the only way a run changes, in
// life and when it is read back. r.mu is held.
func (r *run) apply(e *entry) {
	switch e.Kind {
	case entryLog:
		r.logs = append(r.logs, *e.Log)
		return
	case entryHide:
		r.hide(e.Secrets)
		return
	case entryCancel:
		r.canceled = &e.Reason
		r.plan.Halt()
		r.dropIdle(e.At)
		return
	}
	i := r.program.graph.Index(e.Node)
	n := &r.nodes[i]
	switch e.Kind {
	case entryStart:
		if r.plan.State(i) == blueprint.NodePending {
			r.plan.Start(i)
			n.start = e.At
			n.writers = r.seen(i)
		}
		if at := slices.Index(r.again, i); at >= 0 {
			r.again = slices.Delete(r.again, at, at+1)
		}
		n.attempt = e.Attempt
		r.move(n, working)
	case entryAgain:
		r.budget.raise(e.Raise)
		n.due, n.retry, n.await, n.next = 0, false, nil, e.Attempt
		r.move(n, idle)
		r.again = append(r.again, i)
	case entryRetry:
		n.due, n.retry, n.err, n.next = e.Due, true, e.Error, n.attempt+1
		r.move(n, waiting)
	case entryWait:
		n.due = e.Due
		r.move(n, waiting)
	case entryAwait:
		n.due, n.await, n.state = e.Await.ExpiresAt, e.Await, e.Await.State
		n.signIn = n.signIn || e.Await.Kind == blueprint.AwaitOAuth
		r.move(n, awaiting)
	case entryEnd:
		r.end(i, n, e)
	}
	n.calls = append(n.calls, e.Calls...)
	n.tokens += e.Tokens
	n.note(e.Uses, e.Servers)
	r.budget.take(e.Tokens, e.Models)
	if r.plan.Halted() && n.phase > working {
		r.dropIdle(e.At) // it came to wait after the run was stopped
	}
}

// move changes what a node is doing.
func (r *run) move(n *nodeRun, to phase) {
	r.count[n.phase]--
	r.count[to]++
	n.phase = to
}

// end settles node i as an entry says.
func (r *run) end(i int, n *nodeRun, e *entry) {
	n.due, n.await, n.retry = 0, nil, false
	r.move(n, idle)
	n.end = e.At
	n.handle, n.err = e.Handle, e.Error
	if e.Respond != nil && r.respond == nil {
		r.respond = e.Respond
	}
	switch {
	case e.Error == nil && e.Stop:
		r.handOn(i, n, e)
		r.plan.Finish(i)
		r.dropIdle(e.At)
	case e.Error == nil:
		r.handOn(i, n, e)
		r.plan.Complete(i, e.Handle)
	case e.Stop || r.program.nodes[i].OnError == blueprint.OnErrorStop || r.canceled != nil:
		r.stoppedBy(i)
		r.plan.Fail(i, blueprint.OnErrorStop)
		r.dropIdle(e.At)
	default:
		n.output = map[string]any{"error": errorValue(e.Error)}
		n.weight = len(e.Error.Message)
		r.plan.Fail(i, r.program.nodes[i].OnError)
	}
}

// handOn gives node i the output that an entry tells of.
func (r *run) handOn(i int, n *nodeRun, e *entry) {
	n.pass, n.variables = e.Pass, e.Variables
	if e.Pass {
		n.output, n.weight = r.input(i)
		return
	}
	n.output, n.weight = e.Output, e.weight
	if e.weight == 0 {
		n.weight, _ = weigh(e.Output, tooHeavy)
	}
	r.total += n.weight
	if values, ok := e.Output.(map[string]any); ok && e.Variables {
		n.writers = n.writers.Write(i, values)
	}
}

func errorValue(e *blueprint.StepError) map[string]any {
	value := map[string]any{"message": e.Message}
	if e.Code != "" {
		value["code"] = e.Code
	}
	return value
}

// stoppedBy notes that the failure of node i fails the run; of several the
// first in the map counts.
func (r *run) stoppedBy(i int) {
	if r.failed < 0 || i < r.failed {
		r.failed = i
	}
}

// dropIdle settles what nobody works on once the walk is halted: waits and
// questions are skipped, a node between two attempts keeps its failure.
func (r *run) dropIdle(at blueprint.Time) {
	if r.count[waiting] == 0 && r.count[awaiting] == 0 && len(r.again) == 0 {
		return
	}
	for i := range r.nodes {
		n := &r.nodes[i]
		again := slices.Contains(r.again, i)
		if n.phase <= working && !again {
			continue
		}
		failed := n.retry || again && n.err != nil
		n.due, n.await, n.retry, n.end = 0, nil, false, at
		r.move(n, idle)
		if failed {
			if r.failed >= 0 && r.program.nodes[i].OnError == blueprint.OnErrorStop {
				r.stoppedBy(i)
			}
			r.plan.Fail(i, blueprint.OnErrorStop)
		} else {
			n.dropped = true
			r.plan.Drop(i)
		}
	}
	r.again = nil
}

// follows tells whether an entry that was read back can have happened. One that
// cannot means a damaged journal.
func (r *run) follows(e *entry) error {
	switch e.Kind {
	case entryLog:
		if e.Log == nil {
			return fmt.Errorf("a log line is empty")
		}
		return nil
	case entryCancel, entryHide:
		return nil
	}
	i := r.program.graph.Index(e.Node)
	if i < 0 {
		return fmt.Errorf("it tells of a node %q that the blueprint does not have", e.Node)
	}
	var ok bool
	switch phase := r.nodes[i].phase; e.Kind {
	case entryStart:
		ok = r.plan.IsReady(i) || slices.Contains(r.again, i)
	case entryAgain, entryEnd:
		ok = phase != idle
	case entryRetry:
		ok = phase == working && e.Error != nil
	case entryWait:
		ok = phase == working
	case entryAwait:
		ok = phase == working && e.Await != nil
	}
	if !ok {
		return fmt.Errorf("the entry %q of node %q does not follow from those before it", e.Kind, e.Node)
	}
	return nil
}
