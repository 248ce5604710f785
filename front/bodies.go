package front

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
)

// Bodies bounds the memory that all request bodies together take which have
// arrived and whose requests have not been answered. It is safe for concurrent
// use.
type Bodies struct {
	limit int64
	held  atomic.Int64
}

// What a body takes is guessed from its bytes as they come. JSON takes more
// once it is decoded: a list of zeros thirty times as much.
const (
	valueSize = 64       // for each value that a list or an object holds
	smallBody = 16 << 10 // so much of each body is free: large ones never keep small ones out
)

// NewBodies makes room for limit bytes.
func NewBodies(limit int64) *Bodies { return &Bodies{limit: limit} }

// Held is how many bytes the bodies take now, without what is free.
func (b *Bodies) Held() int64 { return b.held.Load() }

// Handler counts what next reads. A body for which there is no room is cut off:
// reading it gives a *blueprint.Error with CodeUnavailable, for next to answer
// with. A request that only claims to be long holds nothing, and one that is
// alone has room whatever its size.
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
		counted := &body{ReadCloser: r.Body, all: b, arrived: arrived}
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
	all     *Bodies
	arrived func()
	size    int64 // what it takes
	held    int64 // what of that is counted
}

// Read reads on while there is room.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && b.arrived != nil {
		b.arrived()
		b.arrived = nil
	}
	b.size += int64(n) + valueSize*int64(bytes.Count(p[:n], comma)+bytes.Count(p[:n], bracket))
	more := max(0, b.size-smallBody) - b.held
	if more == 0 {
		return n, err
	}
	b.held += more
	if all := b.all.held.Add(more); all > b.all.limit && all > b.held {
		return 0, &blueprint.Error{
			Code: blueprint.CodeUnavailable, Message: "too many requests are arriving at once", RetryAfter: retryAfter,
			Hint: "send it again later",
		}
	}
	return n, err
}

// comma and bracket come before most values.
var comma, bracket = []byte{','}, []byte{'['}

func (b *body) release() { b.all.held.Add(-b.held) }

// retryAfter is what refused clients are told to wait.
const retryAfter = 2 * time.Second
