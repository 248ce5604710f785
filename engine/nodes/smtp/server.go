package smtp

import (
	"fmt"
	"net/mail"
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
