package trpc

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/metrics"
)

// Options are what a Handler is built from. Only Authenticator is required.
type Options struct {
	Root          string // where the procedures are; "/api/trpc" when empty
	Authenticator Authenticator
	Token         func(*http.Request) string    // returns the token of a request; nil = bearerToken, or connection parameters
	NoToken       string                        // the message for requests without a token; "" = one about API keys
	Admit         func(*http.Request) error     // refuses a request before its body is read; nil refuses none
	Via           string                        // Caller.Via; "api" when empty
	Limiter       *Limiter                      // of each key or user; nil limits nothing
	Clients       *Clients                      // finds the client of a request; nil trusts no proxies
	PublicLimiter *Limiter                      // of each address or known device, for public procedures; nil limits nothing
	Device        func(*http.Request) string    // returns the known device of a request, "" for none; nil knows none
	MaxBody       int64                         // bytes; 5 MiB when zero
	MaxBatch      int                           // calls of one batch; 100 when zero
	Origins       []string                      // browser origins that may call, "*" for all; none turns CORS off
	Ping          time.Duration                 // real time between the pings of a subscription; 15 seconds when zero
	Draining      <-chan struct{}               // when it closes, subscriptions end and clients reconnect
	Logger        *slog.Logger                  // nil logs nothing
	Fault         func(procedure string) *Fault // the fault of a call; nil injects none
	Available     func() error                  // returns why no call can be made now; nil = all can
	CountWith     *Handler                      // counts the calls of this handler too; it has all its procedures
}

// Handler serves the procedures of one table under one root. It starts no
// goroutine that outlives its request.
type Handler struct {
	procedures map[string]*Procedure
	options    Options
	bearer     bool                                      // connection parameters may hold a token too
	requests   atomic.Uint64                             // number of requests, for their ids
	settle     func(context.Context, time.Duration) bool // waits in real time
	counts     counts
}

// NewHandler returns a handler. It panics if two procedures share a name or the options
// lack an authenticator.
func NewHandler(procedures []Procedure, options Options) *Handler {
	if options.Authenticator == nil {
		panic("trpc: Options.Authenticator is missing")
	}
	options.Root, options.Via = cmp.Or(options.Root, "/api/trpc"), cmp.Or(options.Via, "api")
	options.NoToken = cmp.Or(options.NoToken, "API key missing: send the header Authorization: Bearer KEY")
	options.MaxBody, options.MaxBatch = cmp.Or(options.MaxBody, 5<<20), cmp.Or(options.MaxBatch, 100)
	options.Ping = cmp.Or(options.Ping, 15*time.Second)
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	if options.Admit == nil {
		options.Admit = func(*http.Request) error { return nil }
	}
	if options.Available == nil {
		options.Available = func() error { return nil }
	}
	bearer := options.Token == nil
	if bearer {
		options.Token = bearerToken
	}
	h := &Handler{procedures: make(map[string]*Procedure, len(procedures)), options: options, bearer: bearer, settle: clock.Sleep}
	for _, procedure := range procedures {
		if h.procedures[procedure.Name] != nil {
			panic(fmt.Sprintf("trpc: two procedures named %q", procedure.Name))
		}
		h.procedures[procedure.Name] = &procedure
	}
	if h.counts = newCounts(h.Names()); options.CountWith != nil {
		h.counts = options.CountWith.counts
	}
	return h
}

// Procedures returns the procedures, sorted by name.
func (h *Handler) Procedures() []Procedure {
	list := make([]Procedure, 0, len(h.procedures))
	for _, procedure := range h.procedures {
		list = append(list, *procedure)
	}
	return slices.SortedFunc(slices.Values(list), func(a, b Procedure) int { return strings.Compare(a.Name, b.Name) })
}

// Names returns the sorted names of the procedures.
func (h *Handler) Names() []string { return slices.Sorted(maps.Keys(h.procedures)) }

// Serves reports whether a request belongs to this handler. Check it before any
// http.ServeMux, which would redirect paths that tRPC serves.
func (h *Handler) Serves(r *http.Request) bool {
	path := r.URL.EscapedPath()
	return path == h.options.Root || strings.HasPrefix(path, h.options.Root+"/")
}

// ServeHTTP serves a call, a batch or a subscription.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tracked := &answerTracker{ResponseWriter: w}
	id := h.requestID()
	err := protect(func() error { h.serve(tracked, r, id); return nil })
	if err == nil {
		return
	}
	if aborts(err) {
		panic(http.ErrAbortHandler)
	}
	unwanted := h.failure(&request{Request: r, id: id}, "", err)
	tracked.abort(err)
	writeJSON(tracked, unwanted.Code.HTTPStatus(), errorEnvelope(unwanted, nil))
}

