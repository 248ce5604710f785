package triggers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// A trigger that has too many events, or cannot be read, does not delay others: a limited
// number of its events waits for a limited time, and those beyond are refused.
func TestOutboxCrowd(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	s := newService(m, v)
	noisy := m.subscriber(nil)
	quiet := m.subscriber(func(b *blueprint.Binding) { b.Definition.OrganizationID = "quiet" })
	m.refuseStart = func(r *blueprint.StartRequest) error {
		if r.Trigger.ID == noisy {
			return blueprint.Errorf(blueprint.CodeTooManyRequests, "1000 runs of this trigger wait")
		}
		return nil
	}
	const events = maxBlocked + 2*outboxPage
	for n := range events {
		m.raise(endedRun(n + 1))
	}
	e := endedRun(5000)
	e.OrganizationID = "quiet"
	m.raise(e)
	move := mover(t, v)
	start(t, s, move)
	rows := strings.Fields(m.keys(noisy))
	if got := m.keys(quiet); got != "s5000" || s.Stats().Undelivered != maxWaiting || len(rows) != events-maxWaiting || rows[0] != fmt.Sprint("r", maxWaiting+1) {
		t.Fatalf("at first: quiet %q, %d wait, %d rows, %v; want s5000, %v, %v and %v", got, s.Stats().Undelivered, len(rows), rows[0], maxWaiting, events-maxWaiting, fmt.Sprint("r", maxWaiting+1))
	}
	if row := m.lastRow(t); !strings.Contains(row.Reason, "1000 runs of this trigger wait; 100 events wait for this trigger already; redeliver runs it") || row.Delivery == nil {
		t.Errorf("row %+v", row)
	}
	move(begin.Add(maxWaitingTime + lastRetry))
	row := m.lastRow(t)
	if got := len(strings.Fields(m.keys(noisy))); got != events || len(m.undelivered()) > 0 || s.Stats().Undelivered != 0 || !strings.Contains(row.Reason, "it was tried for 10 minutes; redeliver runs it") {
		t.Errorf("at last: %d rows, %d left, %d wait, %q; want %v, none, 0 and \"it was tried for 10 minutes; redeliver runs it\" in it", got, len(m.undelivered()), s.Stats().Undelivered, row.Reason, events)
	}
	for n := range maxWaiting + 1 {
		m.raise(endedRun(6000 + n))
	}
	s.Published()
	move(v.Now())
	if got := s.Stats().Undelivered; got != maxWaiting {
		t.Errorf("after them %d wait, want %v", got, maxWaiting)
	}
	m.mu.Lock()
	m.refuseStart = nil
	m.mu.Unlock()
	move(v.Now().Add(lastRetry))
	if got := m.keys(noisy); !strings.HasSuffix(got, fmt.Sprint(" s", 6000+maxWaiting-1)) || len(m.undelivered()) > 0 {
		t.Errorf("%d left, %s; want %q at the end and none", len(m.undelivered()), got[len(got)-100:], fmt.Sprint(" s", 6000+maxWaiting-1))
	}
}

// An organization with many triggers that have too much to do does not fill the
// memory.
func TestOutboxCrowdOfAll(t *testing.T) {
	m := newMemory()
	s := newService(m, clock.NewVirtual(begin))
	for range 2 * maxWaitingOfOrg / maxWaiting {
		m.subscriber(nil)
	}
	m.refuseStart = func(r *blueprint.StartRequest) error {
		return blueprint.Errorf(blueprint.CodeTooManyRequests, "too many")
	}
	for n := range maxWaiting {
		m.raise(endedRun(n + 1))
	}
	start(t, s, mover(t, s.Clock.(*clock.Virtual)))
	if got := len(m.snapshot()); got != maxWaitingOfOrg || !strings.Contains(m.lastRow(t).Reason, "of this organization already") {
		t.Errorf("%d rows, the last: %s; want %v and \"of this organization already\" in it", got, m.lastRow(t).Reason, maxWaitingOfOrg)
	}
}

