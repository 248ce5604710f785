//go:build !race

// Hundreds of passwords are hashed here in sequence; the race detector makes that ten times
// as slow, and finds nothing in it.

package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/store"
	"blueprintd/tests/servertest"
)

const day = 24 * time.Hour

// TestClockOfSessions: a session ends thirty days after its last use, and after ninety days
// at most.
func TestClockOfSessions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		steps []time.Duration // each followed by a call
		good  bool            // whether the last call succeeds
	}{
		"idle, just not":   {[]time.Duration{30*day - time.Millisecond}, true},
		"idle":             {[]time.Duration{30 * day}, false},
		"used":             {[]time.Duration{29 * day, 29 * day}, true},
		"used, then idle":  {[]time.Duration{29 * day, 30 * day}, false},
		"old, just not":    {[]time.Duration{29 * day, 29 * day, 29 * day, 3*day - time.Millisecond}, true},
		"old":              {[]time.Duration{29 * day, 29 * day, 29 * day, 3 * day}, false},
		"all at once, old": {[]time.Duration{91 * day}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := servertest.New(t, servertest.AtNoon)
			b := setUpAda(t, s)
			for i, step := range test.steps {
				s.Advance(t, step.String())
				if i == len(test.steps)-1 && !test.good {
					b.Refused(t, blueprint.CodeUnauthorized, "sign in again", "session.get", nil)
				} else {
					b.OK(t, "session.get", nil)
				}
			}
		})
	}
}

// TestClockOfSetupLinks: a link can set a password for one day.
func TestClockOfSetupLinks(t *testing.T) {
	t.Parallel()
	for by, good := range map[string]bool{"0s": true, "23h59m59.999s": true, "24h": false, "30d": false} {
		s := servertest.New(t, servertest.AtNoon)
		s.Advance(t, by)
		_, token, _ := strings.Cut(s.Bootstrap.Setup, "token=")
		input := object{"token": token, "email": "ada@example.org", "name": "Ada", "password": adasPassword}
		if b := (&browser{Server: s}); good {
			b.OK(t, "session.setup", input)
		} else {
			b.Refused(t, blueprint.CodeNotFound, "no longer valid", "session.setup", input)
		}
	}
}

// TestClockOfLockouts: failed sign-ins count for five minutes, and a device stays known for a
// year.
func TestClockOfLockouts(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	setUpAda(t, s)
	right := object{"email": "ada@example.org", "password": adasPassword}
	guess := func() {
		for i := range 50 {
			(&browser{Server: s}).Refused(t, blueprint.CodeUnauthorized, "is wrong", "session.create", object{"email": strconv.Itoa(i) + "@example.org", "password": "x"})
		}
	}
	stranger := &browser{Server: s}
	guess()
	stranger.Refused(t, blueprint.CodeTooManyRequests, "in 300 s", "session.create", right)
	s.Advance(t, "4m59s")
	stranger.Refused(t, blueprint.CodeTooManyRequests, "in 1 s", "session.create", right)
	s.Advance(t, "1s")
	stranger.OK(t, "session.create", right)
	known := &browser{Server: s}
	known.OK(t, "session.create", right)
	s.Advance(t, "364d")
	guess()
	early := *known // has the browser's cookie from before the second sign-in
	early.cookie, known.cookie = "", ""
	known.OK(t, "session.create", right)
	s.Advance(t, "1d")
	guess()
	early.Refused(t, blueprint.CodeTooManyRequests, "in 300 s", "session.create", right)
}

// TestClockOfRates: with a virtual clock there is no rate limit unless it is requested;
// then the bucket fills as the clock advances, and calls of the clock are free.
func TestClockOfRates(t *testing.T) {
	t.Parallel()
	free := servertest.New(t, servertest.AtNoon)
	for range 300 {
		free.Root.OK(t, "blueprint.list", nil)
	}
	s := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.RateLimit, o.RateBurst = 1.0/64, 1 })
	for _, step := range []struct {
		by     string
		status int
		retry  string
	}{{"0s", 200, ""}, {"0s", 429, "64"}, {"63s", 429, "1"}, {"1s", 200, ""}, {"30d", 200, ""}, {"0s", 429, "64"}} {
		for range 5 {
			s.Advance(t, "0s")
			if answer := s.Root.Send(t, http.MethodGet, "/clock", ""); answer.Status != 200 {
				t.Errorf("the clock: %d, want 200", answer.Status)
			}
		}
		s.Advance(t, step.by)
		if answer := s.Root.Call(t, "blueprint.list", nil); answer.Status != step.status || answer.Header.Get("Retry-After") != step.retry {
			t.Errorf("%s later: %d, Retry-After %q; want %v and %v", step.by, answer.Status, answer.Header.Get("Retry-After"), step.status, step.retry)
		}
	}
}

// TestClockOfHistory: runs, ledger rows and audit lines are pruned at their age, failed
// runs at three times that.
func TestClockOfHistory(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, func(o *server.Options) {
		o.KeepExecutions, o.KeepFirings, o.KeepAudit = store.Keep{Age: 10 * day}, store.Keep{Age: 20 * day}, store.Keep{Age: 40 * day}
	})
	good := s.Root.Blueprint(t, "t", node("a", "merge", object{}))
	bad := s.Root.Blueprint(t, "t", node("a", "stop", object{"failed": true, "message": "no"}))
	asks := node("q", "human", object{"prompt": "?"})
	s.Root.Launch(t, s.Root.Blueprint(t, "asks", asks), nil, asks)
	hook := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": good, "triggerType": "webhook"})
	(servertest.Caller{Server: s}).Send(t, http.MethodPost, "/webhooks/blueprint/"+hook, "{}")
	s.Root.OK(t, "blueprint.execute", object{"id": bad})
	s.Root.OK(t, "blueprintTriggers.update", object{"triggerId": hook, "isActive": false})
	for _, step := range []struct {
		by   string
		want string // statuses of runs, ledger rows, whether there are audit lines
	}{{"0s", "paused failed completed 1 true"}, {"9d", "paused failed completed 1 true"}, {"36h", "paused failed 1 true"}, {"10d", "paused failed 0 true"}, {"10d", "paused 0 true"}, {"252h", "paused 0 false"}, {"40d", "paused 0 false"}} {
		s.Advance(t, step.by)
		var got []string
		for _, status := range []string{"paused", "failed", "completed"} {
			for range at(s.Root.OK(t, "execution.listRuns", object{"status": status}), "runs").([]any) {
				got = append(got, status)
			}
		}
		lines := at(s.Root.OK(t, "auditLog.list", nil), "entries").([]any)
		lines = slices.DeleteFunc(lines, func(one any) bool { return at(one, "action") == "clock.advance" })
		got = append(got, strconv.Itoa(len(firings(t, s.Root, hook))), strconv.FormatBool(len(lines) > 0))
		if text := strings.Join(got, " "); text != step.want {
			t.Errorf("%s later: %s, want %s", step.by, text, step.want)
		}
	}
}
