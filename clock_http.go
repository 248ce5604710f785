package main

import (
	"errors"
	"io"
	"net/http"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/clock"
	"blueprintd/rpc"
)

// clockAdvance answers POST /clock/advance: {"by": "36h"} or {"to": RFC3339}
// moves the virtual clock and gives {"now", "fired"}.
func (s *server) clockAdvance(w http.ResponseWriter, r *http.Request, _ *rpc.Caller) error {
	virtual, ok := s.options.clock.(*clock.Virtual)
	if !ok {
		return errRealClock
	}
	data, err := clockBody(w, r)
	if err != nil {
		return err
	}
	value, err := blueprint.Decode(data)
	if err != nil {
		return err
	}
	to, err := clock.Target(value, virtual.Now())
	if err != nil {
		return blueprint.Errorf(blueprint.CodeBadRequest, "%s", err)
	}
	s.triggers.Changed() // let the schedules be read before the clock moves past them
	before := s.triggers.Started()
	if err := virtual.Advance(r.Context(), to); err != nil {
		return blueprint.Errorf(blueprint.CodeBadRequest, "%s", err)
	}
	w.Header().Set("Date", virtual.Now().Format(http.TimeFormat))
	return writeJSON(w, http.StatusOK, map[string]any{"now": blueprint.TimeOf(virtual.Now()), "fired": s.triggers.Started() - before})
}

// clockState answers GET /clock: {"now", "next"?}, where the virtual clock stands
// and the next instant at which something is due.
func (s *server) clockState(w http.ResponseWriter, r *http.Request, _ *rpc.Caller) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return blueprint.Errorf(blueprint.CodeMethodNotSupported, "/clock takes GET; POST /clock/advance moves the clock")
	}
	virtual, ok := s.options.clock.(*clock.Virtual)
	if !ok {
		return errRealClock
	}
	virtual.Settled(r.Context(), settleFor)()
	state := map[string]any{"now": blueprint.TimeOf(virtual.Now())}
	if next, ok := virtual.Next(); ok {
		state["next"] = blueprint.TimeOf(next)
	}
	return writeJSON(w, http.StatusOK, state)
}

// errRealClock says that there is no clock to look at or to move.
var errRealClock = &blueprint.Error{Code: blueprint.CodeNotFound, Message: "this server runs on real time; start it with --clock virtual"}

// clockBody reads the little that moves a clock.
func clockBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, blueprint.Errorf(blueprint.CodePayloadTooLarge, "the body is larger than %d bytes", large.Limit)
	case err != nil:
		return nil, blueprint.BodyError(err)
	case !utf8.Valid(data):
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the body is not valid UTF-8")
	}
	return data, nil
}

// writeJSON answers with a JSON value.
func writeJSON(w http.ResponseWriter, status int, value any) error {
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
