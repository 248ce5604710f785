package triggers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// mailService is a service with one mailbox for every email trigger, whose local
// part is the trigger's id.
func mailService(m *memory, c clock.Clock) *Service {
	return newService(m, c, func(o *Options) {
		o.Mail = MailOptions{
			Domain:  "flows.example.org",
			Mailbox: func(_ context.Context, address string) (string, error) { return address, nil },
			FileURL: func(id string) string { return id },
		}
	})
}

// arrived returns a mail from an address; domain is the authenticated domain or empty.
func arrived(id, from, domain, body string) *blueprint.ReceivedMail {
	return &blueprint.ReceivedMail{
		Raw:   []byte("Received: " + blueprint.TimeOf(begin).String() + "\r\n\r\n" + body),
		Mail:  &blueprint.Mail{MessageID: id, From: []blueprint.MailAddress{{Address: from}}, Text: body},
		Check: blueprint.SenderCheck{Passed: domain != "", Domain: domain},
	}
}

// TestSameMail checks that a mail starts one run however often it is sent, and that its
// Message-ID cannot suppress a mail of another sender.
func TestSameMail(t *testing.T) {
	const digest = " sha256:"
	long := strings.Repeat("x", 300)
	for name, c := range map[string]struct {
		mails []*blueprint.ReceivedMail
		want  string // decisions
		keys  []string
	}{
		"again":                     {[]*blueprint.ReceivedMail{arrived("<1>", "a@b", "", "x"), arrived("<1>", "a@b", "", "x")}, "started duplicate", []string{"<1>", "<1>"}},
		"another body":              {[]*blueprint.ReceivedMail{arrived("<1>", "a@b", "", "x"), arrived("<1>", "A@b", "", "y")}, "started duplicate", []string{"<1>", "<1>"}},
		"another author":            {[]*blueprint.ReceivedMail{arrived("<1>", "e@f", "", "x"), arrived("<1>", "a@b", "", "x"), arrived("<1>", "e@f", "", "x")}, "started started duplicate", []string{"<1>", "<1>" + digest, "<1>"}},
		"one domain":                {[]*blueprint.ReceivedMail{arrived("<1>", "a@b", "b", "x"), arrived("<1>", "a@b", "b", "x and a footer")}, "started duplicate", []string{"<1>", "<1>"}},
		"forged first":              {[]*blueprint.ReceivedMail{arrived("<1>", "a@b", "", "forged"), arrived("<1>", "a@b", "b", "x"), arrived("<1>", "a@b", "b", "x")}, "started started duplicate", []string{"<1>", "<1>" + digest, "<1>" + digest}},
		"DNS fails the second time": {[]*blueprint.ReceivedMail{arrived("<1>", "a@b", "b", "x"), arrived("<1>", "a@b", "", "x")}, "started duplicate", []string{"<1>", "<1>"}},
		"no id":                     {[]*blueprint.ReceivedMail{arrived("", "a@b", "", "x"), arrived("", "a@b", "", "x")}, "started started", nil},
		"a long id":                 {[]*blueprint.ReceivedMail{arrived(long, "a@b", "", "x"), arrived(long, "e@f", "", "y"), arrived(long, "e@f", "", "y")}, "started started duplicate", nil},
		"a forged long key":         {[]*blueprint.ReceivedMail{arrived("<1> sha256:0000000000000000", "a@b", "", "x")}, "started", []string{"sha256:"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			service := mailService(m, clock.NewVirtual(begin))
			id := m.trigger(blueprint.TriggerEmail, map[string]any{}, begin)
			for _, one := range c.mails {
				if err := service.ReceiveMail(t.Context(), id, one); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for i, row := range m.snapshot() {
				got = append(got, string(row.Decision))
				if c.keys != nil && (!strings.HasPrefix(row.Key, c.keys[i]) || strings.Contains(row.Key, digest) != strings.HasSuffix(c.keys[i], digest)) {
					t.Errorf("row %d has the key %q, not %q", i, row.Key, c.keys[i])
				}
				if len(row.Key) > maxKey {
					t.Errorf("%d bytes of key, want at most %v", len(row.Key), maxKey)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, want %s", got, c.want)
			}
		})
	}
}

// TestQuickerMail: another mail of its Message-ID is decided while a mail is, and
// both run, each once.
func TestQuickerMail(t *testing.T) {
	for _, other := range []string{"e@f", "a@b"} {
		m := newMemory()
		service := mailService(m, clock.NewVirtual(begin))
		id := m.trigger(blueprint.TriggerEmail, map[string]any{}, begin)
		once := false
		m.refuseStart = func(*blueprint.StartRequest) error {
			if !once {
				once = true
				return service.ReceiveMail(t.Context(), id, arrived("<1>", other, "", "x"))
			}
			return nil
		}
		if err := service.ReceiveMail(t.Context(), id, arrived("<1>", "a@b", "", "x")); err != nil {
			t.Fatal(err)
		}
		rows := m.snapshot()
		if len(rows) != 2 || len(m.runs()) != map[string]int{"e@f": 2, "a@b": 1}[other] || other == "a@b" && rows[1].Decision != blueprint.DecisionDuplicate {
			t.Errorf("%s: %+v", other, rows)
		}
	}
}

// TestMailIsBounded checks that mail cannot fill the disk, and that a sender that was
// deferred for that succeeds later.
func TestMailIsBounded(t *testing.T) {
	m, c := newMemory(), clock.NewVirtual(begin)
	service := mailService(m, c)
	id, other := m.trigger(blueprint.TriggerEmail, map[string]any{}, begin), m.trigger(blueprint.TriggerEmail, map[string]any{}, begin)
	send := func(to string, size int) error {
		one := arrived("", "a@b", "", "")
		one.Raw = make([]byte, size)
		return service.ReceiveMail(t.Context(), to, one)
	}
	for i, step := range []struct {
		to    string
		size  int
		after time.Duration
		full  bool
	}{
		{id, mailBurst - 1<<20, 0, false}, {id, 2 << 20, 0, false}, {id, 1, 0, true}, {other, 1, 0, false}, {id, 1, mailInterval / 2, true},
		{id, 1, 2 * mailInterval, false}, {id, 100 << 20, time.Hour, false}, {id, 1, mailInterval, true},
	} {
		if err := c.Advance(t.Context(), c.Now().Add(step.after)); err != nil {
			t.Fatal(err)
		}
		err := send(step.to, step.size)
		if full := blueprint.CodeOf(err) == blueprint.CodeTooManyRequests; full != step.full || err != nil && !full {
			t.Errorf("%d: %v, want full %v", i, err, step.full)
		}
		row := m.lastRow(t)
		if refused := row.Decision == blueprint.DecisionRefused; refused != step.full || refused && (row.Delivery.Body != nil || row.Reason != "too much mail for this address now") {
			t.Errorf("%d: %+v, want full %v", i, row, step.full)
		}
	}
	m.refuse = func(*blueprint.Firing) error { return blueprint.Errorf(blueprint.CodeUnavailable, "full") }
	for range 100 { // what starts nothing is not counted
		if err := send(other, 10<<20); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
			t.Fatalf("%v, want %v", err, blueprint.CodeUnavailable)
		}
	}
	service.stopThrottle()
}

// Several processes share the allowances of refused rows and of mail.
func TestSharedAllowances(t *testing.T) {
	m, c := newMemory(), clock.NewVirtual(begin)
	nodes := 4
	service := mailService(m, c)
	service.Nodes = func() int { return nodes }
	id := m.trigger(blueprint.TriggerEmail, map[string]any{"allowFrom": []any{"ann@example.org"}}, begin)
	for i, full := range []bool{false, true} {
		one := arrived("", "ann@example.org", "", "")
		one.Raw = make([]byte, mailBurst/nodes-1)
		if err := service.ReceiveMail(t.Context(), id, one); (blueprint.CodeOf(err) == blueprint.CodeTooManyRequests) != full {
			t.Errorf("mail %d of a share: %v, want full %v", i, err, full)
		}
	}
	before := len(m.snapshot())
	for range rowBurst {
		_ = service.ReceiveMail(t.Context(), id, arrived("", "bob@example.org", "", ""))
	}
	if rows := len(m.snapshot()) - before; rows > rowBurst/nodes || rows < rowBurst/nodes-2 {
		t.Errorf("%d rows, want %d, without those before", rows, rowBurst/nodes)
	}
	nodes = 1
	if err := c.Advance(t.Context(), begin.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	before = len(m.snapshot())
	for range rowBurst {
		_ = service.ReceiveMail(t.Context(), id, arrived("", "bob@example.org", "", ""))
	}
	if rows := len(m.snapshot()) - before; rows < 50*rowRate {
		t.Errorf("%d rows after an hour alone, want at least %d", rows, 50*rowRate)
	}
	service.stopThrottle()
}

// TestRepeatedHeader checks that the ledger says why a mail is not authenticated.
func TestRepeatedHeader(t *testing.T) {
	m := newMemory()
	service := mailService(m, clock.NewVirtual(begin))
	id := m.trigger(blueprint.TriggerEmail, map[string]any{"requireAuth": true}, begin)
	one := arrived("<1>", "a@b", "", "x")
	one.Check.Repeated = "subject"
	if err := service.ReceiveMail(t.Context(), id, one); err != nil {
		t.Fatal(err)
	}
	row := m.lastRow(t)
	if row.Decision != blueprint.DecisionSkipped || !strings.Contains(row.Reason, "the header subject several times") || fmt.Sprint(row.Delivery.Facts["repeatedHeader"]) != "subject" {
		t.Errorf("%+v, want Decision %v, \"the header subject several times\" in it and subject", row, blueprint.DecisionSkipped)
	}
	if !slices.Equal(row.Delivery.Header[senderTwice], []string{"subject"}) {
		t.Errorf("%v, want %v", row.Delivery.Header, []string{"subject"})
	}
}

// The bytes of mail that a trigger took are forgotten once they are paid back.
func TestMailBudgetsAreForgotten(t *testing.T) {
	v := clock.NewVirtual(begin)
	var budget mailBudget
	take := func(id string, bytes int) {
		t.Helper()
		a := &activation{firing: &blueprint.Firing{TriggerID: id, Delivery: &blueprint.Delivery{Body: make([]byte, bytes)}}, input: map[string]any{}}
		if _, ok := budget.take(a, v.Now(), 1); !ok {
			t.Fatalf("the first mail of %s is not taken", id)
		}
	}
	for i := range 500 {
		take(fmt.Sprint("trigger ", i), 1000)
	}
	take("busy", 10*mailRate)
	if n := len(budget.used); n != 501 {
		t.Errorf("%d are known, want 501", n)
	}
	if err := v.Advance(t.Context(), begin.Add(mailInterval+time.Second)); err != nil {
		t.Fatal(err)
	}
	take("another", 1000)
	if n := len(budget.used); n != 2 || budget.used["busy"].bytes < 8*mailRate {
		t.Errorf("later %d are known, and the busy one took %v; want 2 and bytes at least %v", n, budget.used["busy"], 8*mailRate)
	}
}
