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

// refused returns what a store reports about a webhook delivery that was refused for
// its signature.
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
	story.Firing.SetReason(failure.FiringReason())
	return story
}

func hmacOf(kind func() hashing.Hash, key, text string) []byte {
	made := hmac.New(kind, []byte(key))
	made.Write([]byte(text))
	return made.Sum(nil)
}

// Each common mistake of a sender is named.
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
		{name: "base64", signature: base64.StdEncoding.EncodeToString(hmacOf(sha256.New, explainedSecret, body)), cause: "in another"},
		{name: "base64 for URLs", signature: base64.RawURLEncoding.EncodeToString(hmacOf(sha256.New, explainedSecret, body)), cause: "in another"},
		{name: "no HMAC", signature: hex.EncodeToString(plain[:]), cause: "without an HMAC"},
		{name: "secret with a line break", signature: hex.EncodeToString(hmacOf(sha256.New, explainedSecret+"\n", body)), cause: "secret ends in a line break: remove it there"},
		{name: "secret pasted with blanks", secret: " " + explainedSecret + " ", signature: right(body), cause: "surrounding blanks"},
		{name: "secret as hexadecimal", secret: "00ff00ff00ff", signature: hex.EncodeToString(hmacOf(sha256.New, "\x00\xff\x00\xff\x00\xff", body)), cause: "hexadecimal"},
		{name: "secret of the past", signature: hex.EncodeToString(hmacOf(sha256.New, "the previous one", body)), cause: "which has expired",
			config: map[string]any{"previousSecret": "the previous one", "previousSecretUntil": "2020-01-01T00:00:00Z"}},
		{name: "another secret", signature: hex.EncodeToString(hmacOf(sha256.New, "another", body)), cause: "another secret"},
		{name: "nothing like it", signature: "hello", cause: "not a signature of a known form"},
		{name: "none", cause: "does not sign"},
		{name: "another name", headers: []string{"X-Shopify-Hmac-Sha256: abc"}, cause: "x-shopify-hmac-sha256"},
		{name: "Standard Webhooks of the body alone", cause: "signs only the body", headers: []string{"webhook-id: m", "webhook-timestamp: " + stamp,
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

// unseen fails the test if text contains one of hidden.
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
	story.Firing.Delivery.AddFact("more", map[string]any{"a": []any{"it was " + explainedSecret}})
	x := Firing(story, asOf)
	text, _ := json.Marshal(x)
	unseen(t, string(text), explainedSecret, "the previous one", sent, "planted", "hidden value", hex.EncodeToString(hmacOf(sha256.New, explainedSecret, body)))
	if x.Delivery.Headers["x-fine"] != "fine" || !x.Delivery.BodyTruncated || len(*x.Delivery.Body) > maxShownBody || !strings.Contains(*x.Delivery.Body, "*** and ***") {
		t.Errorf("%.2000s, want x-fine fine, BodyTruncated, length at most %v and \"*** and ***\" in it", text, maxShownBody)
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
		{firing: blueprint.Firing{Source: "api", Decision: "started"}, status: "paused", summary: "A call started exec_1_a, which is paused and waits for an answer.", next: "execution.resume"},
		{firing: blueprint.Firing{Source: "event", Decision: "started"}, status: "running", summary: "An event started exec_1_a, which has not ended."},
		{firing: blueprint.Firing{Source: "manual", Decision: "started"}, status: "not_found", summary: "A manual firing started exec_1_a, whose record is no longer stored."},
		{firing: blueprint.Firing{Source: "email", Key: "m", Decision: "duplicate"}, status: "completed",
			summary: "A mail with the id m was repeated and started nothing: its key had started exec_1_a, which completed.", next: "nothing"},
		{firing: blueprint.Firing{Source: "schedule", Decision: "coalesced", Why: blueprint.NewReason(blueprint.ReasonCoalesced, "count", 3, "first", "a", "last", "b", "tick", "c")},
			summary: "3 ticks from a to b were missed; the tick of c runs instead.", next: "nothing"},
		{firing: blueprint.Firing{Source: "schedule", Decision: "skipped", Why: blueprint.NewReason(blueprint.ReasonMissed, "count", 1, "first", "a", "last", "a")}, summary: `The tick of a was missed; catchUp is "none".`, next: "catchUp"},
		{firing: blueprint.Firing{Source: "slack", Decision: "skipped", Why: blueprint.MessageReason(blueprint.ReasonMessage, "another channel")}, summary: "A message from Slack was skipped: another channel.", next: "evaluates it again"},
		{firing: blueprint.Firing{Source: "manual", Decision: "refused", Why: blueprint.NewReason(blueprint.ReasonInactive)}, summary: "A manual firing was refused, and nothing ran: the trigger is not active.", next: "fire it again"},
		{firing: blueprint.Firing{Source: "manual", Decision: "refused", Why: blueprint.NewReason(blueprint.ReasonLostAccess)}, summary: "A manual firing was refused, and nothing ran: the trigger's creator can no longer manage the blueprint.", next: "access"},
		{firing: blueprint.Firing{Source: "redelivery", Decision: "refused", Why: blueprint.MessageReason(blueprint.ReasonMessage, "no").With("again", "X"), Delivery: &blueprint.Delivery{Facts: map[string]any{"of": "X"}}},
			summary: "A redelivery was refused, and nothing ran: firing X again: no.", next: "explain for firing X", in: "it is stored with firing X"},
		{firing: blueprint.Firing{Source: "manual", Decision: "refused", Why: blueprint.MessageReason(blueprint.ReasonMessage, "x")}, paused: &blueprint.Trip{Failures: 20, ExecutionID: "exec_1_a"}, next: "send it again",
			summary: "A manual firing was refused, and nothing ran: x.", in: "the server, because 20 runs in a row failed"},
	} {
		t.Run(c.summary, func(t *testing.T) {
			story := &blueprint.FiringStory{Firing: c.firing, Trigger: trigger, Tripped: c.paused}
			story.Firing.ID = "F"
			story.Firing.SetReason(c.firing.Why)
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
				t.Errorf("%s, want Summary %v, %q in it and %q in it", text, c.summary, c.next, c.in)
			}
		})
	}
}

