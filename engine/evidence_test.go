package engine_test

import (
	"strings"
	"testing"
	"time"

	"blueprintd/engine"
)

// A step that failed shows what it sent last, also after a restart, and not what
// is secret. A step that went well, or sent nothing, shows nothing.
func TestFailedStepsKeepTheirExchange(t *testing.T) {
	test(t, func(w *world) {
		d := w.defineWith(`
			fine reach {"body": "a"}
			later reach {"body": "b", "times": 1} | {"retry": {"maxAttempts": 2, "delayMs": 1000}}
			unsent reach {"send": false, "times": 9} | {"onError": "continue"}
			bad reach {"body": "with {{token}}", "times": 9} | {"onError": "continue"}
			told echo {"value": "{{input}}"}
			w wait {"ms": 5000}`, `[{"name": "token", "secret": true, "default": "`+token+`"}]`)
		w.journal.keep = true
		h := w.startWith(request(d), engine.Soon)
		w.settle(h.ID)
		w.advance(2 * time.Second)
		w.reboot()
		w.noSecret("the journal", w.journal.stored(h.ID))
		w.advance(5 * time.Second)
		x := w.settle(h.ID)
		w.noSecret("the record", x)
		w.expect(x, `completed: fine=completed later=completed unsent=failed(refused) bad=failed(refused) told=completed w=completed -> {"error":{"code":"test","message":"refused"}}`)
		const want = `{"request":{"method":"POST","url":"https://api.example.com/","headers":{},"body":"with ***"},"response":{"status":500,"headers":{},"body":"with ***"}}`
		if got := encode(x.Steps[3].Error.Exchange); got != want {
			t.Errorf("kept %s", got)
		}
		if x.Steps[0].Error != nil || x.Steps[1].Error != nil || x.Steps[2].Error.Exchange != nil {
			t.Errorf("kept for nothing: %s", encode(x.Steps[:3]))
		}
	})
}

// However many steps of a run fail, what they keep is bounded.
func TestEvidenceOfManySteps(t *testing.T) {
	test(t, func(w *world) {
		d := w.define(each("l", `"items": "{{inputData.list}}"`, "", `x reach {"body": "{{inputData.body}}", "times": 9} | {"onError": "continue"}`))
		r := request(d)
		list := make([]any, 300)
		r.InputData = map[string]any{"list": list, "body": strings.Repeat("b", 16<<10)}
		x := w.wait(w.startWith(r, engine.AtOnce))
		kept, bytes, told := 0, 0, 0
		for _, at := range x.Steps {
			if at.Error != nil && at.Error.Exchange != nil {
				kept++
				bytes += len(encode(at.Error.Exchange))
			}
		}
		for _, line := range x.Logs {
			if strings.Contains(line.Message, "have kept 4 MiB") {
				told++
			}
		}
		small, err := w.ViewWithin(w.Context(), w.journal.stored(x.ID), 1000)
		if err != nil || strings.Contains(encode(small), `"exchange"`) {
			t.Errorf("a small view has them too: %v", err)
		}
		if x.Telemetry.ErrorCount != 300 || kept < 100 || kept > 200 || bytes > 4<<20 || told != 1 {
			t.Errorf("%d steps failed, %d keep %d bytes; the log says so %d times", x.Telemetry.ErrorCount, kept, bytes, told)
		}
	})
}
