package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// TestLostWhileRecovering ends an engine whose journal stores nothing any more while it
// recovers: it stops, or its process was declared dead.
func TestLostWhileRecovering(t *testing.T) {
	for name, step := range map[string]struct {
		cause error
		loses bool
		want  time.Duration
	}{
		"stopped":         {cause: context.Canceled, want: 3 * time.Second},
		"journal lost":    {cause: blueprint.Errorf(blueprint.CodeUnavailable, "the database stopped"), want: 0},
		"lost, not ended": {loses: true, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			var lost chan struct{}
			testWith(t, func(o *engine.Options) { lost = make(chan struct{}); o.Drain, o.Lost = 3*time.Second, lost }, func(w *fixture) {
				gate := w.hold("a")
				h := w.start(w.define(`a once`))
				<-gate.came
				w.stop()
				var first sync.Once
				var failed time.Time
				w.journal.setFault(func(int, *blueprint.JournalCommit) error {
					first.Do(func() {
						failed = time.Now()
						if step.cause != nil {
							w.fail(step.cause)
						}
						if step.loses {
							close(lost)
						}
					})
					return blueprint.Errorf(blueprint.CodeUnavailable, "the database cannot be reached")
				})
				w.boot(w.clock.Now())
				w.stop()
				if took := time.Since(failed); took != step.want {
					t.Errorf("the engine took %v to end, want %v", took, step.want)
				}
				w.journal.setFault(nil)
				w.boot(w.clock.Now())
				w.expect(w.settle(h.ID), "paused: a=paused")
			})
		})
	}
}

// TestLostRunsAreLoggedOnce ends an engine with runs whose steps it cannot store, because
// its process was declared dead.
func TestLostRunsAreLoggedOnce(t *testing.T) {
	var lost chan struct{}
	testWith(t, func(o *engine.Options) { lost = make(chan struct{}); o.Lost = lost }, func(w *fixture) {
		gate := w.hold("a")
		d := w.define(`a act`)
		for range 3 {
			w.start(d)
			<-gate.came
		}
		w.journal.setFault(func(int, *blueprint.JournalCommit) error {
			return blueprint.Errorf(blueprint.CodeUnavailable, "this process was declared dead")
		})
		close(gate.open)
		synctest.Wait()
		close(lost)
		w.stop()
		var errors, warnings []string
		for line := range strings.Lines(w.logged()) {
			if strings.Contains(line, "level=ERROR") {
				errors = append(errors, line)
			}
			if strings.Contains(line, "were not stored") {
				warnings = append(warnings, line)
			}
		}
		if len(errors) > 0 || len(warnings) != 1 || !strings.Contains(warnings[0], "runs=3") {
			t.Errorf("errors %q, warnings %q; want none, and one about 3 runs", errors, warnings)
		}
	})
}
