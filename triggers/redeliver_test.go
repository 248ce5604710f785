package triggers

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
		{name: "not kept", kind: "webhook", source: "webhook", change: func(f *blueprint.Firing, _ *blueprint.Binding) { f.Delivery.Body = nil }, code: blueprint.CodeBadRequest, says: "7 bytes was not stored"},
		{name: "not received", kind: "email", source: "email", change: func(f *blueprint.Firing, _ *blueprint.Binding) {
			f.Delivery = &blueprint.Delivery{Facts: map[string]any{"received": false}}
		}, code: blueprint.CodeBadRequest, says: "it was not received: ask the sender to send it again"},
		{name: "older", kind: "webhook", source: "webhook", change: func(f *blueprint.Firing, _ *blueprint.Binding) { f.Delivery = nil }, code: blueprint.CodeBadRequest, says: "its delivery was not stored"},
		{name: "another type by now", kind: "manual", source: "webhook", code: blueprint.CodeBadRequest, says: "of type manual"},
		{name: "no tick", kind: "scheduled", source: "schedule", code: blueprint.CodeBadRequest, says: "it has no tick"},
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
				t.Fatalf("%q: %v, want code %v and says %v", code, err, c.code, c.says)
			}
			row := m.lastRow(t)
			if c.rowIs == "" {
				if len(m.snapshot()) != 1 {
					t.Errorf("row %+v, want length 1", row)
				}
				return
			}
			d := row.Delivery
			if row.Decision != c.rowIs || row.Source != blueprint.SourceRedelivery || row.DueAt != first.DueAt {
				t.Errorf("row %+v, want %s, a redelivery due at %v", row, c.rowIs, first.DueAt)
			}
			if row.Key != row.ID && !(row.Key == first.Key && first.Decision == blueprint.DecisionRefused) || !strings.Contains(row.Reason, first.ID) {
				t.Errorf("row %+v, want its own key, or that of what was refused, and %s in the reason", row, first.ID)
			}
			if d == nil {
				t.Fatal("the row has no delivery, want its facts")
			}
			if want := (&blueprint.Delivery{Size: d.Size, Facts: d.Facts}); d.Facts[blueprint.FactRedeliveryOf] != first.ID || !cmp.Equal(want, d) {
				t.Errorf("stored is %+v, want no more than that it is a redelivery of %s", d, first.ID)
			}
			if c.input == "" {
				return
			}
			input, _ := blueprint.Encode(m.runs()[0].InputData)
			if string(input) != c.input || execution != *row.ExecutionID || firing != row.ID {
				t.Errorf("input %s, answer %s %s; want %v, %v and %v", input, execution, firing, c.input, *row.ExecutionID, row.ID)
			}
			// Again, by way of the redelivery: it is the first that is run.
			if _, _, err := s.Redeliver(t.Context(), me, firing); err != nil {
				t.Fatal(err)
			}
			if third := m.lastRow(t); third.Delivery.Facts[blueprint.FactRedeliveryOf] != first.ID || third.ID == row.ID {
				t.Errorf("row %+v, want Facts %v and ID other than %v", third, first.ID, row.ID)
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
		t.Fatalf("row %+v, want Decision %v", refused, blueprint.DecisionRefused)
	}
	m.change(id, func(b *blueprint.Binding) { b.Trigger.Config["secret"] = "new" })
	later := newService(m, clock.NewVirtual(begin.Add(48*time.Hour)))
	if _, _, err := later.Redeliver(t.Context(), me, refused.ID); err != nil {
		t.Error(err)
	}
	if row := m.lastRow(t); !strings.Contains(row.Reason, "signature is valid") {
		t.Errorf("reason %q, want \"signature is valid\" in it", row.Reason)
	}
}

