package simulation

import (
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// checkRecord checks the record of an ended run against its required outcome.
func (w *world) checkRecord(h *history) {
	stored := w.disk.stored(h.id)
	if stored == nil {
		return
	}
	x, err := w.viewer.View(w.ctx, stored)
	if err != nil {
		w.fail("I5: the record of %s cannot be read: %v", h.name, err)
		return
	}
	if h.input == unknown {
		h.input, h.model = x.InputData, nil
	}
	w.tracef("%s %s", h.name, x.Status)
	w.checkView(h, x, h.shown)
	if h.isUnseen() {
		return
	}
	w.childEnded(h, x)
	w.checkCounts(h, x)
	w.compare(h, x)
}

// checkView checks the view of a run against what clients had seen before the request.
func (w *world) checkView(h *history, x *blueprint.Execution, before int) {
	if x.Progress < before {
		w.fail("I6: the progress of %s falls from %d to %d", h.name, before, x.Progress)
	}
	if (x.Progress == 100) != (x.Status == blueprint.StatusCompleted) {
		w.fail("I6: %s is %s at %d %%", h.name, x.Status, x.Progress)
	}
	h.shown = max(h.shown, x.Progress)
	if h.terminal && !x.Status.Terminal() {
		w.fail("I5: %s has ended, but is shown as %s", h.name, x.Status)
	}
}

// checkCounts checks that counts and telemetry agree with the steps.
func (w *world) checkCounts(h *history, x *blueprint.Execution) {
	completed, failed, failures, own := 0, 0, 0, 0
	for i := range x.Steps {
		of := 0 // the run's own nodes count, and those of items only as failures
		if !strings.Contains(x.Steps[i].NodeID, "]/") {
			of = 1
		}
		own += of
		switch x.Steps[i].Status {
		case blueprint.StepCompleted:
			completed += of
		case blueprint.StepFailed:
			failed += of
			failures++
		case blueprint.StepRunning, blueprint.StepPaused:
			w.fail("I8: %s is %s, and %s is %s", h.name, x.Status, x.Steps[i].NodeID, x.Steps[i].Status)
		}
	}
	if x.CompletedSteps != completed || x.FailedSteps != failed || x.TotalSteps != len(h.script.blueprint.nodes) || own != x.TotalSteps {
		w.fail("I8: %s counts %d completed and %d failed of %d; its steps are %d and %d of %d", h.name, x.CompletedSteps, x.FailedSteps, x.TotalSteps, completed, failed, own)
	}
	t := &x.Telemetry
	if t.ErrorCount != failures || t.CriticalErrors != (x.Status == blueprint.StatusFailed) || t.HasErrors != (failures > 0 || x.Status == blueprint.StatusFailed) || t.HasErrors != (t.ErrorSummary != "") {
		w.fail("I8: %s is %s with %d failed steps; its telemetry has %d errors, critical %v, any %v", h.name, x.Status, failures, t.ErrorCount, t.CriticalErrors, t.HasErrors)
	}
}

// compare checks a record against the interpreter.
func (w *world) compare(h *history, x *blueprint.Execution) {
	m := w.expected(h)
	cancelled := x.Failure != nil && x.Failure.Code == "cancelled" && x.Failure.NodeID == ""
	if cancelled && !h.cancels && !h.mayCancel() && !w.displaces(h) {
		w.fail("%s was cancelled without a request", h.name)
	}
	items := map[string]bool{}
	for i := range x.Steps {
		for _, loop := range containers(x.Steps[i].NodeID) {
			items[x.Steps[i].NodeID[:strings.Index(x.Steps[i].NodeID[len(loop):], "]")+len(loop)]] = true
		}
	}
	w.report.Saw["items in records"] += len(items)
	if len(items) > 0 {
		w.count("runs with items")
	}
	// Another attempt of a for-each node may keep the result of a run of an earlier
	// attempt, where the interpreter waits for one that was never called.
	stuck := m.open && h.script.blueprint.has(func(n *node) bool { return n.body != nil && n.tries() > 1 })
	exact := m.exact && !cancelled && !stuck
	switch {
	case exact && m.uncertain:
		w.count("runs with items that stopped each other")
	case exact && h.processes > 1:
		w.count("runs like the reference despite crashes")
	case exact:
		w.count("runs like the reference")
	case cancelled && !h.cancels && w.displaces(h):
		w.count("runs displaced by a newer one of their group")
	case cancelled && !h.cancels:
		w.count("runs cancelled with the one that started them")
	case cancelled:
		w.count("cancelled runs")
	default:
		w.count("runs stopped during other work")
	}
	if exact && len(items) > 0 && !m.uncertain {
		w.count("runs with items like the reference")
	}
	var tokens int64
	calls := 0
	if exact && !m.uncertain {
		var want, got []string
		for _, one := range m.steps(nil) {
			want, tokens, calls = append(want, one.address), tokens+one.result.tokens, calls+one.result.calls
		}
		for i := range x.Steps {
			got = append(got, x.Steps[i].NodeID)
		}
		if !slices.Equal(want, got) {
			w.fail("the reference differs: %s has the steps %v, not %v", h.name, got, want)
			return
		}
	}
	for i := range x.Steps {
		if !w.step(h, x, &x.Steps[i], exact, cancelled) {
			return
		}
	}
	if !exact || m.uncertain && m.isUncertain() {
		return
	}
	made := 0
	for _, source := range x.Telemetry.DataSourcesSummary {
		made += source.Calls
	}
	switch {
	case x.Status != m.status:
		w.fail("the reference differs: %s is %s, not %s", h.name, x.Status, m.status)
	case x.Status == blueprint.StatusCompleted && !same(m.output, x.Output):
		w.fail("the reference differs: %s returned %s, not %s", h.name, text(x.Output), text(m.output))
	case m.uncertain || m.lost:
	case x.Telemetry.TotalTokensUsed != tokens, made != calls:
		w.fail("I8: %s used %d tokens and made %d calls, not %d and %d", h.name, x.Telemetry.TotalTokensUsed, made, tokens, calls)
	}
}

// isUncertain reports whether it depends on timing that a node halts the graph.
func (w *graphResult) isUncertain() bool {
	for i := range w.results {
		if f := &w.results[i]; f.halts && (f.maybe || f.uncertain) {
			return true
		}
	}
	return false
}

// step checks a step of a record and reports whether it is correct.
func (w *world) step(h *history, x *blueprint.Execution, s *blueprint.Step, exact, cancelled bool) bool {
	m := w.expected(h)
	var fits []*nodeResult
	inexact := !exact || m.uncertain
	// Another attempt keeps the results of the nodes of an item, so an item is a mixture of
	// its attempts; if items stop each other, it is unknown which.
	for _, loop := range containers(s.NodeID) {
		if !inexact || h.script.blueprint.find(loop).tries() == 1 && h.attempt[loop] <= 1 {
			continue
		}
		if !h.matchesAnyAttempt(m, x, s, cancelled) {
			w.fail("the reference differs: %s of %s is %s with attempt %d, input %s, output %s, error %s in no attempt of %s", s.NodeID, h.name,
				s.Status, s.Attempt, text(s.Input), text(s.Output), text(s.Error), loop)
			return false
		}
		return true
	}
	for _, f := range h.candidates(m, s.NodeID, inexact) {
		doubtful := !exact || f.maybe || f.uncertain || f.uncertainItem || inexact && strings.Contains(s.NodeID, "]/")
		if fitting(m, h, x, s, f, doubtful, cancelled) {
			return true
		}
		fits = append(fits, f)
	}
	for _, f := range fits {
		w.fail("the reference differs: %s of %s is %s with attempt %d, input %s, output %s, error %s; not %s with %d, %s, %s, %s", s.NodeID, h.name,
			s.Status, s.Attempt, text(s.Input), text(s.Output), text(s.Error), f.status, f.attempt, show(f.input), show(f.output), text(f.failure))
	}
	w.fail("the reference differs: %s has a step %s", h.name, s.NodeID)
	return false
}

func show(value any) string {
	if value == unknown {
		return "anything"
	}
	return text(value)
}

// candidates returns the possible outcomes of the node of a step: one result if all is known,
// else one for each attempt of the for-each nodes that contain it.
func (h *history) candidates(m *model, address string, inexact bool) (results []*nodeResult) {
	if !inexact {
		for _, one := range m.steps(nil) {
			if one.address == address {
				return []*nodeResult{one.result}
			}
		}
		return nil
	}
	for _, place := range h.places(address) {
		results = append(results, m.at(place))
	}
	return results
}

// fitting reports whether a step matches a result. If the result is uncertain, it is enough
// that the step is possible.
func fitting(m *model, h *history, x *blueprint.Execution, s *blueprint.Step, f *nodeResult, doubtful, cancelled bool) bool {
	switch {
	case doubtful && !plausible(m, h, x, s, f, cancelled), !doubtful && s.Status != f.status:
		return false
	case s.Status != f.status || s.Status == blueprint.StepPending || f.uncertain || f.uncertainItem || f.open && doubtful:
		return true
	}
	return !(f.begun && (s.Attempt != f.attempt || !same(f.input, s.Input)) && !(s.Status == blueprint.StepFailed && doubtful) ||
		s.Status == blueprint.StepCompleted && !same(f.output, s.Output) ||
		s.Status == blueprint.StepFailed && !doubtful && *s.Error != *f.failure ||
		s.Status == blueprint.StepFailed && !doubtful && !f.halts && !same(f.output, s.Output))
}

// plausible reports whether a step of a stopped run is possible.
func plausible(m *model, h *history, x *blueprint.Execution, s *blueprint.Step, f *nodeResult, cancelled bool) bool {
	n := h.script.blueprint.find(s.NodeID)
	switch s.Status {
	case blueprint.StepCompleted:
		return f.status == blueprint.StepCompleted || f.uncertain || f.open
	case blueprint.StepFailed:
		switch {
		case cancelled && s.Error.Code == "cancelled":
			return f.begun
		case f.open:
			return true
		case f.status == blueprint.StepFailed && !f.uncertainItem && *s.Error == *f.failure:
			return f.begun
		case n.body != nil && strings.HasPrefix(s.Error.Message, "item "):
			return hasFailedItem(x, s)
		case s.Attempt > f.attempt:
			return false
		}
		for attempt := range s.Attempt { // stopped before the next attempt, or in it by a crash
			o := m.outcome(f.place, attempt+1)
			failure := o.failureAt(n)
			if o.ending == calls {
				if r := m.called(n, at{f.place, attempt + 1}); r != nil {
					failure = r.failure
				}
			}
			if failure != nil && failure.Message == s.Error.Message {
				return true
			}
		}
		return false
	default:
		return true
	}
}

// hasFailedItem reports whether a for-each node failed as one of its items did.
func hasFailedItem(x *blueprint.Execution, loop *blueprint.Step) bool {
	for i := range x.Steps {
		s := &x.Steps[i]
		rest, within := strings.CutPrefix(s.NodeID, loop.NodeID)
		if !within || s.Status != blueprint.StepFailed || !strings.HasPrefix(rest, "[") {
			continue
		}
		_, item, inner, _ := cut(rest)
		if loop.Error.Message == fmt.Sprintf("item %d: node %q failed: %s", item, inner, s.Error.Message) && loop.Error.Code == s.Error.Code {
			return true
		}
	}
	return false
}

// retries records which results a run takes over from the one that it retries.
func (w *world) retries(h *history, oldID string, reused []reuse) {
	old := w.histories[oldID]
	stored := w.disk.stored(oldID)
	if old == nil || stored == nil || !old.terminal {
		w.fail("I4: %s retries a run that has not ended", h.name)
		return
	}
	x, err := w.viewer.View(w.ctx, stored)
	if err != nil {
		w.fail("I5: the record of %s cannot be read: %v", old.name, err)
		return
	}
	m := w.expected(old)
	h.kept, h.model = map[string]nodeResult{}, nil
	kept := map[string]*reuse{}
	for i := range reused {
		kept[reused[i].Node] = &reused[i]
	}
	again := old.notReused(x)
	for i := range x.Steps {
		s, n := &x.Steps[i], old.script.blueprint.find(x.Steps[i].NodeID)
		r := kept[s.NodeID]
		passable := s.Status == blueprint.StepCompleted || s.Status == blueprint.StepFailed && n.OnError != blueprint.OnErrorStop
		began := i+1 < len(x.Steps) && strings.HasPrefix(x.Steps[i+1].NodeID, s.NodeID+"[")
		switch {
		case n.body != nil && r == nil: // one that iterated over its items does so again
		case (r != nil) != (passable && !again(s.NodeID)) || began:
			w.fail("I4: %s retries %s from %q, and keeps %s: %v", h.name, old.name, old.from, s.NodeID, r != nil)
		}
		if r == nil {
			continue
		}
		w.tracef("  %s keeps %s of %s, %s", h.name, s.NodeID, old.name, s.Status)
		w.count("steps kept by a retry")
		if strings.Contains(s.NodeID, "]/") {
			w.count("steps of items kept by a retry")
		}
		f := nodeResult{status: s.Status, attempt: s.Attempt, failure: s.Error, output: r.Output, pass: r.Pass, handle: r.Handle, halts: r.Item}
		same := r.Status == s.Status && r.Attempt == s.Attempt && (s.Status == blueprint.StepFailed || r.Pass || blueprint.Equal(r.Output, s.Output))
		if known := m.results[max(0, i)%len(m.results)]; i < len(m.results) && !old.isUnseen() && x.Steps[i].NodeID == m.graph.nodes[i].ID && s.Status == blueprint.StepCompleted && known.status == s.Status && !known.maybe && !known.uncertain {
			same = same && known.handle == r.Handle
		}
		if !same {
			w.fail("I4: %s retries %s, and keeps a different %s", h.name, old.name, s.NodeID)
		}
		h.kept[s.NodeID] = f
	}
}

// isUnseen reports whether a run is a retry without a node to run, which began and ended in
// one commit: its input and the steps that it keeps are only in its record.
func (h *history) isUnseen() bool { return h.atOnce && len(h.visits) == 0 }

// notReused returns a function that reports whether a retry runs a node again: the
// nodes that it begins with, the nodes after these, and the nodes after the
// for-each nodes that contain them.
func (old *history) notReused(x *blueprint.Execution) func(address string) bool {
	begins := map[string]bool{}
	for i := range x.Steps {
		s := &x.Steps[i]
		dropped := s.Status == blueprint.StepSkipped && s.StartTime != 0
		if s.NodeID == old.from || old.from == "" && (s.Status == blueprint.StepFailed || s.Status == blueprint.StepPending || dropped) {
			begins[s.NodeID] = true
			for _, loop := range containers(s.NodeID) {
				begins[loop] = true
			}
		}
	}
	again := map[string]bool{}
	var mark func(g *graph, prefix string)
	mark = func(g *graph, prefix string) {
		behind := make([]bool, len(g.nodes))
		for i := range g.nodes {
			address := prefix + g.nodes[i].ID
			behind[i] = begins[address] || g.sequential() && i > 0 && behind[i-1]
			for _, edge := range g.edges {
				behind[i] = behind[i] || edge.Target == g.nodes[i].ID && behind[g.index[edge.Source]]
			}
			again[address] = behind[i] && !(g.nodes[i].body != nil && begins[address] && address != old.from)
			if g.nodes[i].body != nil && !again[address] {
				for item := range maxItems {
					mark(g.nodes[i].body, prefix+atItem(g.nodes[i].ID, item))
				}
			}
		}
	}
	mark(old.script.blueprint.graph, "")
	return func(address string) bool {
		if begins[address] {
			return true
		}
		for _, loop := range containers(address) {
			if again[loop] {
				return true
			}
		}
		return again[address]
	}
}
