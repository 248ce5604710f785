package outbound

import (
	"context"
	"net/url"
	"strings"
	"sync"
)

// Hop is one request that was made, be it the first or one that a redirect
// asked for.
type Hop struct {
	Host   string // with the port, unless it is the scheme's own
	Status int    // 0 when no answer came
	Sent   bool   // a connection was there, so that something may have arrived
}

// Hops collects the requests made under a context. It may be used by any number
// of goroutines.
type Hops struct {
	mu   sync.Mutex
	list []Hop
}

type hopsKey struct{}

// Record returns a context under which every request that a Client makes is
// recorded.
func RecordHops(ctx context.Context) (context.Context, *Hops) {
	hops := &Hops{}
	return context.WithValue(ctx, hopsKey{}, hops), hops
}

// List returns what was recorded so far, in the order in which it began.
func (h *Hops) List() []Hop {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Hop(nil), h.list...)
}

// Sent reports whether anything may have left this machine.
func (h *Hops) Sent() bool {
	for _, hop := range h.List() {
		if hop.Sent {
			return true
		}
	}
	return false
}

// recordOf returns the record of a context; nil when it has none.
func recordOf(ctx context.Context) *Hops {
	hops, _ := ctx.Value(hopsKey{}).(*Hops)
	return hops
}

// begin adds a request.
func (h *Hops) begin(u *url.URL) *hop {
	if h == nil {
		return nil
	}
	host := strings.ToLower(u.Host)
	if portOf(u) == portOf(&url.URL{Scheme: u.Scheme}) {
		host = strings.TrimSuffix(host, ":"+u.Port())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, Hop{Host: host})
	return &hop{h, len(h.list) - 1}
}

// hop is the place of one request in a record; nil when nobody records.
type hop struct {
	hops  *Hops
	index int
}

func (h *hop) change(f func(*Hop)) {
	if h == nil {
		return
	}
	h.hops.mu.Lock()
	defer h.hops.mu.Unlock()
	f(&h.hops.list[h.index])
}

func (h *hop) sent() { h.change(func(hop *Hop) { hop.Sent = true }) }

func (h *hop) answered(status int) {
	h.change(func(hop *Hop) { hop.Sent, hop.Status = true, status })
}
