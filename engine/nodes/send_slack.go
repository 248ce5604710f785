package nodes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

type slackConfig struct {
	ConnectionID string   `key:"connectionId" form:"connection:slack" required:"true" doc:"The connection of type slack whose bot posts the message."`
	Channel      string   `key:"channel" required:"true" doc:"The destination: the id of a channel, such as C0123456789, its name, such as #orders, or the id of a user."`
	Text         text     `key:"text" form:"lines" required:"true" doc:"The message. With blocks, it is shown in notifications only."`
	Blocks       anyValue `key:"blocks" doc:"The message as a list of Slack's blocks."`
	ThreadTs     string   `key:"threadTs" title:"Thread" doc:"The ts of a message, to reply in its thread."`
}

const (
	slackAddress   = "https://slack.com/api/"
	maxSlackText   = 40_000 // characters
	maxBlocks      = 50
	maxSlackAnswer = 1 << 20
)

// sendSlack posts a message. A refusal by Slack means that it was not posted; without a
// clear response it may have been.
func sendSlack(d Dependencies) *blueprint.NodeType {
	return define(definition[slackConfig]{
		name:        "send-slack",
		category:    "services",
		order:       5,
		output:      `{"type": "object", "properties": {"ts": {"type": "string"}, "channel": {"type": "string"}}}`,
		title:       "Send Slack message",
		description: "Posts a message to a Slack channel. The output is {\"ts\", \"channel\"}; a message with threadTs set to this ts is a reply.",
		effect:      blueprint.EffectOnce,
		connections: []blueprint.ConnectionType{blueprint.ConnectionSlack},
		stub:        `{"status": 200, "body": {"ok": true, "channel": "C01", "ts": "1.0"}}`,
		example:     `{"connectionId": "3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e61", "channel": "#orders", "text": "Order {{inputData.id ?? \"?\"}} is paid."}`,
		check:       (*slackConfig).check,
		run: func(ctx context.Context, task *blueprint.Task, c *slackConfig) (blueprint.Result, error) {
			return post(ctx, d, task, c)
		},
	})
}

func (c *slackConfig) check(r *report) {
	checkConnectionID(c.ConnectionID, r)
	if r.given("channel") && !r.isTemplate(c.Channel) && (strings.TrimSpace(c.Channel) == "" || !blueprint.IsOneLine(c.Channel) || len(c.Channel) > 200) {
		r.issue("must be the id or the name of a channel", "channel")
	}
	if !r.isTemplate(c.ThreadTs) && (!blueprint.IsOneLine(c.ThreadTs) || len(c.ThreadTs) > 100) {
		r.issue("must be the ts of a message, such as 1712345678.000100", "threadTs")
	}
	if len(c.Text) > 4*maxSlackText {
		r.issue("must be at most 40000 characters", "text")
	}
	if c.Blocks.Value == nil || r.isTemplate(c.Blocks.Value) {
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
		if _, named := object["type"].(string); !r.isTemplate(block) && (!ok || !named) {
			r.issue("must be one of Slack's blocks, an object with a type", "blocks", i)
		}
	}
}

func post(ctx context.Context, d Dependencies, task *blueprint.Task, c *slackConfig) (result blueprint.Result, err error) {
	open, err := connect(ctx, task, c.ConnectionID, blueprint.ConnectionSlack)
	if err != nil {
		return result, err
	}
	if open.Authorize == nil {
		return result, badConnection("connection " + open.ID + " cannot be used: it has no token")
	}
	ctx, cancel := withDefaultTimeout(ctx, httpTimeout)
	defer cancel()
	ctx, hops := outbound.RecordHops(outbound.Authorize(ctx, open.Authorize))
	request, err := c.request(ctx, d, open)
	if err != nil {
		return result, err
	}
	response, err := d.HTTP.Do(request)
	if err != nil {
		return result, slackError(ctx, err, hops)
	}
	defer response.Body.Close()
	data, err := outbound.ReadAll(response.Body, maxSlackAnswer)
	if err != nil {
		return result, slackError(ctx, err, hops)
	}
	answer, failure := readSlack(response, data, d.Clock.Now())
	if failure != nil {
		return result, failure
	}
	result.Output = map[string]any{"ts": answer.Ts, "channel": answer.Channel}
	return result, nil
}

func (c *slackConfig) request(ctx context.Context, d Dependencies, open *blueprint.OpenConnection) (*http.Request, error) {
	base, _ := open.Config["baseUrl"].(string)
	base = cmp.Or(base, slackAddress)
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
		return nil, badConnection("connection " + open.ID + " cannot be used: its baseUrl is not a valid address")
	}
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", d.UserAgent)
	return request, nil
}

func isJSON(response *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return kind == "application/json"
}

// codeSlack is the code of a failure without one of Slack's names.
const codeSlack = "slack_error"

// maxDetail bounds Slack's details of an error, in bytes.
const maxDetail = 200

