package main

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/clock"
	"blueprintd/rpc"
)

// clockAdvance answers POST /clock/advance: {"by": "36h"} or {"to": RFC3339}
// moves the virtual clock and gives {"now", "fired"}.
func (s *server) clockAdvance(w http.ResponseWriter, r *http.Request, _ *rpc.Caller) error {
	virtual, ok := s.options.clock.(*clock.Virtual)
	if !ok {
		return &blueprint.Error{Code: blueprint.CodeNotFound, Message: "this server runs on real time; start it with --clock virtual"}
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
	if err != nil {
		return blueprint.Errorf(blueprint.CodePayloadTooLarge, "the body is too large")
	}
	value, err := blueprint.Decode(data)
	if err != nil {
		return err
	}
	to, err := clockTarget(value, virtual.Now())
	if err != nil {
		return err
	}
	s.triggers.Changed() // let the schedules be read before the clock moves past them
	before := s.triggers.Started()
	if err := virtual.Advance(r.Context(), to); err != nil {
		return blueprint.Errorf(blueprint.CodeBadRequest, "%s", err)
	}
	return writeJSON(w, http.StatusOK, map[string]any{"now": blueprint.TimeOf(virtual.Now()), "fired": s.triggers.Started() - before})
}

func clockTarget(value any, now time.Time) (time.Time, error) {
	bad := func(format string, args ...any) (time.Time, error) {
		return time.Time{}, blueprint.Errorf(blueprint.CodeBadRequest, format, args...)
	}
	object, ok := value.(map[string]any)
	by, hasBy := object["by"]
	to, hasTo := object["to"]
	if !ok || hasBy == hasTo {
		return bad(`write {"by": "36h"} or {"to": "2030-01-01T00:00:00Z"}`)
	}
	if hasTo {
		text, _ := to.(string)
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return bad("to: %q is no RFC 3339 time", text)
		}
		if at.Before(now) {
			return bad("to: the clock stands at %s and cannot go backwards", now.Format(blueprint.TimeFormat))
		}
		return at, nil
	}
	text, _ := by.(string)
	step, err := parseDays(text)
	if err != nil || step < 0 {
		return bad(`by: %q is no duration forwards; write "36h", "90s" or "7d"`, text)
	}
	return now.Add(step), nil
}

// parseDays reads a Go duration, or a whole number of days as in 7d.
func parseDays(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err == nil && n >= 0 && n <= 36_500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	return time.ParseDuration(text)
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
