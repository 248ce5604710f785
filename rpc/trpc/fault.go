package trpc

import (
	"context"
	"net/http"
	"strconv"

	"blueprintd/blueprint"
)

// Fault is what a call is answered in the place of what its procedure would do,
// which then is not called. It is for a server that others test their clients
// against.
type Fault struct {
	Failure *blueprint.Error // the error that is answered; nil when there is none
	Status  int              // of the answer; 0 = none: the call is only late, and made then
	Value   any              // what is answered with a good status
	Header  http.Header      // added to the answer of the request
	Cut     bool             // the connection breaks: half way through the answer, or before it without a Status
	Whole   bool             // with Failure: none of the calls of the request is made, as beyond the rate limit
	// Wait lets the time pass until the answer; it may be nil.
	Wait func(ctx context.Context)
}

// Misbehaviour gives the fault of a call of a procedure; nil for none.
type Misbehaviour func(procedure string) *Fault

// faults asks for the faults of the calls that may be made.
func (h *Handler) faults(header http.Header, r *request) {
	if h.options.Fault == nil {
		return
	}
	for _, c := range r.calls {
		if c.failure != nil {
			continue
		}
		if c.fault = h.options.Fault(c.path); c.fault == nil {
			continue
		}
		for name, values := range c.fault.Header {
			header[name] = values
		}
		if c.failure = c.fault.Failure; c.failure != nil && c.fault.Whole {
			r.refuseWhole(c.fault)
			return
		}
	}
}

// refuseWhole has a fault fail all calls of a request that could be made.
func (r *request) refuseWhole(fault *Fault) {
	r.refused, r.fault = fault.Failure, fault
	for _, c := range r.calls {
		if c.failure == nil || c.fault != nil {
			c.failure, c.fault = fault.Failure, fault
		}
	}
}

// wait lets the time of a fault pass.
func (c *call) wait(ctx context.Context) {
	if c.fault != nil && c.fault.Wait != nil {
		c.fault.Wait(ctx)
	}
}

// answered takes the answer of a fault, and tells whether it has one.
func (c *call) answered() bool {
	if c.fault == nil || c.fault.Status == 0 || c.failure != nil {
		return false
	}
	payload, err := blueprint.Encode(c.fault.Value)
	if err != nil {
		return false
	}
	c.payload = payload
	return true
}

// cut breaks the connection of a request one of whose calls has that fault, and
// tells nothing otherwise. With a status, half of the answer to that call is sent.
func (h *Handler) cut(w http.ResponseWriter, r *request) {
	for _, c := range r.calls {
		if c.fault == nil || !c.fault.Cut {
			continue
		}
		c.wait(r.Context())
		if c.fault.Status != 0 {
			c.answered()
			body := c.envelope()
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.WriteHeader(c.status())
			_ = newPieces(w).send(body[:len(body)/2])
		}
		panic(http.ErrAbortHandler)
	}
}