func (h *Handler) requestID() string {
	return "r" + strconv.FormatUint(h.requests.Add(1), 10)
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, id string) {
	if h.allowOrigin(w, r) {
		return
	}
	if err := h.options.Admit(r); err != nil {
		h.refuse(w, &request{Request: r, id: id}, err)
		return
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Add("Vary", "trpc-accept, accept")
	parsed, err := h.parseRequest(r, id)
	if err != nil {
		h.refuse(w, &request{Request: r, id: id}, err)
		return
	}
	h.prepare(w, parsed)
	defer h.counts.ended(parsed)
	h.cut(w, parsed)
	switch {
	case parsed.stream:
		h.serveLines(w, parsed)
	case parsed.isSubscription():
		h.serveEvents(w, parsed)
	case parsed.batch && parsed.refused != nil:
		h.refuse(w, parsed, parsed.refused)
	case parsed.batch:
		h.serveBatch(w, parsed)
	default:
		h.serveSingle(w, parsed)
	}
}

// PlainFunc serves a route outside the RPC root for an authenticated caller. A returned
// error is sent as plain JSON; the function must not have begun a response then.
type PlainFunc func(w http.ResponseWriter, r *http.Request, caller *Caller) error

// Authenticated returns a handler that checks key, scope and rate limit of a plain route
// as those of procedures. A request costs one call.
func (h *Handler) Authenticated(scope blueprint.KeyScope, next PlainFunc) http.Handler {
	return h.guard(scope, next, 1)
}

// AuthenticatedUnlimited is Authenticated without a rate limit.
func (h *Handler) AuthenticatedUnlimited(scope blueprint.KeyScope, next PlainFunc) http.Handler {
	return h.guard(scope, next, 0)
}

func (h *Handler) guard(scope blueprint.KeyScope, next PlainFunc, cost int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tracked := &answerTracker{ResponseWriter: w}
		if h.allowOrigin(tracked, r) {
			return
		}
		id := h.requestID()
		err := protect(func() error {
			if err := h.options.Admit(r); err != nil {
				discardBody(r, 2*h.options.MaxBody)
				return err
			}
			access, err := h.admit(r.Context(), h.options.Token(r), cost)
			if refused := InScope(access, scope); err == nil && refused != nil {
				err = refused
			}
			if err != nil {
				discardBody(r, 2*h.options.MaxBody)
				return err
			}
			caller := &Caller{Admission: access, RequestID: id, Via: h.options.Via, Header: w.Header(), Request: r}
			return next(tracked, r, caller)
		})
		if err == nil {
			return
		}
		failure := h.failure(&request{Request: r, id: id}, r.URL.Path, err)
		tracked.abort(err)
		writePlainError(tracked, failure)
	})
}

// WritePlainError responds with err as plain JSON, {"error":{"code","message"}}.
// Internal errors are logged and not shown.
func (h *Handler) WritePlainError(w http.ResponseWriter, r *http.Request, err error) {
	writePlainError(w, h.failure(&request{Request: r, id: h.requestID()}, r.URL.Path, err))
}

func writePlainError(w http.ResponseWriter, failure *blueprint.Error) {
	type plainError struct {
		Code    blueprint.Code `json:"code"`
		Message string         `json:"message"`
	}
	body, err := blueprint.Encode(map[string]plainError{"error": {failure.Code, failure.Message}})
	if err != nil {
		body = []byte(`{"error":{"code":"INTERNAL_SERVER_ERROR","message":"internal error"}}`)
	}
	setRetryAfter(w.Header(), []*call{{failure: failure}})
	writeJSON(w, failure.Code.HTTPStatus(), body)
}

// allowOrigin sets the CORS headers for allowed origins. It answers a preflight request
// and reports whether it did.
func (h *Handler) allowOrigin(w http.ResponseWriter, r *http.Request) (answered bool) {
	if len(h.options.Origins) == 0 {
		return false
	}
	header := w.Header()
	header.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	all := slices.Contains(h.options.Origins, "*")
	if origin == "" || !all && !slices.Contains(h.options.Origins, origin) {
		return false
	}
	if all {
		origin = "*"
	}
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", "Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "GET, POST")
	// Any header is allowed: a page must know the key.
	if wanted := r.Header.Get("Access-Control-Request-Headers"); wanted != "" {
		header.Set("Access-Control-Allow-Headers", wanted)
	}
	header.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// Stats counts the calls that a handler has answered.
type Stats struct {
	Calls []CallCount
	// Durations excludes subscriptions. It is measured in real time.
	Durations metrics.Distribution
}

// CallCount is how many calls of a procedure ended with a code: "OK" for success.
// Calls of procedures that do not exist are counted under "unknown".
type CallCount struct {
	Procedure, Code string
	Count           int64
}

// Stats returns a snapshot of the counters.
func (h *Handler) Stats() Stats {
	stats := Stats{Durations: h.counts.durations.Distribution()}
	h.counts.calls.Each(func(procedure, code string, count int64) {
		stats.Calls = append(stats.Calls, CallCount{procedure, code, count})
	})
	return stats
}

const (
	unknown = "unknown"
	success = "OK"
)

type counts struct {
	calls     *metrics.Counters
	durations *metrics.Histogram
}

func newCounts(procedures []string) counts {
	return counts{
		calls: metrics.NewCounters(append(procedures, unknown), []string{
			success, string(blueprint.CodeParse), string(blueprint.CodeBadRequest), string(blueprint.CodeUnauthorized), string(blueprint.CodeForbidden),
			string(blueprint.CodeNotFound), string(blueprint.CodeMethodNotSupported), string(blueprint.CodeTimeout), string(blueprint.CodeConflict),
			string(blueprint.CodePayloadTooLarge), string(blueprint.CodeUnsupportedMedia), string(blueprint.CodeTooManyRequests),
			string(blueprint.CodeClientClosed), string(blueprint.CodeInternal), string(blueprint.CodeUnavailable),
		}),
		durations: metrics.NewHistogram(
			250*time.Microsecond, 500*time.Microsecond, time.Millisecond, 2500*time.Microsecond, 5*time.Millisecond, 10*time.Millisecond, 25*time.Millisecond,
			50*time.Millisecond, 100*time.Millisecond, 250*time.Millisecond, 500*time.Millisecond, time.Second, 5*time.Second, 30*time.Second,
		),
	}
}

// ended counts the calls of a request that has been answered.
func (c *counts) ended(r *request) {
	for _, one := range r.calls {
		procedure, code := unknown, success
		if one.procedure != nil {
			procedure = one.procedure.Name
		}
		if one.failure != nil {
			code = string(one.failure.Code)
		}
		c.calls.Add(procedure, code)
	}
}
