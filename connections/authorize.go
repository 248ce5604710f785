package connections

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"blueprintd/blueprint"
)

// authorizer adds credentials to a request.
type authorizer func(ctx context.Context, request *http.Request) error

// reach is where a connection's credentials may go.
type reach struct {
	of    *blueprint.Connection
	hosts []string // as in a config
	plain []string // hosts that may be reached over plain http
	open  bool     // there are no credentials: plain http is allowed everywhere
}

// reachOf returns the reach of a connection with one address.
func reachOf(connection *blueprint.Connection, u *url.URL) reach {
	r := reach{of: connection, hosts: []string{hostPort(u)}}
	if u.Scheme == "http" {
		r.plain = r.hosts
	}
	return r
}

// check returns a *blueprint.Failure if the credentials may not be sent to the target of
// the request.
func (r reach) check(request *http.Request) error {
	refused := func(format string, args ...any) error {
		return &blueprint.Failure{Code: codeHost, Message: fmt.Sprintf(format, args...), Permanent: true, NotSent: true}
	}
	target := hostPort(request.URL)
	switch {
	case !blueprint.HostsCover(r.hosts, target), request.Host != "" && !strings.EqualFold(request.Host, request.URL.Host):
		return refused("the %s is not for %s", r.of.Text(), request.URL.Host)
	case request.URL.Scheme == "https", r.open, isLoopback(request.URL.Hostname()), blueprint.HostsCover(r.plain, target):
		return nil
	default:
		return refused("the credentials of the %s do not go to %s over plain http; use https", r.of.Text(), request.URL.Host)
	}
}

// guarded restricts an authorizer to these hosts.
func (r reach) guarded(authorize authorizer) authorizer {
	return func(ctx context.Context, request *http.Request) error {
		if err := r.check(request); err != nil || authorize == nil {
			return err
		}
		return authorize(ctx, request)
	}
}

// withHeader sets a header, replacing all values of that name.
func withHeader(name, value string) authorizer {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set(name, value)
		return nil
	}
}

// withBasic sets the header of HTTP's basic authentication (RFC 7617).
func withBasic(username, password string) authorizer {
	return func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(username, password)
		return nil
	}
}

// withQuery sets a query parameter, replacing all values of that name.
// Other parameters keep their bytes and their order.
func withQuery(name, value string) authorizer {
	return func(_ context.Context, request *http.Request) error {
		var kept []string
		for part := range strings.SplitSeq(request.URL.RawQuery, "&") {
			key, _, _ := strings.Cut(part, "=")
			if plain, err := url.QueryUnescape(key); part != "" && (err != nil || plain != name) {
				kept = append(kept, part)
			}
		}
		request.URL.RawQuery = strings.Join(append(kept, url.QueryEscape(name)+"="+url.QueryEscape(value)), "&")
		return nil
	}
}
