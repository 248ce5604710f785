package engine_test

import (
	"context"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// A run of somebody who may start the blueprint and no more is told to nobody,
// and raises nothing: what a stranger puts in starts nothing that belongs to
// others.
func TestForeignRunsAreNotTold(t *testing.T) {
	test(t, func(w *world) {
		events, told := w.hear()
		r := requestOf("stranger", w.define(`a echo {"value": 1}`))
		r.CanManage = false
		w.settle(w.startWith(r, engine.Soon).ID)
		if len(*events) > 0 {
			t.Errorf("told %s", told())
		}
	})
}

func TestForeignRunsRaiseNothing(t *testing.T) {
	raised := 0
	testWith(t, func(o *engine.Options) {
		o.Emit = func(context.Context, blueprint.Event) (int, error) { raised++; return 1, nil }
	}, func(w *world) {
		for _, manages := range []bool{false, true} {
			r := requestOf("somebody", w.define(`a emit {"event": "custom.x"}`))
			r.CanManage = manages
			w.settle(w.startWith(r, engine.Soon).ID)
		}
		if raised != 1 {
			t.Errorf("%d events were raised", raised)
		}
	})
}
