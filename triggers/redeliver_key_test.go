package triggers

import (
	"net/http"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// mended is a webhook whose secret was wrong when a delivery came, and is right
// now; send has the sender repeat the delivery.
func mended(t *testing.T) (m *memory, s *Service, refused blueprint.Firing, send func() int) {
	m = newMemory()
	id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": "wrong"}, begin)
	s = newService(m, clock.NewVirtual(begin))
	send = func() int {
		return deliver(s, id, delivery{body: `{"n":1}`, headers: []string{"X-Github-Delivery: d-1", "X-Hub-Signature-256: sha256=" + hexMAC("right", `{"n":1}`)}}).Code
	}
	if code := send(); code != http.StatusUnauthorized {
		t.Fatal(code)
	}
	refused = m.lastRow(t)
	m.edit(id, begin, map[string]any{"secret": "right"})
	return m, s, refused, send
}

// What was refused and is run after all is not run once more when its sender
// repeats it.
func TestRedeliveryTakesTheKey(t *testing.T) {
	m, s, refused, send := mended(t)
	if _, _, err := s.Redeliver(t.Context(), me, refused.ID); err != nil {
		t.Fatal(err)
	}
	if row := m.lastRow(t); row.Key != "d-1" || row.Decision != blueprint.DecisionStarted {
		t.Errorf("%+v", row)
	}
	if code := send(); code != http.StatusOK || len(m.runs()) != 1 {
		t.Errorf("repeated: %d, %d runs", code, len(m.runs()))
	}
	// Whoever wants it once more can have it.
	if _, _, err := s.Redeliver(t.Context(), me, refused.ID); err != nil || len(m.runs()) != 2 {
		t.Errorf("again: %v, %d runs", err, len(m.runs()))
	}
}

// What its sender has repeated with success is not among all that were refused.
func TestRedeliveryAfterTheSender(t *testing.T) {
	m, s, refused, send := mended(t)
	if code := send(); code != http.StatusAccepted {
		t.Fatal(code)
	}
	r, err := s.RedeliverSeveral(t.Context(), me, &blueprint.RedeliverRequest{TriggerID: refused.TriggerID, Filter: blueprint.FiringFilter{Decisions: []blueprint.Decision{blueprint.DecisionRefused}}, Limit: 10})
	if err != nil || r.Redelivered != 0 || len(r.Refused) != 1 || len(m.runs()) != 1 {
		t.Errorf("%+v, %v, %d runs", r, err, len(m.runs()))
	}
}