// What starts nothing costs a commit for many, together with the deletion of
// what it is about: a server that dies before leaves neither.
func TestOutboxSharesCommits(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	var deaf []string
	for range 20 {
		deaf = append(deaf, m.subscriber(func(b *blueprint.Binding) { b.Trigger.Config["blueprintId"] = creator }))
	}
	full := m.subscriber(nil)
	m.refuseStart = func(*blueprint.StartRequest) error { return &blueprint.ConcurrencyLimitError{Limit: 1, Running: 1} }
	var want []string
	for n := range 4 * outboxPage {
		m.raise(endedRun(n + 1))
		want = append(want, fmt.Sprint("s", n+1))
	}
	m.keepEvents = errors.New("killed")
	move := mover(t, v)
	start(t, newService(m, v), move)()
	if rows := m.snapshot(); len(rows) > 0 {
		t.Fatalf("before the deletion there are %d rows, want none", len(rows))
	}
	m.keepEvents, m.commits = nil, 0
	start(t, newService(m, v), move)
	for _, id := range append(deaf, full) {
		if got := m.keys(id); got != strings.Join(want, " ") {
			t.Errorf("%s: %s, want %v", id, got, strings.Join(want, " "))
		}
	}
	rows := m.snapshot()
	if most := len(rows)/maxPendingRows + 11; m.commits > most || len(m.undelivered()) > 0 {
		t.Errorf("%d commits, at most %d; %d left; want at most %v and none", m.commits, most, len(m.undelivered()), most)
	}
	for _, row := range rows {
		if (row.Delivery != nil) != (row.TriggerID == full) {
			t.Fatalf("kept: %+v", row)
		}
	}
}

// A row that the ledger does not take does not keep the others.
func TestOutboxBadRow(t *testing.T) {
	m := newMemory()
	one, two := m.subscriber(func(b *blueprint.Binding) { b.CanManage = false }), m.subscriber(func(b *blueprint.Binding) { b.CanManage = false })
	m.refuse = func(f *blueprint.Firing) error {
		if f.TriggerID == one && f.Key == endedRun(1).Key {
			return errors.New("not valid")
		}
		return nil
	}
	m.raise(endedRun(1))
	m.raise(endedRun(2))
	v := clock.NewVirtual(begin)
	start(t, newService(m, v), mover(t, v))
	if got := m.keys(one) + ", " + m.keys(two); got != "r2, r1 r2" || len(m.undelivered()) > 0 {
		t.Errorf("rows %s, %d left; want r2, r1 r2 and none", got, len(m.undelivered()))
	}
}

// feeder adds another event for each delivered one, up to 30.
type feeder struct {
	*memory
	delivered atomic.Int64
}

func (f *feeder) RemoveEvents(ctx context.Context, keys []string, rows ...blueprint.Firing) error {
	<-time.NewTimer(time.Second).C // what a commit takes
	if n := f.delivered.Add(1); n < 30 {
		f.raise(endedRun(int(10 + n)))
	}
	return f.memory.RemoveEvents(ctx, keys, rows...)
}

// A deferred event is tried again when it is due, even under a constant stream of others.
func TestOutboxTriesAgainMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		f := &feeder{memory: m}
		s := newService(m, clock.Real{}, func(o *Options) { o.Store = f })
		m.subscriber(nil)
		var tries []int64
		m.refuseStart = func(r *blueprint.StartRequest) error {
			if r.Firing.Key == endedRun(1).Key {
				if tries = append(tries, f.delivered.Load()); len(tries) < 3 {
					return unavailable(time.Millisecond)
				}
			}
			return nil
		}
		m.raise(endedRun(1))
		m.raise(endedRun(2))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		<-time.NewTimer(20 * time.Second).C
		for range 5 {
			s.Published()
		}
		<-time.NewTimer(2 * time.Second).C
		s.published.mu.Lock()
		if holds := len(s.published.releases); fmt.Sprint(tries) != "[0 6 16]" || holds > 0 {
			t.Errorf("tried after %v others, %d still hold the clock; want [0 6 16] and at most 0", tries, holds)
		}
		s.published.mu.Unlock()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