type slackAnswer struct {
	OK       bool   `json:"ok"`
	Error    string `json:"error"`
	Ts       string `json:"ts"`
	Channel  string `json:"channel"`
	Needed   string `json:"needed"` // of missing_scope
	Metadata struct {
		Messages []string `json:"messages"`
	} `json:"response_metadata"`
}

// slackErrors explains common permanent errors of chat.postMessage: nothing is posted.
var slackErrors = map[string]string{
	"account_inactive":            "the bot's account or workspace was deleted; the connection needs a new token",
	"as_user_not_supported":       "the token is not that of a bot",
	"cannot_reply_to_message":     "the message of threadTs cannot be answered",
	"channel_not_found":           "there is no such channel, or it is private and the bot is not in it; check the channel, or invite the bot",
	"duplicate_channel_not_found": "there is no such channel",
	"ekm_access_denied":           "the administrators of the workspace have suspended messages",
	"invalid_arguments":           "Slack does not understand the message",
	"invalid_auth":                "the token of the connection is not right, or not for this workspace",
	"invalid_blocks":              "the blocks are not in the form that Slack asks for",
	"invalid_blocks_format":       "the blocks are not in the form that Slack asks for",
	"invalid_thread_ts":           "threadTs names no message",
	"is_archived":                 "the channel is archived",
	"messages_tab_disabled":       "the bot may not be written to by its users",
	"missing_scope":               "the token of the connection lacks a permission",
	"msg_blocks_too_long":         "the blocks are too long",
	"msg_too_long":                "the text is too long",
	"no_permission":               "the token of the connection may not post",
	"no_text":                     "there is nothing to post: text is empty",
	"not_allowed_token_type":      "the connection has a token of a kind that may not post",
	"not_authed":                  "no token was sent",
	"not_in_channel":              "the bot is not in the channel; invite it with /invite",
	"org_login_required":          "the workspace is being moved to an organization",
	"restricted_action":           "the workspace does not let the bot post there",
	"thread_not_found":            "threadTs names no message",
	"token_expired":               "the token of the connection has expired",
	"token_revoked":               "the token of the connection was revoked",
	"too_many_attachments":        "the message has too many attachments",
}

// slackTemporary explains temporary errors. Nothing is posted with them either.
var slackTemporary = map[string]string{
	"rate_limited":           "too many messages in a short time",
	"ratelimited":            "too many messages in a short time",
	"message_limit_exceeded": "the channel has had too many messages in a short time",
	"service_unavailable":    "Slack is not available now",
	"team_added_to_org":      "the workspace is being moved to an organization",
}

// slackName matches Slack's error names.
var slackName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,60}$`)

func readSlack(response *http.Response, data []byte, now time.Time) (*slackAnswer, *blueprint.Failure) {
	answer := &slackAnswer{}
	understood := isJSON(response) && json.Unmarshal(data, answer) == nil
	wait := outbound.RetryAfter(response.Header, now)
	switch {
	case response.StatusCode == http.StatusTooManyRequests:
		return nil, slackFailure("ratelimited", answer, wait)
	case understood && answer.OK && response.StatusCode == http.StatusOK && answer.Ts != "":
		return answer, nil
	case understood && !answer.OK && slackName.MatchString(answer.Error):
		return nil, slackFailure(answer.Error, answer, wait)
	default:
		return nil, &blueprint.Failure{
			Code: codeSlack, RetryAfter: wait,
			Message: "Slack sent an unexpected response (status " + strconv.Itoa(response.StatusCode) + "): the message may have been posted; check baseUrl of the connection",
		}
	}
}

func slackFailure(name string, answer *slackAnswer, wait time.Duration) *blueprint.Failure {
	f := &blueprint.Failure{Code: name, RetryAfter: wait}
	words, lasting := slackErrors[name]
	later, passing := slackTemporary[name]
	f.Permanent, f.NotSent = lasting, lasting || passing
	switch {
	case passing:
		words = later
	case !lasting:
		words = "Slack gives no details, and the message may have been posted"
	case name == "missing_scope" && slackScopes.MatchString(answer.Needed):
		words += ": " + answer.Needed
	}
	if detail := strings.Join(answer.Metadata.Messages, "; "); lasting && detail != "" {
		words += " (" + outbound.ShortLine(detail, maxDetail) + ")"
	}
	f.Message = fmt.Sprintf("Slack refused the message: %s: %s", name, words)
	return f
}

var slackScopes = regexp.MustCompile(`^[a-z0-9_.:,-]{1,200}$`)

// slackError converts the error of a request without a complete response.
func slackError(ctx context.Context, err error, hops *outbound.Hops) error {
	var failure *blueprint.Failure
	if errors.As(err, &failure) { // its token is for its own hosts only
		return failure
	}
	err = requestFailure(ctx, err, hops)
	if errors.As(err, &failure) && !failure.NotSent {
		doubtful := *failure
		doubtful.Message += "; the message may have been posted"
		return &doubtful
	}
	return err
}
