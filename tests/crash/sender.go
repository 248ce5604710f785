package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"blueprintd/tests/process"
)

// sender delivers to one source. It repeats each delivery until there is a response, with
// the same id and body, and some others too.
type sender struct {
	*client
	source     *source
	mailServer *mailAddress // for mail
	waiting    []*delivery  // sent, without a response
	done       []*delivery
}

// work delivers until loaded ends.
func (s *sender) work(ctx, loaded context.Context) {
	for process.Pause(loaded, time.Duration(20+s.random.IntN(160))*time.Millisecond) {
		if s.api.Address() == "" {
			continue
		}
		switch {
		case len(s.waiting) > 0 && s.random.IntN(3) > 0:
			s.attempt(ctx, s.waiting[s.random.IntN(len(s.waiting))])
		case len(s.done) > 0 && s.random.IntN(6) == 0:
			s.attempt(ctx, s.done[max(0, len(s.done)-1-s.random.IntN(10))])
		case s.source.most == 0 || s.history.openOf(s.source.shape) < s.source.most:
			s.attempt(ctx, s.compose())
		}
	}
}

// finish repeats everything without a response.
func (s *sender) finish(ctx context.Context) {
	late := now().Add(maxDeliver)
	for len(s.waiting) > 0 && now().Before(late) && process.Pause(ctx, 20*time.Millisecond) {
		s.attempt(ctx, s.waiting[0])
	}
	for _, d := range s.waiting {
		s.history.violated("I10", "", "delivery %s to %s was not answered in %.0f s without a kill", d.id, s.source.shape.name, maxDeliver.Seconds())
	}
}

// maxDeliver bounds the last deliveries.
const maxDeliver = 20 * time.Second

// compose creates a new delivery.
func (s *sender) compose() *delivery {
	s.sent++
	d := &delivery{shape: s.source.shape, trigger: s.source.trigger, source: s.source, id: fmt.Sprintf("%s-%d", s.source.shape.name, s.sent)}
	if s.source.path == "" {
		s.composeEmail(d)
	} else {
		body := s.input()
		body["filler"] = fmt.Sprintf("%0*d", s.random.IntN(3000), 0)
		d.filtered = s.source.fill(s.client, d, body)
		d.body, _ = json.Marshal(body)
		d.wrongSignature = s.source.ring != nil && s.random.IntN(6) == 0
	}
	s.history.mu.Lock()
	s.history.deliveries[d.trigger+" "+d.id] = d
	s.history.mu.Unlock()
	s.waiting = append(s.waiting, d)
	return d
}

// attempt sends a delivery, and records a final response.
func (s *sender) attempt(ctx context.Context, d *delivery) {
	answered := false
	if s.source.path == "" {
		answered = s.sendEmail(d)
	} else {
		answered = s.deliverSigned(ctx, d)
	}
	for i, one := range s.waiting {
		if one == d && answered {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			s.done = append(s.done, d)
			return
		}
	}
}

// deliverSigned posts a delivery and reports whether there was a response.
func (s *sender) deliverSigned(ctx context.Context, d *delivery) bool {
	secret, old, release := "", false, func() {}
	if s.source.ring != nil {
		var number int
		number, old, release = s.source.ring.acquire(s.random)
		if secret = s.source.ring.secret(number); d.oldest == 0 {
			d.oldest = number
		}
		d.oldest = min(d.oldest, number)
	}
	if d.wrongSignature {
		secret += "x"
	}
	a := s.api.Do(ctx, "POST", s.source.path+s.source.trigger, json.RawMessage(d.body), s.source.sign(secret, d)...)
	release()
	if d.wrongSignature {
		return s.refusedSignature(d, a)
	}
	if !s.succeeded(a, "a delivery to "+d.shape.name) {
		return false
	}
	if d.filtered {
		s.skipped(d, a)
		return true
	}
	if d.execution != "" || a.Status == 200 && s.source.kind != "slack" {
		d.repeats++
	}
	s.acknowledged(d, a, a.Text("executionId"))
	s.history.count(func(n *counts) {
		switch {
		case s.source.kind == "slack":
			n.Slack++
		case s.source.ring != nil:
			n.Signed++
		}
		if old {
			n.PreviousSecrets++
		}
	})
	return true
}

// refusedSignature reads the response to a delivery with a wrong signature. Its id is not used
// up: half of them are sent again with the right one.
func (s *sender) refusedSignature(d *delivery, a answer) bool {
	if a.Err == nil && a.Status != 401 && a.Status != 503 {
		s.history.violated("I15", "", "delivery %s to %s has a wrong signature, but was answered %s", d.id, d.shape.name, a)
	}
	if a.Status == 401 {
		a.Status = 200
	}
	if !s.succeeded(a, "a delivery to "+d.shape.name) {
		return false
	}
	d.refused++
	s.history.count(func(n *counts) { n.WrongSignatures++ })
	d.wrongSignature = s.random.IntN(2) == 0
	return d.wrongSignature
}

// skipped reads the response to a delivery that the trigger's filter skips.
func (s *sender) skipped(d *delivery, a answer) {
	if process.At(a.Value, "skipped") != true || a.Text("firingId") == "" {
		s.history.violated("I15", a.Text("executionId"), "delivery %s to %s must be filtered out, but was answered %s", d.id, d.shape.name, a)
		return
	}
	d.skippedFirings = append(d.skippedFirings, a.Text("firingId"))
	s.history.count(func(n *counts) { n.Filtered++ })
}

// signer returns the headers that sign a delivery and, where the scheme has one, its
// id.
type signer func(secret string, d *delivery) []string

// unsigned only identifies the delivery.
func unsigned(_ string, d *delivery) []string { return []string{"Idempotency-Key", d.id} }

// signPlain signs the body alone.
func signPlain(secret string, d *delivery) []string {
	return []string{"X-Webhook-Signature", process.HexHMAC(secret, string(d.body)), "Idempotency-Key", d.id}
}

// signGitHub signs as GitHub does.
func signGitHub(secret string, d *delivery) []string {
	return []string{"X-Hub-Signature-256", "sha256=" + process.HexHMAC(secret, string(d.body)), "X-GitHub-Delivery", d.id, "X-GitHub-Event", "push"}
}

// signStripe signs as Stripe does: with the time, and the id in the body.
func signStripe(secret string, d *delivery) []string {
	at := strconv.FormatInt(now().Unix(), 10)
	return []string{"Stripe-Signature", "t=" + at + ",v1=" + process.HexHMAC(secret, at+"."+string(d.body))}
}

// signSlack signs as Slack does, version 0.
func signSlack(secret string, d *delivery) []string {
	at := strconv.FormatInt(now().Unix(), 10)
	return []string{"X-Slack-Request-Timestamp", at, "X-Slack-Signature", "v0=" + process.HexHMAC(secret, "v0:"+at+":"+string(d.body))}
}
