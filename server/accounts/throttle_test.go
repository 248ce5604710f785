package accounts

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

var noon = time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)

// waits makes a failing attempt and returns how long it is throttled.
func waits(t *testing.T, b *throttle, account, address string) time.Duration {
	t.Helper()
	_, err := b.begin(account, address)
	if err == nil {
		return 0
	}
	var refused *blueprint.Error
	if !errors.As(err, &refused) || refused.Code != blueprint.CodeTooManyRequests {
		t.Fatalf("got %v, want Code %v", err, blueprint.CodeTooManyRequests)
	}
	return refused.RetryAfter
}

func TestThrottleAccount(t *testing.T) {
	c := clock.NewVirtual(noon)
	b := newThrottle(c)
	pass := func(by time.Duration) {
		if err := c.Advance(t.Context(), c.Now().Add(by)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxFailures {
		if wait := waits(t, b, "ann", fmt.Sprint(i)); wait != 0 {
			t.Fatalf("attempt %d waits %s, want 0", i+1, wait)
		}
		pass(time.Second)
	}
	if wait := waits(t, b, "ann", "elsewhere"); wait != failureSpan-maxFailures*time.Second {
		t.Errorf("ann waits %s, want %v", wait, failureSpan-maxFailures*time.Second)
	}
	if wait := waits(t, b, "bob", "1"); wait != 0 {
		t.Errorf("bob waits %s, want 0", wait)
	}
	pass(failureSpan - maxFailures*time.Second)
	if wait := waits(t, b, "ann", "elsewhere"); wait != 0 {
		t.Errorf("after the wait ann waits %s, want 0", wait)
	}
	if wait := waits(t, b, "ann", "elsewhere"); wait != time.Second {
		t.Errorf("after one more ann waits %s, want %v", wait, time.Second)
	}
	pass(failureSpan)
	succeeded, err := b.begin("ann", "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	succeeded()
	succeeded()
	if len(b.accounts.of) != 1 || len(b.accounts.of[keyOf("ann")]) != 0 {
		t.Errorf("%d accounts are counted, want 1 and none", len(b.accounts.of))
	}
}

// One address can throttle only a few accounts.
func TestThrottleAddress(t *testing.T) {
	b := newThrottle(clock.NewVirtual(noon))
	throttled := 0
	for i := range 1000 {
		if waits(t, b, fmt.Sprint(i/20), "there") > 0 {
			throttled++
		}
	}
	locked := 0
	for i := range 50 {
		if waits(t, b, fmt.Sprint(i), "here") > 0 {
			locked++
		}
	}
	if wait := waits(t, b, "known", ""); wait != 0 {
		t.Errorf("a known device waits %s, want 0", wait)
	}
	if want := addressFailures / maxFailures; locked != want || throttled < 900 {
		t.Errorf("%d accounts wait, want %d; %d attempts were refused", locked, want, throttled)
	}
}

// The number of entries is limited, and throttled accounts stay throttled.
func TestThrottleIsBounded(t *testing.T) {
	c := clock.NewVirtual(noon)
	b := newThrottle(c)
	for range maxFailures {
		waits(t, b, "ann", "a")
	}
	for i := range 3 * maxThrottled {
		waits(t, b, fmt.Sprint(i), fmt.Sprint(i))
	}
	if len(b.accounts.of) > maxThrottled || len(b.addresses.of) > maxThrottled {
		t.Errorf("%d accounts and %d addresses are counted, want at most %v and at most %v", len(b.accounts.of), len(b.addresses.of), maxThrottled, maxThrottled)
	}
	if waits(t, b, "ann", "b") == 0 {
		t.Error("ann is not throttled any more")
	}
	if err := c.Advance(t.Context(), noon.Add(failureSpan)); err != nil {
		t.Fatal(err)
	}
	b.accounts.evict(c.Now())
	if len(b.accounts.of) != 0 {
		t.Errorf("%d expired entries are left, want 0", len(b.accounts.of))
	}
}
