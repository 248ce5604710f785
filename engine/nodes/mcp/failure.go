package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func permanentFailure(code, format string, args ...any) *blueprint.Failure {
	return &blueprint.Failure{Code: code, Message: fmt.Sprintf(format, args...), Permanent: true, NotSent: true}
}

// failure converts the error of an exchange. Of the connection it shows only the host.
func (s *Session) failure(ctx, limited context.Context, record *exchangeRecord, hops *outbound.Hops, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	record.mu.Lock()
	defer record.mu.Unlock()
	cause := errors.Join(record.err, err)
	var (
		known   *blueprint.Failure
		pause   *blueprint.Pause
		refusal *jsonrpc.Error
		refused *outbound.RefusedError
	)
	f, fault := &blueprint.Failure{NotSent: !hops.Sent()}, outbound.FaultOf(record.err)
	say := func(code, format string, args ...any) { f.Code, f.Message = code, fmt.Sprintf(format, args...) }
	switch {
	case errors.As(cause, &known):
		return known
	case errors.As(cause, &pause):
		return pause
	case errors.Is(cause, errTooLarge):
		say("too_large", "an answer of %s is larger than %d bytes", s.host, s.client.maxAnswer)
	case errors.Is(cause, outbound.ErrHeaders):
		say("too_large", "the headers of an answer of %s are larger than %d bytes", s.host, outbound.MaxHeaderBytes)
	case errors.Is(cause, errTooManyTries):
		say("connect_failed", "%s repeatedly closed the connection during a response", s.host)
	case errors.Is(cause, errForeignID):
		say("mcp_error", "%s answered with an unknown request id", s.host)
	case errors.As(cause, &refused):
		say("address_refused", "%s", refused.Error())
	case errors.Is(cause, outbound.ErrRedirects):
		say("too_many_redirects", "%s redirected more than %d times", s.host, outbound.MaxRedirects)
	case record.refusal != nil:
		say("mcp_error", "%s refused: %s (%d)", s.host, displayText(record.refusal.Message, maxQuoted), record.refusal.Code)
	case record.status != 0 && errors.As(err, &refusal) && refusal.Message != rejected:
		say("mcp_error", "%s answered %d: %s (%d)", s.host, record.status, displayText(refusal.Message, maxQuoted), refusal.Code)
	case record.status != 0:
		say("http_status", "%s answered %s", s.host, statusText(record.status))
		f.RetryAfter = record.retryAfter
	case limited.Err() != nil || fault.Kind == "timeout":
		say("timeout", "%s did not answer in time", s.host)
	case record.err == nil:
		say("mcp_error", "%s sent an answer that does not follow the protocol; check that the url is that of a streamable HTTP server", s.host)
	case fault.Kind == "tls" || strings.HasPrefix(fault.Kind, "certificate"):
		say("tls_failed", "the certificate of %s is not trusted, or it does not speak TLS", s.host)
	case fault.Kind == "dns":
		say("connect_failed", "no host named %s is known", s.host)
	case fault.Kind == "resolver":
		say("connect_failed", "cannot look up %s: the name server is not reachable or fails", s.host)
	case f.NotSent && fault.Kind == "errno":
		say("connect_failed", "cannot connect to %s: %s", s.host, fault.Reason)
	case f.NotSent:
		say("connect_failed", "cannot connect to %s", s.host)
	default:
		say("connect_failed", "%s closed the connection before the response was complete", s.host)
	}
	return f
}

// maxQuoted bounds quoted messages of a server, in bytes.
const maxQuoted = 500

// rejected is the message of the SDK's error for a failed request in an intact session.
const rejected = "rejected by transport"

func statusText(status int) string {
	text := strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		text += "; check the connection's credentials"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		text += "; check that the connection's url is that of a streamable HTTP server"
	}
	return text
}

// ShownName returns a name chosen by a server as one bounded line.
func ShownName(name string) string { return displayText(name, maxName) }

// displayText returns a server's text as one line of at most most bytes.
func displayText(text string, most int) string {
	return blueprint.Shorten(strings.TrimSpace(blueprint.OneLine(strings.ToValidUTF8(text, "\uFFFD"))), most)
}

func wholeNumber(value any) (int64, bool) {
	number, _ := value.(json.Number)
	whole, err := number.Int64()
	return whole, err == nil
}
