package triggers

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// However many deliveries come while the ledger takes no rows, the log gets one
// line, and one when that is over.
func TestMissingRowsAreLoggedOnce(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	var log bytes.Buffer
	s := newService(m, clock.NewVirtual(begin), logTo(&log))
	send := func(body string) int { return deliver(s, id, delivery{body: body}).Code }
	for range 2 {
		log.Reset()
		m.refuse = func(*blueprint.Firing) error { return unavailable(time.Second) }
		for range 20 {
			if status := send("{"); status != 400 {
				t.Fatalf("status %d, want 400", status)
			}
		}
		if got := strings.Count(log.String(), "level=WARN"); got != 1 || !strings.Contains(log.String(), id) {
			t.Errorf("%d warnings: %s, want 1 and %q in it", got, &log, id)
		}
		m.refuse = nil
		for range 2 {
			send("{")
		}
		if strings.Count(log.String(), "missing=20") != 1 || strings.Count(log.String(), "\n") != 2 {
			t.Errorf("log %s, want 1 and 2", &log)
		}
	}
	log.Reset()
	m.refuse = func(*blueprint.Firing) error { return errors.New("no such table") }
	send("{")
	send("{")
	if strings.Count(log.String(), "level=WARN") != 2 {
		t.Errorf("what does not pass: %s, want 2", &log)
	}
}
