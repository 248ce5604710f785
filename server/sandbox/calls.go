package sandbox

import (
	"maps"
	"slices"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/secret"
)

const (
	MaxCalls     = 5_000    // stored calls; older ones are dropped
	MaxCallBytes = 32 << 20 // of all stored calls
	callWeight   = 1 << 10  // of a call without its bodies, in bytes
)

// calls is the list of outbound calls, oldest first.
type calls struct {
	now       func() time.Time
	links     func(text string) []string
	maxWeight int // bytes
	mu        sync.Mutex
	list      []*call
	weight    int
	dropped   int
}

// Call is an outbound call.
type Call struct {
	blueprint.Exchange
	// ApprovalLinks are those that the request contains, where they are masked.
	ApprovalLinks []string `json:"approvalLinks,omitempty"`
}

// MarshalJSON encodes a call with every member: an empty body is "", and a missing response is
// null.
func (c Call) MarshalJSON() ([]byte, error) {
	type plain Call
	whole := struct {
		plain
		Response *blueprint.ExchangeResponse `json:"response"`
	}{plain(c), nil}
	fill := func(headers *map[string]string, body *any) {
		if *headers == nil {
			*headers = map[string]string{}
		}
		if *body == nil {
			*body = ""
		}
	}
	fill(&whole.Request.Headers, &whole.Request.Body)
	if c.Response != nil {
		response := *c.Response
		fill(&response.Headers, &response.Body)
		whole.Response = &response
	}
	return blueprint.Encode(whole)
}

// call is an entry, guarded by in.mu.
type call struct {
	in        *calls
	exchange  Call
	weight    int
	gone      bool       // dropped or cleared
	redaction *redaction // nil once it is answered
}

// begin adds a call without an answer.
func (c *calls) begin(caller *outbound.Caller, request blueprint.ExchangeRequest, size int) *call {
	entry := &call{in: c, weight: callWeight + min(size, outbound.MaxTaped), redaction: newRedaction(caller)}
	entry.exchange.ApprovalLinks = c.linksIn(&request)
	entry.exchange.Exchange = entry.redaction.exchange(blueprint.Exchange{
		At: blueprint.TimeOf(c.now()), ExecutionID: caller.ExecutionID, NodeID: caller.Address, NodeType: caller.NodeType, Attempt: caller.Attempt, Request: request,
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, entry)
	c.weight += entry.weight
	c.trim()
	return entry
}

// linksIn returns the approval links in a request.
func (c *calls) linksIn(request *blueprint.ExchangeRequest) []string {
	found := c.links(request.URL)
	for _, name := range slices.Sorted(maps.Keys(request.Headers)) {
		found = append(found, c.links(request.Headers[name])...)
	}
	found = append(found, c.links(string(blueprint.BodyBytes(request.Body)))...)
	slices.Sort(found)
	return slices.Compact(found)
}

// trim drops the oldest calls. The caller holds c.mu.
func (c *calls) trim() {
	for len(c.list) > MaxCalls || c.weight > c.maxWeight {
		c.weight -= c.list[0].weight
		c.list[0].gone = true
		c.list[0] = nil
		c.list = c.list[1:]
		c.dropped++
	}
}

func (c *call) answered(r *reply, cut bool) {
	response, size := r.shown(cut)
	response = c.redaction.exchange(blueprint.Exchange{Response: response}).Response
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	c.exchange.Response, c.redaction = response, nil
	c.grow(size)
}

// grow adds to the weight of a call. The caller holds c.in.mu.
func (c *call) grow(size int) {
	if !c.gone {
		c.weight += size
		c.in.weight += size
		c.in.trim()
	}
}

// failed records the reason for a missing answer.
func (c *call) failed(why string) {
	why = c.redaction.exchange(blueprint.Exchange{Error: why}).Error
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	c.exchange.Error, c.redaction = why, nil
}

// mail sets the request of a call once the mail is known.
func (c *call) mail(request blueprint.ExchangeRequest, size int) {
	links := c.in.linksIn(&request)
	request = c.redaction.exchange(blueprint.Exchange{Request: request}).Request
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	c.exchange.Request, c.exchange.ApprovalLinks = request, links
	c.grow(min(size, outbound.MaxTaped))
}

func (c *calls) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.list {
		one.gone = true
	}
	c.list, c.weight, c.dropped = nil, 0, 0
}

// Filter selects calls; empty fields match all. Host may contain *.
type Filter struct {
	ExecutionID, NodeType, Host string
	Limit                       int                           // of the latest calls; 0 = all
	May                         func(executionID string) bool // reports whether the calls of a run are included; nil includes all
	Links                       bool                          // include approval links
}

// Calls returns the outbound calls, oldest first, and the number of dropped ones.
func (s *Sandbox) Calls(f Filter) (list []Call, dropped int) {
	list, dropped = s.calls.find(f)
	if f.May != nil { // it may be slow: without the lock
		list = slices.DeleteFunc(list, func(x Call) bool { return !f.May(x.ExecutionID) })
	}
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[len(list)-f.Limit:]
	}
	return list, dropped
}

// find is Calls without May and Limit.
func (c *calls) find(f Filter) (list []Call, dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list = []Call{}
	for _, one := range c.list {
		x := &one.exchange
		if f.ExecutionID != "" && x.ExecutionID != f.ExecutionID || f.NodeType != "" && x.NodeType != f.NodeType || f.Host != "" && !hostFits(f.Host, hostOf(x.Request.URL)) {
			continue
		}
		list = append(list, *x)
		if !f.Links {
			list[len(list)-1].ApprovalLinks = nil
		}
	}
	return list, c.dropped
}

// redaction masks a call: the secrets of the run, values that look like credentials, and
// such values of the request wherever the answer repeats them. It is for one goroutine.
type redaction struct {
	secrets interface{ Load() *secret.Masker } // nil = none
	looks   *secret.Redactor
}

func newRedaction(caller *outbound.Caller) *redaction {
	return &redaction{caller.Secrets, secret.NewRedactor()}
}

func (v *redaction) exchange(x blueprint.Exchange) blueprint.Exchange {
	x.Request.URL, x.Request.Headers, x.Request.Body = v.looks.Text(x.Request.URL), v.headers(x.Request.Headers), v.looks.Value(x.Request.Body)
	x.Error = v.looks.Text(x.Error)
	if x.Response != nil {
		answer := *x.Response
		answer.Headers, answer.Body = v.headers(answer.Headers), v.looks.Value(answer.Body)
		x.Response = &answer
	}
	x = v.looks.Masker().Exchange(x)
	if v.secrets != nil {
		x = v.secrets.Load().Exchange(x)
	}
	return x
}

func (v *redaction) headers(given map[string]string) map[string]string {
	shown := maps.Clone(given)
	for name, value := range shown {
		shown[name] = v.looks.Header(name, value)
	}
	return shown
}

func (a *received) redacted() blueprint.ExchangeRequest {
	return newRedaction(&a.caller).exchange(blueprint.Exchange{Request: a.whole()}).Request
}