func FuzzLikelyCauses(f *testing.F) {
	f.Add("X-Webhook-Signature", "sha1=00", `{"a": 1}`)
	f.Add("Webhook-Signature", "v1,AAAA v1,BB==", "\r\n")
	f.Fuzz(func(t *testing.T, name, sent, body string) {
		trigger := blueprint.Trigger{ID: "T", Type: blueprint.TriggerWebhook, Config: map[string]any{"secret": explainedSecret}}
		d := &blueprint.Delivery{Body: []byte(body), Size: int64(len(body)), Proof: map[string][]string{strings.ToLower(name): {sent}}}
		d.AddFact(signature.FactHeader, name)
		d.AddFact(signature.FactExpected, "x")
		story := &blueprint.FiringStory{Firing: blueprint.Firing{TriggerID: "T", Source: "webhook", Decision: "refused", Delivery: d}, Trigger: trigger}
		text, err := json.Marshal(Firing(story, asOf.Add(time.Second)).Details)
		if err != nil || !strings.Contains(sent+body+name, explainedSecret) && strings.Contains(string(text), explainedSecret) {
			t.Errorf("%v %s", err, text)
		}
	})
}

// The first suggested step fits the row's own reason, regardless of the present state of
// the trigger.
func TestExplainNext(t *testing.T) {
	const on, again = "switch the trigger on (isActive: true), then ", `blueprintTriggers.redeliver {firingId: "F"}`
	body := &blueprint.Delivery{Body: []byte("{}"), Size: 2}
	run := func(status blueprint.Status, text string) *blueprint.FiringRun {
		return &blueprint.FiringRun{ExecutionID: "exec_1_a", Status: status, Error: text}
	}
	one, limit := "exec_9_z", map[string]any{"concurrency": map[string]any{"limit": json.Number("1")}}
	stood := func(first blueprint.Status) []blueprint.UnfinishedRun {
		return []blueprint.UnfinishedRun{{ExecutionID: "exec_0_o", Status: first, CreatedAt: blueprint.TimeOf(asOf), UpdatedAt: blueprint.TimeOf(asOf)}, {ExecutionID: "exec_1_a", Status: blueprint.StatusRunning}}
	}
	tripped, retried := &blueprint.Trip{Failures: 20, ExecutionID: "exec_1_a"}, &blueprint.Trip{Failures: 20, ExecutionID: "exec_1_a", Retries: true}
	for _, c := range []struct {
		name           string
		story          blueprint.FiringStory
		active         bool
		summary, next  string
		exactly, never string
	}{
		{name: "bad JSON", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.MessageReason(blueprint.ReasonBody, "the body is not JSON"), Delivery: body}}, next: "fix that at the sender", never: "redeliver"},
		{name: "too large", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.MessageReason(blueprint.ReasonTooLarge, "the body is larger than 9 bytes"), Delivery: &blueprint.Delivery{Size: 20}}}, next: "have the sender send less", never: "redeliver"},
		{name: "schema", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "api", Decision: "refused", Why: blueprint.MessageReason(blueprint.ReasonSchemaUnusable, "the trigger's inputSchema cannot be used: x"), Delivery: body}}, exactly: "fix config.inputSchema; then " + on + again + " runs this one"},
		{name: "input", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "api", Decision: "refused", Why: blueprint.MessageReason(blueprint.ReasonInput, "inputData.n: must be a number"), Delivery: body}}, next: "have the caller send what config.inputSchema requires"},
		{name: "key", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "api", Key: "k", Decision: "refused", Why: blueprint.MessageReason(blueprint.ReasonKeyReused, "this Idempotency-Key was used before with another body"), Delivery: body}},
			exactly: "have the caller use a new Idempotency-Key for each call; " + again + " runs this one anyway"},
		{name: "no secret", active: true, story: blueprint.FiringStory{Trigger: blueprint.Trigger{Type: blueprint.TriggerSlack}, Firing: blueprint.Firing{Source: "slack", Decision: "refused", Why: blueprint.MessageReason(blueprint.ReasonSecretUnusable, "the trigger has no signingSecret"), Delivery: body}}, exactly: "set config.signingSecret; then " + again + " evaluates this one again"},
		{name: "sender", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "email", Decision: "skipped", Why: blueprint.NewReason(blueprint.ReasonAllowFrom, "address", "a@b"), Delivery: body}}, next: "nothing: config.allowFrom filters it out"},
		{name: "inactive", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.NewReason(blueprint.ReasonInactive), Delivery: body}}, exactly: on + again + " runs this one"},
		{name: "active since", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.NewReason(blueprint.ReasonInactive), Delivery: body}}, exactly: "the trigger is active now: " + again + " runs this one"},
		{name: "inactive, no body", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.NewReason(blueprint.ReasonInactive), Delivery: &blueprint.Delivery{Size: 9}}}, exactly: on + "have the sender send it again"},
		{name: "the breaker", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Key: "F", Decision: "refused", Why: tripped.Because(blueprint.ReasonBreaker)}}, summary: "The server paused this trigger after 20 failed runs in a row.",
			exactly: `fix the cause (last: exec_1_a), activate it with isActive: true, then blueprintTriggers.redeliver {triggerId: "T", executionStatus: "failed", from: TIME} runs what failed since TIME`},
		{name: "the breaker of an open webhook", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Key: "F", Decision: "refused", Why: retried.Because(blueprint.ReasonBreaker)}}, summary: "The server paused this trigger after 20 failed runs in a row.", next: "(last: exec_1_a)"},
		{name: "a delivery to one that tripped", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Key: "F", Decision: "refused", Why: tripped.Because(blueprint.ReasonTripped), Delivery: body}}, summary: "A delivery was refused", exactly: on + again + " runs this one"},
		{name: "no mail", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "email", Decision: "refused", Why: blueprint.NewReason(blueprint.ReasonInactive), Delivery: &blueprint.Delivery{Facts: map[string]any{"received": false}}}},
			exactly: "the mail was refused with 550; " + on + "ask for it again"},
		{name: "no mail, on again", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "email", Decision: "refused", Why: blueprint.NewReason(blueprint.ReasonInactive), Delivery: &blueprint.Delivery{}}}, exactly: "the mail was refused with 550; ask for it again"},
		{name: "a large mail", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "email", Decision: "refused", Why: blueprint.MessageReason(blueprint.ReasonMailTooLarge, "the message is too large"), Delivery: &blueprint.Delivery{Size: 9, Facts: map[string]any{"received": false}}}}, next: "the mail was refused as too large; ask for a smaller one"},
		{name: "ran again", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.MessageReason(blueprint.ReasonMessage, "x"), Delivery: body}, Redeliveries: []blueprint.Redelivery{{FiringID: "G", Decision: "refused"}, {FiringID: "H", Decision: "started", ExecutionID: &one, Status: "completed"}}},
			exactly: "done: firing H ran it again (completed)"},
		{name: "failed again", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "started", Delivery: body}, Run: run("failed", "x"), Redeliveries: []blueprint.Redelivery{{FiringID: "H", Decision: "started", ExecutionID: &one, Status: "failed"}}}, next: "execution.retry"},
		{name: "channel", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "slack", Decision: "skipped", Why: blueprint.NewReason(blueprint.ReasonChannel, "got", "C1", "wanted", "C2"), Delivery: body}}, next: "nothing: config.channel filters it out"},
		{name: "challenge", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "slack", Decision: "skipped", Why: blueprint.NewReason(blueprint.ReasonSlackCheck), Delivery: body}}, next: "nothing: that was Slack's check"},
		{name: "own run", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "event", Decision: "skipped", Why: blueprint.NewReason(blueprint.ReasonOwnRun), Delivery: body}}, next: "nothing:"},
		{name: "limit", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "skipped", Why: (&blueprint.ConcurrencyLimitError{Limit: 1, Running: 1, Oldest: "exec_7_q"}).Reason(), Delivery: body}}, exactly: again + " runs this one when exec_7_q has ended"},
		{name: "displaced", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "started", Delivery: body}, Run: &blueprint.FiringRun{ExecutionID: "exec_1_a", Status: "failed", Displaced: true}}, exactly: "nothing: a newer run replaced it, as config.concurrency says"},
		{name: "another endpoint", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.NewReason(blueprint.ReasonOtherAddress, "type", "slack", "triggerId", "T"), Delivery: body}}, exactly: "have the sender post to /webhooks/slack/T"},
		{name: "it is queued behind a paused one", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "started", Delivery: body}, Run: run("running", ""), Unfinished: stood("paused"), Trigger: blueprint.Trigger{Config: limit}},
			summary: "A delivery started exec_1_a, which waits for a slot.", next: "answer exec_0_o (execution.resume) or cancel it"},
		{name: "it is queued behind a running one", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "started", Delivery: body}, Run: run("running", ""), Unfinished: stood("running"), Trigger: blueprint.Trigger{Config: limit}}, next: "wait until exec_0_o has ended"},
		{name: "the throttle", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.NewReason(blueprint.ReasonMany, "count", 7).WithInner(blueprint.MessageReason(blueprint.ReasonMessage, "x"))}}, summary: "7 more deliveries started no run", next: "see the rows before it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.story.Firing.ID, c.story.Trigger.ID, c.story.Trigger.IsActive = "F", "T", c.active
			if c.story.Firing.Key == "" {
				c.story.Firing.Key = "F"
			}
			c.story.Firing.SetReason(c.story.Firing.Why)
			x := Firing(&c.story, asOf)
			if !strings.HasPrefix(x.Summary, c.summary) || !strings.Contains(x.Next, c.next) || c.exactly != "" && x.Next != c.exactly || c.never != "" && strings.Contains(x.Next, c.never) {
				t.Errorf("%s\n\tnext: %s", x.Summary, x.Next)
			}
		})
	}
}

