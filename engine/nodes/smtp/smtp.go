// Package smtp sends messages by SMTP.
//
// Read parses a connection of type smtp, Send sends a message to all its recipients or
// to none. A server that accepts the whole message and does not reply may have sent it:
// the failure CodeUnknown. After every other failure nothing was sent. Passwords are
// never sent over a network unencrypted.
package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// envelope is a message and its recipients. No address contains a line break.
type envelope struct {
	from          string
	to            []string
	international bool // its headers contain addresses with UTF-8
	message       []byte
}

// session sends one message to a server (RFC 5321).
type session struct {
	*Server
	conn             net.Conn // nil until connected
	client           *smtp.Client
	encrypted        bool
	greetingTimedOut atomic.Bool
	inDoubt          bool             // all of the message was sent, and the server has not replied
	reply            *textproto.Error // that ended the session, if any
}

// closeTimeout bounds QUIT. The message is sent by then.
const closeTimeout = 2 * time.Second

// Send sends a message to all of to or to none, and records the exchange. Errors are
// *blueprint.Failure, or ctx's when it was cancelled.
func Send(ctx context.Context, dialer *outbound.Client, server *Server, message *Message, to []string) error {
	t := &session{Server: server}
	err := t.send(ctx, dialer, envelope{from: server.From.Address, to: to, international: message.international(), message: message.bytes()})
	recordMail(ctx, server, message, err)
	keepMail(ctx, t, message)
	return err
}

func (t *session) send(ctx context.Context, dialer *outbound.Client, letter envelope) error {
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(t.Host, strconv.FormatInt(t.Port, 10)))
	if err != nil {
		return t.failure(ctx, err)
	}
	t.conn = &boundedConn{conn, maxReplies}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	for _, step := range []func() error{
		func() error { return t.handshake(ctx, dialer.TLSConfig(t.Host)) },
		t.login,
		func() error { return t.sendEnvelope(&letter) },
		func() error { return t.sendData(letter.message) },
	} {
		if err := step(); err != nil {
			t.noteReply(err)
			return t.failure(ctx, err)
		}
	}
	defer time.AfterFunc(closeTimeout, func() { conn.Close() }).Stop()
	_ = t.client.Quit() // the server has accepted the message
	return nil
}

// handshake reads the greeting, says EHLO and starts TLS.
func (t *session) handshake(ctx context.Context, secure *tls.Config) (err error) {
	conn := t.conn
	if t.TLS == implicitTLS {
		t.encrypted = true
		encrypted := tls.Client(t.conn, secure)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return err
		}
		conn = encrypted
	}
	patience := time.AfterFunc(t.GreetingTimeout, func() {
		t.greetingTimedOut.Store(true)
		t.conn.Close()
	})
	t.client, err = smtp.NewClient(conn, t.Host)
	if patience.Stop(); err != nil {
		return err
	}
	if err := t.client.Hello(addressLiteral(t.conn.LocalAddr())); err != nil {
		return err
	}
	if t.TLS != StartTLS {
		return nil
	}
	if offered, _ := t.client.Extension("STARTTLS"); !offered {
		return t.permanentFailure(codeCertificate, `%s does not offer STARTTLS, and nothing is sent unencrypted; if it expects TLS from the start, as on port 465, set tls of the connection to "tls"`, t.Host)
	}
	t.encrypted = true
	return t.client.StartTLS(secure)
}

