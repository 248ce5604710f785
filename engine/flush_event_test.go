package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// recordEvents records the events of every commit; text returns them as name and data.
func (w *fixture) recordEvents() (events *[]blueprint.Event, text func() string) {
	events = &[]blueprint.Event{}
	w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
		for _, e := range c.Events {
			e.Data = decodeText(w, encode(e.Data))
			*events = append(*events, e)
		}
		return nil
	})
	return events, func() string {
		var lines []string
		for _, e := range *events {
			lines = append(lines, e.Name+" "+encode(e.Data))
		}
		*events = nil
		return strings.Join(lines, "\n")
	}
}

func TestEvents(t *testing.T) {
	const completed, failed, paused = "execution.completed ", "execution.failed ", "execution.paused "
	large := strings.Repeat("x", 64<<10)
	for _, c := range []struct{ name, lines, want string }{
		{"completed", `a echo {"value": {"n": 1.50}}`, completed + `{"output":{"n":1.50},"status":"completed","triggerId":"t"}`},
		{"nothing", `a echo`, completed + `{"output":null,"status":"completed","triggerId":"t"}`},
		{"as large as it may be", `a echo {"value": "` + large[2:] + `"}`, completed + `{"output":"` + large[2:] + `","status":"completed","triggerId":"t"}`},
		{"too large", `a echo {"value": "` + large[1:] + `"}`, completed + `{"output":null,"outputTooLarge":true,"status":"completed","triggerId":"t"}`},
		{"far too large", `a echo {"value": "` + large + large + large + `"}`, completed + `{"output":null,"outputTooLarge":true,"status":"completed","triggerId":"t"}`},
		{"failed", `a fail {"message": "why"}`, failed + `{"error":{"code":"test","message":"failed: why","nodeId":"a"},"status":"failed","triggerId":"t"}`},
		{"paused", `a ask {"prompt": "Who?"}`, paused + `{"awaitingInput":{"kind":"human","nodeId":"a","prompt":"Who?"},"status":"paused","triggerId":"t"}`},
		{"two ask at once", "a pass\nb ask {\"prompt\": \"B?\"}\nc ask {\"prompt\": \"C?\"}\na -> b\na -> c", paused + `{"awaitingInput":{"kind":"human","nodeId":"b","prompt":"B?"},"status":"paused","triggerId":"t"}`},
		{"waits", `a wait {"ms": 1000}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			test(t, func(w *fixture) {
				events, text := w.recordEvents()
				r := request(w.define(c.lines))
				r.Trigger = &blueprint.TriggerContext{ID: "t", Type: blueprint.TriggerEvent, Depth: 3, Root: "first"}
				r.Firing = &blueprint.Firing{ID: "f", TriggerID: "t", Key: "k"}
				r.Events = []blueprint.Event{{Name: "trigger.missed"}}
				h := w.startWith(r, engine.Soon)
				w.settle(h.ID)
				all := *events
				if got := strings.TrimPrefix(text(), "trigger.missed null"); strings.TrimSpace(got) != c.want {
					t.Errorf("told %.300s, want %.300s", got, c.want)
				}
				if all[0].Name != "trigger.missed" || len(all) > 2 {
					t.Errorf("%d events, the first %+v; want Name trigger.missed and at most 2", len(all), all[0])
				}
				if c.want == "" {
					return
				}
				want := all[1]
				want.OrganizationID, want.BlueprintID, want.ExecutionID = "org", r.Definition.BlueprintID, h.ID
				want.Depth, want.Root, want.At = 3, "first", blueprint.TimeOf(epoch)
				if diff := cmp.Diff(want, all[1]); diff != "" {
					t.Errorf("second event (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The data of an event fits the nesting limit of the run that receives it, however
// deeply the output was nested.
func TestEventsAreNotTooDeep(t *testing.T) {
	test(t, func(w *fixture) {
		for levels, want := range map[int]bool{125: false, 126: false, 127: true, 200: true} {
			t.Run(fmt.Sprint(levels), func(t *testing.T) {
				var input any
				for range levels {
					input = []any{input}
				}
				var tooLarge bool
				w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
					for _, e := range c.Events {
						text := encode(map[string]any{"data": e.Data})
						_, err := blueprint.Decode([]byte(text))
						if tooLarge = strings.Contains(text, "outputTooLarge"); err != nil {
							t.Errorf("%d levels: %v", levels, err)
						}
					}
					return nil
				})
				r := request(w.define(`a pass`))
				r.InputData = input
				w.settle(w.startWith(r, engine.Soon).ID)
				if tooLarge != want {
					t.Errorf("%d levels: too large %v, want %v", levels, tooLarge, want)
				}
			})
		}
	})
}

// Each pause publishes one event, and a cancellation is marked in the commit.
func TestEventsOfPauses(t *testing.T) {
	test(t, func(w *fixture) {
		_, text := w.recordEvents()
		expect := func(what, want string) {
			t.Helper()
			if got := text(); got != want {
				t.Errorf("%s: told %s, want %s", what, got, want)
			}
		}
		pause := func(node string) string {
			return fmt.Sprintf(`execution.paused {"awaitingInput":{"kind":"human","nodeId":%q,"prompt":"?"},"status":"paused"}`, node)
		}
		h := w.start(w.define("a ask {\"prompt\": \"?\"}\nb ask {\"prompt\": \"?\"}\nc ask {\"prompt\": \"?\", \"expiresMs\": 60000}\nb -> c"))
		w.settle(h.ID)
		expect("two ask", pause("a"))
		w.answerOK(h.ID, "a", "x")
		w.settle(h.ID)
		expect("one is answered and the other still asks", "")
		w.reboot()
		w.settle(h.ID)
		expect("after a start", "")
		w.answerOK(h.ID, "b", "x")
		w.settle(h.ID)
		expect("it asks again", pause("c"))
		w.advance(time.Hour)
		w.settle(h.ID)
		expect("no answer in time", `execution.failed {"error":{"code":"expired","message":"no answer in time","nodeId":"c"},"status":"failed"}`)

		cancelled := 0
		w.journal.setFault(func(_ int, c *blueprint.JournalCommit) error {
			if c.Cancelled && c.Row.Status == blueprint.StatusFailed && len(c.Events) == 1 && encode(c.Events[0].Data) == `{"error":{"nodeId":"","message":"cancelled: enough","code":"cancelled"},"status":"failed"}` {
				cancelled++
			}
			return nil
		})
		h = w.start(w.define(`a ask`))
		w.settle(h.ID)
		if err := w.Cancel(context.Background(), h.ID, "enough"); err != nil || cancelled != 1 {
			t.Errorf("%v, %d; want 1", err, cancelled)
		}
	})
}

// Events hold no secrets.
func TestEventsAreMasked(t *testing.T) {
	test(t, func(w *fixture) {
		events, _ := w.recordEvents()
		for _, lines := range []string{`a echo {"value": "Bearer {{token}}"}`, `a fail {"message": "{{token}}"}`, `a ask {"prompt": "is it {{token}}?"}`} {
			w.settle(w.start(w.defineWith(lines, secretVariables)).ID)
		}
		if len(*events) != 3 {
			t.Errorf("%d events, want 3", len(*events))
		}
		for _, e := range *events {
			w.noSecret(e.Name, e.Data)
			if !strings.Contains(encode(e.Data), "***") {
				t.Errorf("event %s shows %s, want \"***\" in it", e.Name, encode(e.Data))
			}
		}
	})
}

// A child run publishes no events of its own end, and its emitted events count those
// that led to its ancestors.
func TestEventsOfChildRuns(t *testing.T) {
	testRuns(t, func(w *fixture) {
		var depths []string
		emit := func(_ context.Context, e blueprint.Event) (int, error) {
			depths = append(depths, fmt.Sprint(e.Depth, e.Root))
			return 0, nil
		}
		w.Engine.Emit = emit
		events, _ := w.recordEvents()
		inner := w.define(`x emit`)
		outer := w.define(fmt.Sprintf(`y call {"blueprintId": %q}`, inner.BlueprintID))
		r := request(w.define(fmt.Sprintf("a call {\"blueprintId\": %q}\nb emit", outer.BlueprintID)))
		r.Trigger = &blueprint.TriggerContext{ID: "t", Type: blueprint.TriggerEvent, Depth: 5, Root: "first"}
		h := w.startWith(r, engine.Soon)
		w.expect(w.settle(h.ID), `completed: a=completed b=completed -> 0`)
		if fmt.Sprint(depths) != "[5first 5first]" {
			t.Errorf("depths %v, want [5first 5first]", depths)
		}
		if len(*events) != 1 || (*events)[0].ExecutionID != h.ID {
			t.Errorf("events %+v, want length 1 and ExecutionID %v", *events, h.ID)
		}
	})
}

// A run of a user who may only start the blueprint publishes no events: its data must
// not start runs of others.
func TestPrivateRunsPublishNoEvents(t *testing.T) {
	test(t, func(w *fixture) {
		events, text := w.recordEvents()
		r := requestOf("stranger", w.define(`a echo {"value": 1}`))
		r.CanManage = false
		w.settle(w.startWith(r, engine.Soon).ID)
		if len(*events) > 0 {
			t.Errorf("got events %s, want none", text())
		}
	})
}

func TestPrivateRunsEmitNothing(t *testing.T) {
	raised := 0
	testWith(t, func(o *engine.Options) {
		o.Emit = func(context.Context, blueprint.Event) (int, error) { raised++; return 1, nil }
	}, func(w *fixture) {
		for _, manages := range []bool{false, true} {
			r := requestOf("somebody", w.define(`a emit {"event": "custom.x"}`))
			r.CanManage = manages
			w.settle(w.startWith(r, engine.Soon).ID)
		}
		if raised != 1 {
			t.Errorf("%d events were emitted, want 1", raised)
		}
	})
}

// An emitted event names its source and has its data unaltered, with the secrets in it.
// Its key is that of the node, and its depth is one more than the trigger's.
func TestEmit(t *testing.T) {
	var got []blueprint.Event
	testWith(t, func(o *engine.Options) {
		o.Emit = func(_ context.Context, e blueprint.Event) (int, error) { got = append(got, e); return 2, nil }
	}, func(w *fixture) {
		r := request(w.defineWith(`a emit`, secretVariables))
		r.InputData = map[string]any{"secret": token}
		r.Trigger = &blueprint.TriggerContext{ID: "t", Type: blueprint.TriggerEvent, Depth: 3}
		x := w.wait(w.startWith(r, engine.Soon))
		w.expect(x, `completed: a=completed -> 2`)
		e := got[0]
		if encode(e.Data) != `{"secret":"`+token+`"}` || !slices.Equal(e.Hidden, []string{token}) {
			t.Errorf("its data is %s, its secrets %q; want %v and %v", encode(e.Data), e.Hidden, `{"secret":"`+token+`"}`, []string{token})
		}
		want := e
		want.Name, want.Depth, want.Key, want.ExecutionID = "custom.x", 3, x.ID+"/a", x.ID
		want.BlueprintID, want.OrganizationID = r.Definition.BlueprintID, "org"
		if diff := cmp.Diff(want, e); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	})
}

// Secrets that come with the input are passed on, and masked in views, also after a
// restart and in a retry.
func TestHiddenInput(t *testing.T) {
	test(t, func(w *fixture) {
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

// An event that cannot be emitted because the server stops is emitted after the next
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
	}, func(w *fixture) {
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

// The end of a server or of a run during an outage is not a failure of a node that publishes
// an event.
func TestEmitEndsDuringAnOutage(t *testing.T) {
	for name, end := range map[string]func(w *fixture, id string){
		"the server stops": func(w *fixture, _ string) { w.stop() },
		"the run is cancelled": func(w *fixture, id string) {
			if err := w.Cancel(w.Context(), id, "test"); err != nil {
				w.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			testWith(t, func(o *engine.Options) {
				o.Emit = func(context.Context, blueprint.Event) (int, error) {
					return 0, &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the database cannot be reached", Outage: true}
				}
			}, func(w *fixture) {
				h := w.start(w.define(`a emit`))
				synctest.Wait()
				end(w, h.ID)
				if log := w.logged(); strings.Contains(log, "level=ERROR") {
					t.Errorf("logged %s, want no error", log)
				}
			})
		})
	}
}
