// Package smtp sends messages by SMTP.
//
// Read takes a connection of type smtp, Send talks to its server about one
// message: everybody gets it, or nobody. A server that takes the whole message and
// gives no answer may have sent it; that is the failure CodeUnknown. After every
// other failure nothing was sent. No password goes over a network unencrypted.
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

// envelope is a message and who gets it, as SMTP sees it. No address in it ends
// a line.
type envelope struct {
	from          string
	to            []string
	international bool // its headers cannot do without UTF-8: an address that it shows, such as the sender's
	message       []byte
}

// talk is the dialogue with a server about one message (RFC 5321).
type talk struct {
	*Server
	conn      net.Conn // nil until there is one
	client    *smtp.Client
	encrypted bool             // or about to be
	silent    atomic.Bool      // it has not greeted in time
	inDoubt   bool             // all of the message was sent, and the server has not answered
	refusal   *textproto.Error // the reply that ended it, if one did
}

// goodbye is how long a server may take for it. The message is sent by then.
const goodbye = 2 * time.Second

// Send sends a message to everybody in to, or to nobody, and keeps what was
// exchanged for the run. An error is a *blueprint.Failure, or that of a context
// that was cancelled.
func Send(ctx context.Context, dialer *outbound.Client, server *Server, message *Message, to []string) error {
	t := &talk{Server: server}
	err := t.send(ctx, dialer, envelope{from: server.From.Address, to: to, international: message.international(), message: message.bytes()})
	noteMail(ctx, server, message, err)
	keepMail(ctx, t, message)
	return err
}

// send talks to the server. An error is a *blueprint.Failure, or that of a
// context that was cancelled.
func (t *talk) send(ctx context.Context, dialer *outbound.Client, letter envelope) error {
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(t.Host, strconv.FormatInt(t.Port, 10)))
	if err != nil {
		return t.failure(ctx, err)
	}
	t.conn = &boundedConn{conn, maxReplies}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	for _, step := range []func() error{
		func() error { return t.greet(ctx, dialer.TLSConfig(t.Host)) },
		t.login,
		func() error { return t.address(&letter) },
		func() error { return t.hand(letter.message) },
	} {
		if err := step(); err != nil {
			t.refusedBy(err)
			return t.failure(ctx, err)
		}
	}
	defer time.AfterFunc(goodbye, func() { conn.Close() }).Stop()
	_ = t.client.Quit() // it has the message, whatever it says now
	return nil
}

// greet exchanges names and makes the talk a secret one.
func (t *talk) greet(ctx context.Context, secure *tls.Config) (err error) {
	conn := t.conn
	if t.TLS == tlsFirst {
		t.encrypted = true
		encrypted := tls.Client(t.conn, secure)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return err
		}
		conn = encrypted
	}
	patience := time.AfterFunc(t.Patience, func() {
		t.silent.Store(true)
		t.conn.Close()
	})
	t.client, err = smtp.NewClient(conn, t.Host)
	if patience.Stop(); err != nil {
		return err
	}
	if err := t.client.Hello(literal(t.conn.LocalAddr())); err != nil {
		return err
	}
	if t.TLS != StartTLS {
		return nil
	}
	if offered, _ := t.client.Extension("STARTTLS"); !offered {
		return t.refuse(codeCertificate, `%s does not offer STARTTLS, and nothing goes to it unencrypted; if it speaks TLS from the start, as on port 465, set tls of the connection to "tls"`, t.Host)
	}
	t.encrypted = true
	return t.client.StartTLS(secure)
}

// address names the sender and the recipients. When the server refuses one of
// them, that is an error and nothing has been sent to the others.
func (t *talk) address(letter *envelope) error {
	if _, limit := t.client.Extension("SIZE"); limit != "" {
		if most, err := strconv.ParseInt(limit, 10, 64); err == nil && most > 0 && int64(len(letter.message)) > most {
			return t.refuse(codeTooLarge, "the message is larger than the %d bytes that %s takes", most, t.Host)
		}
	}
	parameters := ""
	if letter.international || slices.ContainsFunc(letter.to, func(one string) bool { return !isASCII(one) }) {
		if offered, _ := t.client.Extension("SMTPUTF8"); !offered {
			return t.refuse(CodeRejected, "%s takes addresses of ASCII characters only; write a domain in its xn-- form", t.Host)
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
			t.refusedBy(reply)
			if reply.Code == leaving {
				break
			}
		}
	}
	if len(rejected.who) > 0 {
		return rejected
	}
	return nil
}

// leaving is the reply of a server that closes the connection.
const leaving = 421

// command sends one line and waits for a reply whose number begins with code.
func (t *talk) command(code int, line string) error {
	id, err := t.client.Text.Cmd("%s", line)
	if err != nil {
		return err
	}
	t.client.Text.StartResponse(id)
	defer t.client.Text.EndResponse(id)
	_, _, err = t.client.Text.ReadResponse(code)
	return err
}

// hand sends the message. A dot alone on a line ends it, so until that is
// on its way nobody can have sent it on.
func (t *talk) hand(message []byte) error {
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

// literal names this end by its address, for who has no name that others know
// (RFC 5321, 4.1.3).
func literal(address net.Addr) string {
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

// maxReplies is how much a server may say in one talk, in bytes.
const maxReplies = 1 << 20

// errTalkative says that a server said more than that.
var errTalkative = errors.New("the server says too much")

// boundedConn is a connection from which only so much is read.
type boundedConn struct {
	net.Conn
	left int
}

// Read reads, or gives errTalkative.
func (c *boundedConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTalkative
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

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
	outbound.NoteExchange(ctx, x)
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

// addressText returns an address as people write it.
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
