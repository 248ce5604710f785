package server_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/server"
	"blueprintd/store"
	"blueprintd/tests/servertest"
)

func TestMetricsTellWhatHappened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "metrics.db")
	s := servertest.New(t, servertest.AtNoon, servertest.OnFile(path))
	hello := s.Root.Blueprint(t, "a unique title", node("a", "set", object{"values": object{"x": 1}}))
	hook := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": hello, "triggerType": "webhook", "config": object{"respond": "wait"}})
	s.Root.OK(t, "blueprintTriggers.create", object{"blueprintId": hello, "triggerType": "scheduled", "config": object{"cron": "0 * * * *", "timezone": "UTC"}})
	for range 3 {
		if got := s.Root.Send(t, http.MethodPost, "/webhooks/blueprint/"+hook, `{}`); got.Status != http.StatusOK {
			t.Fatalf("%d %s, want %v", got.Status, got.Text, http.StatusOK)
		}
	}
	s.Root.Send(t, http.MethodPost, "/webhooks/blueprint/"+hook, `not json`)
	s.Root.Send(t, http.MethodGet, "/webhooks/blueprint/"+hook, "")
	s.Root.OK(t, "blueprint.execute", object{"id": s.Root.Blueprint(t, "stops", node("s", "stop", object{"failed": true, "message": "no"}))})
	ask := node("ask", "human", object{"prompt": "Well?"})
	paused := s.Root.Launch(t, s.Root.Blueprint(t, "asks", ask), nil, ask)
	s.Root.Await(t, paused, blueprint.StatusPaused)
	wait := node("w", "wait", object{"durationMs": 3 * 3600 * 1000})
	waiting := s.Root.Launch(t, s.Root.Blueprint(t, "waits", wait), nil, wait)
	s.Advance(t, "30s")
	s.Root.Send(t, http.MethodGet, "/api/trpc/no.such.procedure", "")
	servertest.Caller{Server: s, Authorization: "Bearer wrong"}.Send(t, http.MethodGet, "/api/trpc/blueprint.list", "")
	m := scrape(t, s)
	m.want(t, "in the middle", map[string]float64{
		"runs_started_total": 6, `runs_ended_total{status="completed"}`: 3, `runs_ended_total{status="failed"}`: 1, "runs_working": 0, "runs_queued": 0,
		"runs_waiting": 1, "runs_paused": 1, "run_duration_seconds_count": 4, "recovered_runs": 0, "schedules_active": 1, "schedules_overdue": 0, "triggers_tripped": 0, "ticks_missed_total": 0, "run_input_bytes_held": 0,
		`firings_total{source="webhook",decision="started"}`: 3, `firings_total{source="webhook",decision="refused"}`: 1,
		`webhook_requests_total{code="200"}`: 3, `webhook_requests_total{code="400"}`: 1, `webhook_requests_total{code="405"}`: 1,
		`rpc_calls_total{procedure="unknown",code="NOT_FOUND"}`: 1, `rpc_calls_total{procedure="blueprint.list",code="UNAUTHORIZED"}`: 1,
		`rpc_calls_total{procedure="blueprint.create",code="OK"}`: 4, "ready": 1, "connections_refused_total": 0, "checkpoint_failures_total": 0, "writer_queue": 0,
	})
	for _, name := range []string{"commits_total", "commit_jobs_total", "commit_duration_seconds_count", "database_bytes", "wal_bytes", "start_time_seconds", "connections_open"} {
		if m["blueprintd_"+name] <= 0 {
			t.Errorf("%s is %v, want more than 0", name, m["blueprintd_"+name])
		}
	}
	if m["go_goroutines"] <= 0 || runtime.GOOS == "linux" && (m["process_resident_memory_bytes"] <= 1<<20 || m["process_open_fds"] <= 2) {
		t.Errorf("of the process: %v", m)
	}
	for name := range m {
		if strings.Contains(name, hook) || strings.Contains(name, "title") || strings.Contains(name, "admin") {
			t.Errorf("%s reveals too much, want no %q, no \"title\" and no \"admin\"", name, hook)
		}
	}

	s.Advance(t, "4h")
	s.Root.Await(t, waiting, blueprint.StatusCompleted)
	m = scrape(t, s)
	m.want(t, "four hours later", map[string]float64{
		"runs_started_total": 10, `runs_ended_total{status="completed"}`: 8, "runs_waiting": 0, "runs_paused": 1, "schedule_lag_seconds": 0,
		`firings_total{source="schedule",decision="started"}`: 4, `run_duration_seconds_bucket{le="3600"}`: 8, `run_duration_seconds_bucket{le="86400"}`: 9,
	})

	s.Stop()
	s = servertest.New(t, func(o *server.Options) { o.Clock = clock.NewVirtual(servertest.Noon.Add(8 * time.Hour)) }, servertest.OnFile(path))
	s.Advance(t, "1s")
	scrape(t, s).want(t, "at the next start", map[string]float64{"recovered_runs": 1, "runs_paused": 1, "runs_waiting": 0})
	s.Root.OK(t, "execution.resume", object{"executionId": paused, "nodeId": "ask", "input": object{"a": 1}})
	s.Root.Await(t, paused, blueprint.StatusCompleted)
	scrape(t, s).want(t, "after the answer", map[string]float64{"runs_paused": 0})
}

