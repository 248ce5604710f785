package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/rpc/trpc"
)

// ClockAdvance answers POST /clock/advance: {"by": "36h"} or {"to": RFC3339} moves the
// virtual clock and returns {"now", "fired"}.
func (s *Server) ClockAdvance(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
	virtual := s.Options.Virtual()
	if virtual == nil {
		return errRealClock
	}
	if err := s.requireOwner(caller); err != nil {
		return err
	}
	value, err := readJSON(w, r, 1<<16)
	if err != nil {
		return err
	}
	to, err := clock.Target(value, virtual.Now())
	if err != nil {
		return blueprint.Errorf(blueprint.CodeBadRequest, "%s", err)
	}
	s.Triggers.Changed() // read changed schedules before the clock passes them
	before := s.Triggers.Started()
	ctx, done := s.finishing(r.Context())
	defer done()
	began := virtual.Now()
	err = virtual.Advance(ctx, to)
	if now := virtual.Now(); now.After(began) {
		s.noteOwnerAction(r, caller, "clock.advance", map[string]any{"to": blueprint.TimeOf(now)})
	}
	if errors.Is(err, clock.ErrBackwards) {
		return blueprint.Errorf(blueprint.CodeBadRequest, "%s", err)
	} else if err != nil {
		s.Options.Logger.Warn("clock advance interrupted", "now", virtual.Now(), "to", to)
		return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the server stops; the clock reached " + blueprint.TimeOf(virtual.Now()).String()}
	}
	w.Header().Set("Date", virtual.Now().Format(http.TimeFormat))
	return WriteJSON(w, http.StatusOK, map[string]any{"now": blueprint.TimeOf(virtual.Now()), "fired": s.Triggers.Started() - before})
}

// finishTimeout bounds the work for a client that has disconnected.
const finishTimeout = 10 * time.Minute

// finishing returns a context that outlives the request by finishTimeout, so that an advance
// is finished when the client disconnects: repeating it would advance twice. It ends when
// the server stops.
func (s *Server) finishing(asked context.Context) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(asked))
	go func() {
		defer cancel()
		select {
		case <-asked.Done():
		case <-ctx.Done():
		case <-s.Draining:
			return
		}
		patience, end := context.WithTimeout(ctx, finishTimeout)
		defer end()
		select {
		case <-patience.Done():
		case <-s.Draining:
		}
	}()
	return ctx, cancel
}

// clockState answers GET /clock: {"now", "next"?}, the time of the virtual clock and the
// next instant at which user work is due.
func (s *Server) clockState(w http.ResponseWriter, r *http.Request, _ *trpc.Caller) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return blueprint.Errorf(blueprint.CodeMethodNotSupported, "/clock accepts only GET; POST /clock/advance moves the clock")
	}
	virtual := s.Options.Virtual()
	if virtual == nil {
		return errRealClock
	}
	virtual.WaitIdle(r.Context(), settleTimeout)()
	state := map[string]any{"now": blueprint.TimeOf(virtual.Now())}
	if next, ok := virtual.Next(); ok {
		state["next"] = blueprint.TimeOf(next)
	}
	return WriteJSON(w, http.StatusOK, state)
}

var errRealClock = &blueprint.Error{Code: blueprint.CodeNotFound, Message: "this server runs on real time; start it with --clock virtual"}

// WriteJSON answers with a JSON value.
func WriteJSON(w http.ResponseWriter, status int, value any) error {
	data, err := blueprint.Encode(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, err = w.Write(append(data, '\n'))
	return err
}

// sourceOf returns the source of ids, which is random without a seed.
func sourceOf(seed *int64) *ids.Source {
	if seed == nil {
		return ids.New(nil)
	}
	return ids.Seeded(*seed)
}

// frozenClock returns the virtual clock of a server with seeded ids; nil otherwise.
func (s *Server) frozenClock() *clock.Virtual {
	if s.Options.SeedIDs == nil {
		return nil
	}
	return s.Options.Virtual()
}

// serializer returns the function that serializes runs; nil for concurrent runs.
func (s *Server) serializer() func(func()) {
	if virtual := s.frozenClock(); virtual != nil {
		return virtual.WhenIdle
	}
	return nil
}

// settleTimeout bounds, in real time, how long a request waits for the work of earlier
// ones. A request made by a run would otherwise wait indefinitely.
const settleTimeout = time.Second

// reproducible makes answers reproducible under a virtual clock: their Date is that of the
// clock, and with seeded ids a request waits until earlier work is done.
func (s *Server) reproducible(next http.Handler) http.Handler {
	virtual, ok := s.Options.Clock.(*clock.Virtual)
	if !ok {
		return next
	}
	seeded := s.frozenClock() != nil
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", virtual.Now().Format(http.TimeFormat))
		if seeded && waits(r.URL.Path) {
			defer virtual.WaitIdle(r.Context(), settleTimeout)()
			w.Header().Set("Date", virtual.Now().Format(http.TimeFormat))
		}
		next.ServeHTTP(w, r)
	})
}

// waits reports whether a request waits for earlier work, unless it is about the server.
func waits(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/metrics", "/clock/advance":
		return false
	}
	return !strings.HasPrefix(path, "/assets/")
}

// Virtual returns the virtual clock; nil if the clock is real.
func (o *Options) Virtual() *clock.Virtual {
	virtual, _ := o.Clock.(*clock.Virtual)
	return virtual
}

func (s *Server) isOwner(caller *trpc.Caller) bool { return caller.UserID == s.Bootstrap.Account.ID }

// requireOwner refuses a caller who may not read or change data that affects the runs of
// all users: the answers of the sandbox and the virtual clock. On an ephemeral server every
// caller may; on others, only the owner.
func (s *Server) requireOwner(caller *trpc.Caller) error {
	if s.Options.Ephemeral || s.isOwner(caller) {
		return nil
	}
	return blueprint.Errorf(blueprint.CodeForbidden, "only the owner of this server may do this: it affects the runs of all users")
}

// noteOwnerAction writes an audit entry of such a change.
func (s *Server) noteOwnerAction(r *http.Request, caller *trpc.Caller, action string, detail map[string]any) {
	s.Store.NoteAction(r.Context(), &blueprint.AuditEntry{ActorID: caller.UserID, Action: action, TargetType: "server", Via: caller.Via, Detail: detail})
}
