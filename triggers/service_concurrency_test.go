package triggers

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

func TestCheckConcurrency(t *testing.T) {
	for config, want := range map[string]string{
		`null`:                                      "",
		`{"limit": 1}`:                              "",
		`{"limit": 1000, "onLimit": null}`:          "",
		`{"limit": 5, "onLimit": "queue"}`:          "",
		`{"limit": 5, "onLimit": "skip"}`:           "",
		`{"limit": 5, "onLimit": "cancel-running"}`: "",
		`5`:                               "concurrency: must be an object",
		`[]`:                              "concurrency: must be an object",
		`{}`:                              "concurrency.limit: must be a whole number from 1 to 1000",
		`{"limit": null}`:                 "concurrency.limit: must be a whole number from 1 to 1000",
		`{"limit": 0}`:                    "concurrency.limit: must be a whole number from 1 to 1000",
		`{"limit": 1001}`:                 "concurrency.limit: must be a whole number from 1 to 1000",
		`{"limit": 1.5}`:                  "concurrency.limit: must be a whole number from 1 to 1000",
		`{"limit": "1"}`:                  "concurrency.limit: must be a whole number from 1 to 1000",
		`{"limit": 1, "onLimit": "wait"}`: "concurrency.onLimit: must be one of queue, skip, cancel-running",
		`{"limit": 1, "onLimit": 1}`:      "concurrency.onLimit: must be one of queue, skip, cancel-running",
		`{"limit": 1, "onlimit": "skip", "max": 2}`: "concurrency.max: unknown key; want limit and onLimit; concurrency.onlimit: unknown key; want limit and onLimit",
	} {
		t.Run(config, func(t *testing.T) {
			for kind, rest := range map[blueprint.TriggerType]string{
				blueprint.TriggerWebhook: ``, blueprint.TriggerManual: ``, blueprint.TriggerAPI: ``, blueprint.TriggerEmail: ``,
				blueprint.TriggerScheduled: `"cron": "* * * * *", `, blueprint.TriggerSlack: `"signingSecret": "s", `, blueprint.TriggerEvent: `"event": "custom.x", `,
			} {
				t.Run(fmt.Sprint(kind), func(t *testing.T) {
					value, err := blueprint.Decode([]byte(`{` + rest + `"concurrency": ` + config + `}`))
					if err != nil {
						t.Fatal(err)
					}
					var said []string
					for _, issue := range Check(kind, value.(map[string]any)) {
						var path []string
						for _, part := range issue.Path {
							path = append(path, fmt.Sprint(part))
						}
						said = append(said, strings.Join(path, ".")+": "+issue.Message)
					}
					if got := strings.Join(said, "; "); (want == "") != (got == "") || !strings.HasPrefix(got, want) {
						t.Errorf("%s %s: %q, want %q", kind, config, got, want)
					}
				})
			}
		})
	}
}

// limited is a config with a limit.
func limited(rule string, more ...string) map[string]any {
	config := map[string]any{"concurrency": map[string]any{"limit": jsonNumber("2"), "onLimit": rule}}
	for _, key := range more {
		name, value, _ := strings.Cut(key, "=")
		config[name] = value
	}
	return config
}

// Every start of a trigger comes with its limit, whatever starts it.
func TestEveryStartHasItsConcurrencyGroup(t *testing.T) {
	m := newMemory()
	s := newService(m, clock.NewVirtual(begin))
	webhook, api := m.trigger(blueprint.TriggerWebhook, limited("skip"), begin), m.trigger(blueprint.TriggerAPI, limited("cancel-running"), begin)
	event, free := m.trigger(blueprint.TriggerEvent, limited("queue", "event=custom.x"), begin), m.trigger(blueprint.TriggerManual, nil, begin)
	m.change(event, func(b *blueprint.Binding) { b.Trigger.BlueprintID = "another" })
	deliver(s, webhook, delivery{body: `{}`})
	call(s, me, api, delivery{body: `{}`})
	for _, id := range []string{webhook, free} {
		if _, _, err := s.Fire(t.Context(), me, id, map[string]any{}, false); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, r := range m.runs() {
		if r.Concurrency == nil {
			got = append(got, "none")
			continue
		}
		if r.Concurrency.Key != r.Firing.TriggerID {
			t.Errorf("the concurrency group of %s is %s", r.Firing.TriggerID, r.Concurrency.Key)
		}
		got = append(got, fmt.Sprintf("%d %s", r.Concurrency.Limit, r.Concurrency.OnLimit))
	}
	if got := strings.Join(got, ", "); got != "2 skip, 2 cancel-running, 2 skip, none" {
		t.Errorf("concurrency groups %s, want 2 skip, 2 cancel-running, 2 skip, none", got)
	}
	if group := ConcurrencyOf(&m.bindings[event].Trigger); group == nil || *group != (blueprint.ConcurrencyGroup{Key: event, Limit: 2, OnLimit: blueprint.LimitQueue}) {
		t.Errorf("%+v", group)
	}
}

// A start beyond the limit leaves a row with the reason. A webhook is answered with 200,
// a caller that fires the trigger gets an error.
func TestLimitLeavesOut(t *testing.T) {
	m := newMemory()
	s := newService(m, clock.NewVirtual(begin))
	webhook, api := m.trigger(blueprint.TriggerWebhook, limited("skip"), begin), m.trigger(blueprint.TriggerAPI, limited("skip"), begin)
	deliver(s, webhook, delivery{body: `{}`, headers: []string{"webhook-id: 1"}})
	m.refuseStart = func(*blueprint.StartRequest) error { return &blueprint.ConcurrencyLimitError{Limit: 2, Running: 3} }
	const reason = "config.concurrency.limit is 2, and 3 runs have not ended"
	left := func(source blueprint.Source) string {
		t.Helper()
		row := m.lastRow(t)
		if row.Decision != blueprint.DecisionSkipped || row.ExecutionID != nil || row.Reason != reason || row.Source != source {
			t.Errorf("%s: %+v, want Decision %v, ExecutionID nil, Reason %v and Source %v", source, row, blueprint.DecisionSkipped, reason, source)
		}
		return row.ID
	}
	w := deliver(s, webhook, delivery{body: `{}`, headers: []string{"webhook-id: 2"}})
	if want := `{"firingId":"` + left(blueprint.SourceWebhook) + `","reason":"` + reason + `","skipped":true,"success":true}`; w.Code != http.StatusOK || !sameJSON(w.Body.String(), want) {
		t.Errorf("%d %s, want %s", w.Code, w.Body, want)
	}
	// A repeated delivery is answered with its run.
	if w := deliver(s, webhook, delivery{body: `{}`, headers: []string{"webhook-id: 1"}}); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), *m.rows[0].ExecutionID) {
		t.Errorf("again: %d %s, want %v and %q in it", w.Code, w.Body, http.StatusOK, *m.rows[0].ExecutionID)
	}
	if w := call(s, me, api, delivery{body: `{}`}); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), reason) {
		t.Errorf("api: %d %s, want %v and %q in it", w.Code, w.Body, http.StatusConflict, reason)
	}
	left(blueprint.SourceAPI)
	if _, _, err := s.Fire(t.Context(), me, webhook, nil, false); blueprint.CodeOf(err) != blueprint.CodeConflict || err.Error() != reason {
		t.Errorf("by hand: %v, want %v and %v", err, blueprint.CodeConflict, reason)
	}
	left(blueprint.SourceManual)
}

