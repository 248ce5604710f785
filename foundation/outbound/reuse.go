package outbound

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
)

// Idle connections are kept for less time than common servers keep them (Node closes them
// after 5 s), so that few requests meet a connection that is just being closed.
const (
	maxIdle        = 100
	maxIdlePerHost = 16
	idleTime       = 3 * time.Second
)

// reusing sends each request on a connection of its own, except for those that may be
// repeated: they share connections, whose addresses were checked when they were made.
type reusing struct {
	once  http.RoundTripper
	again *http.Transport
}

// newReusing returns a round tripper that uses a transport without keep-alive, and shares
// connections with the same settings. HTTP/2 is not used for them: one broken connection
// would fail all its requests at once.
func newReusing(once *http.Transport) *reusing {
	again := once.Clone()
	again.DisableKeepAlives = false
	again.MaxIdleConns, again.MaxIdleConnsPerHost, again.IdleConnTimeout = maxIdle, maxIdlePerHost, idleTime
	again.ForceAttemptHTTP2, again.TLSNextProto = false, nil
	again.TLSClientConfig.NextProtos = nil // Clone adds h2
	again.Protocols = new(http.Protocols)
	again.Protocols.SetHTTP1(true)
	return &reusing{once: once, again: again}
}

// RoundTrip sends a request. A server may close a shared connection while the request is on
// its way; then it is sent once more, on a connection of its own.
func (r *reusing) RoundTrip(request *http.Request) (*http.Response, error) {
	if !mayRepeat(request) {
		return r.once.RoundTrip(request)
	}
	var reused, answered atomic.Bool
	ctx := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{
		GotConn:              func(got httptrace.GotConnInfo) { reused.Store(got.Reused) },
		GotFirstResponseByte: func() { answered.Store(true) },
	})
	shared := request.WithContext(ctx)
	// net/http repeats a request without a body as often as it finds a closed connection,
	// but not one with a body that it cannot rewind. With this encoding it neither waits to
	// see whether the body is empty nor says how long it is.
	shared.Body, shared.GetBody = io.NopCloser(strings.NewReader("")), nil
	shared.TransferEncoding = []string{"identity"}
	response, err := r.again.RoundTrip(shared)
	if err == nil || !reused.Load() || answered.Load() || request.Context().Err() != nil || isTimeout(err) {
		return response, err
	}
	return r.once.RoundTrip(request)
}

// mayRepeat reports whether sending a request twice does no harm: it is one of a node that
// may run again, has a safe method (RFC 9110, section 9.2.1) and no body.
func mayRepeat(request *http.Request) bool {
	switch request.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
	default:
		return false
	}
	effect := CallerOf(request.Context()).Effect
	return (effect == blueprint.EffectPure || effect == blueprint.EffectIdempotent) && (request.Body == nil || request.Body == http.NoBody)
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
