package nodes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/mail"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"blueprintd/blueprint"
	"blueprintd/engine/nodes/smtp"
)

type emailConfig struct {
	ConnectionID string   `key:"connectionId" form:"connection:smtp" required:"true" doc:"The connection of type smtp that sends the message."`
	To           anyValue `key:"to" form:"address" required:"true" doc:"Recipients: addresses such as ada@example.org or Ada <ada@example.org>, separated by commas, or a list of them."`
	CC           anyValue `key:"cc" title:"CC" form:"address" doc:"Recipients of a copy."`
	BCC          anyValue `key:"bcc" title:"BCC" form:"address" doc:"Recipients of a copy that are hidden from the others."`
	ReplyTo      anyValue `key:"replyTo" form:"address" doc:"The address for replies. Default: the sender."`
	Subject      text     `key:"subject" required:"true" doc:"The subject, one line."`
	Text         text     `key:"text" form:"lines" required:"true" doc:"The message as plain text."`
	HTML         text     `key:"html" title:"HTML" form:"lines" doc:"The same message as HTML, for mail clients that display it."`

	to, cc, bcc, replyTo []mail.Address
}

const (
	// maxRecipients is what every server must accept in one message.
	maxRecipients = 100
	// maxSubject bounds the subject in bytes.
	maxSubject = 1000
	// emailTimeout applies when the node has no timeoutMs.
	emailTimeout = 5 * time.Minute
)

// sendEmail sends one message to all its recipients or to none: the server must accept all
// of them. If a server received the whole message and did not reply, it may have sent it,
// which has a failure code of its own; after every other failure nothing was sent.
func sendEmail(d Dependencies) *blueprint.NodeType {
	return define(definition[emailConfig]{
		name:        "send-email",
		category:    "services",
		order:       4,
		output:      `{"type": "object", "properties": {"messageId": {"type": "string"}}}`,
		title:       "Send email",
		description: "Sends a message by SMTP. The output is {\"messageId\"}. If the server refuses a recipient, nothing is sent and the node fails.",
		effect:      blueprint.EffectOnce,
		connections: []blueprint.ConnectionType{blueprint.ConnectionSMTP},
		stub:        `{"status": 250}`,
		example:     `{"connectionId": "3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e61", "to": "Ada <ada@example.org>, grace@example.org", "subject": "Order {{inputData.id ?? \"?\"}}", "text": "Thank you for your order."}`,
		check:       (*emailConfig).check,
		run: func(ctx context.Context, task *blueprint.Task, c *emailConfig) (blueprint.Result, error) {
			return deliver(ctx, d, task, c)
		},
	})
}

func (c *emailConfig) check(r *report) {
	checkConnectionID(c.ConnectionID, r)
	c.to = recipients(c.To, r, "to")
	c.cc = recipients(c.CC, r, "cc")
	c.bcc = recipients(c.BCC, r, "bcc")
	c.replyTo = recipients(c.ReplyTo, r, "replyTo")
	if len(c.to)+len(c.cc)+len(c.bcc) > maxRecipients {
		r.issue("with cc and bcc, must be at most 100 addresses", "to")
	}
	switch subject := string(c.Subject); {
	case !httpguts.ValidHeaderFieldValue(subject) && !r.isTemplate(subject):
		r.issue("must be one line without control characters", "subject")
	case len(subject) > maxSubject:
		r.issue("must be at most 1000 bytes long", "subject")
	}
}

func deliver(ctx context.Context, d Dependencies, task *blueprint.Task, c *emailConfig) (result blueprint.Result, err error) {
	open, err := connect(ctx, task, c.ConnectionID, blueprint.ConnectionSMTP)
	if err != nil {
		return result, err
	}
	server, err := smtp.Read(open)
	if err != nil {
		return result, err
	}
	message := &smtp.Message{
		From: server.From, To: c.to, CC: c.cc, ReplyTo: c.replyTo, Date: task.Now,
		ID: messageID(task.IdempotencyKey, server.From.Address), Subject: string(c.Subject), Text: string(c.Text), HTML: string(c.HTML),
	}
	ctx, cancel := withDefaultTimeout(ctx, emailTimeout)
	defer cancel()
	if err := smtp.Send(ctx, d.HTTP, server, message, c.recipients()); err != nil {
		return result, err
	}
	result.Output = map[string]any{"messageId": message.ID}
	return result, nil
}

// recipients returns the address of each recipient once.
func (c *emailConfig) recipients() []string {
	var list []string
	for _, one := range slices.Concat(c.to, c.cc, c.bcc) {
		if !slices.Contains(list, one.Address) {
			list = append(list, one.Address)
		}
	}
	return list
}

// messageID returns the Message-ID, which all attempts share so that duplicates show.
func messageID(key, from string) string {
	sum := sha256.Sum256([]byte("message " + key))
	return "<" + hex.EncodeToString(sum[:16]) + from[strings.LastIndexByte(from, '@'):] + ">"
}

// recipients parses addresses, in one text or a list. Unresolved templates are skipped.
func recipients(value anyValue, r *report, key string) (all []mail.Address) {
	list, isList := value.Value.([]any)
	source, isText := value.Value.(string)
	switch {
	case value.Value == nil, isList && len(list) == 0, isText && strings.TrimSpace(source) == "":
		if value.Given && key == "to" {
			r.issue("must have at least one address", key)
		}
		return nil
	case isText:
		return addresses(source, r, key)
	case !isList:
		r.issue("must be a string with addresses, or a list of them", key)
	case len(list) > maxRecipients:
		r.issue("must be at most 100 addresses", key)
	default:
		for i, element := range list {
			if source, ok := element.(string); ok {
				all = append(all, addresses(source, r, key, i)...)
			} else {
				r.issue("must be an address, as a string", key, i)
			}
		}
	}
	return all
}

func addresses(source string, r *report, path ...any) []mail.Address {
	if r.isTemplate(source) {
		return nil
	}
	found, err := smtp.ParseAddresses(source)
	if err != nil {
		r.issue(err.Error(), path...)
	}
	return found
}
