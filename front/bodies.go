package front

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
)

// Bodies bounds the bytes of all request bodies together that have arrived and
// whose requests have not been answered. It is safe for concurrent use.
type Bodies struct {
	limit int64
	held  atomic.Int64
}

// NewBodies makes room for limit bytes.
func NewBodies(limit int64) *Bodies { return &Bodies{limit: limit} }

// Held is how many bytes of bodies there are now.
func (b *Bodies) Held() int64 { return b.held.Load() }

// Handler counts what next reads. A body for which there is no room is cut off:
// reading it gives a *blueprint.Error with CodeUnavailable, for next to answer
// with. A request that only claims to be long holds nothing.
func (b *Bodies) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		counted := &body{ReadCloser: r.Body, all: b}
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
	all  *Bodies
	held int64
}

// Read reads on while there is room.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.held += int64(n)
	if b.all.held.Add(int64(n)) > b.all.limit {
		return 0, &blueprint.Error{
			Code: blueprint.CodeUnavailable, Message: "too many requests are arriving at once", RetryAfter: retryAfter,
			Hint: "send it again later",
		}
	}
	return n, err
}

func (b *body) release() { b.all.held.Add(-b.held) }

// retryAfter is what refused clients are told to wait.
const retryAfter = 2 * time.Second
