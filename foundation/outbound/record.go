package outbound

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Hop is one request: the first, or that of a redirect.
type Hop struct {
	Host   string // with the port, unless it is the default
	Status int    // 0 when no answer came
	Sent   bool   // there was a connection, so the request may have arrived
}

// Hops collects the requests made under a context. It is safe for concurrent use.
type Hops struct {
	mu   sync.Mutex
	list []Hop
}

type hopsKey struct{}

// RecordHops returns a context whose requests by a Client are recorded in Hops.
func RecordHops(ctx context.Context) (context.Context, *Hops) {
	hops := &Hops{}
	return context.WithValue(ctx, hopsKey{}, hops), hops
}

// List returns the hops so far, in the order of their start.
func (h *Hops) List() []Hop {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.list)
}

// Sent reports whether anything may have been sent.
func (h *Hops) Sent() bool {
	return slices.ContainsFunc(h.List(), func(hop Hop) bool { return hop.Sent })
}

func recordOf(ctx context.Context) *Hops {
	hops, _ := ctx.Value(hopsKey{}).(*Hops)
	return hops
}

// begin adds a request. A nil Hops records nothing.
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

// hop is one element of Hops; nil if nothing is recorded.
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
