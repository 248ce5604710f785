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

// Bodies bounds the memory that all request bodies together take whose requests
// have not been answered. A body for which there is no room waits for it. It is
// safe for concurrent use.
//
// A body waits at most twice: before its text is read, while it holds nothing,
// and once the text has arrived and it is known what its values will take. Those
// that wait the second time wait only for bodies that wait no more, so that there
// is no deadlock.
type Bodies struct {
	limits   BodyLimits
	arriving *room // for the text of bodies that are read now
	decoded  *room // for bodies that have arrived, with the values in them
	held     atomic.Int64
	waiting  atomic.Int64
}

// BodyLimits are the limits of Bodies, in bytes.
type BodyLimits struct {
	// Arriving is for the text of bodies while it is read.
	Arriving int64
	// Decoded is for bodies that have arrived, with the values in them.
	Decoded int64
	// Largest is the most that a handler reads of a body.
	Largest int64
	// Patience is how long a body waits for room.
	Patience time.Duration
}

// What a body takes is estimated from its text. JSON takes more once it is
// decoded: a list of zeros thirty times as much.
const (
	valueSize = 64       // for each value that a list or an object holds
	smallBody = 16 << 10 // a body that takes no more than this never waits, and counts for nothing
)

// NewBodies makes a Bodies.
func NewBodies(limits BodyLimits) *Bodies {
	return &Bodies{limits: limits, arriving: newRoom(limits.Arriving), decoded: newRoom(limits.Decoded)}
}

// Held returns how many bytes the bodies that have arrived take now, small ones
// left out.
func (b *Bodies) Held() int64 { return b.held.Load() }

// Waiting returns how many bodies wait for room.
func (b *Bodies) Waiting() int64 { return b.waiting.Load() }

// Handler counts what next reads. Reading a body for which there is no room
// within the limits' Patience returns a *blueprint.Error with CodeUnavailable,
// for next to answer with. Its room is given back when next closes the body or
// returns.
//
// Once a body has been read, and at once when there is none, the time to send
// the request is over, and that to answer it has no end: net/http would else
// take a request that is answered for long for one that never arrived.
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

// body counts what is read of one request's body. Only the goroutine that
// serves the request reads.
type body struct {
	io.ReadCloser
	ctx     context.Context // of the request
	all     *Bodies
	arrived func() // nil once it has arrived
	claimed int64  // its length, negative when that is not known
	length  int64  // what was read
	values  int64  // about how many values it holds

	grant grant // of one of the rooms
	held  int64 // what of all.held is its own
}

// Read reads on once there is room.
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

// arrive makes room for the text of a body, once it is known to be more than a
// claim.
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

// decode makes room for the values of a body that has arrived, in the place of
// its text.
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

// acquire waits for room, then gives back what the body had before.
func (b *body) acquire(from *room, size int64) error {
	had := b.grant
	grant, ok := from.try(size)
	if !ok {
		b.all.waiting.Add(1)
		defer b.all.waiting.Add(-1)
		ctx, cancel := context.WithTimeout(b.ctx, b.all.limits.Patience)
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

// Close closes the body and gives its room back.
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

// comma and bracket come before most values.
var comma, bracket = []byte{','}, []byte{'['}

// retryAfter is what refused clients are told to wait.
const retryAfter = 2 * time.Second

// room is an amount of memory that is shared out in the order of asking. A
// quarter of it is only for what is not large, at most a sixteenth of it, which
// therefore never waits for what is. What is larger than the room gets all of it.
type room struct {
	limit       int64
	main, spare share
}

type share struct {
	*semaphore.Weighted
	size int64
}

// grant is memory taken, or asked for, from a share.
type grant struct {
	of   *semaphore.Weighted
	size int64
}

func newRoom(limit int64) *room {
	r := &room{limit: max(limit, 1)}
	spare := r.limit / 4
	r.main, r.spare = share{semaphore.NewWeighted(r.limit - spare), r.limit - spare}, share{semaphore.NewWeighted(spare), spare}
	return r
}

// try takes memory if it is free and no other body waits for it; else it
// returns what to wait for.
func (r *room) try(size int64) (grant, bool) {
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
