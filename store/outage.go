package store

import (
	"context"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
)

// How long PostgreSQL may be silent until calls are refused, without and with a failed
// attempt to reach it; until a server is not ready; and until its connections are closed, so
// that calls that wait for an answer are refused too.
const (
	outageInterval = 100 * time.Millisecond
	refusedAfter   = time.Second
	silentAfter    = 2500 * time.Millisecond
	awayAfter      = 3 * time.Second
)

// outage is what a process knows about whether its database answers. It is safe for
// concurrent use.
type outage struct {
	mu      sync.Mutex
	reached metrics.Stopwatch // since the last answer
	beaten  bool              // beats ask it several times a second
	failed  bool              // the last attempt to reach it failed
	away    bool
	severed metrics.Stopwatch // since its connections were last closed
	waiting map[*context.CancelCauseFunc]struct{}
}

func newOutage() outage {
	return outage{reached: metrics.Begin(), severed: metrics.Begin(), waiting: map[*context.CancelCauseFunc]struct{}{}}
}

// answered records an answer of the database.
func (o *outage) answered() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reached, o.failed, o.away = metrics.Begin(), false, false
}

// begin records that beats have begun.
func (o *outage) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.beaten = true
}

// missed records a failed attempt to reach the database.
func (o *outage) missed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = true
}

// check ends the calls that wait for a database which has become silent, and reports
// whether its connections have to be closed.
func (o *outage) check() (sever bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.beaten {
		return false // nothing asks it, so its silence says nothing
	}
	silence := o.reached.Elapsed()
	if o.away = o.away || silence > silentAfter || o.failed && silence > refusedAfter; !o.away {
		return false
	}
	for cancel := range o.waiting {
		(*cancel)(errMayBeStored)
	}
	clear(o.waiting)
	if sever = silence > awayAfter && o.severed.Elapsed() > awayAfter; sever {
		o.severed = metrics.Begin()
	}
	return sever
}

// errMayBeStored is returned to a caller whose write has no outcome yet.
var errMayBeStored = unavailable(nil, "look whether it was stored before you try again", "the database does not answer, and this may have been stored")

// errAway is returned to callers while the database is away.
var errAway = unavailable(nil, "start PostgreSQL, or look at the network between it and the server"+goesOn, "the database cannot be reached")

// Available returns the reason why calls are refused now: PostgreSQL does not answer. That
// a file cannot be written is noticed at each write.
func (s *Store) Available() error {
	if s.remote == nil {
		return nil
	}
	s.remote.outage.mu.Lock()
	defer s.remote.outage.mu.Unlock()
	if s.remote.outage.away {
		return errAway
	}
	return nil
}

// Reachable reports whether the database has answered within the last seconds. That of a
// file always does.
func (s *Store) Reachable() bool {
	if s.remote == nil {
		return true
	}
	s.remote.outage.mu.Lock()
	defer s.remote.outage.mu.Unlock()
	return s.remote.outage.reached.Elapsed() < awayAfter
}

// WhileAvailable returns a context for waiting until something is stored. It ends with
// CodeUnavailable as its cause when PostgreSQL no longer answers.
func (s *Store) WhileAvailable(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.remote == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	o := &s.remote.outage
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.away {
		cancel(errAway)
	}
	o.waiting[&cancel] = struct{}{}
	return ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.waiting, &cancel)
		cancel(context.Canceled)
	}
}

// orAway returns errAway if a context of WhileAvailable ended because of an outage, and the
// error otherwise.
func orAway(ctx context.Context, err error) error {
	if blueprint.IsOutage(context.Cause(ctx)) {
		return errAway
	}
	return err
}

// watchOutage notices that the database has become silent.
func (s *Store) watchOutage(context.Context) {
	if s.remote.outage.check() {
		s.remote.config.Sever()
	}
}
