package triggers

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
)

// A delivery is judged and run by the trigger as it is, whatever is known of it
// from before.
func TestDeliveryByWhatHolds(t *testing.T) {
	const old, present = "an old secret of this trigger", "the present secret of it"
	const body = `{"n": 1}`
	signed := func(secret string) []string {
		return []string{"X-Webhook-Signature: " + hexMAC(secret, body)}
	}
	guarded := func(secret string) map[string]any { return map[string]any{"secret": secret} }
	for _, test := range []struct {
		name    string
		config  map[string]any // of which it is known
		change  func(b *blueprint.Binding)
		headers []string
		full    bool // the runner takes nothing
		status  int
		version string // of the run
	}{
		{name: "nothing has changed", status: http.StatusAccepted, version: "1.0.0"},
		{name: "the blueprint", change: func(b *blueprint.Binding) {
			b.Definition = &blueprint.Definition{BlueprintID: "b", Version: "2.0.0"}
		}, status: http.StatusAccepted, version: "2.0.0"},
		{name: "switched off", change: func(b *blueprint.Binding) { b.Trigger.IsActive = false }, status: http.StatusNotFound},
		{name: "of another type", change: func(b *blueprint.Binding) { b.Trigger.Type = blueprint.TriggerManual }, status: http.StatusNotFound},
		{name: "a right", change: func(b *blueprint.Binding) { b.CanManage = false }, status: http.StatusNotFound},
		{name: "the secret, used", config: guarded(old), change: func(b *blueprint.Binding) { b.Trigger.Config = guarded(present) }, headers: signed(present), status: http.StatusAccepted, version: "1.0.0"},
		{name: "the secret, the old one used", config: guarded(old), change: func(b *blueprint.Binding) { b.Trigger.Config = guarded(present) }, headers: signed(old), status: http.StatusUnauthorized},
		{name: "nothing has changed, the secret is wrong", config: guarded(present), headers: signed(old), status: http.StatusUnauthorized},
		{name: "nothing has changed, no room", full: true, status: http.StatusServiceUnavailable},
		{name: "switched off, no room", full: true, change: func(b *blueprint.Binding) { b.Trigger.IsActive = false }, status: http.StatusNotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(blueprint.TriggerWebhook, test.config, begin)
			m.recent = map[string]*blueprint.Binding{id: m.bindings[id]}
			if test.change != nil {
				m.change(id, test.change)
			}
			if test.full {
				m.refuseStart = func(*blueprint.StartRequest) error {
					return blueprint.Errorf(blueprint.CodeUnavailable, "no room")
				}
			}
			w := deliver(newService(m, clock.NewVirtual(begin)), id, delivery{body: body, headers: test.headers})
			if w.Code != test.status {
				t.Fatalf("answer %d %s, want %d", w.Code, w.Body, test.status)
			}
			var versions []string
			for _, request := range m.runs() {
				versions = append(versions, request.Definition.Version)
			}
			if got := strings.Join(versions, " "); got != test.version {
				t.Errorf("runs of %q, want %q", got, test.version)
			}
			rows := m.snapshot()
			if len(rows) != 1 || test.name != "of another type" && string(rows[0].Delivery.Body) != body {
				t.Errorf("%d rows in the ledger: %+v", len(rows), rows)
			}
		})
	}
}

// Somebody deletes the trigger between what is known of it and the delivery.
func TestDeliveryToWhatIsDeleted(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	m.recent = map[string]*blueprint.Binding{id: m.bindings[id]}
	m.remove(id)
	if w := deliver(newService(m, clock.NewVirtual(begin)), id, delivery{body: `{}`}); w.Code != http.StatusNotFound {
		t.Errorf("answer %d %s", w.Code, w.Body)
	}
	if runs := m.runs(); len(runs) != 0 {
		t.Errorf("%d runs", len(runs))
	}
}

// Where ids are drawn from a seed, nothing depends on what is known from before.
func TestSeededDeliveryAsksAtOnce(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	m.recent = map[string]*blueprint.Binding{id: m.bindings[id]}
	s := newService(m, clock.NewVirtual(begin), func(o *Options) { o.IDs = ids.Seeded(1) })
	if w := deliver(s, id, delivery{body: `{}`}); w.Code != http.StatusAccepted {
		t.Fatalf("answer %d %s", w.Code, w.Body)
	}
	if runs := m.runs(); len(runs) != 1 || runs[0].Generation != 0 {
		t.Errorf("runs %+v", runs)
	}
}

func TestStale(t *testing.T) {
	if !isStale(errors.Join(errors.New("commit"), &blueprint.StaleError{})) || isStale(errors.New("other")) || isStale(nil) {
		t.Error("a stale run is told by its error alone")
	}
}
