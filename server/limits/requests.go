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

// Requests answers with next at most limit requests at the same time, and
// refuses one more with 503; 0 is any number. One connection has many under way
// when HTTP/2 is spoken, so that a bound on connections bounds them no longer.
//
// A request takes its place once its body has arrived, and one that finds none
// then has its body cut off as Bodies does it: who only begins to send keeps
// nobody out. When more than limit are arriving, those of a connection on which
// fewArriving are arriving already are refused, so that few connections never
// stand in the way of others. The server's ConnContext must be ConnContext.
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

// fewArriving is how many bodies may always arrive on a connection at the same
// time.
const fewArriving = 10

type arrivalsKey struct{}

// ConnContext returns the context of a connection, by which Requests knows the
// requests of one from those of others.
func ConnContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, arrivalsKey{}, new(atomic.Int64))
}

// requests counts.
type requests struct {
	limit    int64
	arriving atomic.Int64
	under    atomic.Int64 // those that have arrived
}

// request is counted in one of them, or in none. Only the goroutine that serves
// it changes it.
type request struct {
	all  *requests
	in   *atomic.Int64 // of all
	here *atomic.Int64 // those arriving on its connection, nil once it has arrived
}

// arrives counts a request whose body is to come, unless there is no room.
func (o *request) arrives(ctx context.Context) bool {
	o.move(&o.all.arriving)
	if o.here, _ = ctx.Value(arrivalsKey{}).(*atomic.Int64); o.here == nil {
		o.here = new(atomic.Int64)
	}
	return o.here.Add(1) <= fewArriving || o.all.arriving.Load() <= o.all.limit
}

// arrived counts a request that is there as a whole, unless there is no room.
func (o *request) arrived() bool {
	o.end()
	o.move(&o.all.under)
	return o.in.Load() <= o.all.limit
}

func (o *request) move(to *atomic.Int64) {
	o.in = to
	o.in.Add(1)
}

// end counts it no longer.
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

// arriving is the body of a request that has not arrived.
type arriving struct {
	io.ReadCloser
	of *request
}

// Read takes the request's place at the end of the body.
func (b *arriving) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && b.of.here != nil && !b.of.arrived() {
		return 0, &blueprint.Error{Code: blueprint.CodeUnavailable, Message: tooManyRequests, RetryAfter: retryAfter, Hint: "send it again later"}
	}
	return n, err
}

const tooManyRequests = "too many requests are under way"

func tooMany(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	w.WriteHeader(blueprint.CodeUnavailable.HTTPStatus())
	_, _ = io.WriteString(w, errorBody(blueprint.CodeUnavailable, tooManyRequests))
}
