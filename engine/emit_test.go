package engine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// An event tells where it comes from and has its data unaltered, with the secrets
// that may be in there; its key is that of the node, and its depth one that the
// trigger brought.
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
		if encode(e.Data) != `{"secret":"`+token+`"}` || !slices.Equal(e.Hidden, []string{token}) {
			t.Errorf("its data is %s, its secrets %q", encode(e.Data), e.Hidden)
		}
		if e.Name != "custom.x" || e.Depth != 3 || e.Key != x.ID+"/a" || e.ExecutionID != x.ID || e.BlueprintID != r.Definition.BlueprintID || e.OrganizationID != "org" {
			t.Errorf("raised %+v", e)
		}
	})
}

// A run that is given secrets of others with its input passes them on and shows
// none of them, also after a restart and in a retry.
func TestHiddenInput(t *testing.T) {
	test(t, func(w *world) {
		r := request(w.define("a ask\nb eval {\"expression\": \"inputData.secret == '" + token + "' ? inputData : 0\"}"))
		r.InputData, r.Hidden = map[string]any{"secret": token}, []string{token}
		h := w.startWith(r, engine.Soon)
		w.noSecret("a paused record", w.settle(h.ID))
		w.reboot()
		w.answerOK(h.ID, "a", 1)
		x := w.settle(h.ID)
		w.expect(x, `completed: a=completed b=completed -> {"secret":"***"}`)
		w.noSecret("a record", x)
		x = w.repeat(h.ID, "b")
		w.expect(x, `completed: a=completed b=completed -> {"secret":"***"}`)
		w.noSecret("a retried record", x)
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
