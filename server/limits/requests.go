package limits

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"

	"blueprintd/blueprint"
)

// Requests limits next to limit concurrent requests and refuses more with 503; 0 is
// unlimited. A limit on connections is not enough, because HTTP/2 multiplexes them.
//
// A request counts once its body has arrived; if the limit is reached then, reading the
// body fails. Slow senders therefore do not use up the limit. If more than limit requests
// are arriving, further ones are refused on connections with connArrivals arriving
// requests, so that a few connections do not exclude others. The server's ConnContext must
// be ConnContext.
func Requests(limit int, next http.Handler) http.Handler {
	if limit == 0 {
		return next
	}
	all := &requests{limit: int64(limit)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := &request{all: all}
		defer one.end()
		if r.Body == nil || r.Body == http.NoBody {
			if !one.arrived() {
				tooMany(w)
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		if !one.arrives(r.Context()) {
			tooMany(w)
			return
		}
		counted := *r // r stays the server's own
		counted.Body = &arriving{r.Body, one}
		next.ServeHTTP(w, &counted)
	})
}

// connArrivals is the number of bodies that may always arrive at once on a connection.
const connArrivals = 10

type arrivalsKey struct{}

// ConnContext is an http.Server.ConnContext by which Requests counts requests.
func ConnContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, arrivalsKey{}, new(atomic.Int64))
}

type requests struct {
	limit    int64
	arriving atomic.Int64
	complete atomic.Int64 // requests that have arrived
}

// request is used only by the goroutine that serves it.
type request struct {
	all  *requests
	in   *atomic.Int64 // the counter of all in which it is counted; nil = none
	here *atomic.Int64 // the arriving requests of its connection, nil once it has arrived
}

// arrives counts a request with a body, and reports whether it is within the limits.
func (o *request) arrives(ctx context.Context) bool {
	o.move(&o.all.arriving)
	if o.here, _ = ctx.Value(arrivalsKey{}).(*atomic.Int64); o.here == nil {
		o.here = new(atomic.Int64)
	}
	return o.here.Add(1) <= connArrivals || o.all.arriving.Load() <= o.all.limit
}

// arrived counts a complete request, and reports whether it is within the limit.
func (o *request) arrived() bool {
	o.end()
	o.move(&o.all.complete)
	return o.in.Load() <= o.all.limit
}

func (o *request) move(to *atomic.Int64) {
	o.in = to
	o.in.Add(1)
}

func (o *request) end() {
	if o.in != nil {
		o.in.Add(-1)
		o.in = nil
	}
	if o.here != nil {
		o.here.Add(-1)
		o.here = nil
	}
}

// arriving is the body of an arriving request.
type arriving struct {
	io.ReadCloser
	of *request
}

// Read fails at the end of the body if the request exceeds the limit.
func (b *arriving) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && b.of.here != nil && !b.of.arrived() {
		return 0, &blueprint.Error{Code: blueprint.CodeUnavailable, Message: tooManyRequests, RetryAfter: retryAfter, Hint: "send it again later"}
	}
	return n, err
}

const tooManyRequests = "too many concurrent requests"

func tooMany(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	w.WriteHeader(blueprint.CodeUnavailable.HTTPStatus())
	_, _ = io.WriteString(w, errorBody(blueprint.CodeUnavailable, tooManyRequests))
}
