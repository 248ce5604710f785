package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"blueprintd/server"
	"blueprintd/store"
	"blueprintd/tests/servertest"
)

// hmacOf returns the digest with which senders sign.
func hmacOf(secret, text string) []byte {
	made := hmac.New(sha256.New, []byte(secret))
	made.Write([]byte(text))
	return made.Sum(nil)
}

// TestClockOfSignatures signs at noon and delivers at another time of the clock: a sender's
// clock may differ by five minutes.
func TestClockOfSignatures(t *testing.T) {
	t.Parallel()
	const body = `{"type": "event_callback", "event_id": "E", "event": {}}`
	for _, test := range []struct {
		ahead  time.Duration // by how much the sender's clock is ahead
		then   string        // what passes before the delivery
		status int
	}{
		{0, "0s", 202}, {0, "300s", 202}, {0, "300001ms", 401}, {0, "301s", 401}, {0, "30d", 401},
		{5 * time.Minute, "0s", 202}, {5*time.Minute + time.Second, "0s", 401}, {5*time.Minute + time.Second, "1s", 202}, {time.Hour, "55m", 202}, {time.Hour, "65m1s", 401},
	} {
		t.Run(fmt.Sprint(test.ahead, " then ", test.then), func(t *testing.T) {
			s := servertest.New(t, servertest.AtNoon)
			id := s.Root.Blueprint(t, "t", node("a", "merge", object{}))
			create := func(kind string, config object) string {
				return s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": config})
			}
			at := strconv.FormatInt(servertest.Noon.Add(test.ahead).Unix(), 10)
			standard, slack := create("webhook", object{"secret": "s"}), create("slack", object{"signingSecret": "s"})
			s.Advance(t, test.then)
			nobody := servertest.Caller{Server: s}
			answer := nobody.Send(t, http.MethodPost, "/webhooks/blueprint/"+standard, body, "webhook-id", "m", "webhook-timestamp", at,
				"webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(hmacOf("s", "m."+at+"."+body)))
			if answer.Status != test.status {
				t.Errorf("%v ahead, after %s: %d %s; want %v", test.ahead, test.then, answer.Status, answer.Text, test.status)
			}
			answer = nobody.Send(t, http.MethodPost, "/webhooks/slack/"+slack, body, "X-Slack-Request-Timestamp", at, "X-Slack-Signature", "v0="+hex.EncodeToString(hmacOf("s", "v0:"+at+":"+body)))
			if want := map[int]int{202: 200, 401: 401}[test.status]; answer.Status != want {
				t.Errorf("Slack %v ahead, after %s: %d %s; want %v", test.ahead, test.then, answer.Status, answer.Text, want)
			}
		})
	}
}

// TestClockOfRotation: the previous secret is valid until its time is over.
func TestClockOfRotation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		keep, then string
		status     int
	}{{"", "0s", 202}, {"", "23h59m59.999s", 202}, {"", "24h", 401}, {"0s", "0s", 401}, {"7d", "6d", 202}, {"7d", "7d", 401}} {
		t.Run(test.keep+" "+test.then, func(t *testing.T) {
			s := servertest.New(t, servertest.AtNoon)
			id := s.Root.Blueprint(t, "t", node("a", "merge", object{}))
			trigger := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": "old"}})
			input := object{"triggerId": trigger, "secret": "new"}
			if test.keep != "" {
				input["keepPreviousFor"] = test.keep
			}
			s.Root.OK(t, "blueprintTriggers.rotateSecret", input)
			s.Advance(t, test.then)
			for secret, want := range map[string]int{"old": test.status, "new": 202} {
				t.Run(secret, func(t *testing.T) {
					if answer := (servertest.Caller{Server: s}).Send(t, http.MethodPost, "/webhooks/blueprint/"+trigger, "{}", "X-Webhook-Signature", hex.EncodeToString(hmacOf(secret, "{}"))); answer.Status != want {
						t.Errorf("kept for %q, after %s, the %s one: %d %s; want %v", test.keep, test.then, secret, answer.Status, answer.Text, want)
					}
				})
			}
		})
	}
}

// TestClockOfPauses: after repeated failures, a webhook without a secret is paused for 15
// minutes; then the next delivery activates it.
func TestClockOfPauses(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	id := s.Root.Blueprint(t, "fails", node("a", "stop", object{"failed": true, "message": "no"}))
	trigger := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook"})
	s.Advance(t, "1s")
	deliver := func() servertest.Reply {
		return (servertest.Caller{Server: s}).Send(t, http.MethodPost, "/webhooks/blueprint/"+trigger, "{}")
	}
	for i := range 20 {
		if answer := deliver(); answer.Status != 202 {
			t.Fatalf("delivery %d: %d %s, want 202", i, answer.Status, answer.Text)
		}
		s.Advance(t, "0s")
	}
	for _, step := range []struct {
		by, retry string
		status    int
	}{{"0s", "900", 503}, {"14m59s", "1", 503}, {"999ms", "1", 503}, {"1ms", "", 202}, {"0s", "900", 503}} {
		s.Advance(t, step.by)
		answer := deliver()
		if answer.Status != step.status || answer.Header.Get("Retry-After") != step.retry {
			t.Errorf("after %s: %d %s, Retry-After %q; want %v and %v", step.by, answer.Status, answer.Text, answer.Header.Get("Retry-After"), step.status, step.retry)
		}
		s.Advance(t, "0s")
	}
}

// TestClockOfKeys: a repeated delivery is a duplicate for three days, however little of the
// ledger is kept, and starts a run later.
func TestClockOfKeys(t *testing.T) {
	t.Parallel()
	keep := func(o *server.Options) {
		o.KeepFirings, o.KeepExecutions = store.Keep{Age: time.Hour}, store.Keep{Age: time.Hour}
	}
	s := servertest.New(t, servertest.AtNoon, keep)
	id := s.Root.Blueprint(t, "t", node("a", "merge", object{}))
	hook := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook"})
	api := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "api"})
	once := map[string]bool{}
	for _, step := range []struct {
		by   string
		news bool
	}{{"0s", true}, {"1h", false}, {"70h", false}, {"59m", false}, {"70m", true}, {"71h", false}} {
		s.Advance(t, step.by)
		for _, path := range []string{"/webhooks/blueprint/" + hook, "/v1/triggers/" + api + "/fire"} {
			answer := s.Root.Send(t, http.MethodPost, path, "{}", "Idempotency-Key", "one")
			run, _ := at(answer.Value, "executionId").(string)
			if once[run] == step.news || run == "" || (answer.Status == 202) != step.news {
				t.Errorf("%s after %s more: %d %s, want a new run: %v", path, step.by, answer.Status, answer.Text, step.news)
			}
			once[run] = true
		}
	}
}
