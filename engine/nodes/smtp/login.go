package smtp

import (
	"errors"
	"net"
	"net/smtp"
	"net/textproto"
	"slices"
	"strings"
)

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

// isLoopback tells whether an address is of this machine.
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
