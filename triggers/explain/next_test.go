package explain

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// The first line that somebody obeys is right for the row's own reason, whatever
// the trigger is by now.
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
		{name: "bad JSON", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.Saying(blueprint.ReasonBody, "the body is not JSON"), Delivery: body}}, next: "mend that at the sender", never: "redeliver"},
		{name: "too large", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.Saying(blueprint.ReasonTooLarge, "the body is larger than 9 bytes"), Delivery: &blueprint.Delivery{Size: 20}}}, next: "have the sender send less", never: "redeliver"},
		{name: "schema", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "api", Decision: "refused", Why: blueprint.Saying(blueprint.ReasonSchemaUnusable, "the trigger's inputSchema cannot be used: x"), Delivery: body}}, exactly: "mend config.inputSchema; then " + on + again + " runs this one"},
		{name: "input", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "api", Decision: "refused", Why: blueprint.Saying(blueprint.ReasonInput, "inputData.n: must be a number"), Delivery: body}}, next: "have the caller send what config.inputSchema asks for"},
		{name: "key", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "api", Key: "k", Decision: "refused", Why: blueprint.Saying(blueprint.ReasonKeyReused, "this Idempotency-Key was used before with another body"), Delivery: body}},
			exactly: "have the caller use a new Idempotency-Key for each call; " + again + " runs this one all the same"},
		{name: "no secret", active: true, story: blueprint.FiringStory{Trigger: blueprint.Trigger{Type: blueprint.TriggerSlack}, Firing: blueprint.Firing{Source: "slack", Decision: "refused", Why: blueprint.Saying(blueprint.ReasonSecretUnusable, "the trigger has no signingSecret"), Delivery: body}}, exactly: "set config.signingSecret; then " + again + " judges this one anew"},
		{name: "sender", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "email", Decision: "skipped", Why: blueprint.Because(blueprint.ReasonAllowFrom, "address", "a@b"), Delivery: body}}, next: "nothing: config.allowFrom leaves this out"},
		{name: "inactive", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.Because(blueprint.ReasonOff), Delivery: body}}, exactly: on + again + " runs this one"},
		{name: "active since", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.Because(blueprint.ReasonOff), Delivery: body}}, exactly: "the trigger is active now: " + again + " runs this one"},
		{name: "inactive, no body", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.Because(blueprint.ReasonOff), Delivery: &blueprint.Delivery{Size: 9}}}, exactly: on + "have the sender send it again"},
		{name: "the breaker", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Key: "F", Decision: "refused", Why: tripped.Because(blueprint.ReasonBreaker)}}, summary: "The server switched this trigger off, after 20 failed runs in a row.",
			exactly: `mend the cause (last: exec_1_a), switch it on with isActive: true, then blueprintTriggers.redeliver {triggerId: "T", executionStatus: "failed", from: TIME} runs what failed since TIME`},
		{name: "the breaker of an open webhook", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Key: "F", Decision: "refused", Why: retried.Because(blueprint.ReasonBreaker)}}, summary: "The server switched this trigger off, after 20 failed runs in a row.", next: "(last: exec_1_a)"},
		{name: "a delivery to one that tripped", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Key: "F", Decision: "refused", Why: tripped.Because(blueprint.ReasonTripped), Delivery: body}}, summary: "A delivery was refused", exactly: on + again + " runs this one"},
		{name: "no mail", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "email", Decision: "refused", Why: blueprint.Because(blueprint.ReasonOff), Delivery: &blueprint.Delivery{Facts: map[string]any{"received": false}}}},
			exactly: "the sender was told 550 and its mail was not received; " + on + "ask for it again"},
		{name: "no mail, on again", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "email", Decision: "refused", Why: blueprint.Because(blueprint.ReasonOff), Delivery: &blueprint.Delivery{}}}, exactly: "the sender was told 550 and its mail was not received; ask for it again"},
		{name: "a large mail", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "email", Decision: "refused", Why: blueprint.Saying(blueprint.ReasonMailTooLarge, "the message is too large"), Delivery: &blueprint.Delivery{Size: 9, Facts: map[string]any{"received": false}}}}, next: "told that it is too large and its mail was not received"},
		{name: "ran again", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.Saying(blueprint.ReasonMessage, "x"), Delivery: body}, Redeliveries: []blueprint.Redelivery{{FiringID: "G", Decision: "refused"}, {FiringID: "H", Decision: "started", ExecutionID: &one, Status: "completed"}}},
			exactly: "done: firing H ran it again (completed)"},
		{name: "failed again", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "started", Delivery: body}, Run: run("failed", "x"), Redeliveries: []blueprint.Redelivery{{FiringID: "H", Decision: "started", ExecutionID: &one, Status: "failed"}}}, next: "execution.retry"},
		{name: "channel", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "slack", Decision: "skipped", Why: blueprint.Because(blueprint.ReasonChannel, "got", "C1", "wanted", "C2"), Delivery: body}}, next: "nothing: config.channel leaves this out"},
		{name: "challenge", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "slack", Decision: "skipped", Why: blueprint.Because(blueprint.ReasonSlackCheck), Delivery: body}}, next: "nothing: that was Slack's check"},
		{name: "own run", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "event", Decision: "skipped", Why: blueprint.Because(blueprint.ReasonOwnRun), Delivery: body}}, next: "nothing:"},
		{name: "limit", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "skipped", Why: (&blueprint.LaneFullError{Limit: 1, Running: 1, Oldest: "exec_7_q"}).Reason(), Delivery: body}}, exactly: again + " runs this one when exec_7_q has ended"},
		{name: "displaced", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "started", Delivery: body}, Run: &blueprint.FiringRun{ExecutionID: "exec_1_a", Status: "failed", Displaced: true}}, exactly: "nothing: a newer run took its place, as config.concurrency says"},
		{name: "another door", story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.Because(blueprint.ReasonOtherAddress, "type", "slack", "triggerId", "T"), Delivery: body}}, exactly: "have the sender post to /webhooks/slack/T"},
		{name: "it stands behind one that is paused", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "started", Delivery: body}, Run: run("running", ""), Unfinished: stood("paused"), Trigger: blueprint.Trigger{Config: limit}},
			summary: "A delivery started exec_1_a, which waits for its turn.", next: "answer exec_0_o (execution.resume) or cancel it"},
		{name: "it stands behind one that runs", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "started", Delivery: body}, Run: run("running", ""), Unfinished: stood("running"), Trigger: blueprint.Trigger{Config: limit}}, next: "wait until exec_0_o has ended"},
		{name: "the brake", active: true, story: blueprint.FiringStory{Firing: blueprint.Firing{Source: "webhook", Decision: "refused", Why: blueprint.Because(blueprint.ReasonMany, "count", 7).Holding(blueprint.Saying(blueprint.ReasonMessage, "x"))}}, summary: "7 more deliveries started nothing", next: "see the rows before it"},
	} {
		c.story.Firing.ID, c.story.Trigger.ID, c.story.Trigger.IsActive = "F", "T", c.active
		if c.story.Firing.Key == "" {
			c.story.Firing.Key = "F"
		}
		c.story.Firing.Because(c.story.Firing.Why)
		x := Firing(&c.story, asOf)
		if !strings.HasPrefix(x.Summary, c.summary) || !strings.Contains(x.Next, c.next) || c.exactly != "" && x.Next != c.exactly || c.never != "" && strings.Contains(x.Next, c.never) {
			t.Errorf("%s: %s\n\tnext: %s", c.name, x.Summary, x.Next)
		}
	}
}

