package smtp

import (
	"context"
	"errors"
	"net"
	"net/mail"
	"net/textproto"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// accepted is the reply of a server that has taken a message (RFC 5321, 4.2.3).
const accepted = 250

// noteMail puts a message on the tape of the run, if it is recorded.
func noteMail(ctx context.Context, server *Server, message *Message, err error) {
	address := net.JoinHostPort(server.Host, strconv.FormatInt(server.Port, 10))
	headers := map[string]string{"from": addressText(server.From), "to": addressTexts(message.To), "subject": message.Subject}
	if len(message.CC) > 0 {
		headers["cc"] = addressTexts(message.CC)
	}
	x := blueprint.Exchange{Request: blueprint.ExchangeRequest{Method: "MAIL", URL: "smtp://" + address, Headers: headers, Body: message.Text}}
	if err != nil {
		x.Error, x.Fault = err.Error(), outbound.FaultOf(err)
	} else {
		x.Response = &blueprint.ExchangeResponse{Status: accepted}
	}
	outbound.Note(ctx, x)
}

// keepMail keeps the envelope of a message, once there was a server to talk to,
// and the reply by which that refused it.
func keepMail(ctx context.Context, t *talk, message *Message) {
	if t.conn == nil {
		return
	}
	x := &blueprint.StepExchange{Request: blueprint.StepRequest{Host: t.Host, Port: t.Port, From: addressText(t.From), To: addressTexts(message.To), Subject: message.Subject}}
	if t.refusal != nil {
		x.Response = &blueprint.StepResponse{Code: t.refusal.Code, Message: outbound.ShortLine(t.refusal.Msg, outbound.MaxEvidence)}
	}
	outbound.KeepMail(ctx, x)
}

// refusedBy takes note of the reply by which the server refuses the message.
func (t *talk) refusedBy(err error) {
	var reply *textproto.Error
	if errors.As(err, &reply) {
		t.refusal = reply
	}
}

// addressText gives an address as people write it.
func addressText(one mail.Address) string {
	if one.Name == "" {
		return one.Address
	}
	return one.String()
}

func addressTexts(list []mail.Address) string {
	texts := make([]string, len(list))
	for i, one := range list {
		texts[i] = addressText(one)
	}
	return strings.Join(texts, ", ")
}
