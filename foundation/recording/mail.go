package recording

import (
	"bytes"
	"io"
	"mime"
	"net"
	"net/mail"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/smtpsink"
)

// Mail is the method of an exchange that is a mail.
const Mail = "MAIL"

// Post gives the end of a connection at whose other end a mail server answers,
// which takes every message and asks decide what to say: 250 for yes. The
// request is as an exchange keeps it, its body the message as it came.
func Post(address string, decide func(letter blueprint.ExchangeRequest) (code int, text string)) net.Conn {
	ours, theirs := net.Pipe()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	go smtpsink.Serve(theirs, host, nil, func(from string, to []string, data []byte) (int, string) {
		return decide(letterOf(address, from, to, data))
	})
	return ours
}

// letterOf reads a message as far as it is compared.
func letterOf(address, from string, to []string, data []byte) blueprint.ExchangeRequest {
	headers := map[string]string{"from": from, "to": strings.Join(to, ", ")}
	out := blueprint.ExchangeRequest{Method: Mail, URL: "smtp://" + address, Headers: headers}
	message, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		out.Body = string(data)
		return out
	}
	if subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject")); err == nil {
		headers["subject"] = subject
	}
	if body, err := io.ReadAll(message.Body); err == nil {
		out.Body = blueprint.BodyValue("text/plain", body)
	}
	return out
}
