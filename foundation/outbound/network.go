package outbound

import (
	"context"
	"net"
	"net/http"
)

// Network stands in for the internet: with Options.Instead nothing is looked up
// and nothing is dialled, the Network answers instead. It is asked for each hop
// of a redirect. CallerOf(ctx) tells which node asks. It must be safe for
// concurrent use.
type Network interface {
	// RoundTrip answers one HTTP request, as http.RoundTripper does. A failure
	// may be a *blueprint.Failure, which is told as it is.
	RoundTrip(request *http.Request) (*http.Response, error)
	// DialContext opens a connection to "host:port", for mail.
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}
