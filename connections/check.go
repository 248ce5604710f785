package connections

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/smtp"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

const (
	checkTimeout = 20 * time.Second // of a test, in real time
	maxResponse  = 1 << 20          // bytes that are read of an answer
)

// Test makes the cheapest real call through a connection. The message describes the
// outcome. The error is CodeNotFound if the user may not use it, or an internal one.
func (s *Service) Test(ctx context.Context, userID, id string) (ok bool, message string, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	connection, err := s.connection(ctx, blueprint.Authority{PrincipalID: userID}, id)
	if err != nil {
		return false, "", err
	}
	if connection.Type == blueprint.ConnectionOAuth2 {
		message, err = s.checkOAuth(ctx, connection, userID)
	} else {
		message, err = s.checkOpen(ctx, userID, id)
	}
	var (
		failure *blueprint.Failure
		pause   *blueprint.Pause
	)
	switch {
	case err == nil:
		return true, message, nil
	case errors.As(err, &failure):
		return false, failure.Message, nil
	case errors.As(err, &pause):
		return false, pause.Await.Prompt + " Visit " + pause.Await.URL, nil
	case errors.Is(err, context.DeadlineExceeded):
		return false, "no response in time", nil
	default:
		return false, "", err
	}
}

// checkOAuth refreshes the token in order to detect a revoked one.
func (s *Service) checkOAuth(ctx context.Context, connection *blueprint.Connection, userID string) (string, error) {
	c, err := newOAuthClient(connection)
	if err != nil {
		return "", err
	}
	t, err := s.current(ctx, c, userID, "")
	if err == nil && (c.flow == flowClient || t.Refresh != "") {
		if since := s.Clock.Now().Sub(t.Since.Time()); since >= time.Second { // else it is new
			t, err = s.current(ctx, c, userID, t.Access)
		}
	}
	switch {
	case errors.Is(err, errSignIn):
		return "", s.askToSignIn(ctx, c, blueprint.ConnectionUse{ConnectionID: connection.ID, UserID: userID})
	case err != nil:
		return "", err
	case c.flow == flowClient:
		return c.token.Host + " issued a token", nil
	case t.Until != 0 && t.Refresh == "":
		return fmt.Sprintf("you are signed in at %s until %s", c.authorization.Host, t.Until), nil
	default:
		return "you are signed in at " + c.authorization.Host, nil
	}
}

// checkOpen opens a connection and makes the test call of its type.
func (s *Service) checkOpen(ctx context.Context, userID, id string) (string, error) {
	open, err := s.Open(ctx, blueprint.ConnectionUse{ConnectionID: id, UserID: userID})
	if err != nil {
		return "", err
	}
	if try := kinds[open.Type].try; try != nil {
		return try(s, ctx, open)
	}
	return s.checkHTTP(ctx, open)
}

// checkMCP begins a session with an MCP server.
func (s *Service) checkMCP(ctx context.Context, open *blueprint.OpenConnection) (string, error) {
	if s.Probe == nil {
		return "", unusable("this server cannot test MCP servers")
	}
	server, err := s.Probe(ctx, open)
	if err != nil {
		return "", checkFailure(err, open.Hosts[0])
	}
	return "the MCP server is " + plain(server), nil
}

// send makes a request with a connection's credentials, and reads maxResponse bytes.
func (s *Service) send(ctx context.Context, open *blueprint.OpenConnection, method, address string) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(outbound.Authorize(ctx, open.Authorize), method, address, nil)
	if err != nil {
		return nil, nil, unusable("the %s has no valid URL", open.Text())
	}
	request.Header.Set("User-Agent", "blueprintd")
	request.Header.Set("Accept", "application/json, */*;q=0.5")
	response, err := s.HTTP.Do(request)
	if err != nil {
		return nil, nil, checkFailure(err, request.URL.Host)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, nil, checkFailure(err, request.URL.Host)
	}
	return response, body, nil
}

// checkFailure returns err as a failure, unless it is one, a pause or a cancellation.
func checkFailure(err error, host string) error {
	var (
		failure *blueprint.Failure
		pause   *blueprint.Pause
	)
	if errors.As(err, &failure) || errors.As(err, &pause) || errors.Is(err, context.Canceled) {
		return err
	}
	return unreachable(err, host)
}

func statusFailure(host string, status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &blueprint.Failure{Code: codeToken, Message: fmt.Sprintf("%s does not accept the credentials (status %d)", host, status)}
	case http.StatusNotFound:
		return &blueprint.Failure{Code: codeConnect, Message: fmt.Sprintf("%s answered 404: check the address", host)}
	default:
		return &blueprint.Failure{Code: codeConnect, Message: fmt.Sprintf("%s answered %d", host, status)}
	}
}

