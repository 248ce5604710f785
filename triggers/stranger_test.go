package triggers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// What comes again leaves its body with the first, and of strangers only so many
// rows.
func TestDuplicatesDoNotFillTheLedger(t *testing.T) {
	send := func(s *Service, id string, headers ...string) {
		deliver(s, id, delivery{body: `{"n":1}`, headers: append(headers, "Idempotency-Key: k")})
	}
	for _, c := range []struct {
		name    string
		kind    blueprint.TriggerType
		config  map[string]any
		deliver func(s *Service, id string)
		bounded bool
	}{
		{"webhook", "webhook", nil, func(s *Service, id string) { send(s, id) }, true},
		{"webhook with a secret", "webhook", map[string]any{"secret": "s"}, func(s *Service, id string) { send(s, id, "X-Signature: "+hexMAC("s", `{"n":1}`)) }, false},
		{"mail", "email", nil, func(s *Service, _ string) { _ = s.ReceiveMail(t.Context(), "box", letter("<1@example.org>")) }, true},
		{"mail of a sender that must be authenticated", "email", map[string]any{"requireAuth": true, "allowFrom": []any{"a@example.org"}}, func(s *Service, _ string) {
			mail := letter("<1@example.org>")
			mail.Check.Passed = true
			_ = s.ReceiveMail(t.Context(), "box", mail)
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(c.kind, c.config, begin)
			s := newService(m, clock.NewVirtual(begin), mailTo(id))
			for range 1 + rowBurst + 50 {
				c.deliver(s, id)
			}
			rows := m.snapshot()
			want := 1 + rowBurst + 50
			if c.bounded {
				want = 1 + rowBurst
			}
			if len(rows) != want || len(m.runs()) != 1 {
				t.Errorf("%d rows and %d runs, want %d and 1", len(rows), len(m.runs()), want)
			}
			if d := rows[0].Delivery; !d.IsComplete() {
				t.Error("the first is not kept")
			}
			if d := rows[1].Delivery; d.IsComplete() || d.Body != nil || d.Size == 0 {
				t.Errorf("the second has the delivery %+v, want only its size", d)
			}
			if rows[1].Decision != blueprint.DecisionDuplicate || rows[1].Files != nil {
				t.Errorf("the second is %+v, want a duplicate without files", rows[1])
			}
			_, _, err := s.Redeliver(t.Context(), me, rows[1].ID)
			if blueprint.CodeOf(err) != blueprint.CodeBadRequest || !strings.Contains(err.Error(), "with firing "+rows[0].ID) {
				t.Errorf("redelivered: %v, want %v and %q in it", err, blueprint.CodeBadRequest, "with firing "+rows[0].ID)
			}
			s.stopThrottle()
		})
	}
}

// What a limit leaves out is bounded as well.
func TestSkippedDeliveriesDoNotFillTheLedger(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	m.refuseStart = func(*blueprint.StartRequest) error { return &blueprint.ConcurrencyLimitError{Limit: 1, Running: 1} }
	s := newService(m, clock.NewVirtual(begin))
	for i := range rowBurst + 50 {
		if w := deliver(s, id, delivery{}); w.Code != 200 || answer(t, w)["skipped"] != true {
			t.Fatalf("%d: %d %s, want 200 and skipped true", i, w.Code, w.Body)
		}
	}
	if rows := m.snapshot(); len(rows) != rowBurst || rows[0].Decision != blueprint.DecisionSkipped {
		t.Errorf("%d rows, the first %+v; want %v and Decision %v", len(rows), rows[0], rowBurst, blueprint.DecisionSkipped)
	}
	s.stopThrottle()
}

