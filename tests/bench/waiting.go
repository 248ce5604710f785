package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// waiting holds the cost of waiting runs.
type waiting struct {
	What     string        `json:"what"`
	Runs     int           `json:"runs"`
	Before   int64         `json:"beforeBytes"`    // resident, after as many finished runs
	After    int64         `json:"afterBytes"`     // resident, with the waiting runs
	Stored   float64       `json:"storedBytes"`    // of the database, for each run
	Finished float64       `json:"finishedBytes"`  // the same for a finished run
	Idle     int64         `json:"idleBytes"`      // resident when idle, just started, without waiting runs
	Restored int64         `json:"restoredBytes"`  // the same with the runs, after a restart
	Ready    time.Duration `json:"readyNs"`        // of that start
	Empty    time.Duration `json:"readyWithoutNs"` // of a start without them
}

// measureWaiting leaves runs waiting, for an hour and for a user, each kind on its own
// database.
func measureWaiting(ctx context.Context, o *options) (list []waiting, err error) {
	for _, kind := range []struct {
		what    string
		trigger func(flows) string
	}{
		{"in a wait node, for an hour", func(f flows) string { return f.pause }},
		{"in a human node, for an answer", func(f flows) string { return f.ask }},
	} {
		w, err := leaveWaiting(ctx, o, kind.trigger)
		if err != nil {
			return nil, fmt.Errorf("runs that wait %s: %w", kind.what, err)
		}
		w.What = kind.what
		o.say("%d runs wait %s: %.1f MB, after a new start %.1f MB", w.Runs, w.What, mega(w.After-w.Before), mega(w.Restored-w.Idle))
		list = append(list, *w)
	}
	return list, nil
}

func leaveWaiting(ctx context.Context, o *options, trigger func(flows) string) (*waiting, error) {
	folder, err := os.MkdirTemp(o.folder, "waiting")
	if err != nil {
		return nil, err
	}
	s := &stage{folder: folder, server: &server{binary: o.binary, folder: folder}}
	defer s.close()
	if err := s.server.start(ctx); err != nil {
		return nil, err
	}
	if s.flows, err = storeFlows(ctx, s.server); err != nil {
		return nil, err
	}
	w := &waiting{Runs: o.waiting}
	send := func(trigger string) (growth float64, resident int64, err error) {
		request := postRequest(s.server.host(), "/webhooks/blueprint/"+trigger, payload())
		r, err := s.load(ctx, loadJob{Connections: min(32, o.waiting), Requests: [][]byte{request}, Most: int64(o.waiting)})
		if err != nil {
			return 0, 0, err
		}
		if r.Answered != int64(o.waiting) {
			return 0, 0, fmt.Errorf("%d of %d runs were started", r.Answered, o.waiting)
		}
		resident, err = s.rest(ctx, o)
		return float64(r.Growth) / float64(o.waiting), resident, err
	}
	// The same number of runs that finish, through the same endpoint: memory that
	// the load itself leaves behind must not count as a cost of waiting.
	if w.Finished, _, err = send(s.flows.accept); err != nil {
		return nil, err
	}
	restart := func() (time.Duration, int64, error) {
		if err := s.server.stop(); err != nil {
			return 0, 0, err
		}
		if err := s.server.start(ctx); err != nil {
			return 0, 0, err
		}
		resident, err := s.rest(ctx, o)
		return s.server.up, resident, err
	}
	if w.Empty, w.Idle, err = restart(); err != nil {
		return nil, err
	}
	if _, w.Before, err = send(s.flows.accept); err != nil {
		return nil, err
	}
	if w.Stored, w.After, err = send(trigger(s.flows)); err != nil {
		return nil, err
	}
	if w.Ready, w.Restored, err = restart(); err != nil {
		return nil, err
	}
	alive, err := column(ctx, filepath.Join(folder, "bench.db"), "SELECT count(*) FROM executions WHERE end_time IS NULL")
	if err != nil {
		return nil, err
	}
	if alive[0] != fmt.Sprint(o.waiting) {
		return nil, fmt.Errorf("%s runs wait after a new start, not %d", alive[0], o.waiting)
	}
	return w, s.server.stop()
}

// rest waits until the server is idle and returns its resident memory. With -quick,
// which measures nothing, the wait is short.
func (s *stage) rest(ctx context.Context, o *options) (int64, error) {
	if o.quick {
		return settled(ctx, s.server.Pid(), 0, time.Second)
	}
	return settled(ctx, s.server.Pid(), 4*time.Second, 20*time.Second)
}
