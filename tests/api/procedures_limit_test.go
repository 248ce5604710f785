package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestRateLimit empties the bucket of a key and waits as Retry-After says, on a clock that
// stands still otherwise.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.RateLimit, o.RateBurst = 0.5, 4 })
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	limited := func(answer servertest.Reply, seconds string) {
		t.Helper()
		code := at(answer.Value, "error.json.code")
		if answer.Status != http.StatusTooManyRequests || answer.Code() != "TOO_MANY_REQUESTS" || code != json.Number("-32029") || answer.Header.Get("Retry-After") != seconds {
			t.Errorf("%d %s, Retry-After %q, want %q", answer.Status, answer.Text, answer.Header.Get("Retry-After"), seconds)
		}
	}
	list := func(p servertest.Caller) servertest.Reply { return p.Call(t, "blueprint.list", nil) }
	for i := range 4 {
		if answer := list(ada); answer.Status != 200 || answer.Header.Get("Retry-After") != "" {
			t.Fatalf("call %d: %d %s, want 200 and Retry-After nothing", i, answer.Status, answer.Text)
		}
	}
	limited(list(ada), "2")
	limited(ada.Call(t, "blueprint.create", object{"title": "t"}), "2")
	if answer := list(ben); answer.Status != 200 { // each key has its own
		t.Errorf("ben: %d %s, want 200", answer.Status, answer.Text)
	}
	if answer := (servertest.Caller{Server: s, Authorization: "Bearer unknown-key"}).Call(t, "blueprint.list", nil); answer.Status != 401 {
		t.Errorf("an unknown key: %d, want 401", answer.Status)
	}
	s.Advance(t, "500ms")
	limited(list(ada), "2")
	s.Advance(t, "500ms")
	limited(list(ada), "1")
	s.Advance(t, "1s") // the time in Retry-After
	if answer := list(ada); answer.Status != 200 {
		t.Errorf("after the wait: %d %s, want 200", answer.Status, answer.Text)
	}
	limited(list(ada), "2")

	// A second key of the same user has its own bucket.
	if _, err := s.Store.CreateKey(t.Context(), ada.ID, "second", "the-second-key-of-ada"); err != nil {
		t.Fatal(err)
	}
	if answer := list(servertest.Caller{Server: s, Authorization: "Bearer the-second-key-of-ada"}); answer.Status != 200 {
		t.Errorf("with another key: %d, want 200", answer.Status)
	}

	// A call that is refused before the procedure costs too; an unknown procedure costs
	// nothing.
	s.Advance(t, "1h")
	for range 10 {
		if answer := ada.Send(t, http.MethodGet, "/api/trpc/nothing.here", ""); answer.Status != 404 {
			t.Errorf("no procedure: %d, want 404", answer.Status)
		}
	}
	for range 4 {
		ada.Refused(t, blueprint.CodeBadRequest, "blueprint.get", object{"id": "x"})
	}
	limited(list(ada), "2")
}

// TestRateLimitOfBatches counts each call of a batch and refuses it whole.
func TestRateLimitOfBatches(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.RateLimit, o.RateBurst = 1, 10 })
	ada := s.NewUser(t, "ada")
	batch := func(calls int, headers ...string) servertest.Reply {
		paths := strings.TrimSuffix(strings.Repeat("blueprint.list,", calls), ",")
		return ada.Send(t, http.MethodGet, "/api/trpc/"+paths+"?batch=1&input="+url.QueryEscape("{}"), "", headers...)
	}
	if answer := batch(7); answer.Status != 200 || strings.Count(answer.Text, `"result"`) != 7 {
		t.Fatalf("seven calls: %d %s, want 200 and 7", answer.Status, answer.Text)
	}
	over := batch(4)
	if over.Status != 429 || at(over.Value, "error.json.data.code") != "TOO_MANY_REQUESTS" || over.Header.Get("Retry-After") != "1" {
		t.Errorf("four more: %d %s, want 429, error.json.data.code TOO_MANY_REQUESTS and Retry-After 1", over.Status, over.Text)
	}
	if answer := batch(3); answer.Status != 200 {
		t.Errorf("a batch over the limit has cost something: %d %s, want 200", answer.Status, answer.Text)
	}
	lines := batch(2, "trpc-accept", "application/jsonl")
	if lines.Status != 200 || strings.Count(lines.Text, "TOO_MANY_REQUESTS") != 2 || lines.Header.Get("Retry-After") != "2" {
		t.Errorf("in a stream: %d %s, want 200, 2 and Retry-After 2", lines.Status, lines.Text)
	}
	s.Advance(t, "2s")
	if answer := batch(2); answer.Status != 200 {
		t.Errorf("after the wait: %d %s, want 200", answer.Status, answer.Text)
	}
	// Creations of a batch over the limit do not happen.
	input := `{"0": {"json": {"title": "a"}}, "1": {"json": {"title": "b"}}}`
	s.Advance(t, "1s")
	if answer := ada.Send(t, http.MethodPost, "/api/trpc/blueprint.create,blueprint.create?batch=1", input); answer.Status != 429 {
		t.Errorf("two creations for one call: %d %s, want 429", answer.Status, answer.Text)
	}
	if total := at(ada.OK(t, "blueprint.list", nil), "pagination.total"); total != json.Number("0") {
		t.Errorf("%v blueprints were made", total)
	}
	// A batch larger than the burst can never succeed, and the error says so.
	s.Advance(t, "1h")
	if answer := batch(11); answer.Status != 429 || !strings.Contains(answer.Message(), "smaller") {
		t.Errorf("eleven calls: %d %s, want 429 and \"smaller\" in it", answer.Status, answer.Text)
	}
}