func TestOperatorsAreOnThisMachine(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	handler := s.Routes()
	ask := func(path, from, host string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.RemoteAddr, r.Host = from, host
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	for _, test := range []struct {
		from   string
		host   string // localhost when it is left out
		header []string
		may    bool
	}{
		{from: "127.0.0.1:1234", host: "localhost:8787", may: true},
		{from: "127.0.0.1:1234", host: "LocalHost", may: true},
		{from: "127.0.0.1:1234", host: "127.0.0.1:8787", may: true},
		{from: "127.0.0.1:1234", host: "127.9.8.7", may: true},
		{from: "[::1]:1234", host: "[::1]:8787", may: true},
		{from: "[::1]:1234", host: "[::1]", may: true},
		{from: "127.0.0.1:1234", host: "flows.example.org"},
		{from: "127.0.0.1:1234", host: "flows.example.org:443"},
		{from: "127.0.0.1:1234", host: "localhost.example.org"},
		{from: "127.0.0.1:1234", host: "127.0.0.1.example.org"},
		{from: "127.0.0.1:1234", host: "192.168.1.7:8787"},
		{from: "127.0.0.1:1234", host: "0.0.0.0:8787"},
		{from: "127.0.0.1:1234", host: "-"},
		{from: "127.0.0.1:1234", may: true},
		{from: "127.8.9.10:1234", may: true},
		{from: "[::1]:1234", may: true},
		{from: "[::ffff:127.0.0.1]:1234", may: true},
		{from: "192.168.1.7:1234"},
		{from: "[fe80::1%eth0]:1234"},
		{from: "@"},
		{from: "127.0.0.1:1234", header: []string{"X-Forwarded-For", "1.2.3.4"}},
		{from: "127.0.0.1:1234", header: []string{"X-Forwarded-For", ""}},
		{from: "127.0.0.1:1234", header: []string{"Forwarded", "for=1.2.3.4"}},
		{from: "127.0.0.1:1234", header: []string{"X-Real-IP", "127.0.0.1"}},
		{from: "127.0.0.1:1234", header: []string{"Via", "1.1 proxy"}},
	} {
		t.Run(fmt.Sprint(test.from, " ", test.host, " ", test.header), func(t *testing.T) {
			host := strings.TrimPrefix(cmp.Or(test.host, "localhost"), "-") // "-" is none
			got, unknown := ask("/metrics", test.from, host, test.header...), ask("/metrixx", test.from, host, test.header...)
			if test.may != (got.Code == http.StatusOK) || !test.may && (got.Code != unknown.Code || strings.Replace(got.Body.String(), "metrics", "metrixx", 1) != unknown.Body.String()) {
				t.Errorf("metrics for %s at %q %v: %d %.100s, want may %v", test.from, host, test.header, got.Code, got.Body, test.may)
			}
			if got := ask("/readyz?verbose", test.from, host, test.header...); got.Code != http.StatusOK || test.may != strings.Contains(got.Body.String(), `"checks"`) {
				t.Errorf("readyz?verbose for %s at %q %v: %d %s, want may %v", test.from, host, test.header, got.Code, got.Body, test.may)
			}
			if got := ask("/healthz", test.from, host, test.header...); got.Code != http.StatusOK {
				t.Errorf("healthz for %s: %d, want %v", test.from, got.Code, http.StatusOK)
			}
		})
	}
}

// nginx without settings for the proxy forwards in HTTP/1.0, with its own address as the host and
// no header that names it.
func TestMetricsAreNotForUnconfiguredProxies(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	routes := s.Routes()
	for proto, want := range map[string]int{"HTTP/1.0": http.StatusNotFound, "HTTP/1.1": http.StatusOK} {
		t.Run(proto, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			r.Proto, r.ProtoMinor = proto, int(proto[len(proto)-1]-'0')
			r.RemoteAddr, r.Host = "127.0.0.1:1234", "127.0.0.1:8787"
			w := httptest.NewRecorder()
			if routes.ServeHTTP(w, r); w.Code != want {
				t.Errorf("%d, want %d", w.Code, want)
			}
		})
	}
}

func TestMetricsHaveAnAddressOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, func(o *server.Options) { o.MetricsAddr = "127.0.0.1:0" })
	if got := s.Root.Send(t, http.MethodGet, "/metrics", ""); got.Status != http.StatusNotFound {
		t.Errorf("on the main address: %d, want %v", got.Status, http.StatusNotFound)
	}
	other := servertest.Caller{Server: &servertest.Server{Server: s.Server, Host: "http://" + s.MetricsListener.Addr().String(), Client: s.Client}}
	for path, want := range map[string]int{"/metrics": 200, "/healthz": 200, "/readyz": 200, "/readyz?verbose": 200, "/": 404, "/api/trpc/blueprint.list": 404} {
		t.Run(path, func(t *testing.T) {
			if got := other.Send(t, http.MethodGet, path, "", "Via", "1.1 proxy"); got.Status != want {
				t.Errorf("%d %s, want %v", got.Status, got.Text, want)
			}
		})
	}
	parseMetrics(t, other.Send(t, http.MethodGet, "/metrics", "").Text)
	taken := server.Options{Database: server.Database{Schema: schema, Ephemeral: true}, Network: server.Network{Addr: "127.0.0.1:0", MetricsAddr: s.MetricsListener.Addr().String()}, Version: version, APIKey: testKey, Clock: clock.Real{}, Logger: slog.New(slog.DiscardHandler), Out: io.Discard}
	if _, err := server.New(t.Context(), taken); err == nil || !strings.Contains(err.Error(), "cannot listen") {
		t.Errorf("an address that is taken: %v, want an error and \"cannot listen\" in it", err)
	}
}

func TestReadinessHasDetails(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, servertest.OnFile(filepath.Join(t.TempDir(), "ready.db")))
	var answer server.Readiness
	text := s.Root.Send(t, http.MethodGet, "/readyz?verbose", "").Text
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range answer.Checks {
		names = append(names, one.Name)
		if !one.OK || one.Detail == "" || one.Hint != "" {
			t.Errorf("%+v, want OK, Detail not empty and Hint nothing", one)
		}
	}
	if want := []string{"database", "disk", "recovery", "scheduler", "schedules", "triggers", "queue", "connections", "clock", "draining", "version"}; answer.Status != "ready" || !slices.Equal(names, want) {
		t.Errorf("got %s with %q, want %q", answer.Status, names, want)
	}
	if strings.Contains(text, testKey) || !strings.Contains(text, "virtual, 2030-05-01T12:00:00.000Z") {
		t.Errorf("it says %s, want no %q and \"virtual, 2030-05-01T12:00:00.000Z\" in it", text, testKey)
	}
}

