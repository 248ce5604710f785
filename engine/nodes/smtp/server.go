package smtp

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// Server is what a connection of type smtp says.
type Server struct {
	Host               string
	Port               int64
	username, password string // "" = none
	TLS                string // one of those below
	From               mail.Address
	Patience           time.Duration // until it greets
}

// greetingPatience is how long a server may take to say the first word. Some
// make strangers wait, to see who is impatient; one that speaks TLS from the
// start, to somebody who does not, waits itself.
const greetingPatience = time.Minute

// How the talk with a server is encrypted.
const (
	StartTLS = "starttls" // from the command of that name on, without which nothing is sent
	tlsFirst = "tls"      // from the first byte
	tlsNone  = "none"
)

// Read reads a connection. What does not fit is a failure that names the
// key and not the value.
func Read(open *blueprint.OpenConnection) (*Server, error) {
	bad := func(key, problem string) (*Server, error) {
		return nil, &blueprint.Failure{Code: codeConnection, Message: fmt.Sprintf("the %s cannot be used: its %s %s", open.Text(), key, problem), Permanent: true, NotSent: true}
	}
	given := func(key string) string {
		value, _ := open.Config[key].(string)
		return value
	}
	s := &Server{Host: given("host"), username: given("username"), password: given("password"), TLS: given("tls"), Patience: greetingPatience}
	port, isNumber := blueprint.WholeNumber(open.Config["port"])
	s.Port = port
	if s.TLS == "" {
		s.TLS = StartTLS
	}
	sender, err := ParseAddresses(given("from"))
	switch {
	case s.Host == "" || !blueprint.IsOneLine(s.Host) || strings.ContainsAny(s.Host, " /@"):
		return bad("host", "is no name of a host")
	case !isNumber || port < 1 || port > 65535:
		return bad("port", "must be from 1 to 65535")
	case s.TLS != StartTLS && s.TLS != tlsFirst && s.TLS != tlsNone:
		return bad("tls", "must be starttls, tls or none")
	case err != nil:
		return bad("from", err.Error())
	case len(sender) != 1:
		return bad("from", "must be one address")
	case strings.ContainsRune(s.username+s.password, 0):
		return bad("username or password", "holds a character that cannot be sent")
	}
	s.From = sender[0]
	return s, nil
}

// login proves who we are, when the connection says who.
func (t *talk) login() error {
	if t.username == "" {
		return nil
	}
	if !t.encrypted && !isLoopback(t.conn.RemoteAddr()) {
		return t.refuse(codeConnection, `the connection has a password and tls "none": no password goes over a network unencrypted; set tls to "starttls" or "tls"`)
	}
	_, offered := t.client.Extension("AUTH")
	mechanisms := strings.Fields(strings.ToUpper(offered))
	proof := &passwordProof{talk: t}
	for _, known := range []string{"PLAIN", "LOGIN"} {
		if proof.mechanism == "" && slices.Contains(mechanisms, known) {
			proof.mechanism = known
		}
	}
	if proof.mechanism == "" {
		return t.refuse(CodeLogin, "%s offers no way to log in with a password (AUTH PLAIN or LOGIN); if it needs none, take username and password out of the connection", t.Host)
	}
	err := t.client.Auth(proof)
	var reply *textproto.Error
	if errors.As(err, &reply) { // its text may repeat what was sent
		t.refusal = &textproto.Error{Code: reply.Code, Msg: enhanced.FindString(reply.Msg)}
		failure := t.refuse(CodeLogin, "%s refused the username or the password of the connection (%s)", t.Host, replyNumber(reply))
		failure.Permanent = reply.Code >= 500
		return failure
	}
	return err
}

// isLoopback reports whether an address is of this machine.
func isLoopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// passwordProof tells a server the username and the password: at once, or one
// after the other as it asks.
type passwordProof struct {
	*talk
	mechanism string
	told      int
}

var errChallenge = errors.New("the server asks for more than a username and a password")

// Start is for package smtp.
func (p *passwordProof) Start(*smtp.ServerInfo) (string, []byte, error) {
	if p.mechanism == "PLAIN" {
		return p.mechanism, []byte("\x00" + p.username + "\x00" + p.password), nil
	}
	return p.mechanism, nil, nil
}

// Next is for package smtp.
func (p *passwordProof) Next(_ []byte, more bool) ([]byte, error) {
	answers := []string{p.username, p.password}
	switch {
	case !more:
		return nil, nil
	case p.mechanism == "PLAIN" || p.told >= len(answers):
		return nil, errChallenge
	}
	p.told++
	return []byte(answers[p.told-1]), nil
}
