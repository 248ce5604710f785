package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"testing"
	"time"

	"blueprintd/server"
	"blueprintd/store"
)

// hmacOf returns the bytes with which senders sign.
func hmacOf(secret, text string) []byte {
	made := hmac.New(sha256.New, []byte(secret))
	made.Write([]byte(text))
	return made.Sum(nil)
}

// TestClockOfSignatures signs at noon, and delivers when the clock stands
// elsewhere: five minutes are what a sender's clock may differ.
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
		s := newService(t, atNoon)
		id := s.root.blueprint(t, "t", node("a", "merge", object{}))
		create := func(kind string, config object) string {
			return s.root.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": config})
		}
		at := strconv.FormatInt(noon.Add(test.ahead).Unix(), 10)
		standard, slack := create("webhook", object{"secret": "s"}), create("slack", object{"signingSecret": "s"})
		s.advance(t, test.then)
		nobody := person{service: s}
		answer := nobody.send(t, http.MethodPost, "/webhooks/blueprint/"+standard, body, "webhook-id", "m", "webhook-timestamp", at,
			"webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(hmacOf("s", "m."+at+"."+body)))
		if answer.status != test.status {
			t.Errorf("%v ahead, after %s: %d %s", test.ahead, test.then, answer.status, answer.text)
		}
		answer = nobody.send(t, http.MethodPost, "/webhooks/slack/"+slack, body, "X-Slack-Request-Timestamp", at, "X-Slack-Signature", "v0="+hex.EncodeToString(hmacOf("s", "v0:"+at+":"+body)))
		if want := map[int]int{202: 200, 401: 401}[test.status]; answer.status != want {
			t.Errorf("Slack %v ahead, after %s: %d %s", test.ahead, test.then, answer.status, answer.text)
		}
	}
}

// TestClockOfRotation: the secret that was replaced is good until its time is over.
func TestClockOfRotation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		keep, then string
		status     int
	}{{"", "0s", 202}, {"", "23h59m59.999s", 202}, {"", "24h", 401}, {"0s", "0s", 401}, {"7d", "6d", 202}, {"7d", "7d", 401}} {
		s := newService(t, atNoon)
		id := s.root.blueprint(t, "t", node("a", "merge", object{}))
		trigger := s.root.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": "old"}})
		input := object{"triggerId": trigger, "secret": "new"}
		if test.keep != "" {
			input["keepPreviousFor"] = test.keep
		}
		s.root.ok(t, "blueprintTriggers.rotateSecret", input)
		s.advance(t, test.then)
		for secret, want := range map[string]int{"old": test.status, "new": 202} {
			if answer := (person{service: s}).send(t, http.MethodPost, "/webhooks/blueprint/"+trigger, "{}", "X-Webhook-Signature", hex.EncodeToString(hmacOf(secret, "{}"))); answer.status != want {
				t.Errorf("kept for %q, after %s, the %s one: %d %s", test.keep, test.then, secret, answer.status, answer.text)
			}
		}
	}
}

// TestClockOfPauses: a webhook without a secret whose runs kept failing rests for
// a quarter of an hour, then the next delivery switches it on.
func TestClockOfPauses(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	id := s.root.blueprint(t, "fails", node("a", "stop", object{"failed": true, "message": "no"}))
	trigger := s.root.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook"})
	s.advance(t, "1s")
	deliver := func() reply {
		return (person{service: s}).send(t, http.MethodPost, "/webhooks/blueprint/"+trigger, "{}")
	}
	for i := range 20 {
		if answer := deliver(); answer.status != 202 {
			t.Fatalf("delivery %d: %d %s", i, answer.status, answer.text)
		}
		s.advance(t, "0s")
	}
	for _, test := range []struct {
		by, retry string
		status    int
	}{{"0s", "900", 503}, {"14m59s", "1", 503}, {"999ms", "1", 503}, {"1ms", "", 202}, {"0s", "900", 503}} {
		s.advance(t, test.by)
		answer := deliver()
		if answer.status != test.status || answer.header.Get("Retry-After") != test.retry {
			t.Errorf("after %s: %d %s, Retry-After %q", test.by, answer.status, answer.text, answer.header.Get("Retry-After"))
		}
		s.advance(t, "0s")
	}
}

// TestClockOfKeys: a delivery that comes again within three days is a duplicate,
// however little of the ledger is kept, and a run of its own later.
func TestClockOfKeys(t *testing.T) {
	t.Parallel()
	keep := func(o *server.Options) {
		o.KeepFirings, o.KeepExecutions = store.Keep{Age: time.Hour}, store.Keep{Age: time.Hour}
	}
	s := newService(t, atNoon, keep)
	id := s.root.blueprint(t, "t", node("a", "merge", object{}))
	hook := s.root.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook"})
	api := s.root.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "api"})
	once := map[string]bool{}
	for _, test := range []struct {
		by   string
		news bool
	}{{"0s", true}, {"1h", false}, {"70h", false}, {"59m", false}, {"70m", true}, {"71h", false}} {
		s.advance(t, test.by)
		for _, path := range []string{"/webhooks/blueprint/" + hook, "/v1/triggers/" + api + "/fire"} {
			answer := s.root.send(t, http.MethodPost, path, "{}", "Idempotency-Key", "one")
			run, _ := at(answer.value, "executionId").(string)
			if once[run] == test.news || run == "" || (answer.status == 202) != test.news {
				t.Errorf("%s after %s more: %d %s", path, test.by, answer.status, answer.text)
			}
			once[run] = true
		}
	}
}
