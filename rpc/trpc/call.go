package trpc

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
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

	// The outcome: an encoded payload, or a failure that may be shown to the caller.
	payload []byte
	failure *blueprint.Error
	fault   *Fault // injected by Options.Fault; nil = none
}

// check validates a call by the request line alone.
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

// prepare checks the calls, authenticates, takes from the rate limit, checks the scope of
// each call and reads the inputs. It sets the failure of the calls that it refuses.
func (h *Handler) prepare(w http.ResponseWriter, r *request) {
	cost, open := 0, 0
	r.from = h.options.Clients.originOf(r.Request)
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
	if err := h.options.Available(); err != nil {
		failure := h.failure(r, r.calls[0].path, err)
		for _, c := range r.calls {
			if c.failure == nil {
				c.failure = failure
			}
		}
		cost, open = 0, 0
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

// deny fails the calls that need a key, or all of them if the rate limit is exceeded.
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

// run makes a call unless prepare refused it.
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

// runAll makes the calls of a batch concurrently and passes each to ended as it ends. It
// returns when all have ended.
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

// failure returns err in the form shown to the caller. Errors of calls are logged only here.
func (h *Handler) failure(r *request, path string, err error) *blueprint.Error {
	var known *blueprint.Error
	var crashed *panicError
	internal := !errors.As(err, &known) || known.Code.HTTPStatus() == http.StatusInternalServerError
	switch attributes := []any{"procedure", path, "requestId", r.id, "error", err}; {
	case errors.As(err, &crashed):
		h.options.Logger.Error("call panicked", append(attributes, "stack", string(crashed.stack))...)
		return blueprint.Errorf(blueprint.CodeInternal, "internal error")
	case internal && r.Context().Err() != nil:
		// The cause is that the caller disconnected.
		h.options.Logger.Debug("call abandoned", attributes...)
		return blueprint.Errorf(blueprint.CodeClientClosed, "the client disconnected")
	case internal:
		h.options.Logger.Error("call failed", attributes...)
		return blueprint.Errorf(blueprint.CodeInternal, "internal error")
	}
	if known.Err != nil && known.Code == blueprint.CodeUnavailable {
		h.options.Logger.Warn("call refused", "procedure", path, "requestId", r.id, "code", known.Code, "error", err)
	}
	shown := *known
	shown.Issues = slices.Clone(shown.Issues)
	for i := range shown.Issues {
		if shown.Issues[i].Path == nil {
			shown.Issues[i].Path = []any{} // the input as a whole
		}
	}
	shown.Message = cmp.Or(shown.Message, issuesText(shown.Issues), string(shown.Code))
	return &shown
}

// Fault is an injected response to a call, sent instead of calling the procedure. It is for
// servers against which clients are tested.
type Fault struct {
	Failure *blueprint.Error          // the error to send; nil = none
	Status  int                       // of the response; 0 = delay only: the call is made afterwards
	Value   any                       // the payload of a response without Failure
	Header  http.Header               // added to the response to the request
	Cut     bool                      // closes the connection: halfway through the response, or before it without a Status
	Whole   bool                      // with Failure: refuses all calls of the request, as the rate limit does
	Wait    func(ctx context.Context) // returns when the response is due; may be nil
}

// faults looks up the faults of the calls that are not refused.
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

// refuseWhole fails all calls of a request that are not refused already.
func (r *request) refuseWhole(fault *Fault) {
	r.refused, r.fault = fault.Failure, fault
	for _, c := range r.calls {
		if c.failure == nil || c.fault != nil {
			c.failure, c.fault = fault.Failure, fault
		}
	}
}

func (c *call) wait(ctx context.Context) {
	if c.fault != nil && c.fault.Wait != nil {
		c.fault.Wait(ctx)
	}
}

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

// cut closes the connection if a call has such a fault, after half of a response.
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
