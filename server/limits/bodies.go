package limits

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"blueprintd/blueprint"
)

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
