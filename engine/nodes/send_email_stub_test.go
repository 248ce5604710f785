package nodes

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// mailStub is a mail server on loopback that keeps what it is sent.
type mailStub struct {
	t        testing.TB
	listener net.Listener
	secure   *tls.Config
	roots    *x509.CertPool

	implicit bool     // it speaks TLS from the start
	lenient  bool     // it takes lines of any form
	offers   []string // what EHLO is answered with
	login    string   // "user password" that it takes
	// replies stand in for its own: by the beginning of a command, or "greeting"
	// and "end" (of the message). "close" closes the connection, "hang" says
	// nothing.
	replies map[string]string

	hung chan struct{} // closes when it says nothing

	mu       sync.Mutex
	commands []string
	mails    []string // as they came, dots taken out
	wait     sync.WaitGroup
}

var allOffers = []string{"STARTTLS", "AUTH PLAIN LOGIN", "SIZE 100000", "SMTPUTF8", "8BITMIME"}

func newMailStub(t testing.TB, change func(*mailStub)) *mailStub {
	t.Helper()
	donor := httptest.NewTLSServer(nil) // of whom only the certificate is wanted
	donor.Close()
	s := &mailStub{t: t, offers: allOffers, login: "ada secret-of-ada", replies: map[string]string{}, hung: make(chan struct{}), roots: x509.NewCertPool()}
	s.roots.AddCert(donor.Certificate())
	s.secure = &tls.Config{Certificates: donor.TLS.Certificates}
	if change != nil {
		change(s)
	}
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.wait.Go(func() {
		for {
			conn, err := s.listener.Accept()
			if err != nil {
				return
			}
			s.wait.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		s.listener.Close()
		s.wait.Wait()
	})
	return s
}

func (s *mailStub) serve(conn net.Conn) {
	defer func() { conn.Close() }()
	if s.implicit {
		conn = tls.Server(conn, s.secure)
	}
	lines := bufio.NewReader(conn)
	// say gives false when the talk is over.
	say := func(key, usual string) bool {
		for prefix, reply := range s.replies {
			if strings.HasPrefix(key, prefix) {
				usual = reply
			}
		}
		switch usual {
		case "close":
			return false
		case "hang":
			close(s.hung)
			lines.ReadByte() // until the other side closes
			return false
		}
		_, err := fmt.Fprintf(conn, "%s\r\n", usual)
		return err == nil
	}
	read := func() (string, bool) {
		line, err := lines.ReadString('\n')
		bare, ended := strings.CutSuffix(line, "\r\n")
		if err == nil && !s.lenient && (!ended || strings.ContainsAny(bare, "\r\n") || len(line) > 1000) {
			s.t.Errorf("a line that no server takes: %q", line)
		}
		return bare, err == nil
	}
	ok := say("greeting", "220 stub ESMTP")
	for ok {
		var line string
		if line, ok = read(); !ok {
			return
		}
		s.mu.Lock()
		s.commands = append(s.commands, line)
		s.mu.Unlock()
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "EHLO":
			ok = say(line, "250-stub\r\n250-"+strings.Join(s.offers, "\r\n250-")+"\r\n250 HELP")
		case "STARTTLS":
			if ok = say(line, "220 go ahead"); ok && s.replies["STARTTLS"] == "" {
				conn = tls.Server(conn, s.secure)
				lines = bufio.NewReader(conn)
			}
		case "AUTH":
			given := ""
			if secret, plain := strings.CutPrefix(rest, "PLAIN "); plain {
				raw, _ := base64.StdEncoding.DecodeString(secret)
				given = strings.ReplaceAll(strings.TrimPrefix(string(raw), "\x00"), "\x00", " ")
			} else {
				var words []string
				for _, question := range []string{"VXNlcm5hbWU6", "UGFzc3dvcmQ6"} {
					fmt.Fprintf(conn, "334 %s\r\n", question)
					answer, _ := read()
					raw, _ := base64.StdEncoding.DecodeString(answer)
					words = append(words, string(raw))
				}
				given = strings.Join(words, " ")
			}
			if given == s.login {
				ok = say(line, "235 2.7.0 welcome")
			} else {
				ok = say(line, "535 5.7.8 not you: "+rest)
			}
		case "DATA":
			if ok = say(line, "354 go on"); ok && s.replies["DATA"] == "" {
				var mail strings.Builder
				for {
					if line, ok = read(); !ok {
						return
					}
					if line == "." {
						break
					}
					mail.WriteString(strings.TrimPrefix(line, ".") + "\r\n")
				}
				if s.replies["end"] == "" {
					s.mu.Lock()
					s.mails = append(s.mails, mail.String())
					s.mu.Unlock()
				}
				ok = say("end", "250 2.0.0 queued")
			}
		case "QUIT":
			say(line, "221 bye")
			return
		default:
			ok = say(line, "250 2.1.0 fine")
		}
	}
}

func (s *mailStub) said(prefix string) (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, command := range s.commands {
		if strings.HasPrefix(command, prefix) {
			list = append(list, command)
		}
	}
	return list
}

// received returns the only message that came, or "" for none.
func (s *mailStub) received() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch len(s.mails) {
	case 0:
		return ""
	case 1:
		return s.mails[0]
	}
	s.t.Errorf("%d messages", len(s.mails))
	return ""
}

const mailID = "3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e61"

// connection returns the config of a connection to the stub.
func (s *mailStub) connection() map[string]any {
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	return map[string]any{"host": "127.0.0.1", "port": json.Number(port), "username": "ada", "password": "secret-of-ada", "tls": "starttls", "from": "Ada L. <ada@sender.example>"}
}

func (s *mailStub) client() *outbound.Client {
	return outbound.New(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: s.roots})
}

// sending returns the type and the task of a config that sends over a connection.
func (s *mailStub) sending(t testing.TB, config string, connection map[string]any) (*blueprint.NodeType, *blueprint.Task) {
	kind := sendEmail(Dependencies{HTTP: s.client()})
	task := newTask(t, kind, config, `{}`)
	task.Config["connectionId"] = mailID
	task.Connect = func(_ context.Context, id string) (*blueprint.OpenConnection, error) {
		return &blueprint.OpenConnection{ID: id, Type: blueprint.ConnectionSMTP, Config: connection}, nil
	}
	return kind, task
}
