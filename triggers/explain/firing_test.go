package explain

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
	"blueprintd/triggers/signature"
)

const explainedSecret = "correct horse battery"

// asOf is when the deliveries and ticks of the tests came.
var asOf = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// refused is what a store would tell of a delivery to a webhook that was refused
// for its signature.
func refused(t testing.TB, config map[string]any, body string, headers ...string) *blueprint.FiringStory {
	t.Helper()
	d := &blueprint.Delivery{Body: []byte(body), Size: int64(len(body)), Header: map[string][]string{}, Proof: map[string][]string{}}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		switch name = strings.ToLower(name); {
		case signature.Confidential[name]:
		case signature.IsProof(name):
			d.Proof[name] = append(d.Proof[name], value)
		default:
			d.Header[name] = append(d.Header[name], value)
		}
	}
	at := blueprint.TimeOf(asOf)
	story := &blueprint.FiringStory{
		Trigger: blueprint.Trigger{ID: "T", Type: blueprint.TriggerWebhook, IsActive: true, Config: config},
		Firing:  blueprint.Firing{ID: "F", TriggerID: "T", Key: "F", Source: blueprint.SourceWebhook, ReceivedAt: at, Decision: blueprint.DecisionRefused, Delivery: d},
	}
	failure := signature.Check(&story.Trigger, &story.Firing, asOf, asOf)
	if failure == nil {
		t.Fatalf("%q is accepted", headers)
	}
	story.Firing.Because(failure.Because())
	return story
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
	stamp := strconv.FormatInt(asOf.Unix(), 10)
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
			x := Firing(refused(t, config, c.body, c.headers...), asOf)
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
	sent := hex.EncodeToString(hmacOf(sha256.New, "no", "such"))
	config := map[string]any{"secret": explainedSecret, "previousSecret": "the previous one", "previousSecretUntil": "2099-01-01T00:00:00Z"}
	body := `{"text":"` + explainedSecret + ` and the previous one and ` + sent + `","long":"` + strings.Repeat("ü", maxShownBody) + `"}`
	story := refused(t, config, body,
		"X-Webhook-Signature: "+sent, "Authorization: Bearer planted-authorization", "Cookie: a=planted-cookie", "X-Api-Key: planted-api-key",
		"X-Gitlab-Token: planted-token", "X-Note: my secret is "+explainedSecret, "X-Again: "+sent, "X-Fine: fine", "X-Event: a hidden value",
	)
	story.Firing.Delivery.Hidden = []string{"a hidden value"}
	story.Firing.Delivery.Note("more", map[string]any{"a": []any{"it was " + explainedSecret}})
	x := Firing(story, asOf)
	text, _ := json.Marshal(x)
	unseen(t, string(text), explainedSecret, "the previous one", sent, "planted", "hidden value", hex.EncodeToString(hmacOf(sha256.New, explainedSecret, body)))
	if x.Delivery.Headers["x-fine"] != "fine" || !x.Delivery.BodyTruncated || len(*x.Delivery.Body) > maxShownBody || !strings.Contains(*x.Delivery.Body, "*** and ***") {
		t.Errorf("%.2000s", text)
	}
}

// What became of a firing is said in a sentence, with what to do.
func TestExplainWords(t *testing.T) {
	trigger := blueprint.Trigger{ID: "T", Type: blueprint.TriggerScheduled, IsActive: true, Config: map[string]any{"cron": "0 9 * * *", "timezone": "Europe/Zurich"}}
	run := "exec_1_a"
	for _, c := range []struct {
		firing            blueprint.Firing
		status            blueprint.Status
		paused            *blueprint.Trip
		summary, next, in string
	}{
		{firing: blueprint.Firing{Source: "schedule", Decision: "started", DueAt: blueprint.TimeOf(asOf)}, status: "completed",
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
		{firing: blueprint.Firing{Source: "manual", Decision: "refused", Why: blueprint.Because(blueprint.ReasonLostAccess)}, summary: "A firing by hand was refused, and nothing ran: the trigger's creator can no longer manage the blueprint.", next: "access"},
		{firing: blueprint.Firing{Source: "redelivery", Decision: "refused", Why: blueprint.Saying(blueprint.ReasonMessage, "no").With("again", "X"), Delivery: &blueprint.Delivery{Facts: map[string]any{"of": "X"}}},
			summary: "A redelivery was refused, and nothing ran: firing X again: no.", next: "explain says more of firing X", in: "it is stored with firing X"},
		{firing: blueprint.Firing{Source: "manual", Decision: "refused", Why: blueprint.Saying(blueprint.ReasonMessage, "x")}, paused: &blueprint.Trip{Failures: 20, ExecutionID: "exec_1_a"}, next: "send it again",
			summary: "A firing by hand was refused, and nothing ran: x.", in: "the server did, because 20 runs in a row failed"},
	} {
		story := &blueprint.FiringStory{Firing: c.firing, Trigger: trigger, Tripped: c.paused}
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
		x := Firing(story, asOf)
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
		trigger := blueprint.Trigger{ID: "T", Type: blueprint.TriggerWebhook, Config: map[string]any{"secret": explainedSecret}}
		d := &blueprint.Delivery{Body: []byte(body), Size: int64(len(body)), Proof: map[string][]string{strings.ToLower(name): {sent}}}
		d.Note(signature.FactHeader, name)
		d.Note(signature.FactExpected, "x")
		story := &blueprint.FiringStory{Firing: blueprint.Firing{TriggerID: "T", Source: "webhook", Decision: "refused", Delivery: d}, Trigger: trigger}
		text, err := json.Marshal(Firing(story, asOf.Add(time.Second)).Details)
		if err != nil || !strings.Contains(sent+body+name, explainedSecret) && strings.Contains(string(text), explainedSecret) {
			t.Errorf("%v %s", err, text)
		}
	})
}
