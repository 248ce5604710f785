package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestClockOfExpiries checks that an open question expires at its instant and not a
// millisecond earlier, and that an answered one does not expire.
func TestClockOfExpiries(t *testing.T) {
	t.Parallel()
	const hour = 3_600_000
	for _, test := range []struct {
		kind, onExpire string
		status, output string
	}{
		{"human", "", "failed", "null"},
		{"human", "fail", "failed", "null"},
		{"human", "continue", "completed", `{"expired": true}`},
		{"approval-gate", "", "failed", "null"},
		{"approval-gate", "approve", "completed", `{"approved": true, "expired": true}`},
		{"approval-gate", "reject", "failed", "null"},
	} {
		t.Run(test.kind+" "+test.onExpire, func(t *testing.T) {
			s := servertest.New(t, servertest.AtNoon)
			config := object{"prompt": "?", "expiresMs": hour}
			if test.onExpire != "" {
				config["onExpire"] = test.onExpire
			}
			ask := node("q", test.kind, config)
			id := s.Root.Blueprint(t, "asks", ask)
			late, answered := s.Root.Launch(t, id, nil, ask), s.Root.Launch(t, id, nil, ask)
			s.Advance(t, "59m59.999s")
			for _, run := range []string{late, answered} {
				if record := s.Root.Record(t, run); record["status"] != "paused" || at(record, "awaitingInput.expiresAt") != "2030-05-01T13:00:00.000Z" {
					t.Errorf("before it is time: %s, want status paused and awaitingInput.expiresAt 2030-05-01T13:00:00.000Z", servertest.Encoded(t, record))
				}
			}
			s.Root.OK(t, "execution.resume", object{"executionId": answered, "nodeId": "q", "input": object{"approved": true}})
			s.Advance(t, "1ms")
			record := s.Root.Log(t, late)
			if at(record, "status") != test.status || at(record, "endTime") != "2030-05-01T13:00:00.000Z" {
				t.Errorf("when it is time: %s, want status %v and endTime 2030-05-01T13:00:00.000Z", servertest.Encoded(t, record), test.status)
			}
			servertest.Shape(t, "output", at(record, "outputSummary.output"), test.output)
			if record := s.Root.Log(t, answered); at(record, "status") != "completed" || at(record, "endTime") != "2030-05-01T12:59:59.999Z" {
				t.Errorf("the answered one: %s, want status completed and endTime 2030-05-01T12:59:59.999Z", servertest.Encoded(t, record))
			}
			s.Root.Refused(t, blueprint.CodeConflict, "execution.resume", object{"executionId": late, "nodeId": "q", "input": object{"approved": true}})
		})
	}
}

// TestClockOfRetries checks the instants of attempts: the delay doubles each time, plus or
// minus a fifth, up to five minutes, or is what the service requests, up to an hour.
func TestClockOfRetries(t *testing.T) {
	t.Parallel()
	var after atomic.Value
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil // otherwise the service's clock is used
		if text := after.Load().(string); text != "" {
			w.Header().Set("Retry-After", text)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer outside.Close()
	for name, test := range map[string]struct {
		after string
		retry object
		waits []time.Duration // without the random part
		exact bool
	}{
		"by default":    {"", object{"maxAttempts": 4}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, false},
		"threefold":     {"", object{"maxAttempts": 4, "delayMs": 100, "backoff": 3}, []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 900 * time.Millisecond}, false},
		"five minutes":  {"", object{"maxAttempts": 3, "delayMs": 1_000_000}, []time.Duration{5 * time.Minute, 5 * time.Minute}, true},
		"as it asks":    {"1800", object{"maxAttempts": 3}, []time.Duration{30 * time.Minute, 30 * time.Minute}, true},
		"an hour":       {"86400", object{"maxAttempts": 3}, []time.Duration{time.Hour, time.Hour}, true},
		"by date":       {"Wed, 01 May 2030 12:20:00 GMT", object{"maxAttempts": 2}, []time.Duration{20 * time.Minute}, true},
		"less than own": {"1", object{"maxAttempts": 2, "delayMs": 10_000_000}, []time.Duration{5 * time.Minute}, true},
	} {
		t.Run(name, func(t *testing.T) {
			after.Store(test.after)
			s := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
			call := node("call", "http-request", object{"url": outside.URL, "method": "GET"}, "retry", test.retry)
			run := s.Root.Launch(t, s.Root.Blueprint(t, "t", call), nil, call)
			attempt := func() string {
				return string(at(s.Root.Record(t, run)["steps"].([]any)[0], "attempt").(json.Number))
			}
			for i, wait := range test.waits {
				least, most := wait*8/10, wait*12/10
				if test.exact {
					least, most = wait, wait
				}
				from, err := time.Parse(time.RFC3339, at(s.Root.Send(t, http.MethodGet, "/clock", "").Value, "now").(string))
				if err != nil {
					t.Fatal(err)
				}
				next, err := time.Parse(time.RFC3339, fmt.Sprint(at(s.Root.Send(t, http.MethodGet, "/clock", "").Value, "next")))
				if took := next.Sub(from); err != nil || took < least-time.Millisecond || took > most {
					t.Fatalf("attempt %d comes after %v, not %v (%v); want at least %v and at most %v", i+2, took, wait, err, least-time.Millisecond, most)
				}
				s.Advance(t, (next.Sub(from) - time.Millisecond).String())
				if got := attempt(); got != fmt.Sprint(i+1) {
					t.Errorf("attempt %s before it is time, want %v", got, fmt.Sprint(i+1))
				}
				s.Advance(t, "1ms")
				if got := attempt(); got != fmt.Sprint(i+2) {
					t.Errorf("attempt %s when it is time for %d, want %v", got, i+2, fmt.Sprint(i+2))
				}
			}
			if record := s.Root.Record(t, run); record["status"] != "failed" {
				t.Errorf("ended %s, want status failed", servertest.Encoded(t, record))
			}
		})
	}
}