// A delivery that comes again is found out before it could take, for a moment,
// the place of another.
func TestOneThatComesAgainTakesNoPlace(t *testing.T) {
	m := newMemory()
	s := newService(m, clock.NewVirtual(begin))
	id := m.trigger(blueprint.TriggerWebhook, limited("skip"), begin)
	asked := 0
	m.refuseStart = func(*blueprint.StartRequest) error { asked++; return nil }
	for range 2 {
		deliver(s, id, delivery{body: `{}`, headers: []string{"webhook-id: 1"}})
	}
	if row := m.lastRow(t); asked != 1 || row.Decision != blueprint.DecisionDuplicate {
		t.Errorf("asked %d times, %+v; want 1 and Decision %v", asked, row, blueprint.DecisionDuplicate)
	}
}

// Ticks for which one would have stood in that did not run either have a row that
// says so, and a tick that is tried again and again is worth one line.
func TestTicksOfAFullConcurrencyGroup(t *testing.T) {
	for _, c := range []struct {
		err    error
		reason string
		rows   int
	}{
		{&blueprint.ConcurrencyLimitError{Limit: 1, Running: 1}, "9 ticks from 2026-03-02T08:51:00.000Z to 2026-03-02T08:59:00.000Z were missed; the tick of 2026-03-02T09:00:00.000Z that should run instead was skipped: " + (&blueprint.ConcurrencyLimitError{Limit: 1, Running: 1}).Error(), 2},
		{blueprint.Errorf(blueprint.CodeBadRequest, "no nodes"), "9 ticks from 2026-03-02T08:51:00.000Z to 2026-03-02T08:59:00.000Z were missed; the tick of 2026-03-02T09:00:00.000Z that should run instead was refused: no nodes", 2},
		{&blueprint.Error{Code: blueprint.CodeTooManyRequests, Message: "too many wait", RetryAfter: time.Second}, "", 0},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			m := newMemory()
			v := clock.NewVirtual(begin)
			var log bytes.Buffer
			s := newService(m, v, logTo(&log))
			m.trigger(blueprint.TriggerScheduled, map[string]any{"cron": "* * * * *"}, begin.Add(-10*time.Minute))
			m.refuseStart = func(*blueprint.StartRequest) error { return c.err }
			move := mover(t, v)
			start(t, s, move)
			move(begin.Add(10 * time.Second))
			rows := m.snapshot()
			if len(rows) != c.rows || len(rows) > 0 && (rows[0].Decision != blueprint.DecisionSkipped || !strings.HasPrefix(rows[0].Reason, c.reason)) {
				t.Errorf("%v: %+v, want reason %v", c.err, rows, c.reason)
			}
			if got, want := strings.Count(log.String(), "retrying"), map[bool]int{true: 1}[c.rows == 0]; got != want {
				t.Errorf("%v: the retry was logged %d times, want %d", c.err, got, want)
			}
		})
	}
}

// A concurrency group or a queue with no room says when to come again.
func TestFullQueueSetsRetryAfter(t *testing.T) {
	m := newMemory()
	s := newService(m, clock.NewVirtual(begin))
	id := m.trigger(blueprint.TriggerWebhook, limited("queue"), begin)
	m.refuseStart = func(*blueprint.StartRequest) error {
		return &blueprint.Error{Code: blueprint.CodeTooManyRequests, Message: "too many wait", RetryAfter: 2 * time.Second}
	}
	w := deliver(s, id, delivery{body: `{}`})
	if row := m.lastRow(t); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "2" || row.Decision != blueprint.DecisionRefused || row.Reason != "too many wait" {
		t.Errorf("%d %v %+v, want %v, Retry-After 2, Decision %v and Reason too many wait", w.Code, w.Header(), row, http.StatusTooManyRequests, blueprint.DecisionRefused)
	}
}

func sameJSON(a, b string) bool {
	one, err := blueprint.Decode([]byte(a))
	two, other := blueprint.Decode([]byte(b))
	return err == nil && other == nil && blueprint.Equal(one, two)
}
