package connections

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

const (
	checkTimeout = 20 * time.Second // of a test, in real time
	maxResponse  = 1 << 20          // bytes that are read of an answer
)

// Test makes the cheapest real call through a connection. The message describes the
// outcome. The error is CodeNotFound for a connection that the user may not use, or an
// internal one.
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

// send makes a request with the credentials of a connection. The body is cut at maxResponse
// bytes.
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
	body, err := outbound.ReadAll(response.Body, maxResponse)
	if err != nil && !errors.Is(err, outbound.ErrTooLarge) {
		return nil, nil, checkFailure(err, request.URL.Host)
	}
	return response, body, nil
}

// checkFailure returns err as a failure, unless it is a failure, a pause or a cancellation
// already.
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

// statusFailure returns the failure for an unexpected status.
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