func TestRedeliverUnknown(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	first := rowOf(id, blueprint.SourceWebhook, blueprint.DecisionStarted, "{}")
	m.rows = append(m.rows, first)
	s := newService(m, clock.NewVirtual(begin))
	for who, firing := range map[string]string{creator: "01UNKNOWN", stranger: first.ID} {
		t.Run(who, func(t *testing.T) {
			if _, _, err := s.Redeliver(t.Context(), blueprint.Principal{UserID: who}, firing); blueprint.CodeOf(err) != blueprint.CodeNotFound {
				t.Errorf("%s: %v, want %v", firing, err, blueprint.CodeNotFound)
			}
		})
	}
	// The first is gone from the ledger.
	if _, again, err := s.Redeliver(t.Context(), me, first.ID); err != nil {
		t.Error(err)
	} else {
		m.rows = m.rows[1:]
		if _, _, err := s.Redeliver(t.Context(), me, again); blueprint.CodeOf(err) != blueprint.CodeBadRequest || !strings.Contains(err.Error(), "no longer in the ledger") {
			t.Errorf("%v, want %v and \"no longer in the ledger\" in it", err, blueprint.CodeBadRequest)
		}
	}
}

// When there is no room the row says so, and the error lets the caller come back.
func TestRedeliverToFullQueue(t *testing.T) {
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
		{&blueprint.ConcurrencyLimitError{Limit: 1}, blueprint.CodeConflict, blueprint.DecisionSkipped},
	} {
		t.Run(fmt.Sprint(c.row), func(t *testing.T) {
			m.refuseStart = func(*blueprint.StartRequest) error { return c.err }
			_, _, err := s.Redeliver(t.Context(), me, first.ID)
			if row := m.lastRow(t); blueprint.CodeOf(err) != c.code || row.Decision != c.row || !strings.Contains(row.Reason, first.ID) {
				t.Errorf("%v, row %+v; want %v, Decision %v and %q in it", err, row, c.code, c.row, first.ID)
			}
		})
	}
}

// What was found out when a delivery came is there when it is judged again, and
// in the new row; what was found out about its signature is not.
func TestRedeliverKeepsFacts(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	first := rowOf(id, blueprint.SourceWebhook, blueprint.DecisionRefused, "{}")
	first.Delivery.AddFact("sender", "known")
	first.Delivery.AddFact(signature.FactForm, "empty")
	m.rows = append(m.rows, first)
	if _, _, err := newService(m, clock.NewVirtual(begin)).Redeliver(t.Context(), me, first.ID); err != nil {
		t.Fatal(err)
	}
	facts := m.lastRow(t).Delivery.Facts
	if _, stale := facts[signature.FactForm]; stale || facts["sender"] != "known" || facts[blueprint.FactRedeliveryOf] != first.ID || len(first.Delivery.Facts) != 2 {
		t.Errorf("%v, of the first %v", facts, first.Delivery.Facts)
	}
}

// several is a ledger with n refused rows, a second apart, the third of them of a
// body that is no JSON.
func several(n int) (*memory, string) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	for i := range n {
		body := fmt.Sprintf(`{"n":%d}`, i)
		if i == 2 {
			body = "{"
		}
		row := rowOf(id, blueprint.SourceWebhook, blueprint.DecisionRefused, body)
		row.ID, row.Key = fmt.Sprintf("01ROW%021d", i), fmt.Sprint("key ", i)
		row.ReceivedAt = blueprint.TimeOf(begin.Add(time.Duration(i) * time.Second))
		m.rows = append(m.rows, row)
	}
	return m, id
}

