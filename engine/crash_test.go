package engine_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// panicking says to the process of a test which of its calls finds a journal that
// panics.
const panicking = "ENGINE_TEST_PANICS"

// A panic while a run is driven or written ends the process, also where the caller
// recovers from panics as net/http does: what it held nobody would give back.
func TestPanicEndsTheProcess(t *testing.T) {
	calls := map[string]func(w *world, h *engine.Handle){
		"start":  func(w *world, _ *engine.Handle) { w.startWith(request(w.define("a quick")), engine.AtEnd) },
		"cancel": func(w *world, h *engine.Handle) { _ = w.Cancel(w.Context(), h.ID, "") },
	}
	if call := calls[os.Getenv(panicking)]; call != nil {
		test(t, func(w *world) {
			h := w.start(w.define("a ask"))
			w.wait(h)
			w.journal.setFault(func(int, *blueprint.JournalCommit) error { panic("planted in the journal") })
			defer func() { _ = recover() }()
			call(w, h)
		})
		return
	}
	for name := range calls {
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), panicking+"="+name)
		output, err := child.CombinedOutput()
		if err == nil || !strings.Contains(string(output), "planted in the journal") || !strings.Contains(string(output), "crash_test.go") {
			t.Errorf("%s: it ended with %v and said\n%s", name, err, output)
		}
	}
}
