package limits

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

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

// Bodies bounds the memory of the bodies of all unanswered requests. A body that does not
// fit waits. It is safe for concurrent use.
//
// A body waits at most twice: before its text is read, while it holds no memory, and once
// the text has arrived and the size of its values is known. Bodies in the second wait never
// wait again, so there is no deadlock.
type Bodies struct {
	limits   BodyLimits
	arriving *pool // for the text of bodies being read
	decoded  *pool // for bodies that have arrived, with their values
	held     atomic.Int64
	waiting  atomic.Int64
}

// BodyLimits are the limits of Bodies.
type BodyLimits struct {
	Arriving int64         // bytes for bodies being read
	Decoded  int64         // bytes for bodies that have arrived, with their values
	Largest  int64         // maximum number of bytes that a handler reads of a body
	MaxWait  time.Duration // of a body for memory
}

// The memory of a body is estimated from its text: JSON takes up to thirty times as much.
const (
	valueSize = 64       // bytes of a value in a list or an object
	smallBody = 16 << 10 // bodies up to this size never wait and are not counted
)

// NewBodies returns Bodies.
func NewBodies(limits BodyLimits) *Bodies {
	return &Bodies{limits: limits, arriving: newPool(limits.Arriving), decoded: newPool(limits.Decoded)}
}

// Held returns the memory of arrived bodies except small ones, in bytes.
func (b *Bodies) Held() int64 { return b.held.Load() }

// Waiting returns the number of waiting bodies.
func (b *Bodies) Waiting() int64 { return b.waiting.Load() }

// Handler counts the bodies that next reads. If there is not enough memory within MaxWait,
// reading returns a *blueprint.Error with CodeUnavailable. The memory is released when next
// closes the body or returns.
//
// Once a body has been read, Handler removes the read deadline: net/http would otherwise
// apply it to the time of the answer too.
func (b *Bodies) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived := func() { _ = http.NewResponseController(w).SetReadDeadline(time.Time{}) }
		if r.Body == nil || r.Body == http.NoBody {
			arrived()
			next.ServeHTTP(w, r)
			return
		}
		counted := &body{ReadCloser: r.Body, ctx: r.Context(), all: b, arrived: arrived, claimed: r.ContentLength}
		defer counted.release()
		held := *r // r stays the server's own
		held.Body = counted
		next.ServeHTTP(w, &held)
	})
}

// body counts the bytes of a request body. It is used only by the goroutine of the request.
type body struct {
	io.ReadCloser
	ctx     context.Context // of the request
	all     *Bodies
	arrived func() // nil once it has arrived
	claimed int64  // Content-Length, negative if unknown
	length  int64  // bytes read
	values  int64  // estimated number of values

	grant grant // from one of the pools
	held  int64 // its part of all.held
}

// Read implements io.Reader. It waits for memory.
func (b *body) Read(p []byte) (int, error) {
	if b.length < smallBody {
		p = p[:min(int64(len(p)), smallBody-b.length)]
	} else if err := b.arrive(); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.length += int64(n)
	b.values += int64(bytes.Count(p[:n], comma) + bytes.Count(p[:n], bracket))
	if err == io.EOF && b.arrived != nil {
		b.arrived()
		b.arrived = nil
		if err := b.decode(); err != nil {
			return 0, err
		}
	}
	return n, err
}

// arrive acquires memory for the text of a body that is not small.
func (b *body) arrive() error {
	if b.grant.of != nil || b.arrived == nil || 0 <= b.claimed && b.claimed <= smallBody {
		return nil
	}
	size := b.all.limits.Largest
	if b.claimed >= 0 {
		size = min(size, b.claimed)
	}
	return b.acquire(b.all.arriving, size)
}

// decode replaces the memory for the text by memory for text and values.
func (b *body) decode() error {
	size := b.length + valueSize*b.values
	if size <= smallBody {
		return nil
	}
	if err := b.acquire(b.all.decoded, size); err != nil {
		return err
	}
	b.held = size
	b.all.held.Add(size)
	return nil
}

// acquire waits for memory, then releases the previous grant.
func (b *body) acquire(from *pool, size int64) error {
	had := b.grant
	grant, ok := from.try(size)
	if !ok {
		b.all.waiting.Add(1)
		defer b.all.waiting.Add(-1)
		ctx, cancel := context.WithTimeout(b.ctx, b.all.limits.MaxWait)
		defer cancel()
		if err := grant.of.Acquire(ctx, grant.size); err != nil {
			return &blueprint.Error{
				Code: blueprint.CodeUnavailable, Message: "too many requests are arriving at once", RetryAfter: retryAfter,
				Hint: "send it again later",
			}
		}
	}
	b.grant = grant
	had.release()
	return nil
}

func (b *body) Close() error {
	b.release()
	return b.ReadCloser.Close()
}

func (b *body) release() {
	b.grant.release()
	b.grant = grant{}
	b.all.held.Add(-b.held)
	b.held = 0
}

// comma and bracket precede most values.
var comma, bracket = []byte{','}, []byte{'['}

// retryAfter is the Retry-After of refusals.
const retryAfter = 2 * time.Second

// pool is memory granted in the order of requests. A quarter of it is reserved for
// requests of at most a sixteenth, so that they never wait for large ones. A request beyond
// the limit gets all of it.
type pool struct {
	limit       int64
	main, spare share
}

type share struct {
	*semaphore.Weighted
	size int64
}

// grant is memory acquired, or to acquire, from a share.
type grant struct {
	of   *semaphore.Weighted
	size int64
}

func newPool(limit int64) *pool {
	r := &pool{limit: max(limit, 1)}
	spare := r.limit / 4
	r.main, r.spare = share{semaphore.NewWeighted(r.limit - spare), r.limit - spare}, share{semaphore.NewWeighted(spare), spare}
	return r
}

// try acquires memory if it is free and no other body waits for it; otherwise it returns
// the grant to wait for.
func (r *pool) try(size int64) (grant, bool) {
	g := grant{r.main.Weighted, min(size, r.main.size)}
	if g.of.TryAcquire(g.size) {
		return g, true
	}
	if size <= r.limit/16 {
		g = grant{r.spare.Weighted, size}
	}
	return g, g.of == r.spare.Weighted && g.of.TryAcquire(g.size)
}

func (g grant) release() {
	if g.of != nil {
		g.of.Release(g.size)
	}
}