// checkAI lists the models, which is free of charge.
func (s *Service) checkAI(ctx context.Context, open *blueprint.OpenConnection) (string, error) {
	path := "/models"
	if textAt(open.Config, "provider") == "anthropic" {
		path = "/v1/models"
	}
	response, body, err := s.send(ctx, open, http.MethodGet, BaseURL(open.Type, open.Config)+path)
	if err != nil {
		return "", err
	}
	host := response.Request.URL.Host
	var list struct {
		Data []json.RawMessage `json:"data"`
	}
	switch {
	case response.StatusCode != http.StatusOK:
		return "", statusFailure(host, response.StatusCode)
	case len(body) < maxResponse && (json.Unmarshal(body, &list) != nil || list.Data == nil):
		return "", &blueprint.Failure{Code: codeConnect, Message: host + " did not return a list of models: check baseUrl"}
	case len(list.Data) == 0:
		return host + " accepts the key", nil
	default:
		return fmt.Sprintf("%s accepts the key and has %d models", host, len(list.Data)), nil
	}
}

// slackError matches Slack's error codes.
var slackError = regexp.MustCompile(`^[a-z_]{1,60}$`)

// slackReason returns Slack's error code as the end of a sentence, "" for other texts.
func slackReason(name string) string {
	if slackError.MatchString(name) {
		return ": " + name
	}
	return ""
}

// checkSlack requests the identity of the bot.
func (s *Service) checkSlack(ctx context.Context, open *blueprint.OpenConnection) (string, error) {
	response, body, err := s.send(ctx, open, http.MethodPost, BaseURL(open.Type, open.Config)+"/auth.test")
	if err != nil {
		return "", err
	}
	host := response.Request.URL.Host
	var answer struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
		Team  string `json:"team"`
		User  string `json:"user"`
	}
	switch {
	case response.StatusCode != http.StatusOK:
		return "", statusFailure(host, response.StatusCode)
	case json.Unmarshal(body, &answer) != nil:
		return "", &blueprint.Failure{Code: codeConnect, Message: host + " did not return Slack's JSON: check baseUrl"}
	case !answer.OK:
		return "", &blueprint.Failure{Code: codeToken, Message: host + " does not accept the token" + slackReason(answer.Error)}
	}
	return fmt.Sprintf("the bot is %s in %s", plain(answer.User), plain(answer.Team)), nil
}

// checkHTTP requests the root of the first host. It accepts any response that does not
// refuse the credentials.
func (s *Service) checkHTTP(ctx context.Context, open *blueprint.OpenConnection) (string, error) {
	first := slices.IndexFunc(open.Hosts, func(host string) bool { return !strings.HasPrefix(host, "*.") })
	if first < 0 {
		return "", unusable("the %s has no host without a wildcard to test", open.Text())
	}
	root := &url.URL{Scheme: "https", Host: open.Hosts[first], Path: "/"}
	if isLoopback(root.Hostname()) {
		root.Scheme = "http"
	}
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		response, _, err := s.send(ctx, open, method, root.String())
		switch {
		case err != nil:
			return "", err
		case response.StatusCode == http.StatusMethodNotAllowed || response.StatusCode == http.StatusNotImplemented:
			continue
		case response.StatusCode == http.StatusUnauthorized, response.StatusCode == http.StatusForbidden, response.StatusCode >= 500:
			return "", statusFailure(root.Host, response.StatusCode)
		}
		return fmt.Sprintf("%s answered %d", root.Host, response.StatusCode), nil
	}
	return root.Host + " answered", nil
}

// plain returns a name given by another service as one short line.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, name)
	if runes := []rune(name); len(runes) > 100 {
		name = string(runes[:100]) + "…"
	}
	if name == "" {
		return "(unnamed)"
	}
	return name
}

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

// run runs the session and returns a problem, "" for none, and its error, if any.
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

// plainAuth is AUTH PLAIN (RFC 4616). Unlike smtp.PlainAuth it leaves TLS to run.
type plainAuth struct{ *smtpSession }

func (l plainAuth) Start(*smtp.ServerInfo) (string, []byte, error) {
	return "PLAIN", []byte("\x00" + l.username() + "\x00" + textAt(l.config, "password")), nil
}

func (l plainAuth) Next(_ []byte, more bool) ([]byte, error) {
	if more {
		return nil, errors.New("unexpected challenge")
	}
	return nil, nil
}

// loginAuth is AUTH LOGIN: the server prompts for the user name, then for the password.
type loginAuth struct{ *smtpSession }

func (l loginAuth) Start(*smtp.ServerInfo) (string, []byte, error) { return "LOGIN", nil, nil }

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

func (c boundedConn) Read(p []byte) (int, error) { return c.bounded.Read(p) }

func hostOf(address net.Addr) string {
	host, _, _ := net.SplitHostPort(address.String())
	return host
}
