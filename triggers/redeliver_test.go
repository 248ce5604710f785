package triggers

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/triggers/signature"
)

// rowOf is a row of the ledger that came with a body.
func rowOf(trigger string, source blueprint.Source, decision blueprint.Decision, body string) blueprint.Firing {
	return blueprint.Firing{
		ID: "01TESTFIRING" + string(source), TriggerID: trigger, Source: source, Key: "key", ReceivedAt: blueprint.TimeOf(begin), Decision: decision,
		Delivery: &blueprint.Delivery{Body: []byte(body), Size: int64(len(body)), Header: map[string][]string{"x-more": {"more"}}},
	}
}

// Whatever a firing was and whatever became of it, it can be run again; what is
// run is decided by the trigger as it is now.
func TestRedeliver(t *testing.T) {
	const body = `{"a":1}`
	signed := func(f *blueprint.Firing, secret string) {
		f.Delivery.Proof = map[string][]string{"x-signature": {hexMAC(secret, body)}}
	}
	for _, c := range []struct {
		name   string
		kind   blueprint.TriggerType
		config map[string]any
		source blueprint.Source
		change func(f *blueprint.Firing, b *blueprint.Binding)
		input  string // "" = it is not run
		code   blueprint.Code
		says   string
		rowIs  blueprint.Decision // "" = there is no row
	}{
		{name: "a webhook", kind: "webhook", source: "webhook", input: body, rowIs: "started"},
		{name: "a call", kind: "api", source: "api", input: body, rowIs: "started"},
		{name: "by hand", kind: "webhook", source: "manual", input: body, rowIs: "started"},
		{name: "by hand, a manual one", kind: "manual", source: "manual", input: body, rowIs: "started"},
		{name: "an event", kind: "event", source: "event", input: body, rowIs: "started"},
		{name: "a tick", kind: "scheduled", source: "schedule", change: func(f *blueprint.Firing, _ *blueprint.Binding) {
			f.Delivery, f.DueAt = nil, blueprint.TimeOf(begin.Add(-time.Hour))
		}, input: `{"firedAt":"2026-03-02T10:00:00.000Z","missedCount":0,"scheduledAt":"2026-03-02T08:00:00.000Z"}`, rowIs: "started"},
		{name: "no body", kind: "webhook", source: "webhook", change: func(f *blueprint.Firing, _ *blueprint.Binding) { f.Delivery.Body, f.Delivery.Size = []byte{}, 0 }, input: "{}", rowIs: "started"},
		{name: "refused for a signature that is right by now", kind: "webhook", config: map[string]any{"secret": "new"}, source: "webhook",
			change: func(f *blueprint.Firing, _ *blueprint.Binding) {
				signed(f, "new")
				f.Decision = blueprint.DecisionRefused
			}, input: body, rowIs: "started"},
		{name: "refused for a signature and still wrong", kind: "webhook", config: map[string]any{"secret": "new"}, source: "webhook",
			change: func(f *blueprint.Firing, _ *blueprint.Binding) { signed(f, "old") }, code: blueprint.CodeBadRequest, says: "does not match", rowIs: "refused"},
		{name: "without the signature that is asked for by now", kind: "webhook", config: map[string]any{"secret": "new"}, source: "webhook", code: blueprint.CodeBadRequest, says: "missing", rowIs: "refused"},
		{name: "not JSON", kind: "webhook", source: "webhook", change: func(f *blueprint.Firing, _ *blueprint.Binding) { f.Delivery.Body, f.Delivery.Size = []byte("{"), 1 },
			code: blueprint.CodeBadRequest, says: "JSON", rowIs: "refused"},
		{name: "a schema", kind: "api", config: map[string]any{"inputSchema": map[string]any{"required": []any{"b"}}}, source: "api", code: blueprint.CodeBadRequest, says: "b", rowIs: "refused"},
		{name: "inactive", kind: "webhook", source: "webhook", change: func(_ *blueprint.Firing, b *blueprint.Binding) { b.Trigger.IsActive = false }, code: blueprint.CodeBadRequest, says: "not active", rowIs: "refused"},
		{name: "access lost", kind: "webhook", source: "webhook", change: func(_ *blueprint.Firing, b *blueprint.Binding) { b.CanManage = false }, code: blueprint.CodeForbidden, says: "no longer manage", rowIs: "refused"},
		{name: "not kept", kind: "webhook", source: "webhook", change: func(f *blueprint.Firing, _ *blueprint.Binding) { f.Delivery.Body = nil }, code: blueprint.CodeBadRequest, says: "7 bytes was not kept"},
		{name: "not received", kind: "email", source: "email", change: func(f *blueprint.Firing, _ *blueprint.Binding) {
			f.Delivery = &blueprint.Delivery{Facts: map[string]any{"received": false}}
		}, code: blueprint.CodeBadRequest, says: "nothing was received of it: ask for it again"},
		{name: "older", kind: "webhook", source: "webhook", change: func(f *blueprint.Firing, _ *blueprint.Binding) { f.Delivery = nil }, code: blueprint.CodeBadRequest, says: "nothing is stored"},
		{name: "another type by now", kind: "manual", source: "webhook", code: blueprint.CodeBadRequest, says: "of type manual"},
		{name: "no tick", kind: "scheduled", source: "schedule", code: blueprint.CodeBadRequest, says: "of no tick"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(c.kind, c.config, begin)
			first := rowOf(id, c.source, blueprint.DecisionStarted, body)
			if c.change != nil {
				m.change(id, func(b *blueprint.Binding) { c.change(&first, b) })
			}
			m.rows = append(m.rows, first)
			s := newService(m, clock.NewVirtual(begin.Add(time.Hour)))
			execution, firing, err := s.Redeliver(t.Context(), me, first.ID)
			if code := blueprint.CodeOf(err); code != c.code || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%q: %v", code, err)
			}
			row := m.lastRow(t)
			if c.rowIs == "" {
				if len(m.snapshot()) != 1 {
					t.Errorf("row %+v", row)
				}
				return
			}
			d := row.Delivery
			if row.Decision != c.rowIs || row.Source != blueprint.SourceRedelivery || row.Key != row.ID && !(row.Key == first.Key && first.Decision == blueprint.DecisionRefused) || !strings.Contains(row.Reason, first.ID) || row.DueAt != first.DueAt {
				t.Errorf("row %+v", row)
			}
			if d == nil || d.Facts[blueprint.RedeliveredFrom] != first.ID || d.Body != nil || d.Header != nil || d.Proof != nil {
				t.Errorf("stored is %+v", d)
			}
			if c.input == "" {
				return
			}
			input, _ := blueprint.Encode(m.runs()[0].InputData)
			if string(input) != c.input || execution != *row.ExecutionID || firing != row.ID {
				t.Errorf("input %s, answer %s %s", input, execution, firing)
			}
			// Again, by way of the redelivery: it is the first that is run.
			if _, _, err := s.Redeliver(t.Context(), me, firing); err != nil {
				t.Fatal(err)
			}
			if third := m.lastRow(t); third.Delivery.Facts[blueprint.RedeliveredFrom] != first.ID || third.ID == row.ID {
				t.Errorf("row %+v", third)
			}
		})
	}
}