// What is told of a signature names what to do, and no second cause beside the
// true one.
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
		{name: "v1=", headers: []string{"X-Signature: v1=" + right}, cause: "the digits are right; v1= before them is not taken: send them bare or with sha256=", next: "blueprintTriggers.fire"},
		{name: "two headers", headers: []string{"X-Webhook-Signature: " + right, "X-Signature: " + digits("no", body)}, cause: "X-Webhook-Signature fits; X-Signature does not, and all that are sent must: stop sending it", next: "stop sending it"},
		{name: "Stripe", headers: []string{"Stripe-Signature: t=" + now + ",v1=" + digits(explainedSecret, now+"."+body)}, cause: `set config.preset: "stripe"`, next: "then blueprintTriggers.redeliver"},
		{name: "Slack", headers: []string{"X-Slack-Signature: v0=" + right, "X-Slack-Request-Timestamp: " + now}, cause: `set config.preset: "slack"`, next: "then blueprintTriggers.redeliver"},
		{name: "another preset", headers: []string{"X-Signature: " + right}, config: map[string]any{"preset": "github"}, cause: `config.preset is "github", which looks at X-Hub-Signature-256 alone; the sender sends X-Signature`, next: "set config.preset to null"},
		{name: "SHA-1", headers: []string{"X-Hub-Signature: sha1=" + hex.EncodeToString(hmacOf(sha1.New, explainedSecret, body))}, cause: "have it send X-Hub-Signature-256", next: "X-Hub-Signature-256"},
		{name: "no id", headers: []string{"webhook-timestamp: " + now, "webhook-signature: v1," + base64.StdEncoding.EncodeToString(hmacOf(sha256.New, explainedSecret, "m."+now+"."+body))}, cause: "Webhook-Id is missing", next: "Webhook-Id"},
		{name: "a blank", headers: []string{"X-Signature: " + digits(explainedSecret+" ", body)}, cause: "the sender's secret ends in a blank: remove it there", next: "remove it there"},
		{name: "mended since", headers: []string{"X-Signature: " + digits("the new one", body)}, later: func(config map[string]any) { config["secret"] = "the new one" }, cause: "it is right by the present config", next: "blueprintTriggers.redeliver"},
		{name: "the secret is gone", headers: []string{"X-Signature: " + digits("no", body)}, later: func(config map[string]any) { delete(config, "secret") }, cause: "no secret any more", next: "blueprintTriggers.fire"},
	} {
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
			t.Errorf("%s: %q\n\tnext: %s", c.name, causes, x.Next)
		}
		unseen(t, x.Next+strings.Join(causes, ""), explainedSecret, right, "the new one")
	}
}
