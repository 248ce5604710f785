package triggers

import (
	"context"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// trip switches a trigger off as the server does.
func trip(m *memory, id string, retryAt time.Time) {
	m.change(id, func(b *blueprint.Binding) {
		b.Trigger.IsActive, b.Tripped, b.RetryAt = false, &blueprint.Trip{Failures: 20, ExecutionID: "exec_1_a"}, blueprint.TimeOf(retryAt)
		if retryAt.IsZero() {
			b.RetryAt = 0
		}
	})
}

// A webhook that strangers can have switched off sends what comes away for a
// while, and then the next delivery switches it on.
func TestWebhookTakesARest(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m *memory, id string)
		after  time.Duration // since it was switched off
		status int
		retry  string
		reason string
	}{
		{"at once", nil, 0, 503, "900", "20 runs in a row failed"},
		{"just before", nil, 15*time.Minute - time.Millisecond, 503, "1", "20 runs in a row failed"},
		{"then", nil, 15 * time.Minute, 202, "", "accepted after a pause of 15 minutes: the trigger has no secret"},
		{"the clock was set back", nil, -time.Hour, 202, "", "accepted after"},
		{"only somebody can", func(m *memory, id string) { trip(m, id, time.Time{}) }, time.Hour, 404, "", "20 runs in a row failed"},
		{"access lost", func(m *memory, id string) { m.change(id, func(b *blueprint.Binding) { b.CanManage = false }) }, time.Hour, 404, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(blueprint.TriggerWebhook, nil, begin)
			trip(m, id, begin.Add(15*time.Minute))
			if c.change != nil {
				c.change(m, id)
			}
			w := deliver(newService(m, clock.NewVirtual(begin.Add(c.after))), id, delivery{})
			if row := m.lastRow(t); w.Code != c.status || w.Header().Get("Retry-After") != c.retry || !strings.Contains(row.Reason, c.reason) || m.bindings[id].Trigger.IsActive != (c.status == 202) {
				t.Errorf("%d %v, row %+v; want reason %v", w.Code, w.Header(), row, c.reason)
			}
		})
	}
}

// So does a mailbox: it lets the sender in when it may be tried again, and only
// a whole mail switches it on.
func TestMailboxTakesARest(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration
		code  blueprint.Code // "" = taken
		stays bool           // off, until a user switches it on
	}{
		{"at once", 0, blueprint.CodeUnavailable, false},
		{"then", 15 * time.Minute, "", false},
		{"only somebody can", time.Hour, blueprint.CodeUnavailable, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(blueprint.TriggerEmail, nil, begin)
			trip(m, id, begin.Add(15*time.Minute))
			if c.stays {
				trip(m, id, time.Time{})
			}
			s := newService(m, clock.NewVirtual(begin.Add(c.after)), mailTo(id))
			if err := s.Mailbox(t.Context(), "box", &blueprint.Envelope{}); blueprint.CodeOf(err) != c.code || m.bindings[id].Trigger.IsActive {
				t.Errorf("recipient: %v, active %v; want %v and not IsActive", err, m.bindings[id].Trigger.IsActive, c.code)
			}
			err := s.ReceiveMail(t.Context(), "box", letter("<1@example.org>"))
			if row := m.lastRow(t); blueprint.CodeOf(err) != c.code || m.bindings[id].Trigger.IsActive != (c.code == "") || strings.HasPrefix(row.Reason, "accepted after a pause of 15 minutes: a mail from") != (c.code == "") {
				t.Errorf("mail: %v, row %+v; want code %v", err, row, c.code)
			}
		})
	}
}

// mailTo gives a service a mailbox.
func mailTo(id string) func(*Options) {
	return func(o *Options) {
		o.Mail = MailOptions{Domain: "example.org", Mailbox: func(context.Context, string) (string, error) { return id, nil }, FileURL: func(id string) string { return id }}
	}
}

// letter is a mail that was received.
func letter(id string) *blueprint.ReceivedMail {
	return &blueprint.ReceivedMail{Raw: []byte("From: a@example.org\r\n\r\nhi\r\n"), Mail: &blueprint.Mail{MessageID: id, From: []blueprint.MailAddress{{Address: "a@example.org"}}}}
}
