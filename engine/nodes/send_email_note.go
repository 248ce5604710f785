package nodes

import (
	"context"
	"net"
	"net/mail"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/outbound"
)

// accepted is the reply of a server that has taken a message (RFC 5321, 4.2.3).
const accepted = 250

// noteMail puts a message on the tape of the run, if it is recorded.
func noteMail(ctx context.Context, server *smtpServer, message *email, err error) {
	address := net.JoinHostPort(server.host, strconv.FormatInt(server.port, 10))
	headers := map[string]string{"from": addressText(server.from), "to": addressTexts(message.to), "subject": message.subject}
	if len(message.cc) > 0 {
		headers["cc"] = addressTexts(message.cc)
	}
	x := blueprint.Exchange{Request: blueprint.ExchangeRequest{Method: "MAIL", URL: "smtp://" + address, Headers: headers, Body: message.text}}
	if err != nil {
		x.Error = err.Error()
	} else {
		x.Response = &blueprint.ExchangeResponse{Status: accepted}
	}
	outbound.Note(ctx, x)
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
