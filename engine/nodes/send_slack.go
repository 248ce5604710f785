package nodes

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

type slackConfig struct {
	ConnectionID string   `key:"connectionId" form:"connection:slack" required:"true" doc:"The connection of type slack whose bot posts the message."`
	Channel      string   `key:"channel" required:"true" doc:"Where to post: the id of a channel, as C0123456789, its name, as #orders, or the id of a user."`
	Text         text     `key:"text" form:"lines" required:"true" doc:"The message; beside blocks, what notifications show."`
	Blocks       anyValue `key:"blocks" doc:"The message as a list of Slack's blocks."`
	ThreadTs     string   `key:"threadTs" title:"Thread" doc:"The ts of a message to answer in its thread."`
}

const (
	slackAddress = "https://slack.com/api/"
	// maxSlackText, maxBlocks: Slack takes no more.
	maxSlackText = 40_000 // characters, which are at most as many as bytes
	maxBlocks    = 50
	// maxSlackAnswer bounds an answer, in bytes.
	maxSlackAnswer = 1 << 20
)

// sendSlack posts one message. An answer by which Slack refuses the message
// means that it was not posted; without a clear answer it may have been.
func sendSlack(d Dependencies) *blueprint.NodeType {
	return define(definition[slackConfig]{
		name:        "send-slack",
		category:    "services",
		order:       5,
		output:      `{"type": "object", "properties": {"ts": {"type": "string"}, "channel": {"type": "string"}}}`,
		title:       "Send Slack message",
		description: "Posts a message to a Slack channel. The output is {\"ts\", \"channel\"}; with threadTs set to the ts, another message answers this one.",
		effect:      blueprint.EffectOnce,
		connections: []blueprint.ConnectionType{blueprint.ConnectionSlack},
		example:     `{"connectionId": "3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e61", "channel": "#orders", "text": "Order {{inputData.id ?? \"?\"}} is paid."}`,
		check:       (*slackConfig).check,
		run: func(ctx context.Context, task *blueprint.Task, c *slackConfig) (blueprint.Result, error) {
			return post(ctx, d, task, c)
		},
	})
}

func (c *slackConfig) check(r *report) {
	checkConnectionID(c.ConnectionID, r)
	if r.given("channel") && !r.open(c.Channel) && (strings.TrimSpace(c.Channel) == "" || !blueprint.IsOneLine(c.Channel) || len(c.Channel) > 200) {
		r.issue("must be the id or the name of a channel", "channel")
	}
	if !r.open(c.ThreadTs) && (!blueprint.IsOneLine(c.ThreadTs) || len(c.ThreadTs) > 100) {
		r.issue("must be the ts of a message, such as 1712345678.000100", "threadTs")
	}
	if len(c.Text) > 4*maxSlackText {
		r.issue("must be at most 40000 characters", "text")
	}
	if c.Blocks.Value == nil || r.open(c.Blocks.Value) {
		return
	}
	list, ok := c.Blocks.Value.([]any)
	if !ok {
		r.issue("must be a list of Slack's blocks", "blocks")
		return
	}
	if len(list) > maxBlocks {
		r.issue("must be at most 50 blocks", "blocks")
		return
	}
	for i, block := range list {
		object, ok := block.(map[string]any)
		if _, named := object["type"].(string); !r.open(block) && (!ok || !named) {
			r.issue("must be one of Slack's blocks, an object with a type", "blocks", i)
		}
	}
}

// post calls chat.postMessage.
func post(ctx context.Context, d Dependencies, task *blueprint.Task, c *slackConfig) (result blueprint.Result, err error) {
	open, err := connect(ctx, task, c.ConnectionID, blueprint.ConnectionSlack)
	if err != nil {
		return result, err
	}
	if open.Authorize == nil {
		return result, badConnection("connection " + open.ID + " cannot be used: it has no token")
	}
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, httpTimeout)
		defer cancel()
	}
	ctx, hops := outbound.Record(outbound.Authorize(ctx, open.Authorize))
	request, err := c.request(ctx, d, open)
	if err != nil {
		return result, err
	}
	response, err := d.HTTP.Do(request)
	if err != nil {
		return result, slackTrouble(ctx, err, hops)
	}
	defer response.Body.Close()
	data, err := outbound.ReadAll(response.Body, maxSlackAnswer)
	if err != nil {
		return result, slackTrouble(ctx, err, hops)
	}
	answer, failure := readSlack(response, data, d.Clock.Now())
	if failure != nil {
		return result, failure
	}
	result.Output = map[string]any{"ts": answer.Ts, "channel": answer.Channel}
	return result, nil
}

// request makes the call.
func (c *slackConfig) request(ctx context.Context, d Dependencies, open *blueprint.OpenConnection) (*http.Request, error) {
	base, _ := open.Config["baseUrl"].(string)
	if base == "" {
		base = slackAddress
	}
	target, problem := parseURL(strings.TrimRight(base, "/") + "/chat.postMessage")
	if problem != "" || target.RawQuery != "" {
		return nil, badConnection("connection " + open.ID + " cannot be used: its baseUrl must be an address such as " + slackAddress)
	}
	message := map[string]any{"channel": strings.TrimSpace(c.Channel), "text": string(c.Text)}
	if c.Blocks.Value != nil {
		message["blocks"] = c.Blocks.Value
	}
	if c.ThreadTs != "" {
		message["thread_ts"] = c.ThreadTs
	}
	body, err := blueprint.Encode(message)
	if err != nil {
		return nil, badConfigf("blocks", "cannot be written as JSON")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, badConnection("connection " + open.ID + " cannot be used: its baseUrl is no address")
	}
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", d.UserAgent)
	return request, nil
}

// isJSON tells whether an answer says that it is JSON.
func isJSON(response *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return kind == "application/json"
}
