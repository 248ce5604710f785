package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"blueprintd/tests/servertest"
)

// fading is a context that ends when it is read for the nth time, like that of a client
// that disconnects at that moment.
type fading struct {
	context.Context
	end  context.CancelFunc
	left atomic.Int64
}

func fade(t *testing.T, looks int) *fading {
	ctx, end := context.WithCancel(t.Context())
	f := &fading{Context: ctx, end: end}
	f.left.Store(int64(looks))
	return f
}

func (f *fading) look() {
	if f.left.Add(-1) <= 0 {
		f.end()
	}
}

func (f *fading) Done() <-chan struct{} {
	f.look()
	return f.Context.Done()
}

func (f *fading) Err() error {
	f.look()
	return f.Context.Err()
}

// At whatever moment a client disconnects, the audit log contains exactly the changes of
// runs that were made.
func TestAuditOfWhoHangsUp(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, ada servertest.Caller) (input func() object){
		"blueprint.execute": func(t *testing.T, ada servertest.Caller) func() object {
			id := ada.Blueprint(t, "t", node("a", "human", object{"prompt": "?"}))
			return func() object { return object{"id": id} }
		},
		"execution.executeBlueprintWithLogging": func(t *testing.T, ada servertest.Caller) func() object {
			nodes := []any{node("a", "human", object{"prompt": "?"})}
			id := ada.Blueprint(t, "t", nodes...)
			return func() object { return object{"nodes": nodes, "options": object{"blueprintId": id}} }
		},
		"execution.cancel": func(t *testing.T, ada servertest.Caller) func() object {
			wait := node("a", "human", object{"prompt": "?"})
			id := ada.Blueprint(t, "t", wait)
			return func() object { return object{"executionId": ada.Launch(t, id, nil, wait)} }
		},
		"execution.resume": func(t *testing.T, ada servertest.Caller) func() object {
			ask := node("a", "human", object{"prompt": "?"})
			id := ada.Blueprint(t, "t", ask)
			return func() object { return object{"executionId": ada.Launch(t, id, nil, ask), "input": 1} }
		},
		"execution.retry": func(t *testing.T, ada servertest.Caller) func() object {
			fails := node("a", "stop", object{"failed": true})
			run := ada.Launch(t, ada.Blueprint(t, "t", fails), nil, fails)
			ada.Advance(t, "0s")
			return func() object { return object{"executionId": run} }
		},
		"blueprintTriggers.fire": func(t *testing.T, ada servertest.Caller) func() object {
			id := startHuman(t, ada)
			return func() object { return object{"triggerId": id} }
		},
		"blueprintTriggers.redeliver": func(t *testing.T, ada servertest.Caller) func() object {
			first := at(ada.OK(t, "blueprintTriggers.fire", object{"triggerId": startHuman(t, ada)}), "firingId")
			return func() object { return object{"firingId": first} }
		},
		"blueprintTriggers.redeliver several": func(t *testing.T, ada servertest.Caller) func() object {
			id := startHuman(t, ada)
			for range 3 {
				ada.OK(t, "blueprintTriggers.fire", object{"triggerId": id})
			}
			return func() object {
				return object{"triggerId": id, "decision": "started", "from": "2030-01-01T00:00:00Z", "again": true}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ada := w.NewUser(t, "ada")
			name, _, _ := strings.Cut(name, " ")
			input := prepare(t, ada)
			for looks, done := 1, false; !done; looks++ {
				text := servertest.Encoded(t, object{"json": input()})
				w.Advance(t, "0s")
				before, since := w.runsAre(t), w.lastLine(t)
				hungUp := fade(t, looks)
				r := httptest.NewRequest(http.MethodPost, "/api/trpc/"+name, strings.NewReader(text)).WithContext(hungUp)
				r.Header.Set("Authorization", ada.Authorization)
				r.Header.Set("Content-Type", "application/json")
				w.RPC.ServeHTTP(httptest.NewRecorder(), r)
				done = hungUp.Context.Err() == nil || looks > 200
				hungUp.end()
				w.Advance(t, "0s")
				want, lines := 0, w.lastLine(t)-since
				if w.runsAre(t) != before {
					want = 1
				}
				if lines != int64(want) {
					t.Errorf("hung up at look %d: %d lines, want %d", looks, lines, want)
				}
			}
		})
	}
}

// hand creates a manual trigger.
func startHuman(t *testing.T, p servertest.Caller) string {
	t.Helper()
	id := p.Blueprint(t, "t", node("a", "template", object{"text": "x"}))
	return p.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual"})
}

// runsAre returns all runs with their statuses.
func (w *world) runsAre(t *testing.T) (text string) {
	t.Helper()
	w.rows(t, "SELECT id, status FROM executions ORDER BY seq", func(values []any) { text += fmt.Sprintln(values...) })
	return text
}
