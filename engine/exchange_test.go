package engine_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/outbound"
)

// calling adds a node type that records an exchange. config.fails is how often it fails
// afterwards, config.size the length of its body.
func calling(o *engine.Options) {
	o.Catalogue = maps.Clone(o.Catalogue)
	o.Catalogue["ring"] = &blueprint.NodeType{Type: "ring", Title: "ring", Effect: blueprint.EffectIdempotent, Run: func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
		if id := text(task.Config["connectionId"]); id != "" {
			if _, err := task.Connect(ctx, id); err != nil {
				return blueprint.Result{}, err
			}
		}
		body := text(task.Config["body"]) + strings.Repeat("x", number(task.Config["size"]))
		outbound.NoteExchange(ctx, blueprint.Exchange{
			Request:  blueprint.ExchangeRequest{Method: "POST", URL: "http://a.example/?q=" + text(task.Config["body"]), Headers: map[string]string{"x-said": text(task.Config["body"])}, Body: body},
			Response: &blueprint.ExchangeResponse{Status: 200, Body: map[string]any{"said": body}},
		})
		if task.Attempt <= number(task.Config["fails"]) {
			return blueprint.Result{}, &blueprint.Failure{Code: "busy", Message: "busy"}
		}
		return blueprint.Result{Output: "rung"}, nil
	}}
}

// recorded starts a run that is recorded.
func (w *fixture) recorded(d *blueprint.Definition) *engine.Handle {
	r := request(d)
	r.Record = true
	return w.startWith(r, engine.AtOnce)
}

// tape returns the nodes and attempts with exchanges in a run.
func (w *fixture) tape(id string) (called string, list []blueprint.Exchange) {
	w.Helper()
	recording, err := w.Recording(context.Background(), &blueprint.StoredExecution{Row: blueprint.ExecutionRow{ID: id}})
	if err != nil {
		w.Fatal(err)
	}
	if !recording.Recorded {
		w.Fatalf("run %s is not recorded", id)
	}
	var all []string
	for _, x := range recording.Exchanges {
		all = append(all, fmt.Sprint(x.NodeID, " ", x.Attempt))
	}
	return strings.Join(all, ", "), recording.Exchanges
}

func TestRecordedRun(t *testing.T) {
	var l library
	testWith(t, func(o *engine.Options) {
		calling(o)
		o.Blueprints = &l
	}, func(w *fixture) {
		l.w = w
		inner := w.define(`c ring {}`)
		h := w.recorded(w.define(`
			a ring {"fails": 1} | {"retry": {"maxAttempts": 2, "delayMs": 10}}
			` + each("l", `"items": [1, 2]`, "", `r ring {}`) + `
			s call {"blueprintId": "` + inner.BlueprintID + `"}
			q ask {"prompt": "?"}
			z ring {}`))
		w.settle(h.ID)
		w.advance(time.Second)
		if x := w.settle(h.ID); x.Status != blueprint.StatusPaused {
			t.Fatalf("%s: %+v, want %v", x.Status, x.Failure, blueprint.StatusPaused)
		}
		const soFar = "a 1, a 2, l[0]/r 1, l[1]/r 1"
		if got, _ := w.tape(h.ID); got != soFar {
			t.Errorf("while it is paused: %s, want %v", got, soFar)
		}
		for _, child := range w.children() {
			if got, _ := w.tape(child.Row.ID); got != "c 1" {
				t.Errorf("the run that it started: %s, want c 1", got)
			}
		}
		w.reboot()
		if got, _ := w.tape(h.ID); got != soFar {
			t.Errorf("after a crash: %s, want %v", got, soFar)
		}
		w.answerOK(h.ID, "q", "yes")
		w.settle(h.ID)
		if got, _ := w.tape(h.ID); got != soFar+", z 1" {
			t.Errorf("at the end: %s, want %v", got, soFar+", z 1")
		}
		again := w.repeat(h.ID, "z")
		if got, _ := w.tape(again.ID); got != soFar+", z 1" {
			t.Errorf("of a retry: %s, want %v", got, soFar+", z 1")
		}
	})
}

