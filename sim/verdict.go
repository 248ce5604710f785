package sim

import (
	"blueprintd/blueprint"
)

// finished checks the record of a run that has ended against what had to become
// of it.
func (w *world) finished(h *history) {
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
	w.shown(h, x, h.shown)
	w.counts(h, x)
	w.compare(h, x)
}

// shown checks what somebody sees of a run against what others had been shown
// before he asked.
func (w *world) shown(h *history, x *blueprint.Execution, before int) {
	if x.Progress < before {
		w.fail("I6: the progress of %s falls from %d to %d", h.name, before, x.Progress)
	}
	if (x.Progress == 100) != (x.Status == blueprint.StatusCompleted) {
		w.fail("I6: %s is %s at %d %%", h.name, x.Status, x.Progress)
	}
	h.shown = max(h.shown, x.Progress)
	if h.terminal && !x.Status.Terminal() {
		w.fail("I5: %s has ended, and is shown as %s", h.name, x.Status)
	}
}

// counts checks that numbers and telemetry say what the steps say.
func (w *world) counts(h *history, x *blueprint.Execution) {
	completed, failed := 0, 0
	for i := range x.Steps {
		switch x.Steps[i].Status {
		case blueprint.StepCompleted:
			completed++
		case blueprint.StepFailed:
			failed++
		case blueprint.StepRunning, blueprint.StepPaused:
			w.fail("I8: %s is %s, and %s is %s", h.name, x.Status, x.Steps[i].NodeID, x.Steps[i].Status)
		}
	}
	if x.CompletedSteps != completed || x.FailedSteps != failed || x.TotalSteps != len(h.script.book.nodes) || len(x.Steps) != x.TotalSteps {
		w.fail("I8: %s counts %d completed and %d failed of %d; its steps are %d and %d of %d", h.name, x.CompletedSteps, x.FailedSteps, x.TotalSteps, completed, failed, len(x.Steps))
	}
	t := &x.Telemetry
	if t.ErrorCount != failed || t.CriticalErrors != (x.Status == blueprint.StatusFailed) || t.HasErrors != (failed > 0 || x.Status == blueprint.StatusFailed) || t.HasErrors != (t.ErrorSummary != nil) {
		w.fail("I8: %s is %s with %d failed steps; its telemetry tells of %d errors, critical %v, any %v", h.name, x.Status, failed, t.ErrorCount, t.CriticalErrors, t.HasErrors)
	}
}

// compare checks a record against the interpreter.
func (w *world) compare(h *history, x *blueprint.Execution) {
	m := h.fates()
	cancelled := x.Failure != nil && x.Failure.Code == "cancelled" && x.Failure.NodeID == ""
	if cancelled && !h.cancels {
		w.fail("%s was cancelled, and nobody asked for it", h.name)
	}
	exact := m.exact && !cancelled
	switch {
	case exact && h.lives > 1:
		w.saw("runs like the reference in spite of crashes")
	case exact:
		w.saw("runs like the reference")
	case cancelled:
		w.saw("cancelled runs")
	default:
		w.saw("runs stopped beside other work")
	}
	var tokens int64
	calls := 0
	for i := range x.Steps {
		f, s := &m.fates[i], &x.Steps[i]
		tokens, calls = tokens+f.tokens, calls+f.calls
		if !exact && !h.plausible(i, f, s, cancelled) || exact && s.Status != f.status {
			w.fail("the reference differs: %s of %s is %s%s at attempt %d, not %s%s at attempt %d", s.NodeID, h.name, s.Status, text(s.Error), s.Attempt, f.status, text(f.failure), f.attempt)
			return
		}
		if s.Status != f.status || s.Status == blueprint.StepPending {
			continue
		}
		wrong := f.begun && (s.Attempt != f.attempt || !blueprint.Equal(s.Input, f.input)) && !(s.Status == blueprint.StepFailed && !exact) ||
			s.Status == blueprint.StepCompleted && !blueprint.Equal(s.Output, f.output) ||
			exact && s.Status == blueprint.StepFailed && *s.Error != *f.failure
		if wrong {
			w.fail("the reference differs: %s of %s has attempt %d, input %s, output %s, error %s; not %d, %s, %s, %s", s.NodeID, h.name,
				s.Attempt, text(s.Input), text(s.Output), text(s.Error), f.attempt, text(f.input), text(f.output), text(f.failure))
			return
		}
	}
	if !exact {
		return
	}
	made := 0
	for _, source := range x.Telemetry.DataSourcesSummary {
		made += source.Calls
	}
	switch {
	case x.Status != m.status:
		w.fail("the reference differs: %s is %s, not %s", h.name, x.Status, m.status)
	case x.Status == blueprint.StatusCompleted && !blueprint.Equal(x.Output, m.output):
		w.fail("the reference differs: %s gives %s, not %s", h.name, text(x.Output), text(m.output))
	case x.Telemetry.TotalTokensUsed != tokens, made != calls:
		w.fail("I8: %s used %d tokens and made %d calls, not %d and %d", h.name, x.Telemetry.TotalTokensUsed, made, tokens, calls)
	}
}

// plausible tells whether a step of a run that was stopped can have come about.
func (h *history) plausible(i int, f *fate, s *blueprint.Step, cancelled bool) bool {
	switch s.Status {
	case blueprint.StepCompleted:
		return f.status == blueprint.StepCompleted
	case blueprint.StepFailed:
		if cancelled && s.Error.Code == "cancelled" || f.status == blueprint.StepFailed && *s.Error == *f.failure {
			return f.begun
		}
		if s.Attempt > f.attempt {
			return false
		}
		for attempt := range s.Attempt { // stopped before the next attempt, or in it by a crash
			o := h.script.outcome(i, attempt+1)
			if failure := o.failureAt(&h.script.book.nodes[i]); failure != nil && failure.Message == s.Error.Message {
				return true
			}
		}
		return false
	default:
		return true
	}
}

// retries notes which fates a run takes over from the one that it retries.
func (w *world) retries(h *history, oldID string, reused map[string]bool) {
	old := w.histories[oldID]
	b := h.script.book
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
	m := old.fates()
	h.kept, h.model = map[int]fate{}, nil
	for i := range x.Steps {
		if !reused[x.Steps[i].NodeID] {
			continue
		}
		w.saw("steps kept by a retry")
		f := m.fates[i]
		s := &x.Steps[i]
		f.status, f.attempt, f.failure = s.Status, s.Attempt, s.Error
		h.kept[i] = f
	}
	again := make([]bool, len(b.nodes))
	for i := range x.Steps {
		s := &x.Steps[i]
		dropped := s.Status == blueprint.StepSkipped && s.StartTime != 0
		again[i] = s.NodeID == old.from || old.from == "" && (s.Status == blueprint.StepFailed || s.Status == blueprint.StepPending || dropped)
		if b.sequential() {
			again[i] = again[i] || i > 0 && again[i-1]
		}
		for _, edge := range b.edges {
			again[i] = again[i] || edge.Target == s.NodeID && again[b.index[edge.Source]]
		}
		passable := s.Status == blueprint.StepCompleted || s.Status == blueprint.StepFailed && b.nodes[i].OnError != blueprint.OnErrorStop
		if reused[s.NodeID] != (passable && !again[i]) {
			w.fail("I4: %s retries %s from %q, and keeps %s: %v", h.name, old.name, old.from, s.NodeID, reused[s.NodeID])
		}
	}
}
