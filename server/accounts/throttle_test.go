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

// waits makes an attempt that fails, and gives how long it has to wait instead.
func waits(t *testing.T, b *throttle, account, address string) time.Duration {
	t.Helper()
	_, err := b.begin(account, address)
	if err == nil {
		return 0
	}
	var refused *blueprint.Error
	if !errors.As(err, &refused) || refused.Code != blueprint.CodeTooManyRequests {
		t.Fatalf("got %v", err)
	}
	return refused.RetryAfter
}

func TestBrakeOfAnAccount(t *testing.T) {
	c := clock.NewVirtual(noon)
	b := newThrottle(c)
	pass := func(by time.Duration) {
		if err := c.Advance(t.Context(), c.Now().Add(by)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range mostFailures {
		if wait := waits(t, b, "ann", fmt.Sprint(i)); wait != 0 {
			t.Fatalf("attempt %d waits %s", i+1, wait)
		}
		pass(time.Second)
	}
	if wait := waits(t, b, "ann", "elsewhere"); wait != failureSpan-mostFailures*time.Second {
		t.Errorf("ann waits %s", wait)
	}
	if wait := waits(t, b, "bob", "1"); wait != 0 {
		t.Errorf("bob waits %s", wait)
	}
	pass(failureSpan - mostFailures*time.Second)
	if wait := waits(t, b, "ann", "elsewhere"); wait != 0 {
		t.Errorf("after the wait ann waits %s", wait)
	}
	if wait := waits(t, b, "ann", "elsewhere"); wait != time.Second {
		t.Errorf("after one more ann waits %s", wait)
	}
	pass(failureSpan)
	succeeded, err := b.begin("ann", "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	succeeded()
	succeeded()
	if len(b.accounts.of) != 1 || len(b.accounts.of[keyOf("ann")]) != 0 {
		t.Errorf("known are %d", len(b.accounts.of))
	}
}

// One address makes only so many accounts wait.
func TestBrakeOfAnAddress(t *testing.T) {
	b := newThrottle(clock.NewVirtual(noon))
	braked := 0
	for i := range 1000 {
		if waits(t, b, fmt.Sprint(i/20), "there") > 0 {
			braked++
		}
	}
	locked := 0
	for i := range 50 {
		if waits(t, b, fmt.Sprint(i), "here") > 0 {
			locked++
		}
	}
	if wait := waits(t, b, "known", ""); wait != 0 {
		t.Errorf("who is known waits %s", wait)
	}
	if want := addressFailures / mostFailures; locked != want || braked < 900 {
		t.Errorf("%d accounts wait, want %d; %d attempts were refused", locked, want, braked)
	}
}

// However many come, only so many are known, and who waits goes on waiting.
func TestBrakeIsBounded(t *testing.T) {
	c := clock.NewVirtual(noon)
	b := newThrottle(c)
	for range mostFailures {
		waits(t, b, "ann", "a")
	}
	for i := range 3 * mostThrottled {
		waits(t, b, fmt.Sprint(i), fmt.Sprint(i))
	}
	if len(b.accounts.of) > mostThrottled || len(b.addresses.of) > mostThrottled {
		t.Errorf("known are %d accounts and %d addresses", len(b.accounts.of), len(b.addresses.of))
	}
	if waits(t, b, "ann", "b") == 0 {
		t.Error("ann need not wait any more")
	}
	if err := c.Advance(t.Context(), noon.Add(failureSpan)); err != nil {
		t.Fatal(err)
	}
	b.accounts.makeRoom(c.Now())
	if len(b.accounts.of) != 0 {
		t.Errorf("%d are known that matter no more", len(b.accounts.of))
	}
}