// A signed time is held against when the delivery came, not against now.
func TestRedeliverJudgesByWhenItCame(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": "old"}, begin)
	s := newService(m, clock.NewVirtual(begin))
	stamp := strconv.FormatInt(begin.Unix(), 10)
	deliver(s, id, delivery{body: "{}", headers: []string{
		"webhook-id: msg_1", "webhook-timestamp: " + stamp, "webhook-signature: " + standardMAC([]byte("new"), "msg_1", stamp, "{}"),
	}})
	refused := m.lastRow(t)
	if refused.Decision != blueprint.DecisionRefused {
		t.Fatalf("row %+v", refused)
	}
	m.change(id, func(b *blueprint.Binding) { b.Trigger.Config["secret"] = "new" })
	later := newService(m, clock.NewVirtual(begin.Add(48*time.Hour)))
	if _, _, err := later.Redeliver(t.Context(), me, refused.ID); err != nil {
		t.Error(err)
	}
	if row := m.lastRow(t); !strings.Contains(row.Reason, "signature is right") {
		t.Errorf("reason %q", row.Reason)
	}
}

func TestRedeliverUnknown(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	first := rowOf(id, blueprint.SourceWebhook, blueprint.DecisionStarted, "{}")
	m.rows = append(m.rows, first)
	s := newService(m, clock.NewVirtual(begin))
	for who, firing := range map[string]string{creator: "01UNKNOWN", stranger: first.ID} {
		if _, _, err := s.Redeliver(t.Context(), blueprint.Principal{UserID: who}, firing); blueprint.CodeOf(err) != blueprint.CodeNotFound {
			t.Errorf("%s: %v", firing, err)
		}
	}
	// The first is gone from the ledger.
	if _, again, err := s.Redeliver(t.Context(), me, first.ID); err != nil {
		t.Error(err)
	} else {
		m.rows = m.rows[1:]
		if _, _, err := s.Redeliver(t.Context(), me, again); blueprint.CodeOf(err) != blueprint.CodeBadRequest || !strings.Contains(err.Error(), "no longer in the ledger") {
			t.Error(err)
		}
	}
}

// When there is no room the row says so, and the error lets the caller come back.
func TestRedeliverNoRoom(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	first := rowOf(id, blueprint.SourceWebhook, blueprint.DecisionStarted, "{}")
	m.rows = append(m.rows, first)
	s := newService(m, clock.NewVirtual(begin))
	for _, c := range []struct {
		err  error
		code blueprint.Code
		row  blueprint.Decision
	}{
		{unavailable(time.Second), blueprint.CodeUnavailable, blueprint.DecisionRefused},
		{&blueprint.LaneFullError{Limit: 1}, blueprint.CodeConflict, blueprint.DecisionSkipped},
	} {
		m.refuseStart = func(*blueprint.StartRequest) error { return c.err }
		_, _, err := s.Redeliver(t.Context(), me, first.ID)
		if row := m.lastRow(t); blueprint.CodeOf(err) != c.code || row.Decision != c.row || !strings.Contains(row.Reason, first.ID) {
			t.Errorf("%v, row %+v", err, row)
		}
	}
}

// What was found out when a delivery came is there when it is judged again, and
// in the new row; what was found out about its signature is not.
func TestRedeliverKeepsFacts(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	first := rowOf(id, blueprint.SourceWebhook, blueprint.DecisionRefused, "{}")
	first.Delivery.Note("sender", "known")
	first.Delivery.Note(signature.FactForm, "empty")
	m.rows = append(m.rows, first)
	if _, _, err := newService(m, clock.NewVirtual(begin)).Redeliver(t.Context(), me, first.ID); err != nil {
		t.Fatal(err)
	}
	facts := m.lastRow(t).Delivery.Facts
	if _, stale := facts[signature.FactForm]; stale || facts["sender"] != "known" || facts[blueprint.RedeliveredFrom] != first.ID || len(first.Delivery.Facts) != 2 {
		t.Errorf("%v, of the first %v", facts, first.Delivery.Facts)
	}
}
