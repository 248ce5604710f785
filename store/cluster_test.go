//go:build postgres

package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// twoProcesses opens one database twice.
func twoProcesses(t *testing.T) (a, b *Store) {
	t.Helper()
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	a = open(t, options)
	options.Server = false
	return a, open(t, options)
}

func TestClaim(t *testing.T) {
	a, b := twoProcesses(t)
	ctx := context.Background()
	take := func(s *Store, name string, want bool) (release func()) {
		t.Helper()
		release, held, err := s.TryClaim(ctx, name)
		check(t, err)
		if held != want {
			t.Fatalf("the claim %s is held: %v, want %v", name, held, want)
		}
		return release
	}
	first := take(a, "x", true)
	take(b, "x", false)
	take(a, "x", false)
	other := take(b, "y", true)

	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := b.Claim(ended, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("waited: %v, want %v", err, context.Canceled)
	}
	waits := make(chan func())
	go func() {
		release, err := b.Claim(ctx, "x")
		if err != nil {
			t.Error(err)
		}
		waits <- release
	}()
	first()
	second := <-waits
	first() // releases nothing of others
	take(a, "x", false)
	second()

	// The claim of a process that died ends with its term.
	dead := take(a, "x", true)
	must(a.remote.shared.ExecContext(ctx, "UPDATE claims SET until = clock_timestamp() - interval '1 second' WHERE name = 'x'"))(t)
	last := take(b, "x", true)
	dead()
	take(a, "x", false)
	last()

	// It ends earlier when the process is known to be dead.
	gone := take(a, "x", true)
	take(b, "x", false)
	must(a.remote.shared.ExecContext(ctx, "UPDATE claims SET node = 99 WHERE name = 'x'"))(t)
	last = take(b, "x", true)
	gone()
	last()
	other()
	var left int
	check(t, a.remote.shared.QueryRowContext(ctx, "SELECT count(*) FROM claims WHERE name NOT LIKE 'transaction of %'").Scan(&left))
	if left != 0 {
		t.Errorf("%d claims are left, want 0", left)
	}
}

func TestClaimsTogether(t *testing.T) {
	a, b := twoProcesses(t)
	var inside, entered atomic.Int64
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			release, err := []*Store{a, b}[i%2].Claim(context.Background(), "x")
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d hold the claim, want 1", n)
			}
			entered.Add(1)
			inside.Add(-1)
			release()
		})
	}
	group.Wait()
	if entered.Load() != 8 {
		t.Errorf("%d held the claim, want 8", entered.Load())
	}
}

func TestCountAttempt(t *testing.T) {
	a, b := twoProcesses(t)
	run(t, a)
	ctx := context.Background()
	count := func(s *Store, limits map[string]int) (int64, time.Duration) {
		t.Helper()
		attempt, wait, err := s.CountAttempt(ctx, limits, time.Minute)
		check(t, err)
		return attempt, wait
	}
	limits := map[string]int{"ann\x00\xff": 3, "address": 5}
	var last int64
	for i := range 3 {
		attempt, wait := count([]*Store{a, b}[i%2], limits)
		if wait != 0 {
			t.Fatalf("attempt %d waits %s, want 0", i+1, wait)
		}
		last = attempt
		advance(t, a, time.Second)
	}
	for name, s := range map[string]*Store{"one": a, "the other": b} {
		t.Run(name, func(t *testing.T) {
			if _, wait := count(s, limits); wait != time.Minute-3*time.Second {
				t.Errorf("the account waits %s, want %s", wait, time.Minute-3*time.Second)
			}
		})
	}
	if _, wait := count(b, map[string]int{"bob": 3, "address": 5}); wait != 0 {
		t.Errorf("bob waits %s, want 0", wait)
	}
	check(t, b.ForgetAttempt(ctx, last))
	if _, wait := count(b, limits); wait != 0 {
		t.Errorf("after one is forgotten ann waits %s, want 0", wait)
	}
	count(a, map[string]int{"cy": 3, "address": 5})
	if _, wait := count(a, map[string]int{"dee": 3, "address": 5}); wait != time.Minute-3*time.Second {
		t.Errorf("the address waits %s, want %s", wait, time.Minute-3*time.Second)
	}
	advance(t, a, time.Minute)
	if _, wait := count(a, map[string]int{"dee": 3}); wait != 0 {
		t.Errorf("dee waits %s, want 0", wait)
	}
	var left int
	check(t, a.remote.shared.QueryRowContext(ctx, "SELECT count(*) FROM failed_attempts").Scan(&left))
	if left != 1 {
		t.Errorf("%d rows are left, want 1", left)
	}
}

// Simultaneous attempts in two processes do not exceed the limit.
func TestCountAttemptsTogether(t *testing.T) {
	a, b := twoProcesses(t)
	run(t, a)
	run(t, b)
	var counted atomic.Int64
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			_, wait, err := []*Store{a, b}[i%2].CountAttempt(context.Background(), map[string]int{"ann": 10, fmt.Sprint(i): 50}, time.Minute)
			if err != nil {
				t.Error(err)
			}
			if wait == 0 {
				counted.Add(1)
			}
		})
	}
	group.Wait()
	if counted.Load() != 10 {
		t.Errorf("%d attempts were counted, want 10", counted.Load())
	}
}

func TestShareRate(t *testing.T) {
	a, b := twoProcesses(t)
	share := func(s *Store, perSecond float64, calls map[string]float64) map[string]float64 {
		t.Helper()
		return must(s.ShareRate(context.Background(), perSecond, calls))(t)
	}
	const still = 1e-9 // calls a second
	want := func(got map[string]float64, want map[string]float64) {
		t.Helper()
		for key := range got {
			got[key] = float64(int(got[key] + 0.5))
		}
		if !maps.Equal(got, want) {
			t.Errorf("levels %v, want %v", got, want)
		}
	}
	want(share(a, still, map[string]float64{"x": 10, "y": 1}), map[string]float64{"x": 10, "y": 1})
	want(share(b, still, map[string]float64{"y": 2, "x": 5, "z": 7}), map[string]float64{"x": 15, "y": 3, "z": 7})
	want(share(a, still, map[string]float64{"x": -3}), map[string]float64{"x": 12})
	must(a.remote.shared.ExecContext(context.Background(), "UPDATE rate_use SET at = at - interval '1 second'"))(t)
	want(share(b, 5, map[string]float64{"z": 1}), map[string]float64{"z": 3})
	must(a.remote.shared.ExecContext(context.Background(), "UPDATE rate_use SET at = at - interval '1 hour'"))(t)
	a.remote.shares.Store(rateSweep - 1)
	want(share(a, 5, map[string]float64{"x": 1}), map[string]float64{"x": 1})
	var left int
	check(t, a.remote.shared.QueryRowContext(context.Background(), "SELECT count(*) FROM rate_use").Scan(&left))
	if left != 1 {
		t.Errorf("%d keys are left, want 1", left)
	}
}