// TestRateLimitOfPlainRoutes checks which routes use the bucket of the key.
func TestRateLimitOfPlainRoutes(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.RateLimit, o.RateBurst = 1, 5 })
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t", node("a", "merge", object{}))
	trigger := func(kind string) string {
		return ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind})
	}
	api, hook := trigger("api"), trigger("webhook")
	fire := func() servertest.Reply { return ada.Send(t, http.MethodPost, "/v1/triggers/"+api+"/fire", "{}") }
	for range 2 {
		if answer := fire(); answer.Status != 202 {
			t.Fatalf("%d %s, want 202", answer.Status, answer.Text)
		}
	}
	over := fire()
	if over.Status != 429 || over.Header.Get("Retry-After") != "1" {
		t.Errorf("%d %s, want 429 and Retry-After 1", over.Status, over.Text)
	}
	servertest.Shape(t, "over", over.Value, `{"error": {"code": "TOO_MANY_REQUESTS", "message": "<text>"}}`)
	for range 20 { // webhooks have no key, and the clock is never limited
		if answer := (servertest.Caller{Server: s}).Send(t, http.MethodPost, "/webhooks/blueprint/"+hook, "{}"); answer.Status != 202 {
			t.Fatalf("a webhook: %d %s, want 202", answer.Status, answer.Text)
		}
		if answer := ada.Send(t, http.MethodPost, "/clock/advance", `{"by": "0s"}`); answer.Status != 200 {
			t.Fatalf("the clock: %d %s, want 200", answer.Status, answer.Text)
		}
	}
	s.Advance(t, "1s")
	if answer := fire(); answer.Status != 202 {
		t.Errorf("after the wait: %d %s, want 202", answer.Status, answer.Text)
	}
}

// TestRunnerUnavailable fills the queue of runs: more are refused with 503 by every
// endpoint, leave no run behind, and are accepted once there is space.
func TestRunnerUnavailable(t *testing.T) {
	t.Parallel()
	gate, entered := make(chan struct{}), make(chan struct{}, 10)
	outside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-gate
	}))
	defer outside.Close()
	s := servertest.New(t, func(o *server.Options) {
		o.AllowNet, o.MaxRunning, o.MaxQueued = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, 1, 1
	})
	ada := s.NewUser(t, "ada")
	nodes := []any{node("a", "http-request", object{"url": outside.URL})}
	id := ada.Blueprint(t, "t", nodes...)
	trigger := func(kind string) string {
		return ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind})
	}
	manual, api, hook := trigger("manual"), trigger("api"), trigger("webhook")
	launch := object{"nodes": nodes, "options": object{"blueprintId": id}}
	running := ada.IDOf(t, "execution.executeBlueprintWithLogging", launch)
	<-entered
	queued := ada.IDOf(t, "execution.executeBlueprintWithLogging", launch)
	ways := map[string]func() servertest.Reply{
		"blueprint.execute":                     func() servertest.Reply { return ada.Call(t, "blueprint.execute", object{"id": id}) },
		"execution.executeBlueprintWithLogging": func() servertest.Reply { return ada.Call(t, "execution.executeBlueprintWithLogging", launch) },
		"blueprintTriggers.fire":                func() servertest.Reply { return ada.Call(t, "blueprintTriggers.fire", object{"triggerId": manual}) },
		"/v1/triggers/" + api + "/fire":         func() servertest.Reply { return ada.Send(t, http.MethodPost, "/v1/triggers/"+api+"/fire", "{}") },
		"/webhooks/blueprint/" + hook: func() servertest.Reply {
			return (servertest.Caller{Server: s}).Send(t, http.MethodPost, "/webhooks/blueprint/"+hook, "{}")
		},
	}
	for name, way := range ways {
		t.Run(caseName(name), func(t *testing.T) {
			answer := way()
			seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
			if answer.Status != http.StatusServiceUnavailable || err != nil || seconds < 1 || !strings.Contains(answer.Text, "SERVICE_UNAVAILABLE") {
				t.Errorf("%d %s, Retry-After %q; want %v, at least 1 and \"SERVICE_UNAVAILABLE\" in it", answer.Status, answer.Text, answer.Header.Get("Retry-After"), http.StatusServiceUnavailable)
			}
			if !strings.HasPrefix(name, "/") && at(answer.Value, "error.json.code") != json.Number("-32603") {
				t.Error(answer.Text)
			}
		})
	}
	if runs := at(ada.OK(t, "execution.getExecutionLogs", object{"blueprintId": id}), "logs").([]any); len(runs) != 2 {
		t.Errorf("%d runs are on record, want 2", len(runs))
	}
	close(gate)
	for _, run := range []string{running, queued} {
		ada.Await(t, run, blueprint.StatusCompleted)
	}
	for name, way := range ways {
		t.Run(caseName(name), func(t *testing.T) {
			answer := way()
			run := at(answer.Value, "executionId")
			if payload := answer.Payload(); payload != nil {
				run = at(payload, "executionId")
			}
			if answer.Status/100 != 2 || run == nil {
				t.Fatalf("afterwards %s: %d %s, want 2 and not nil", name, answer.Status, answer.Text)
			}
			ada.Await(t, run.(string), blueprint.StatusCompleted)
		})
	}
}
