package triggers

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	hashing "hash"
	"strconv"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/triggers/signature"
)

const explainedSecret = "correct horse battery"

// storyOf is what a store would tell of the newest row.
func storyOf(t testing.TB, m *memory, id string) *blueprint.FiringStory {
	t.Helper()
	binding, err := m.Binding(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return &blueprint.FiringStory{Firing: m.lastRow(t), Trigger: binding.Trigger}
}

func hmacOf(kind func() hashing.Hash, key, text string) []byte {
	made := hmac.New(kind, []byte(key))
	made.Write([]byte(text))
	return made.Sum(nil)
}

// Each usual mistake of a sender is told by its name.
func TestLikelyCauses(t *testing.T) {
	const body = `{"name": "Ada", "n": 1.50}`
	right := func(text string) string { return hex.EncodeToString(hmacOf(sha256.New, explainedSecret, text)) }
	plain := sha256.Sum256([]byte(body))
	stamp := strconv.FormatInt(begin.Unix(), 10)
	for _, c := range []struct {
		name, body, signature, cause string
		secret                       string // "" = explainedSecret
		headers                      []string
		config                       map[string]any
	}{
		{name: "last line break added", body: body + "\n", signature: right(body), cause: "without its last line break"},
		{name: "last line break lost", signature: right(body + "\n"), cause: "with a line break at its end"},
		{name: "other line breaks", body: "{\r\n}", signature: right("{\n}"), cause: "other line breaks"},
		{name: "compact", signature: right(`{"name":"Ada","n":1.50}`), cause: "without blanks"},
		{name: "spaced", body: `{"name":"Ada, Bo: \"x\"","n":1.50}`, signature: right(`{"name": "Ada, Bo: \"x\"", "n": 1.50}`), cause: "a blank after each comma"},
		{name: "indented", signature: right("{\n  \"name\": \"Ada\",\n  \"n\": 1.50\n}"), cause: "indents"},
		{name: "sorted", signature: right(`{"n":1.50,"name":"Ada"}`), cause: "keys in order"},
		{name: "empty", signature: right(""), cause: "an empty body"},
		{name: "byte order mark", body: "\xef\xbb\xbf{}", signature: right("{}"), cause: "byte order mark"},
		{name: "SHA-1", signature: hex.EncodeToString(hmacOf(sha1.New, explainedSecret, body)), cause: "HMAC-SHA1 made with the right secret"},
		{name: "SHA-1 with its mark", signature: "sha1=" + hex.EncodeToString(hmacOf(sha1.New, explainedSecret, body)), cause: "HMAC-SHA1"},
		{name: "SHA-512", signature: hex.EncodeToString(hmacOf(sha512.New, explainedSecret, body)), cause: "HMAC-SHA512"},
		{name: "base64", signature: base64.StdEncoding.EncodeToString(hmacOf(sha256.New, explainedSecret, body)), cause: "written in another way"},
		{name: "base64 for URLs", signature: base64.RawURLEncoding.EncodeToString(hmacOf(sha256.New, explainedSecret, body)), cause: "written in another way"},
		{name: "no HMAC", signature: hex.EncodeToString(plain[:]), cause: "without an HMAC"},
		{name: "secret with a line break", signature: hex.EncodeToString(hmacOf(sha256.New, explainedSecret+"\n", body)), cause: "secret ends in a line break: remove it there"},
		{name: "secret pasted with blanks", secret: " " + explainedSecret + " ", signature: right(body), cause: "blanks around it"},
		{name: "secret as hexadecimal", secret: "00ff00ff00ff", signature: hex.EncodeToString(hmacOf(sha256.New, "\x00\xff\x00\xff\x00\xff", body)), cause: "hexadecimal"},
		{name: "secret of the past", signature: hex.EncodeToString(hmacOf(sha256.New, "the previous one", body)), cause: "whose time is over",
			config: map[string]any{"previousSecret": "the previous one", "previousSecretUntil": "2020-01-01T00:00:00Z"}},
		{name: "another secret", signature: hex.EncodeToString(hmacOf(sha256.New, "another", body)), cause: "another secret"},
		{name: "nothing like it", signature: "hello", cause: "no signature of a known form"},
		{name: "none", cause: "does not sign"},
		{name: "another name", headers: []string{"X-Shopify-Hmac-Sha256: abc"}, cause: "x-shopify-hmac-sha256"},
		{name: "Standard Webhooks of the body alone", cause: "signs the body alone", headers: []string{"webhook-id: m", "webhook-timestamp: " + stamp,
			"webhook-signature: v1," + base64.StdEncoding.EncodeToString(hmacOf(sha256.New, explainedSecret, body))}},
		{name: "Standard Webhooks, too old", cause: "the signature fits; only its time is too old", headers: []string{"webhook-id: m", "webhook-timestamp: 1000",
			"webhook-signature: v1," + base64.StdEncoding.EncodeToString(hmacOf(sha256.New, explainedSecret, "m.1000."+body))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := map[string]any{"secret": explainedSecret}
			if c.secret != "" {
				config["secret"] = c.secret
			}
			for name, value := range c.config {
				config[name] = value
			}
			if c.body == "" {
				c.body = body
			}
			if c.signature != "" {
				c.headers = append(c.headers, "X-Webhook-Signature: "+c.signature)
			}
			m := newMemory()
			id := m.trigger(blueprint.TriggerWebhook, config, begin)
			s := newService(m, clock.NewVirtual(begin))
			if w := deliver(s, id, delivery{body: c.body, headers: c.headers}); w.Code != 401 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			x := s.Explain(storyOf(t, m, id))
			text, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, detail := range x.Details {
				found = found || detail.Label == "likely cause" && strings.Contains(detail.Text, c.cause)
			}
			if !found || x.Facts["bodyBytes"] != len(c.body) || x.Delivery.Size != int64(len(c.body)) || x.Next == "" {
				t.Errorf("%s", text)
			}
			unseen(t, string(text), explainedSecret, right(c.body), "the previous one", c.signature, base64.StdEncoding.EncodeToString(hmacOf(sha256.New, explainedSecret, c.body)))
		})
	}
}

// unseen looks for what must not be told.
func unseen(t *testing.T, text string, hidden ...string) {
	t.Helper()
	for _, secret := range hidden {
		if len(secret) > 5 && strings.Contains(text, secret) {
			t.Errorf("%q is in %s", secret, text)
		}
	}
}

// A secret is hidden wherever a sender repeats it.
func TestExplainHidesSecrets(t *testing.T) {
	signature := hexMAC("no", "such")
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": explainedSecret, "previousSecret": "the previous one", "previousSecretUntil": "2099-01-01T00:00:00Z"}, begin)
	s := newService(m, clock.NewVirtual(begin))
	body := `{"text":"` + explainedSecret + ` and the previous one and ` + signature + `","long":"` + strings.Repeat("ü", maxShownBody) + `"}`
	deliver(s, id, delivery{body: body, headers: []string{
		"X-Webhook-Signature: " + signature, "Authorization: Bearer planted-authorization", "Cookie: a=planted-cookie", "X-Api-Key: planted-api-key",
		"X-Gitlab-Token: planted-token", "X-Note: my secret is " + explainedSecret, "X-Again: " + signature, "X-Fine: fine",
	}})
	story := storyOf(t, m, id)
	story.Firing.Delivery.Note("more", map[string]any{"a": []any{"it was " + explainedSecret}})
	x := s.Explain(story)
	text, _ := json.Marshal(x)
	unseen(t, string(text), explainedSecret, "the previous one", signature, "planted", hexMAC(explainedSecret, body))
	if x.Delivery.Headers["x-fine"] != "fine" || !x.Delivery.BodyTruncated || len(*x.Delivery.Body) > maxShownBody || !strings.Contains(*x.Delivery.Body, "*** and ***") {
		t.Errorf("%.2000s", text)
	}
}

// What became of a firing is said in a sentence, with what to do.
func TestExplainWords(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerScheduled, map[string]any{"cron": "0 9 * * *", "timezone": "Europe/Zurich"}, begin)
	s := newService(m, clock.NewVirtual(begin))
	binding, _ := m.Binding(t.Context(), id)
	run := "exec_1_a"
	for _, c := range []struct {
		firing            blueprint.Firing
		status            blueprint.Status
		paused            *blueprint.Trip
		summary, next, in string
	}{
		{firing: blueprint.Firing{Source: "schedule", Decision: "started", DueAt: blueprint.TimeOf(begin)}, status: "completed",
			summary: "The tick of 2026-03-02 10:00 CET (09:00 UTC) started exec_1_a, which completed."},
		{firing: blueprint.Firing{Source: "webhook", Key: "abc", Decision: "started"}, status: "failed",
			summary: "A delivery with the id abc started exec_1_a, which failed: no luck.", next: "execution.retry"},
		{firing: blueprint.Firing{Source: "api", Decision: "started"}, status: "paused", summary: "A call started exec_1_a, which is paused until somebody answers.", next: "execution.resume"},
		{firing: blueprint.Firing{Source: "event", Decision: "started"}, status: "running", summary: "An event started exec_1_a, which has not ended."},
		{firing: blueprint.Firing{Source: "manual", Decision: "started"}, status: "not_found", summary: "A firing by hand started exec_1_a, whose record is no longer stored."},
		{firing: blueprint.Firing{Source: "email", Key: "m", Decision: "duplicate"}, status: "completed",
			summary: "A mail with the id m came again and started nothing: its key had started exec_1_a, which completed.", next: "nothing"},
		{firing: blueprint.Firing{Source: "schedule", Decision: "coalesced", Why: blueprint.Because(blueprint.ReasonStandsIn, "count", 3, "first", "a", "last", "b", "tick", "c")},
			summary: "3 ticks from a to b were missed; the one of c stands in.", next: "nothing"},
		{firing: blueprint.Firing{Source: "schedule", Decision: "skipped", Why: blueprint.Because(blueprint.ReasonMissed, "count", 1, "first", "a", "last", "a")}, summary: `The tick of a was missed; catchUp is "none".`, next: "catchUp"},
		{firing: blueprint.Firing{Source: "slack", Decision: "skipped", Why: blueprint.Saying(blueprint.ReasonMessage, "another channel")}, summary: "A message from Slack was left out: another channel.", next: "judges it anew"},
		{firing: blueprint.Firing{Source: "manual", Decision: "refused", Why: blueprint.Because(blueprint.ReasonOff)}, summary: "A firing by hand was refused, and nothing ran: the trigger is not active.", next: "fire it again"},
		{firing: blueprint.Firing{Source: "manual", Decision: "refused", Why: lostAccess}, summary: "A firing by hand was refused, and nothing ran: the trigger's creator can no longer manage the blueprint.", next: "access"},
		{firing: blueprint.Firing{Source: "redelivery", Decision: "refused", Why: blueprint.Saying(blueprint.ReasonMessage, "no").With("again", "X"), Delivery: &blueprint.Delivery{Facts: map[string]any{"of": "X"}}},
			summary: "A redelivery was refused, and nothing ran: firing X again: no.", next: "explain says more of firing X", in: "it is stored with firing X"},
		{firing: blueprint.Firing{Source: "manual", Decision: "refused", Why: blueprint.Saying(blueprint.ReasonMessage, "x")}, paused: &blueprint.Trip{Failures: 20, ExecutionID: "exec_1_a"}, next: "send it again",
			summary: "A firing by hand was refused, and nothing ran: x.", in: "the server did, because 20 runs in a row failed"},
	} {
		story := &blueprint.FiringStory{Firing: c.firing, Trigger: binding.Trigger, Tripped: c.paused}
		story.Firing.ID = "F"
		story.Firing.Because(c.firing.Why)
		if story.Firing.Key == "" {
			story.Firing.Key = "F"
		}
		if c.status != "" {
			story.Firing.ExecutionID, story.Run = &run, &blueprint.FiringRun{ExecutionID: run, Status: c.status}
			if c.status == "failed" {
				story.Run.Error = "no luck"
			}
		}
		x := s.Explain(story)
		text, _ := json.Marshal(x)
		if x.Summary != c.summary || !strings.Contains(x.Next, c.next) || !strings.Contains(string(text), c.in) {
			t.Errorf("%s", text)
		}
	}
}

func FuzzLikelyCauses(f *testing.F) {
	f.Add("X-Webhook-Signature", "sha1=00", `{"a": 1}`)
	f.Add("Webhook-Signature", "v1,AAAA v1,BB==", "\r\n")
	f.Fuzz(func(t *testing.T, name, sent, body string) {
		m := newMemory()
		id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": explainedSecret}, begin)
		s := newService(m, clock.NewVirtual(begin.Add(time.Second)))
		d := &blueprint.Delivery{Body: []byte(body), Size: int64(len(body)), Proof: map[string][]string{strings.ToLower(name): {sent}}}
		d.Note(signature.FactHeader, name)
		d.Note(signature.FactExpected, "x")
		story := &blueprint.FiringStory{Firing: blueprint.Firing{TriggerID: id, Source: "webhook", Decision: "refused", Delivery: d}, Trigger: m.bindings[id].Trigger}
		text, err := json.Marshal(s.Explain(story).Details)
		if err != nil || !strings.Contains(sent+body+name, explainedSecret) && strings.Contains(string(text), explainedSecret) {
			t.Errorf("%v %s", err, text)
		}
	})
}
