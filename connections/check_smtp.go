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

// maxSMTPRead limits the bytes read from a mail server.
const maxSMTPRead = 64 << 10

// checkSMTP connects and logs in to the mail server without sending a mail.
func (s *Service) checkSMTP(ctx context.Context, open *blueprint.OpenConnection) (string, error) {
	host := textAt(open.Config, "host")
	port, _ := open.Config["port"].(json.Number)
	target := net.JoinHostPort(host, port.String())
	conn, err := s.HTTP.DialContext(ctx, "tcp", target)
	if err != nil {
		return "", checkFailure(err, target)
	}
	defer conn.Close()
	// The end of ctx closes the connection to a server that does not respond.
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	g := &smtpSession{config: open.Config, host: host, conn: boundedConn{conn, io.LimitReader(conn, maxSMTPRead)}, tlsConfig: s.HTTP.TLSConfig(host)}
	problem, err := g.run(ctx)
	switch answer := (*textproto.Error)(nil); {
	case ctx.Err() != nil:
		return "", checkFailure(ctx.Err(), target)
	case problem != "" && errors.As(err, &answer): // without its text, which may repeat credentials
		problem += fmt.Sprintf(" (status %d)", answer.Code)
		fallthrough
	case problem != "":
		return "", &blueprint.Failure{Code: codeConnect, Message: target + " " + problem}
	case g.username() == "":
		return target + " is a mail server", nil
	default:
		return target + " accepts the user and the password", nil
	}
}

// smtpSession is an SMTP session up to the login.
type smtpSession struct {
	config    map[string]any
	host      string
	conn      net.Conn
	tlsConfig *tls.Config
	encrypted bool
	steps     int // of AUTH LOGIN
}

func (g *smtpSession) username() string { return textAt(g.config, "username") }

// run runs the session and returns a description of the problem, "" for none, and its
// error, if any.
func (g *smtpSession) run(ctx context.Context) (problem string, err error) {
	const untrusted = "does not start TLS with a trusted certificate"
	kind := textAt(g.config, "tls")
	if kind == "tls" {
		encrypted := tls.Client(g.conn, g.tlsConfig)
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
		return "does not speak SMTP", err
	}
	if kind == "starttls" {
		if offered, _ := client.Extension("STARTTLS"); !offered {
			return "does not offer STARTTLS", nil
		}
		if err := client.StartTLS(g.tlsConfig); err != nil {
			return untrusted, err
		}
		g.encrypted = true
	}
	if g.username() != "" {
		_, methods := client.Extension("AUTH")
		offered := strings.Fields(strings.ToUpper(methods))
		switch {
		case !g.encrypted && !isLoopback(hostOf(g.conn.RemoteAddr())):
			return "was not sent the password, because the connection has no TLS; set tls to starttls or tls", nil
		case slices.Contains(offered, "PLAIN"):
			err = client.Auth(plainAuth{g})
		case slices.Contains(offered, "LOGIN"):
			err = client.Auth(loginAuth{g})
		default:
			return "supports neither AUTH PLAIN nor AUTH LOGIN", nil
		}
		if err != nil {
			return "does not accept the user and the password", err
		}
	}
	_ = client.Quit() // the reply does not matter
	return "", nil
}

// plainAuth is AUTH PLAIN (RFC 4616). Unlike smtp.PlainAuth it does not check for TLS;
// run has done so.
type plainAuth struct{ *smtpSession }

// Start implements smtp.Auth.
func (l plainAuth) Start(*smtp.ServerInfo) (string, []byte, error) {
	return "PLAIN", []byte("\x00" + l.username() + "\x00" + textAt(l.config, "password")), nil
}

// Next implements smtp.Auth.
func (l plainAuth) Next(_ []byte, more bool) ([]byte, error) {
	if more {
		return nil, errors.New("unexpected challenge")
	}
	return nil, nil
}

// loginAuth is AUTH LOGIN, in which the server prompts for the user name, then for the
// password.
type loginAuth struct{ *smtpSession }

// Start implements smtp.Auth.
func (l loginAuth) Start(*smtp.ServerInfo) (string, []byte, error) { return "LOGIN", nil, nil }

// Next implements smtp.Auth.
func (l loginAuth) Next(_ []byte, more bool) ([]byte, error) {
	if !more {
		return nil, nil
	}
	switch l.steps++; l.steps {
	case 1:
		return []byte(l.username()), nil
	case 2:
		return []byte(textAt(l.config, "password")), nil
	default:
		return nil, errors.New("unexpected challenge")
	}
}

// boundedConn is a connection with a limit on the bytes read.
type boundedConn struct {
	net.Conn
	bounded io.Reader
}

// Read reads from the bounded reader.
func (c boundedConn) Read(p []byte) (int, error) { return c.bounded.Read(p) }

func hostOf(address net.Addr) string {
	host, _, _ := net.SplitHostPort(address.String())
	return host
}