// TestClockOfDaylightSaving: a tick at a local time that is skipped runs at the first
// instant after it, and one at a repeated time runs once.
func TestClockOfDaylightSaving(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ cron, from, want string }{
		{"30 2 * * *", "2030-03-29T12:00:00Z", "03-30T01:30 03-31T01:00 04-01T00:30"},
		{"0 * * * *", "2030-03-30T23:30:00Z", "03-31T00:00 03-31T01:00 03-31T02:00"},
		{"30 2 * * *", "2030-10-25T12:00:00Z", "10-26T00:30 10-27T00:30 10-28T01:30"},
		{"0 * * * *", "2030-10-26T23:30:00Z", "10-27T00:00 10-27T01:00 10-27T02:00"},
	} {
		t.Run(test.from, func(t *testing.T) {
			from, err := time.Parse(time.RFC3339, test.from)
			if err != nil {
				t.Fatal(err)
			}
			s := servertest.New(t, func(o *server.Options) { o.Clock = clock.NewVirtual(from) })
			id := s.Root.Blueprint(t, "t", node("a", "merge", object{}))
			trigger := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "scheduled", "config": object{"cron": test.cron, "timezone": "Europe/Zurich"}})
			if strings.HasPrefix(test.cron, "30 ") {
				s.Advance(t, "72h")
			} else {
				s.Advance(t, "3h")
			}
			var got []string
			for _, row := range firings(t, s.Root, trigger) {
				if at(row, "receivedAt") != at(row, "dueAt") {
					t.Errorf("late: %v", row)
				}
				got = append([]string{at(row, "dueAt").(string)[5:16]}, got...)
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("%s from %s: %s, want %v", test.cron, test.from, text, test.want)
			}
		})
	}
}

// TestClockOfOutages checks that ticks that fell due while no server ran are reported
// at the next start, by trigger.missed and in the ledger.
func TestClockOfOutages(t *testing.T) {
	t.Parallel()
	path := servertest.OnFile(filepath.Join(t.TempDir(), "missed.db"))
	s := servertest.New(t, servertest.AtNoon, path)
	id := s.Root.Blueprint(t, "t", node("a", "transform", object{"expression": "inputData"}))
	hears := s.Root.Blueprint(t, "hears", node("a", "transform", object{"expression": "inputData.data"}))
	ticks := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "scheduled", "config": object{"cron": "0 * * * *"}})
	s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": hears, "triggerType": "event", "config": object{"event": "trigger.missed"}})
	s.Advance(t, "2h")
	s.Stop()
	s = servertest.New(t, func(o *server.Options) { o.Clock = clock.NewVirtual(servertest.Noon.Add(5*time.Hour + 30*time.Minute)) }, path)
	s.Advance(t, "0s")
	row := firings(t, s.Root, ticks)[0]
	if at(row, "dueAt") != "2030-05-01T17:00:00.000Z" || at(row, "receivedAt") != "2030-05-01T17:30:00.000Z" || at(row, "decision") != "started" {
		t.Errorf("the row %v, want dueAt 2030-05-01T17:00:00.000Z, receivedAt 2030-05-01T17:30:00.000Z and decision started", row)
	}
	heard := at(s.Root.OK(t, "execution.getExecutionLogs", object{"blueprintId": hears}), "logs").([]any)
	if len(heard) != 1 || at(heard[0], "outputSummary.output.triggerId") != ticks || at(heard[0], "outputSummary.output.firstDueAt") != "2030-05-01T15:00:00.000Z" || at(heard[0], "outputSummary.output.missed") != json.Number("3") {
		t.Errorf("heard %s", servertest.Encoded(t, heard))
	}
}

// TestClockOfTokens: the access token of a connection is used until a minute before its
// expiry, by the clock; then another one is requested.
func TestClockOfTokens(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/token" {
			fmt.Fprintf(w, `{"access_token": "planted-token-%d", "token_type": "Bearer", "expires_in": 3600}`, asked.Add(1))
			return
		}
		fmt.Fprintf(w, `{"came": %q}`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer planted-token-"))
	}))
	defer outside.Close()
	s := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	connection := s.Root.IDOf(t, "connection.create", object{"name": "o", "type": "oauth2", "config": object{
		"flow": "client_credentials", "tokenUrl": outside.URL + "/token", "clientId": "c", "clientSecret": "s", "hosts": []any{strings.TrimPrefix(outside.URL, "http://")}}})
	id := s.Root.Blueprint(t, "t", node("a", "http-request", object{"url": outside.URL + "/api", "method": "GET", "connectionId": connection}))
	for _, step := range []struct {
		by   string
		want int64
	}{{"0s", 1}, {"58m59.999s", 1}, {"1ms", 2}, {"58m", 2}, {"365d", 3}, {"1s", 3}} {
		s.Advance(t, step.by)
		s.Root.OK(t, "blueprint.execute", object{"id": id})
		if got := asked.Load(); got != step.want {
			t.Errorf("%s later: %d tokens were asked for, want %d", step.by, got, step.want)
		}
	}
}
