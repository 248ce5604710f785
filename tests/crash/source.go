package main

import (
	"context"
	"fmt"

	"blueprintd/tests/process"
)

// source is a trigger with its own blueprint, to which one sender delivers until each
// delivery has a response.
type source struct {
	shape  *shape
	kind   string // of the trigger
	config object
	path   string   // address of deliveries; "" = by mail
	sign   signer   // how they are signed
	ring   *keyring // the secrets for that; nil = none
	// fill adds the content of this kind to the body of a delivery, and reports whether the
	// trigger's filter skips it.
	fill func(c *client, d *delivery, body object) (filtered bool)
	most int // open runs from which the sender waits

	trigger string
	address string // for mail
}

const (
	webhookPath = "/webhooks/blueprint/"
	slackPath   = "/webhooks/slack/"
)

// The channel that the Slack trigger listens to, and another.
const (
	slackChannel = "C0TORTURE"
	otherChannel = "C0ELSEWHERE"
)

// sources returns all sources, whose runs call the ledger.
func sources(ledger string) []*source {
	call := func(id, behavior string) object { return callOf(ledger, "call", id, behavior) }
	wait := process.Node("wait", "wait", object{"durationMs": 120})
	plain := func(_ *client, _ *delivery, _ object) bool { return false }
	limited := func(rule string) object { return object{"concurrency": object{"limit": groupLimit, "onLimit": rule}} }
	emailNode := process.Node("before", "set", object{"values": object{"kept": "{{execution.id}}", "email": "{{inputData.messageId}}", "files": "{{inputData.attachments}}"}})
	list := []*source{
		{shape: &shape{name: "signed"}, kind: "webhook", path: webhookPath, sign: signPlain, ring: newKeyring("signed"), fill: plain},
		{shape: &shape{name: "github"}, kind: "webhook", config: object{"preset": "github"}, path: webhookPath, sign: signGitHub, ring: newKeyring("github"), fill: plain},
		{shape: &shape{name: "stripe"}, kind: "webhook", config: object{"preset": "stripe"}, path: webhookPath, sign: signStripe, ring: newKeyring("stripe"), fill: fillStripe},
		{shape: &shape{name: "slack"}, kind: "slack", config: object{"channel": slackChannel, "eventType": "message"}, path: slackPath, sign: signSlack, ring: newKeyring("slack"), fill: fillSlack},
		{shape: &shape{name: "email", spared: true, nodes: []any{emailNode, call("call", ""), lastNode}}, kind: "email"},
		{shape: &shape{name: queued, nodes: []any{firstNode, call("first", "quick"), wait, call("second", "quick"), lastNode}}, kind: "webhook", config: limited("queue"), path: webhookPath, sign: unsigned, fill: plain, most: 10},
		{shape: &shape{name: replacing, spared: true, nodes: []any{firstNode, call("first", "quick"), wait, call("second", "quick"), lastNode}}, kind: "webhook", config: limited("cancel-running"), path: webhookPath, sign: unsigned, fill: plain},
	}
	for _, s := range list {
		if s.shape.nodes == nil {
			s.shape.nodes = []any{firstNode, call("call", ""), lastNode}
		}
		s.shape.derive()
	}
	return list
}

func fillStripe(_ *client, d *delivery, body object) bool {
	body["id"], body["object"] = d.id, "event"
	return false
}

func fillSlack(c *client, d *delivery, body object) (filtered bool) {
	channel := slackChannel
	if filtered = c.random.IntN(4) == 0; filtered {
		channel = otherChannel
	}
	body["type"], body["event_id"], body["team_id"] = "event_callback", d.id, "T0TORTURE"
	body["event"] = object{"type": "message", "channel": channel, "user": "U0ADA", "text": "Hello.", "ts": "1700000000.000100"}
	return filtered
}

// create stores the trigger of a source after its shape.
func (s *source) create(ctx context.Context, d *apiClient) error {
	config := object{"breaker": false}
	for key, value := range s.config {
		config[key] = value
	}
	if s.ring != nil && s.kind == "slack" {
		config["signingSecret"] = s.ring.secret(1)
	} else if s.ring != nil {
		config["secret"] = s.ring.secret(1)
	}
	a := d.Mutate(ctx, "blueprintTriggers.create", object{"blueprintId": s.shape.id, "triggerType": s.kind, "config": config})
	if !a.OK() || a.Text("id") == "" {
		return fmt.Errorf("blueprintTriggers.create of %s: %s", s.shape.name, a)
	}
	s.trigger, s.address = a.Text("id"), a.Text("config", "address")
	return nil
}
