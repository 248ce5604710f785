package nodes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// codeHost is the failure of a request that would take a connection, or the
// pages of an answer, to a host that is not meant.
const codeHost = "host_not_allowed"

// httpConnection opens the connection that a config names. Under the context
// that it gives, requests carry the connection's credentials; one to a host that
// the connection does not name is not sent. An id of "" opens nothing.
func httpConnection(ctx context.Context, task *blueprint.Task, id string) (context.Context, *blueprint.OpenConnection, error) {
	if id == "" {
		return ctx, nil, nil
	}
	if task.Connect == nil {
		return ctx, nil, badConnection("connections are not available here")
	}
	conn, err := task.Connect(ctx, id)
	if err != nil {
		return ctx, nil, unauthorized(err, nil)
	}
	if conn.Type != blueprint.ConnectionHTTP && conn.Type != blueprint.ConnectionOAuth2 {
		return ctx, nil, badConnection(fmt.Sprintf("the %s is of the type %s; HTTP requests take one of the type http or oauth2", conn.Text(), conn.Type))
	}
	return outbound.Authorize(ctx, func(ctx context.Context, request *http.Request) error {
		if !covers(conn, request.URL) { // also where there is nothing to add
			return &blueprint.Failure{
				Code:      codeHost,
				Message:   fmt.Sprintf("the %s is not for %s; hint: add the host to the hosts of the connection, or leave connectionId out", conn.Text(), request.URL.Host),
				Permanent: true,
			}
		}
		if conn.Authorize == nil {
			return nil
		}
		return conn.Authorize(ctx, request)
	}), conn, nil
}

// unauthorized makes what a node returns of an error from a connection. Anything
// that was sent is in hops; nil when nothing can have been.
func unauthorized(err error, hops *outbound.Hops) error {
	sent := hops != nil && hops.Sent()
	if failure, ok := errors.AsType[*blueprint.Failure](err); ok {
		told := *failure
		told.NotSent = !sent
		return &told
	}
	if pause, ok := errors.AsType[*blueprint.Pause](err); ok && sent {
		// After a pause all would be sent again, also by a node that must not.
		return &blueprint.Failure{Code: codeConnection, Message: "before the last request could be sent, this was asked: " + pause.Error() + "; run it again to be asked"}
	}
	return err
}

// covers tells whether an address is at one of the hosts of a connection; nil
// has none.
func covers(conn *blueprint.OpenConnection, u *url.URL) bool {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return conn != nil && blueprint.HostsCover(conn.Hosts, net.JoinHostPort(u.Hostname(), port))
}
