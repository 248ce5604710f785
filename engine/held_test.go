package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// New runs are refused while those in memory hold too much, and taken again
// once they have ended.
func TestInputInMemoryIsBounded(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Limits.Held = 1000 }, func(w *world) {
		gate := w.hold("a")
		large := func() *blueprint.StartRequest {
			r := request(w.define(`a pass`))
			r.InputData = strings.Repeat("x", 600)
			return r
		}
		first := w.startWith(large(), engine.AtOnce)
		<-gate.came
		_, err := w.Start(large(), engine.AtOnce)
		w.code(err, blueprint.CodeUnavailable)
		close(gate.open)
		w.wait(first)
		w.wait(w.startWith(large(), engine.AtOnce))
	})
}

// Callers that can wait get room in the order of coming, once runs have ended,
// and are refused when none does in time.
func TestInputWaitsForRoom(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Limits.Held, o.InputWait = 1<<20, 10*time.Second }, func(w *world) {
		gate := w.hold("a")
		d := w.define(`a pass`)
		large := func() *blueprint.StartRequest {
			r := request(d)
			r.InputData = strings.Repeat("x", 600<<10)
			return r
		}
		first := w.startWith(large(), engine.AtOnce)
		<-gate.came
		_, err := w.StartOrWait(w.Context(), large(), engine.AtOnce)
		w.code(err, blueprint.CodeUnavailable)

		const waiting = 8
		handles := make(chan *engine.Handle, waiting)
		for range waiting {
			go func() {
				handle, err := w.StartOrWait(w.Context(), large(), engine.AtOnce)
				if err != nil {
					t.Error(err)
				}
				handles <- handle
			}()
		}
		synctest.Wait()
		w.wait(w.startWith(request(w.define(`b pass`)), engine.AtOnce)) // a small one does not wait
		if held := w.Stats().Held; held > 1<<20 || len(handles) > 0 {
			t.Errorf("%d bytes are held, %d were let in", held, len(handles))
		}
		close(gate.open)
		w.wait(first)
		for range waiting {
			w.wait(<-handles)
		}
		synctest.Wait()
		if held := w.Stats().Held; held != 0 {
			t.Errorf("%d bytes are held by nobody", held)
		}
		w.wait(w.startWith(large(), engine.AtOnce))
	})
}

// Room that large inputs have used up is still there for small ones.
func TestLargeInputsLeaveRoomForSmallOnes(t *testing.T) {
	const most = 1 << 20
	testWith(t, func(o *engine.Options) { o.Limits.Held = most }, func(w *world) {
		gate := w.hold("a")
		sized := func(size int) *blueprint.StartRequest {
			r := request(w.define(`a pass`))
			r.InputData = strings.Repeat("x", size)
			return r
		}
		large := w.startWith(sized(most-200), engine.AtOnce)
		<-gate.came
		_, err := w.Start(sized(3000), engine.AtOnce)
		w.code(err, blueprint.CodeUnavailable)
		small := w.startWith(sized(300), engine.AtOnce)
		close(gate.open)
		w.wait(large)
		w.wait(small)
	})
}

// What a recorded run has exchanged takes room like its input, and gives it back.
func TestTapesInMemoryAreCounted(t *testing.T) {
	testWith(t, func(o *engine.Options) {
		o.Limits.Held = 100_000
		calling(o)
	}, func(w *world) {
		gate := w.hold("b")
		plan := w.define("a ring {\"size\": 60000}\nb pass")
		first := w.recorded(plan)
		<-gate.came
		if held := w.Stats().Held; held < 120_000 {
			t.Errorf("%d bytes are held", held)
		}
		_, err := w.Start(request(plan), engine.AtOnce)
		w.code(err, blueprint.CodeUnavailable)
		close(gate.open)
		w.wait(first)
		if held := w.Stats().Held; held != 0 {
			t.Errorf("%d bytes are held by nobody", held)
		}
		w.wait(w.startWith(request(plan), engine.AtOnce))
	})
}