func TestUnrecordedRun(t *testing.T) {
	testWith(t, calling, func(w *fixture) {
		x := w.run(w.define(`a ring {}`))
		recording, err := w.Recording(context.Background(), &blueprint.StoredExecution{Row: blueprint.ExecutionRow{ID: x.ID}})
		if err != nil {
			t.Fatal(err)
		}
		if len(recording.Exchanges) > 0 || recording.Recorded {
			t.Errorf("got %d exchanges, recorded %v, want none", len(recording.Exchanges), recording.Recorded)
		}
	})
}

func TestRecordingIsBounded(t *testing.T) {
	testWith(t, func(o *engine.Options) {
		calling(o)
		o.Limits.Tape = 10_000
	}, func(w *fixture) {
		h := w.recorded(w.define(`
			a ring {"size": 2000}
			b ring {"size": 2000}
			c ring {"size": 2000}
			d ring {}`))
		x := w.settle(h.ID)
		if got, _ := w.tape(h.ID); got != "a 1, b 1" {
			t.Errorf("kept: %s, want a 1, b 1", got)
		}
		warned := 0
		for _, line := range x.Logs {
			if strings.Contains(line.Message, "recording of this run is full") && line.Level == "warn" {
				warned++
			}
		}
		if warned != 1 {
			t.Errorf("%d warnings in %+v, want 1", warned, x.Logs)
		}
	})
}

func TestRecordingsHoldNoSecrets(t *testing.T) {
	testWith(t, func(o *engine.Options) {
		calling(o)
		o.Connections = known()
	}, func(w *fixture) {
		d := w.defineWith(`
			a ring {"body": "{{word}}", "connectionId": "http"}
			b ring {"body": "{{pin}}"}
			c ring {"body": "`+token+`"}
			q ask {"prompt": "?"}`, `[{"name": "word", "secret": true, "default": "the long secret word"}, {"name": "pin", "secret": true, "default": "1234"}]`)
		r := request(d)
		r.Record, r.AdHoc = true, true
		h := w.startWith(r, engine.AtOnce)
		w.settle(h.ID)
		look := func(when string) {
			_, list := w.tape(h.ID)
			data, err := blueprint.Encode(list)
			if err != nil || len(list) != 3 {
				t.Fatal(len(list), err)
			}
			for _, hidden := range []string{"long secret", "1234", token} {
				if strings.Contains(string(data), hidden) {
					t.Errorf("%s, %q is in %s", when, hidden, data)
				}
			}
			recording, err := w.Recording(w.Context(), w.journal.stored(h.ID))
			if err != nil || recording.Map == nil || strings.Contains(encode(recording.Map), token) {
				t.Errorf("%s, the map is %s, %v; want Map not nil and no %q", when, encode(recording.Map), err, token)
			}
		}
		look("paused")
		w.answerOK(h.ID, "q", "yes")
		w.settle(h.ID)
		look("ended")
		stored := w.journal.stored(h.ID)
		for _, hidden := range []string{"long secret", token, "a.example"} {
			if strings.Contains(string(stored.Record)+string(stored.State), hidden) {
				t.Errorf("%q is on the disk", hidden)
			}
		}
	})
}

// A failed step shows its last exchange, masked, also after a restart. Other steps show
// none.
func TestFailedStepsKeepTheirExchange(t *testing.T) {
	test(t, func(w *fixture) {
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
			t.Errorf("kept %s, want %v", got, want)
		}
		if x.Steps[0].Error != nil || x.Steps[1].Error != nil || x.Steps[2].Error.Exchange != nil {
			t.Errorf("kept for nothing: %s, want nil, nil and Exchange nil", encode(x.Steps[:3]))
		}
	})
}

// The exchanges of failed steps of a run are bounded.
func TestEvidenceOfManySteps(t *testing.T) {
	test(t, func(w *fixture) {
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
			if strings.Contains(line.Message, "keep 4 MiB") {
				told++
			}
		}
		small, err := w.ViewWithin(w.Context(), w.journal.stored(x.ID), 1000)
		if err != nil || strings.Contains(encode(small), `"exchange"`) {
			t.Errorf("a small view has them too: %v, want no \"exchange\"", err)
		}
		if x.Telemetry.ErrorCount != 300 || told != 1 {
			t.Errorf("%d steps failed, the log says so %d times; want 300 and once", x.Telemetry.ErrorCount, told)
		}
		if kept < 100 || kept > 200 || bytes > 4<<20 {
			t.Errorf("%d steps keep %d bytes, want 100 to 200 and at most %d", kept, bytes, 4<<20)
		}
	})
}