// A writer that was idle for long is not stuck as soon as it has work.
func TestDatabaseCheck(t *testing.T) {
	t.Parallel()
	now := servertest.Noon
	for name, test := range map[string]struct {
		stats store.Stats
		ok    bool
	}{
		"idle for an hour":          {store.Stats{LastCommit: now.Add(-time.Hour)}, true},
		"work after an hour":        {store.Stats{LastCommit: now.Add(-time.Hour), Queued: 3, BusySince: now.Add(-time.Second)}, true},
		"the first work":            {store.Stats{Queued: 1, BusySince: now}, true},
		"stuck with others waiting": {store.Stats{LastCommit: now.Add(-time.Minute), Queued: 3, BusySince: now.Add(-11 * time.Second)}, false},
		"stuck with no waiter":      {store.Stats{LastCommit: now.Add(-time.Minute), BusySince: now.Add(-11 * time.Second)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := server.DatabaseCheck(&test.stats, now); got.OK != test.ok || got.OK != (got.Hint == "") {
				t.Errorf("%+v, want ok %v", got, test.ok)
			}
		})
	}
}

// From the moment that the server listens, /readyz reports that it is not ready.
func TestBeforeRecoveryAndAtTheEnd(t *testing.T) {
	t.Parallel()
	o := server.Options{Database: server.Database{Schema: schema, Ephemeral: true}, Network: server.Network{Addr: "127.0.0.1:0"}, Limits: server.Limits{MaxBody: 1 << 20}, Version: version, APIKey: testKey, Clock: clock.Real{}, Logger: slog.New(slog.DiscardHandler), Out: io.Discard}
	s, err := server.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Store.Close()
	ctx, stop := context.WithCancel(t.Context())
	recovered, atRest, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.ServeHTTP(ctx, recovered, atRest) }()
	somebody := servertest.Caller{Server: &servertest.Server{Server: s, Host: s.APIHost(), Client: &http.Client{}}}
	if got := somebody.Send(t, http.MethodGet, "/healthz", ""); got.Status != http.StatusOK {
		t.Errorf("alive: %d, want %v", got.Status, http.StatusOK)
	}
	got := somebody.Send(t, http.MethodGet, "/readyz?verbose", "")
	if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") != "2" || !strings.Contains(got.Text, `"not ready"`) || !strings.Contains(got.Text, `"recovery","ok":false`) {
		t.Errorf("ready: %d %v %s, want %v, Retry-After 2, \"not ready\" in it and \"recovery\",\"ok\":false in it", got.Status, got.Header, got.Text, http.StatusServiceUnavailable)
	}
	for _, path := range []string{"/", "/api/trpc/blueprint.list", "/webhooks/blueprint/" + s.IDs.UUID(), "/nothing"} {
		if got := somebody.Send(t, http.MethodPost, path, `{}`); got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") != "2" {
			t.Errorf("%s: %d %v %s, want %v and Retry-After 2", path, got.Status, got.Header, got.Text, http.StatusServiceUnavailable)
		}
	}
	close(recovered)
	<-s.Opened
	if got := somebody.Send(t, http.MethodGet, "/", ""); got.Status != http.StatusOK {
		t.Errorf("then: %d, want %v", got.Status, http.StatusOK)
	}
	if got := somebody.Send(t, http.MethodGet, "/readyz", ""); got.Status != http.StatusOK || strings.TrimSpace(got.Text) != `{"status":"ready"}` {
		t.Errorf("then ready: %d %s, want %v and {\"status\":\"ready\"}", got.Status, got.Text, http.StatusOK)
	}
	stop()
	<-s.Draining
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz?verbose", nil)
	r.RemoteAddr, r.Host = "127.0.0.1:9", "localhost:9"
	s.Routes().ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "2" || !strings.Contains(w.Body.String(), `"draining","ok":false`) {
		t.Errorf("at the end: %d %s, want %v, Retry-After 2 and \"draining\",\"ok\":false in it", w.Code, w.Body, http.StatusServiceUnavailable)
	}
	close(atRest)
	somebody.Client.CloseIdleConnections()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
