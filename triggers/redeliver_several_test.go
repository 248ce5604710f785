package triggers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

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
	if r := call(); r.Matched != 100 || r.Redelivered != 0 || len(r.Firings) != 40 || r.Firings[0].Of != m.rows[0].ID || r.Firings[0].FiringID != nil || r.Next != m.rows[39].ID || len(m.runs()) != 0 {
		t.Errorf("a dry run: %+v", r)
	}
	ask.DryRun = false
	r := call()
	if r.Matched != 100 || r.Redelivered != 39 || len(r.Refused) != 1 || r.Refused[0].FiringID != m.rows[2].ID || r.Next != m.rows[39].ID {
		t.Errorf("%+v", r)
	}
	for i, request := range m.runs() { // the oldest first
		n := i
		if i >= 2 {
			n++
		}
		if input, _ := blueprint.Encode(request.InputData); string(input) != fmt.Sprintf(`{"n":%d}`, n) {
			t.Errorf("run %d has input %s", i, input)
		}
	}
	ask.Filter.From, ask.Limit = 0, 1000
	if r := call(); r.Matched != 61 || r.Redelivered != 60 || r.Next != "" {
		t.Errorf("the others: %+v", r)
	}
	if r := call(); r.Matched != 1 || r.Redelivered != 0 {
		t.Errorf("once more: %+v", r)
	}
	ask.Again = true
	if r := call(); r.Matched != 100 || r.Redelivered != 99 {
		t.Errorf("all again: %+v", r)
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
			t.Fatalf("late %v: %v %+v", late, err, r)
		}
		full = 1000
		ask.After = r.Next
		r, err = s.RedeliverSeveral(t.Context(), me, &ask)
		if err != nil || r.Redelivered != 49 || r.Next != "" || len(m.runs()) != 99 {
			t.Errorf("late %v: going on: %v %+v", late, err, r)
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
				t.Errorf("%+v", one)
			}
		}
		for i := range m.rows { // as if it were not known yet
			m.rows[i].Delivery.Facts = nil
		}
	}
	s.bulks.Store(id, true)
	if _, err := s.RedeliverSeveral(t.Context(), me, &ask); blueprint.CodeOf(err) != blueprint.CodeConflict {
		t.Errorf("beside another request: %v", err)
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
		t.Errorf("%v", err)
	}
}
