package fakes

import (
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/outbound"
)

// What is kept of calls: the latest so many, of at most so many bytes together.
const (
	MaxCalls     = 5_000
	MaxCallBytes = 32 << 20
	// callWeight stands for all of a call but its bodies, in bytes.
	callWeight = 1 << 10
)

// calls is the list of what went out, oldest first.
type calls struct {
	now     func() time.Time
	mu      sync.Mutex
	list    []*call
	weight  int
	dropped int
}

// call is one entry; in guards it.
type call struct {
	in       *calls
	exchange blueprint.Exchange
	weight   int
	gone     bool // dropped, or cleared
}

// begin adds a call that has no answer yet.
func (c *calls) begin(caller *outbound.Caller, request blueprint.ExchangeRequest, size int) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := &call{in: c, weight: callWeight + min(size, outbound.MaxTaped), exchange: blueprint.Exchange{
		At: blueprint.TimeOf(c.now()), ExecutionID: caller.ExecutionID, NodeID: caller.Address, NodeType: caller.NodeType, Attempt: caller.Attempt, Request: request,
	}}
	c.list = append(c.list, entry)
	c.weight += entry.weight
	c.trim()
	return entry
}

// trim drops the oldest. c.mu is held.
func (c *calls) trim() {
	for len(c.list) > MaxCalls || c.weight > MaxCallBytes {
		c.weight -= c.list[0].weight
		c.list[0].gone = true
		c.list[0] = nil
		c.list = c.list[1:]
		c.dropped++
	}
}

func (c *call) answered(r *reply, cut bool) {
	response, size := r.shown(cut)
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	c.exchange.Response = response
	if !c.gone {
		c.weight += size
		c.in.weight += size
		c.in.trim()
	}
}

// failed notes why no answer came.
func (c *call) failed(why string) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	c.exchange.Error = why
}

// mail notes what turned out to be sent over a connection.
func (c *call) mail(request blueprint.ExchangeRequest, size int) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	c.exchange.Request = request
	if size = min(size, outbound.MaxTaped); !c.gone {
		c.weight += size
		c.in.weight += size
		c.in.trim()
	}
}

func (c *calls) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.list {
		one.gone = true
	}
	c.list, c.weight, c.dropped = nil, 0, 0
}

// Filter chooses calls; empty fields choose all. Host may hold *.
type Filter struct {
	ExecutionID, NodeType, Host string
	Limit                       int // the latest so many; 0 = all
}

// Calls gives what went out, oldest first, and how many older ones are not kept
// any more.
func (s *Sandbox) Calls(f Filter) (list []blueprint.Exchange, dropped int) {
	c := &s.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	list = []blueprint.Exchange{}
	for _, one := range c.list {
		x := &one.exchange
		if f.ExecutionID != "" && x.ExecutionID != f.ExecutionID || f.NodeType != "" && x.NodeType != f.NodeType || f.Host != "" && !hostFits(f.Host, hostOf(x.Request.URL)) {
			continue
		}
		list = append(list, *x)
	}
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[len(list)-f.Limit:]
	}
	return list, c.dropped
}