// The explanation of a refused signature suggests a step, and no cause besides the true
// one.
func TestLikelyCausesAreTrue(t *testing.T) {
	const body = `{"id":"1"}`
	digits := func(secret, text string) string { return hex.EncodeToString(hmacOf(sha256.New, secret, text)) }
	right := digits(explainedSecret, body)
	old, now := strconv.FormatInt(asOf.Unix()-600, 10), strconv.FormatInt(asOf.Unix(), 10)
	for _, c := range []struct {
		name, cause, next string
		headers           []string
		config            map[string]any
		later             func(config map[string]any)
	}{
		{name: "stale", headers: []string{"Stripe-Signature: t=" + old + ",v1=" + digits(explainedSecret, old+"."+body)}, config: map[string]any{"preset": "stripe"},
			cause: "the signature fits; only its time is too old: 10 minutes", next: "It cannot be redelivered; blueprintTriggers.fire with its body runs it"},
		{name: "v1=", headers: []string{"X-Signature: v1=" + right}, cause: "the digits are correct; v1= before them is not accepted: send them without a prefix or with sha256=", next: "blueprintTriggers.fire"},
		{name: "two headers", headers: []string{"X-Webhook-Signature: " + right, "X-Signature: " + digits("no", body)}, cause: "X-Webhook-Signature fits; X-Signature does not, and all that are sent must: stop sending it", next: "stop sending it"},
		{name: "Stripe", headers: []string{"Stripe-Signature: t=" + now + ",v1=" + digits(explainedSecret, now+"."+body)}, cause: `set config.preset: "stripe"`, next: "then blueprintTriggers.redeliver"},
		{name: "Slack", headers: []string{"X-Slack-Signature: v0=" + right, "X-Slack-Request-Timestamp: " + now}, cause: `set config.preset: "slack"`, next: "then blueprintTriggers.redeliver"},
		{name: "another preset", headers: []string{"X-Signature: " + right}, config: map[string]any{"preset": "github"}, cause: `config.preset is "github", which checks only X-Hub-Signature-256; the sender sends X-Signature`, next: "set config.preset to null"},
		{name: "SHA-1", headers: []string{"X-Hub-Signature: sha1=" + hex.EncodeToString(hmacOf(sha1.New, explainedSecret, body))}, cause: "have it send X-Hub-Signature-256", next: "X-Hub-Signature-256"},
		{name: "no id", headers: []string{"webhook-timestamp: " + now, "webhook-signature: v1," + base64.StdEncoding.EncodeToString(hmacOf(sha256.New, explainedSecret, "m."+now+"."+body))}, cause: "Webhook-Id is missing", next: "Webhook-Id"},
		{name: "a blank", headers: []string{"X-Signature: " + digits(explainedSecret+" ", body)}, cause: "the sender's secret ends in a blank: remove it there", next: "remove it there"},
		{name: "mended since", headers: []string{"X-Signature: " + digits("the new one", body)}, later: func(config map[string]any) { config["secret"] = "the new one" }, cause: "it is valid for the current config", next: "blueprintTriggers.redeliver"},
		{name: "the secret is gone", headers: []string{"X-Signature: " + digits("no", body)}, later: func(config map[string]any) { delete(config, "secret") }, cause: "no longer has a secret", next: "blueprintTriggers.fire"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := map[string]any{"secret": explainedSecret}
			for name, value := range c.config {
				config[name] = value
			}
			story := refused(t, config, body, c.headers...)
			if c.later != nil {
				c.later(story.Trigger.Config)
			}
			x := Firing(story, asOf)
			var causes []string
			for _, detail := range x.Details {
				if detail.Label == "likely cause" {
					causes = append(causes, detail.Text)
				}
			}
			if len(causes) != 1 || !strings.Contains(causes[0], c.cause) || !strings.Contains(x.Next, c.next) {
				t.Errorf("%q\n\tnext: %s, want length 1, %q in it and %q in it", causes, x.Next, c.cause, c.next)
			}
			unseen(t, x.Next+strings.Join(causes, ""), explainedSecret, right, "the new one")
		})
	}
}
