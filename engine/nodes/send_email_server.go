package nodes

import (
	"fmt"
	"net/mail"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// smtpServer is what a connection of type smtp says.
type smtpServer struct {
	host               string
	port               int64
	username, password string // "" = none
	tls                string // one of those below
	from               mail.Address
	patience           time.Duration // until it greets
}

// greetingPatience is how long a server may take to say the first word. Some
// make strangers wait, to see who is impatient; one that speaks TLS from the
// start, to somebody who does not, waits itself.
const greetingPatience = time.Minute

// How the talk with a server is encrypted.
const (
	tlsStart = "starttls" // from the command of that name on, without which nothing is sent
	tlsFirst = "tls"      // from the first byte
	tlsNone  = "none"
)

// readSMTP reads a connection. What does not fit is a failure that names the
// key and not the value.
func readSMTP(open *blueprint.OpenConnection) (*smtpServer, error) {
	bad := func(key, problem string) (*smtpServer, error) {
		return nil, &blueprint.Failure{Code: smtpcodeConnection, Message: fmt.Sprintf("the %s cannot be used: its %s %s", open.Text(), key, problem), Permanent: true, NotSent: true}
	}
	given := func(key string) string {
		value, _ := open.Config[key].(string)
		return value
	}
	s := &smtpServer{host: given("host"), username: given("username"), password: given("password"), tls: given("tls"), patience: greetingPatience}
	port, isNumber := blueprint.WholeNumber(open.Config["port"])
	s.port = port
	if s.tls == "" {
		s.tls = tlsStart
	}
	sender, err := parseAddresses(given("from"))
	switch {
	case s.host == "" || !blueprint.IsOneLine(s.host) || strings.ContainsAny(s.host, " /@"):
		return bad("host", "is no name of a host")
	case !isNumber || port < 1 || port > 65535:
		return bad("port", "must be from 1 to 65535")
	case s.tls != tlsStart && s.tls != tlsFirst && s.tls != tlsNone:
		return bad("tls", "must be starttls, tls or none")
	case err != nil:
		return bad("from", err.Error())
	case len(sender) != 1:
		return bad("from", "must be one address")
	case strings.ContainsRune(s.username+s.password, 0):
		return bad("username or password", "holds a character that cannot be sent")
	}
	s.from = sender[0]
	return s, nil
}
