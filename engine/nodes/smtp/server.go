package smtp

import (
	"cmp"
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

// Server is a connection of type smtp.
type Server struct {
	Host               string
	Port               int64
	username, password string // "" = none
	TLS                string
	From               mail.Address
	GreetingTimeout    time.Duration
	sent               func() // called when the password is sent; may be nil
}

// greetingTimeout is generous: some servers delay the greeting to detect spammers. A
// server that expects TLS from the start never greets an unencrypted client.
const greetingTimeout = time.Minute

// Values of Server.TLS.
const (
	StartTLS    = "starttls" // mandatory
	implicitTLS = "tls"      // from the first byte
	tlsNone     = "none"
)

// Read parses a connection. A failure names the key and not the value.
func Read(open *blueprint.OpenConnection) (*Server, error) {
	bad := func(key, problem string) (*Server, error) {
		return nil, &blueprint.Failure{Code: codeConnection, Message: fmt.Sprintf("the %s cannot be used: its %s %s", open.Text(), key, problem), Permanent: true, NotSent: true}
	}
	given := func(key string) string {
		value, _ := open.Config[key].(string)
		return value
	}
	s := &Server{Host: given("host"), username: given("username"), password: given("password"), TLS: given("tls"), GreetingTimeout: greetingTimeout, sent: open.Sent}
	port, isNumber := blueprint.WholeNumber(open.Config["port"])
	s.Port = port
	s.TLS = cmp.Or(s.TLS, StartTLS)
	sender, err := ParseAddresses(given("from"))
	switch {
	case s.Host == "" || !blueprint.IsOneLine(s.Host) || strings.ContainsAny(s.Host, " /@"):
		return bad("host", "is not a host name")
	case !isNumber || port < 1 || port > 65535:
		return bad("port", "must be from 1 to 65535")
	case s.TLS != StartTLS && s.TLS != implicitTLS && s.TLS != tlsNone:
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

// login authenticates if the connection has a username.
func (t *session) login() error {
	if t.username == "" {
		return nil
	}
	if !t.encrypted && !isLoopback(t.conn.RemoteAddr()) {
		return t.permanentFailure(codeConnection, `the connection has a password and tls "none": passwords are never sent unencrypted; set tls to "starttls" or "tls"`)
	}
	_, offered := t.client.Extension("AUTH")
	mechanisms := strings.Fields(strings.ToUpper(offered))
	proof := &passwordAuth{session: t}
	for _, known := range []string{"PLAIN", "LOGIN"} {
		if proof.mechanism == "" && slices.Contains(mechanisms, known) {
			proof.mechanism = known
		}
	}
	if proof.mechanism == "" {
		return t.permanentFailure(CodeLogin, "%s offers no way to log in with a password (AUTH PLAIN or LOGIN); if it needs none, remove username and password from the connection", t.Host)
	}
	if t.sent != nil {
		t.sent()
	}
	err := t.client.Auth(proof)
	var reply *textproto.Error
	if errors.As(err, &reply) { // its text may repeat what was sent
		t.reply = &textproto.Error{Code: reply.Code, Msg: enhanced.FindString(reply.Msg)}
		failure := t.permanentFailure(CodeLogin, "%s refused the username or the password of the connection (%s)", t.Host, strings.TrimSpace(fmt.Sprintf("%03d %s", reply.Code, enhanced.FindString(reply.Msg))))
		failure.Permanent = reply.Code >= 500
		return failure
	}
	return err
}

func isLoopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// passwordAuth is the mechanism PLAIN or LOGIN.
type passwordAuth struct {
	*session
	mechanism string
	step      int
}

var errChallenge = errors.New("the server asks for more than a username and a password")

func (p *passwordAuth) Start(*smtp.ServerInfo) (string, []byte, error) {
	if p.mechanism == "PLAIN" {
		return p.mechanism, []byte("\x00" + p.username + "\x00" + p.password), nil
	}
	return p.mechanism, nil, nil
}

func (p *passwordAuth) Next(_ []byte, more bool) ([]byte, error) {
	answers := []string{p.username, p.password}
	switch {
	case !more:
		return nil, nil
	case p.mechanism == "PLAIN" || p.step >= len(answers):
		return nil, errChallenge
	}
	p.step++
	return []byte(answers[p.step-1]), nil
}
