package engine_test

import (
	"context"
	"testing"
	"testing/synctest"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// An event tells where it comes from, without secrets; its key is that of the
// node, and its depth one that the trigger brought.
func TestEmit(t *testing.T) {
	var got []blueprint.Event
	testWith(t, func(o *engine.Options) {
		o.Emit = func(_ context.Context, e blueprint.Event) (int, error) { got = append(got, e); return 2, nil }
	}, func(w *world) {
		r := request(w.defineWith(`a emit`, secretVariables))
		r.InputData = map[string]any{"secret": token}
		r.Trigger = &blueprint.TriggerContext{ID: "t", Type: blueprint.TriggerEvent, Depth: 3}
		x := w.wait(w.startWith(r, engine.Soon))
		w.expect(x, `completed: a=completed -> 2`)
		e := got[0]
		w.noSecret("an event", e.Data)
		if e.Name != "custom.x" || e.Depth != 3 || e.Key != x.ID+"/a" || e.ExecutionID != x.ID || e.BlueprintID != r.Definition.BlueprintID || e.OrganizationID != "org" {
			t.Errorf("raised %+v", e)
		}
	})
}

// An event that cannot be raised because the server stops is raised at the next
// start.
func TestEmitWhileStopping(t *testing.T) {
	stopping := true
	testWith(t, func(o *engine.Options) {
		o.Emit = func(context.Context, blueprint.Event) (int, error) {
			if stopping {
				return 0, blueprint.Errorf(blueprint.CodeUnavailable, "the server is shutting down")
			}
			return 1, nil
		}
	}, func(w *world) {
		gate := w.hold("a")
		h := w.start(w.define(`a emit`))
		<-gate.came
		w.halt()
		synctest.Wait()
		close(gate.open)
		w.stop()
		stopping = false
		w.boot(w.clock.Now())
		w.expect(w.settle(h.ID), `completed: a=completed -> 1`)
	})
}
