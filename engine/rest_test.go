package engine_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"blueprintd/engine"
)

// A run at rest is dropped from memory, also one whose timer will wake it.
func TestRunAtRestIsDropped(t *testing.T) {
	test(t, func(w *world) {
		for _, lines := range []string{`a wait {"ms": 60000}`, "a ask"} {
			start := func() weak.Pointer[any] {
				r := request(w.define(lines))
				input := make([]any, 100)
				r.InputData = input
				w.startWith(r, engine.AtOnce)
				return weak.Make(&input[0])
			}
			input := start()
			w.pass(time.Second)
			runtime.GC()
			if input.Value() != nil {
				t.Errorf("%s: the run is still in memory", lines)
			}
		}
	})
}