// sendEnvelope sends the sender and the recipients. When the server refuses one of
// them, nothing is sent to the others.
func (t *session) sendEnvelope(letter *envelope) error {
	if _, limit := t.client.Extension("SIZE"); limit != "" {
		if most, err := strconv.ParseInt(limit, 10, 64); err == nil && most > 0 && int64(len(letter.message)) > most {
			return t.permanentFailure(codeTooLarge, "the message is larger than the limit of %d bytes of %s", most, t.Host)
		}
	}
	parameters := ""
	if letter.international || slices.ContainsFunc(letter.to, func(one string) bool { return !isASCII(one) }) {
		if offered, _ := t.client.Extension("SMTPUTF8"); !offered {
			return t.permanentFailure(CodeRejected, "%s accepts only ASCII addresses; write a domain in its xn-- form", t.Host)
		}
		parameters = " SMTPUTF8 BODY=8BITMIME"
	}
	if err := t.command(250, "MAIL FROM:<"+letter.from+">"+parameters); err != nil {
		return err
	}
	rejected := &rejection{}
	for _, one := range letter.to {
		err := t.command(25, "RCPT TO:<"+one+">")
		var reply *textproto.Error
		if err != nil && !errors.As(err, &reply) {
			return err
		}
		if err != nil {
			rejected.add(one, reply)
			t.noteReply(reply)
			if reply.Code == codeClosing {
				break
			}
		}
	}
	if len(rejected.recipients) > 0 {
		return rejected
	}
	return nil
}

// codeClosing is the reply of a server that closes the connection.
const codeClosing = 421

// command sends a line and waits for a reply whose code begins with code.
func (t *session) command(code int, line string) error {
	id, err := t.client.Text.Cmd("%s", line)
	if err != nil {
		return err
	}
	t.client.Text.StartResponse(id)
	defer t.client.Text.EndResponse(id)
	_, _, err = t.client.Text.ReadResponse(code)
	return err
}

// sendData sends the message. Before its end, a line with a single dot, is sent, the
// server cannot have accepted it.
func (t *session) sendData(message []byte) error {
	w, err := t.client.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(message); err != nil {
		return err
	}
	if err := t.client.Text.W.Flush(); err != nil {
		return err
	}
	t.inDoubt = true
	err = w.Close()
	var reply *textproto.Error
	if err == nil || errors.As(err, &reply) && reply.Code >= 400 && reply.Code < 600 {
		t.inDoubt = false
	}
	return err
}

// addressLiteral is the EHLO name of a host without one (RFC 5321, 4.1.3).
func addressLiteral(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		return "localhost"
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	if ip.Is6() {
		return "[IPv6:" + ip.String() + "]"
	}
	return "[" + ip.String() + "]"
}

// maxReplies bounds what a server may send in a session, in bytes.
const maxReplies = 1 << 20

var errTooMuchOutput = errors.New("the server sends too much")

type boundedConn struct {
	net.Conn
	left int
}

func (c *boundedConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooMuchOutput
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

func recordMail(ctx context.Context, server *Server, message *Message, err error) {
	address := net.JoinHostPort(server.Host, strconv.FormatInt(server.Port, 10))
	headers := map[string]string{"from": addressText(server.From), "to": addressTexts(message.To), "subject": message.Subject}
	if len(message.CC) > 0 {
		headers["cc"] = addressTexts(message.CC)
	}
	x := blueprint.Exchange{Request: blueprint.ExchangeRequest{Method: "MAIL", URL: "smtp://" + address, Headers: headers, Body: message.Text}}
	if err != nil {
		x.Error, x.Fault = err.Error(), outbound.FaultOf(err)
	} else {
		x.Response = &blueprint.ExchangeResponse{Status: 250}
	}
	outbound.NoteExchange(ctx, x)
}

// keepMail keeps the envelope and the reply that refused it as evidence of a failure.
func keepMail(ctx context.Context, t *session, message *Message) {
	if t.conn == nil {
		return
	}
	x := &blueprint.StepExchange{Request: blueprint.StepRequest{Host: t.Host, Port: t.Port, From: addressText(t.From), To: addressTexts(message.To), Subject: message.Subject}}
	if t.reply != nil {
		x.Response = &blueprint.StepResponse{Code: t.reply.Code, Message: outbound.ShortLine(t.reply.Msg, outbound.MaxEvidence)}
	}
	outbound.KeepMail(ctx, x)
}

// noteReply keeps the reply by which the server refuses the message.
func (t *session) noteReply(err error) {
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		t.reply = reply
	}
}

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