// A header that authenticates a sender to some service is not passed to the run.
func TestProofsOfOtherServices(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	for _, name := range []string{"X-Gitlab-Token", "X-Shopify-Hmac-Sha256", "X-Twilio-Signature", "X-Api-Key", "Apikey", "X-Line-Signature", "X-Webhook-Secret", "X-Password", "X-Forwarded-Authorization"} {
		w := deliver(newService(m, clock.NewVirtual(begin)), id, delivery{headers: []string{name + ": hidden", "X-Gitlab-Event: push"}})
		headers := m.runs()[len(m.runs())-1].Trigger.Headers
		d := m.lastRow(t).Delivery
		if w.Code != 202 || headers["x-gitlab-event"] != "push" || len(d.Proof) != 1 {
			t.Errorf("%s: %d, headers %v, delivery %+v; want 202, x-gitlab-event push and length 1", name, w.Code, headers, d)
		}
		for key, value := range headers {
			if value == "hidden" || d.Header[key] != nil && d.Header[key][0] == "hidden" {
				t.Errorf("the run sees %s", key)
			}
		}
	}
	old := &blueprint.Delivery{Header: map[string][]string{"x-gitlab-token": {"hidden"}, "x-gitlab-event": {"push"}}}
	if headers := headersOf(old); len(headers) != 1 {
		t.Errorf("a row from before: %v, want length 1", headers)
	}
}

// A signature that was refused is not right because there is no secret any more.
func TestRedeliverForgery(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	s := newService(m, v)
	id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": "s"}, begin)
	deliver(s, id, delivery{body: "{}", headers: []string{"X-Signature: " + hexMAC("t", "{}")}})
	forged := m.lastRow(t)
	deliver(s, id, delivery{body: "{", headers: []string{"X-Signature: " + hexMAC("s", "{")}})
	for _, c := range []struct {
		config map[string]any
		runs   bool
	}{{nil, false}, {map[string]any{"secret": "u"}, false}, {map[string]any{"secret": "t"}, true}} {
		t.Run(fmt.Sprint(c.config), func(t *testing.T) {
			m.change(id, func(b *blueprint.Binding) { b.Trigger.Config = c.config })
			_, _, err := s.Redeliver(t.Context(), me, forged.ID)
			if (err == nil) != c.runs || err != nil && blueprint.CodeOf(err) != blueprint.CodeBadRequest {
				t.Error(err)
			}
		})
	}
}

// A secret that was replaced cannot be kept good for ever.
func TestPreviousSecretIsBounded(t *testing.T) {
	s := newService(newMemory(), clock.NewVirtual(begin))
	for _, c := range []struct {
		kind         blueprint.TriggerType
		secret, path string
	}{{"webhook", "secret", "previousSecret"}, {"slack", "signingSecret", "previousSigningSecret"}} {
		t.Run(fmt.Sprint(c.kind), func(t *testing.T) {
			for until, good := range map[time.Duration]bool{time.Hour: true, 30 * 24 * time.Hour: true, 30*24*time.Hour + time.Second: false, 24 * 365 * time.Hour: false} {
				t.Run(fmt.Sprint(until), func(t *testing.T) {
					_, issues := s.Settle(c.kind, nil, map[string]any{c.secret: "a secret", c.path: "an older one", c.path + "Until": begin.Add(until).Format(time.RFC3339)})
					if (len(issues) == 0) != good || !good && issues[0].Path[0] != c.path+"Until" {
						t.Errorf("%s %s: %v", c.kind, until, issues)
					}
				})
			}
		})
	}
}

// Why a run cannot start is for who manages the blueprint, and for senders who prove
// that they know the secret.
func TestStrangersAreNotToldWhyNothingStarts(t *testing.T) {
	for _, secret := range []any{nil, "s"} {
		for _, code := range []blueprint.Code{blueprint.CodeBadRequest, blueprint.CodeForbidden} {
			m := newMemory()
			config := map[string]any{}
			if secret != nil {
				config["secret"] = secret
			}
			id := m.trigger(blueprint.TriggerWebhook, config, begin)
			m.refuseStart = func(*blueprint.StartRequest) error {
				return blueprint.Errorf(code, "variables.customer_token: required")
			}
			s := newService(m, clock.NewVirtual(begin))
			w := deliver(s, id, delivery{body: `{"n":1}`, headers: []string{"X-Signature: " + hexMAC("s", `{"n":1}`)}})
			row := m.snapshot()[0]
			if w.Code != code.HTTPStatus() || strings.Contains(w.Body.String(), "customer_token") != (secret != nil) || !strings.Contains(row.Reason, "customer_token") {
				t.Errorf("%v: %d %s, the ledger says %q", secret, w.Code, w.Body, row.Reason)
			}
			s.stopThrottle()
		}
	}
}
