package trpc

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

func newYear() *clock.Virtual {
	return clock.NewVirtual(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
}

func advance(t *testing.T, c *clock.Virtual, by time.Duration) {
	t.Helper()
	if err := c.Advance(t.Context(), c.Now().Add(by)); err != nil {
		t.Fatal(err)
	}
}

func TestLimiter(t *testing.T) {
	now := newYear()
	limiter := NewLimiter(now, 2, 4)
	take := func(key string, cost int, wait time.Duration) {
		t.Helper()
		err := limiter.Take(key, cost)
		if wait == 0 {
			if err != nil {
				t.Errorf("%s, %d: %v", key, cost, err)
			}
			return
		}
		var refused *blueprint.Error
		if !errors.As(err, &refused) || refused.Code != blueprint.CodeTooManyRequests || refused.RetryAfter != wait {
			t.Errorf("%s, %d: got %#v, want a wait of %s", key, cost, err, wait)
		}
	}
	take("a", 3, 0)
	take("a", 2, 500*time.Millisecond) // takes nothing
	take("a", 1, 0)
	take("a", 1, 500*time.Millisecond)
	take("b", 4, 0) // a bucket of its own
	advance(t, now, 500*time.Millisecond)
	take("a", 1, 0)
	advance(t, now, time.Hour)     // no more than the burst
	take("a", 5, time.Millisecond) // more than the burst, though the bucket is full
	take("a", 4, 0)
	take("a", 5, 2*time.Second) // until the bucket is full
}

func TestLimitKey(t *testing.T) {
	for want, principal := range map[string]blueprint.Principal{
		"key k":  {UserID: "u", KeyID: "k"},
		"user u": {UserID: "u"},
	} {
		t.Run(want, func(t *testing.T) {
			if got := limitKey(principal); got != want {
				t.Errorf("%+v: %q, want %v", principal, got, want)
			}
		})
	}
}

func TestLimiterOff(t *testing.T) {
	for _, limiter := range []*Limiter{NewLimiter(newYear(), 0, 4), NewLimiter(newYear(), 2, 0)} {
		if err := limiter.Take("a", 1000); err != nil {
			t.Error(err)
		}
	}
}

func TestLimiterForgetsIdleKeys(t *testing.T) {
	now := newYear()
	limiter := NewLimiter(now, 1, 10)
	for i := range 10 * sweepFrom {
		if err := limiter.Take(fmt.Sprint(i), 1); err != nil {
			t.Fatal(err)
		}
		advance(t, now, time.Second/100) // a key is idle again after a hundred others
	}
	if held := len(limiter.buckets); held > sweepFrom {
		t.Errorf("%d buckets are held, want at most %v", held, sweepFrom)
	}
}

func TestRateLimit(t *testing.T) {
	now := newYear()
	s := newTestServer(t, func(o *Options) { o.Limiter = NewLimiter(now, 1, 3) })
	expect := func(head string, status int, wait, want string) {
		t.Helper()
		got := s.raw(t, head, "")
		if got.status != status || got.header.Get("Retry-After") != wait || want != "" && got.body != want {
			t.Errorf("got %d %q %s, want %v", got.status, got.header.Get("Retry-After"), got.body, want)
		}
	}
	limited := func(seconds int) string { return fmt.Sprintf("rate limit exceeded; try again in %d s", seconds) }
	const two, list = "GET /api/trpc/test.list,test.list?batch=1", "GET /api/trpc/test.list"

	expect("GET /api/trpc/test.nope"+withKey, 404, "", "") // costs nothing
	expect("POST /api/trpc/test.list"+withKey+withJSON, 405, "", "")
	expect("GET /api/trpc/test.open"+withKey, 200, "", "")
	expect(two+withKey, 200, "", "") // one is left
	expect(two+withKey, 429, "1", wireError(limited(1), blueprint.CodeTooManyRequests, ""))
	expect("GET /api/trpc/test.list,test.open,test.list?batch=1"+withKey, 429, "1", wireError(limited(1), blueprint.CodeTooManyRequests, ""))
	expect(list+withKey, 200, "", "") // the refused ones took nothing
	expect(list+withKey, 429, "1", wireError(limited(1), blueprint.CodeTooManyRequests, "test.list"))
	expect("GET /api/trpc/test.list?input=%7B"+withKey, 429, "1", "") // before the input
	line := func(i int) string {
		return fmt.Sprintf(`{"json":[%d,0,[[{"error":%s}]]]}`, i, bareError(limited(2), blueprint.CodeTooManyRequests, "test.list")) + "\n"
	}
	got := s.raw(t, two+withKey+"\nTrpc-Accept: application/jsonl", "")
	head := `{"json":{"0":[[0],[null,0,0]],"1":[[0],[null,0,1]]}}` + "\n"
	if got.status != 200 || got.body != head+line(0)+line(1) && got.body != head+line(1)+line(0) {
		t.Errorf("lines: got %d %s", got.status, got.body)
	}
	expect("GET /api/trpc/test.watch"+withKey, 200, "1", connected+failedEvent(limited(1), blueprint.CodeTooManyRequests, "test.watch"))
	expect(list+"\nAuthorization: Bearer other", 200, "", "") // another key
	advance(t, now, time.Second)
	expect(list+withKey, 200, "", "")
	expect("GET /api/trpc/test.list,test.list,test.list,test.list?batch=1"+withKey, 429, "3",
		wireError("rate limit exceeded: the batch is larger than the burst that is allowed; send smaller ones", blueprint.CodeTooManyRequests, ""))
}
