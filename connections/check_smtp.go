package connections

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/smtp"
	"net/textproto"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// mostGreeting is how much of what a mail server says is read, in bytes.
const mostGreeting = 64 << 10

// checkSMTP greets the mail server and logs in, and sends nothing.
func (s *Service) checkSMTP(ctx context.Context, open *blueprint.OpenConnection) (string, error) {
	host := textAt(open.Config, "host")
	port, _ := open.Config["port"].(json.Number)
	target := net.JoinHostPort(host, port.String())
	conn, err := s.HTTP.DialContext(ctx, "tcp", target)
	if err != nil {
		return "", checkFailure(err, target)
	}
	defer conn.Close()
	// A server that says nothing must not hold us: the end of ctx cuts it off.
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	g := &greeting{config: open.Config, host: host, conn: boundedConn{conn, io.LimitReader(conn, mostGreeting)}, trust: s.HTTP.TLSConfig(host)}
	problem, err := g.speak(ctx)
	switch answer := (*textproto.Error)(nil); {
	case ctx.Err() != nil:
		return "", checkFailure(ctx.Err(), target)
	case problem != "" && errors.As(err, &answer): // whose text may repeat what was sent
		problem += fmt.Sprintf(" (it answered %d)", answer.Code)
		fallthrough
	case problem != "":
		return "", &blueprint.Failure{Code: codeConnect, Message: target + " " + problem}
	case g.username() == "":
		return target + " answers as a mail server does", nil
	default:
		return target + " accepts the user and the password", nil
	}
}

// greeting is the beginning of a talk with a mail server.
type greeting struct {
	config    map[string]any
	host      string
	conn      net.Conn
	trust     *tls.Config
	encrypted bool
	told      int
}

func (g *greeting) username() string { return textAt(g.config, "username") }

// speak says what is wrong with the server, "" for nothing, and the error that
// came with it.
func (g *greeting) speak(ctx context.Context) (problem string, err error) {
	const untrusted = "does not begin TLS with a certificate that is trusted"
	kind := textAt(g.config, "tls")
	if kind == "tls" {
		encrypted := tls.Client(g.conn, g.trust)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return untrusted, err
		}
		g.conn, g.encrypted = encrypted, true
	}
	client, err := smtp.NewClient(g.conn, g.host)
	if err == nil {
		err = client.Hello("localhost")
	}
	if err != nil {
		return "does not greet as a mail server does", err
	}
	if kind == "starttls" {
		if offered, _ := client.Extension("STARTTLS"); !offered {
			return "does not offer STARTTLS", nil
		}
		if err := client.StartTLS(g.trust); err != nil {
			return untrusted, err
		}
		g.encrypted = true
	}
	if g.username() != "" {
		_, ways := client.Extension("AUTH")
		offered := strings.Fields(strings.ToUpper(ways))
		switch {
		case !g.encrypted && !isLoopback(hostOf(g.conn.RemoteAddr())):
			return "would get the password without TLS, so it was not sent; set tls to starttls or tls", nil
		case slices.Contains(offered, "PLAIN"):
			err = client.Auth(plainLogin{g})
		case slices.Contains(offered, "LOGIN"):
			err = client.Auth(askedLogin{g})
		default:
			return "offers no way to log in with a password", nil
		}
		if err != nil {
			return "does not accept the user and the password", err
		}
	}
	_ = client.Quit() // the answer does not matter
	return "", nil
}

// plainLogin is AUTH PLAIN (RFC 4616). Whether the way there is safe was looked
// at before.
type plainLogin struct{ *greeting }

// Start is for package smtp.
func (l plainLogin) Start(*smtp.ServerInfo) (string, []byte, error) {
	return "PLAIN", []byte("\x00" + l.username() + "\x00" + textAt(l.config, "password")), nil
}

// Next is for package smtp.
func (l plainLogin) Next(_ []byte, more bool) ([]byte, error) {
	if more {
		return nil, errors.New("the server asks for more")
	}
	return nil, nil
}

// askedLogin is AUTH LOGIN, where the server asks for one after the other.
type askedLogin struct{ *greeting }

// Start is for package smtp.
func (l askedLogin) Start(*smtp.ServerInfo) (string, []byte, error) { return "LOGIN", nil, nil }

// Next is for package smtp.
func (l askedLogin) Next(_ []byte, more bool) ([]byte, error) {
	if !more {
		return nil, nil
	}
	switch l.told++; l.told {
	case 1:
		return []byte(l.username()), nil
	case 2:
		return []byte(textAt(l.config, "password")), nil
	default:
		return nil, errors.New("the server asks for more")
	}
}

// boundedConn is a connection from which only so much is read.
type boundedConn struct {
	net.Conn
	bounded io.Reader
}

// Read reads up to the bound.
func (c boundedConn) Read(p []byte) (int, error) { return c.bounded.Read(p) }

func hostOf(address net.Addr) string {
	host, _, _ := net.SplitHostPort(address.String())
	return host
}
