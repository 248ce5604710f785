package trpc

import (
	"net/http"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
)

// call is one procedure called by a request.
type call struct {
	index     int
	path      string
	procedure *Procedure // nil when there is none of this name
	caller    *Caller
	input     rawInput

	// The outcome: an encoded payload, or a failure fit for the caller.
	payload []byte
	failure *blueprint.Error
	fault   *Fault // nil unless the server is told to misbehave
}

// check refuses a call for what the request line alone tells.
func (r *request) check(c *call) *blueprint.Error {
	switch {
	case c.procedure == nil:
		return blueprint.Errorf(blueprint.CodeNotFound, `No procedure found on path "%s"`, c.path)
	case r.Method != c.procedure.Kind.method():
		return blueprint.Errorf(blueprint.CodeMethodNotSupported, `Unsupported %s-request to %s procedure at path "%s"`,
			r.Method, c.procedure.Kind, c.path)
	case r.batch && c.procedure.Kind == KindSubscription:
		return blueprint.Errorf(blueprint.CodeBadRequest, "Cannot batch subscription calls")
	}
	return nil
}

// prepare does all that comes before the procedures: it checks the calls,
// authenticates, takes from the rate limit, checks the scope of each call, and
// reads the inputs. What it refuses has its failure set.
func (h *Handler) prepare(w http.ResponseWriter, r *request) {
	cost, open := 0, 0
	r.from = h.originOf(r.Request)
	for _, c := range r.calls {
		c.failure = r.check(c)
		switch {
		case c.failure == nil && !c.procedure.Public:
			cost++
		case c.failure == nil:
			open++
		case c.failure.Code == blueprint.CodeMethodNotSupported:
			w.Header().Set("Allow", c.procedure.Kind.method())
		}
	}
	var access blueprint.Admission
	if cost > 0 {
		var err error
		if access, err = h.admit(r.Context(), h.token(r), cost); err != nil {
			h.deny(r, err)
		}
	}
	if err := h.takeOpen(r, open); err != nil {
		h.deny(r, err)
	}
	ready := false
	for _, c := range r.calls {
		if c.failure == nil && !c.procedure.Public {
			c.failure = InScope(access, c.procedure.Scope)
		}
		if c.failure == nil {
			c.caller = &Caller{RequestID: r.id, Via: h.options.Via, Header: http.Header{}, Request: r.Request, from: r.from}
			if !c.procedure.Public {
				c.caller.Admission = access
			}
			ready = true
		}
	}
	if ready {
		h.readInputs(r)
	}
	h.faults(w.Header(), r)
	discardBody(r.Request, 2*h.options.MaxBody)
	setRetryAfter(w.Header(), r.calls)
}

// deny fails the calls that needed a key. Beyond the rate limit nothing of a
// request runs.
func (h *Handler) deny(r *request, err error) {
	failure := h.failure(r, r.calls[0].path, err)
	for _, c := range r.calls {
		if c.failure == nil && (!c.procedure.Public || failure.Code == blueprint.CodeTooManyRequests) {
			c.failure = failure
		}
	}
	if failure.Code == blueprint.CodeTooManyRequests {
		r.refused = failure
	}
}

// run makes one call that prepare let through.
func (h *Handler) run(r *request, c *call) {
	c.wait(r.Context())
	if c.failure != nil || c.answered() {
		return
	}
	watch := metrics.Begin()
	err := protect(func() error {
		value, err := c.procedure.call(r.Context(), c.caller, c.input)
		if err == nil {
			c.payload, err = blueprint.Encode(value)
		}
		return err
	})
	h.counts.durations.Observe(watch.Elapsed())
	if err != nil {
		c.failure = h.failure(r, c.path, err)
	}
}

// runAll makes the calls of a batch at the same time and tells of each as it
// ends. It returns when all have ended.
func (h *Handler) runAll(r *request, ended func(*call)) {
	done := make(chan *call, len(r.calls))
	var running sync.WaitGroup
	for _, c := range r.calls {
		running.Go(func() {
			h.run(r, c)
			done <- c
		})
	}
	for range r.calls {
		ended(<-done)
	}
	running.Wait()
}