func TestRedeliverSeveral(t *testing.T) {
	m, id := several(100)
	s := newService(m, clock.NewVirtual(begin.Add(time.Hour)))
	ask := blueprint.RedeliverRequest{TriggerID: id, Filter: blueprint.FiringFilter{Decisions: []blueprint.Decision{blueprint.DecisionRefused}}, Limit: 40, DryRun: true}
	call := func() *blueprint.RedeliverResult {
		t.Helper()
		result, err := s.RedeliverSeveral(t.Context(), me, &ask)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	r := call()
	if diff := cmp.Diff([]any{100, 0, 40, m.rows[39].ID, 0}, []any{r.Matched, r.Redelivered, len(r.Firings), r.Next, len(m.runs())}); diff != "" {
		t.Errorf("a dry run: matched, redelivered, listed, next and runs (-want +got):\n%s", diff)
	}
	if one := r.Firings[0]; one.Of != m.rows[0].ID || one.FiringID != nil {
		t.Errorf("a dry run lists %+v first, want no firing of %s", one, m.rows[0].ID)
	}
	ask.DryRun = false
	r = call()
	if diff := cmp.Diff([]any{100, 39, 1, m.rows[39].ID}, []any{r.Matched, r.Redelivered, len(r.Refused), r.Next}); diff != "" {
		t.Fatalf("matched, redelivered, refused and next (-want +got):\n%s", diff)
	}
	if got := r.Refused[0].FiringID; got != m.rows[2].ID {
		t.Errorf("%s was refused, want %s", got, m.rows[2].ID)
	}
	for i, request := range m.runs() { // the oldest first
		n := i
		if i >= 2 {
			n++
		}
		if input, _ := blueprint.Encode(request.InputData); string(input) != fmt.Sprintf(`{"n":%d}`, n) {
			t.Errorf("run %d has input %s, want %v", i, input, fmt.Sprintf(`{"n":%d}`, n))
		}
	}
	ask.Filter.From, ask.Limit = 0, 1000
	if r := call(); r.Matched != 61 || r.Redelivered != 60 || r.Next != "" {
		t.Errorf("the others: %+v, want Matched 61, Redelivered 60 and Next nothing", r)
	}
	if r := call(); r.Matched != 1 || r.Redelivered != 0 {
		t.Errorf("once more: %+v, want Matched 1 and Redelivered 0", r)
	}
	ask.Again = true
	if r := call(); r.Matched != 100 || r.Redelivered != 99 {
		t.Errorf("all again: %+v, want Matched 100 and Redelivered 99", r)
	}
}

// It stops at the first for which there is no room, wherever that shows, and
// says from where to go on. Nothing is run twice by going on from there.
func TestRedeliverSeveralStops(t *testing.T) {
	for _, late := range []bool{false, true} {
		m, id := several(100)
		s := newService(m, clock.NewVirtual(begin.Add(time.Hour)))
		full := 50
		if late { // when it is on its way to the disk
			m.refuse = func(f *blueprint.Firing) error {
				if f.Source == blueprint.SourceRedelivery && len(m.requests) >= full {
					return unavailable(time.Second)
				}
				return nil
			}
		} else {
			m.refuseStart = func(*blueprint.StartRequest) error {
				if len(m.runs()) >= full {
					return unavailable(time.Second)
				}
				return nil
			}
		}
		ask := blueprint.RedeliverRequest{TriggerID: id, Filter: blueprint.FiringFilter{Decisions: []blueprint.Decision{blueprint.DecisionRefused}}, Limit: 1000}
		r, err := s.RedeliverSeveral(t.Context(), me, &ask)
		if err != nil || r.Redelivered != full || r.Stopped == "" || r.Next != m.rows[50].ID {
			t.Fatalf("late %v: %v %+v, want Redelivered %v, Stopped not empty and Next %v", late, err, r, full, m.rows[50].ID)
		}
		full = 1000
		ask.After = r.Next
		r, err = s.RedeliverSeveral(t.Context(), me, &ask)
		if err != nil || r.Redelivered != 49 || r.Next != "" || len(m.runs()) != 99 {
			t.Errorf("late %v: going on: %v %+v, want Redelivered 49, Next nothing and length 99", late, err, r)
		}
	}
}

// One that has been run again since it was chosen is not run twice.
func TestRedeliverSeveralKnown(t *testing.T) {
	m, id := several(2)
	s := newService(m, clock.NewVirtual(begin))
	ask := blueprint.RedeliverRequest{TriggerID: id, Filter: blueprint.FiringFilter{Decisions: []blueprint.Decision{blueprint.DecisionRefused}}, Limit: 10}
	for _, want := range []int{2, 0} {
		r, err := s.RedeliverSeveral(t.Context(), me, &ask)
		if err != nil || r.Redelivered != want || len(r.Refused) != 2-want {
			t.Fatalf("%v %+v, want %d", err, r, want)
		}
		for _, one := range r.Refused {
			if !strings.Contains(one.Reason, "has run already, as exec") {
				t.Errorf("%+v, want \"has run already, as exec\" in it", one)
			}
		}
		for i := range m.rows { // as if it were not known yet
			m.rows[i].Delivery.Facts = nil
		}
	}
	if len(m.claims) != 0 {
		t.Errorf("the claims %v are left, want none", m.claims)
	}
	s.bulks.Store(id, true)
	if _, err := s.RedeliverSeveral(t.Context(), me, &ask); blueprint.CodeOf(err) != blueprint.CodeConflict {
		t.Errorf("beside another request: %v, want %v", err, blueprint.CodeConflict)
	}
	m.claims["redeliver "+id] = true
	if _, err := newService(m, clock.NewVirtual(begin)).RedeliverSeveral(t.Context(), me, &ask); blueprint.CodeOf(err) != blueprint.CodeConflict {
		t.Errorf("beside a request to another process: %v, want %v", err, blueprint.CodeConflict)
	}
	ask.DryRun = true
	if _, err := s.RedeliverSeveral(t.Context(), me, &ask); err != nil {
		t.Errorf("a dry run beside another request: %v", err)
	}
}

func TestRedeliverSeveralRefused(t *testing.T) {
	m, id := several(1)
	m.change(id, func(b *blueprint.Binding) { b.Trigger.IsActive = false })
	s := newService(m, clock.NewVirtual(begin))
	ask := blueprint.RedeliverRequest{TriggerID: id, Filter: blueprint.FiringFilter{Decisions: []blueprint.Decision{blueprint.DecisionRefused}}, Limit: 10}
	if _, err := s.RedeliverSeveral(t.Context(), me, &ask); blueprint.CodeOf(err) != blueprint.CodeBadRequest || len(m.snapshot()) != 1 {
		t.Errorf("%v, want %v and length 1", err, blueprint.CodeBadRequest)
	}
}

// repaired returns a webhook whose secret was wrong when a delivery arrived, and is right
// now; send repeats the delivery.
func repaired(t *testing.T) (m *memory, s *Service, refused blueprint.Firing, send func() int) {
	m = newMemory()
	id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": "wrong"}, begin)
	s = newService(m, clock.NewVirtual(begin))
	send = func() int {
		return deliver(s, id, delivery{body: `{"n":1}`, headers: []string{"X-Github-Delivery: d-1", "X-Hub-Signature-256: sha256=" + hexMAC("right", `{"n":1}`)}}).Code
	}
	if code := send(); code != http.StatusUnauthorized {
		t.Fatalf("%v, want %v", code, http.StatusUnauthorized)
	}
	refused = m.lastRow(t)
	m.edit(id, begin, map[string]any{"secret": "right"})
	return m, s, refused, send
}

// What was refused and is run after all is not run once more when its sender
// repeats it.
func TestRedeliveryTakesTheKey(t *testing.T) {
	m, s, refused, send := repaired(t)
	if _, _, err := s.Redeliver(t.Context(), me, refused.ID); err != nil {
		t.Fatal(err)
	}
	if row := m.lastRow(t); row.Key != "d-1" || row.Decision != blueprint.DecisionStarted {
		t.Errorf("%+v, want Key d-1 and Decision %v", row, blueprint.DecisionStarted)
	}
	if code := send(); code != http.StatusOK || len(m.runs()) != 1 {
		t.Errorf("repeated: %d, %d runs; want %v and 1", code, len(m.runs()), http.StatusOK)
	}
	// An explicit second redelivery runs again.
	if _, _, err := s.Redeliver(t.Context(), me, refused.ID); err != nil || len(m.runs()) != 2 {
		t.Errorf("again: %v, %d runs; want 2", err, len(m.runs()))
	}
}

// What its sender has repeated with success is not among all that were refused.
func TestRedeliveryAfterTheSender(t *testing.T) {
	m, s, refused, send := repaired(t)
	if code := send(); code != http.StatusAccepted {
		t.Fatalf("%v, want %v", code, http.StatusAccepted)
	}
	r, err := s.RedeliverSeveral(t.Context(), me, &blueprint.RedeliverRequest{TriggerID: refused.TriggerID, Filter: blueprint.FiringFilter{Decisions: []blueprint.Decision{blueprint.DecisionRefused}}, Limit: 10})
	if err != nil || r.Redelivered != 0 || len(r.Refused) != 1 || len(m.runs()) != 1 {
		t.Errorf("%+v, %v, %d runs; want Redelivered 0, length 1 and 1", r, err, len(m.runs()))
	}
}
