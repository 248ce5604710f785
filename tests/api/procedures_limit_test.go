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
)

// TestRateLimit empties the bucket of a key and does what Retry-After says, on
// a clock that stands still in between.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon, func(o *server.Options) { o.RateLimit, o.RateBurst = 0.5, 4 })
	ada, ben := s.user(t, "ada"), s.user(t, "ben")
	limited := func(answer reply, seconds string) {
		t.Helper()
		code := at(answer.value, "error.json.code")
		if answer.status != http.StatusTooManyRequests || answer.code() != "TOO_MANY_REQUESTS" || code != json.Number("-32029") || answer.header.Get("Retry-After") != seconds {
			t.Errorf("%d %s, Retry-After %q, want %q", answer.status, answer.text, answer.header.Get("Retry-After"), seconds)
		}
	}
	list := func(p person) reply { return p.call(t, "blueprint.list", nil) }
	for i := range 4 {
		if answer := list(ada); answer.status != 200 || answer.header.Get("Retry-After") != "" {
			t.Fatalf("call %d: %d %s", i, answer.status, answer.text)
		}
	}
	limited(list(ada), "2")
	limited(ada.call(t, "blueprint.create", object{"title": "t"}), "2")
	if answer := list(ben); answer.status != 200 { // each key has its own
		t.Errorf("ben: %d %s", answer.status, answer.text)
	}
	if answer := (person{service: s, authorization: "Bearer unknown-key"}).call(t, "blueprint.list", nil); answer.status != 401 {
		t.Errorf("an unknown key: %d", answer.status)
	}
	s.advance(t, "500ms")
	limited(list(ada), "2")
	s.advance(t, "500ms")
	limited(list(ada), "1")
	s.advance(t, "1s") // as Retry-After said
	if answer := list(ada); answer.status != 200 {
		t.Errorf("after the wait: %d %s", answer.status, answer.text)
	}
	limited(list(ada), "2")

	// A second key of the same user has a bucket of its own.
	if _, err := s.Store.CreateKey(t.Context(), ada.ID, "second", "the-second-key-of-ada"); err != nil {
		t.Fatal(err)
	}
	if answer := list(person{service: s, authorization: "Bearer the-second-key-of-ada"}); answer.status != 200 {
		t.Errorf("with another key: %d", answer.status)
	}

	// What is refused before the procedure costs too; what has no procedure costs nothing.
	s.advance(t, "1h")
	for range 10 {
		if answer := ada.send(t, http.MethodGet, "/api/trpc/nothing.here", ""); answer.status != 404 {
			t.Errorf("no procedure: %d", answer.status)
		}
	}
	for range 4 {
		ada.refused(t, blueprint.CodeBadRequest, "blueprint.get", object{"id": "x"})
	}
	limited(list(ada), "2")
}

// TestRateLimitOfBatches counts each call of a batch and refuses it whole.
func TestRateLimitOfBatches(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon, func(o *server.Options) { o.RateLimit, o.RateBurst = 1, 10 })
	ada := s.user(t, "ada")
	batch := func(calls int, headers ...string) reply {
		paths := strings.TrimSuffix(strings.Repeat("blueprint.list,", calls), ",")
		return ada.send(t, http.MethodGet, "/api/trpc/"+paths+"?batch=1&input="+url.QueryEscape("{}"), "", headers...)
	}
	if answer := batch(7); answer.status != 200 || strings.Count(answer.text, `"result"`) != 7 {
		t.Fatalf("seven calls: %d %s", answer.status, answer.text)
	}
	over := batch(4)
	if over.status != 429 || at(over.value, "error.json.data.code") != "TOO_MANY_REQUESTS" || over.header.Get("Retry-After") != "1" {
		t.Errorf("four more: %d %s", over.status, over.text)
	}
	if answer := batch(3); answer.status != 200 {
		t.Errorf("a batch over the limit has cost something: %d %s", answer.status, answer.text)
	}
	lines := batch(2, "trpc-accept", "application/jsonl")
	if lines.status != 200 || strings.Count(lines.text, "TOO_MANY_REQUESTS") != 2 || lines.header.Get("Retry-After") != "2" {
		t.Errorf("in a stream: %d %s", lines.status, lines.text)
	}
	s.advance(t, "2s")
	if answer := batch(2); answer.status != 200 {
		t.Errorf("after the wait: %d %s", answer.status, answer.text)
	}
	// Creations of a batch over the limit do not happen.
	input := `{"0": {"json": {"title": "a"}}, "1": {"json": {"title": "b"}}}`
	s.advance(t, "1s")
	if answer := ada.send(t, http.MethodPost, "/api/trpc/blueprint.create,blueprint.create?batch=1", input); answer.status != 429 {
		t.Errorf("two creations for one call: %d %s", answer.status, answer.text)
	}
	if total := at(ada.ok(t, "blueprint.list", nil), "pagination.total"); total != json.Number("0") {
		t.Errorf("%v blueprints were made", total)
	}
	// One that is larger than the burst can never pass and says so.
	s.advance(t, "1h")
	if answer := batch(11); answer.status != 429 || !strings.Contains(answer.message(), "smaller") {
		t.Errorf("eleven calls: %d %s", answer.status, answer.text)
	}
}

// TestRateLimitOfPlainRoutes sees that they share the bucket, and which do not.
func TestRateLimitOfPlainRoutes(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon, func(o *server.Options) { o.RateLimit, o.RateBurst = 1, 5 })
	ada := s.user(t, "ada")
	id := ada.blueprint(t, "t", node("a", "merge", object{}))
	trigger := func(kind string) string {
		return ada.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind})
	}
	api, hook := trigger("api"), trigger("webhook")
	fire := func() reply { return ada.send(t, http.MethodPost, "/v1/triggers/"+api+"/fire", "{}") }
	for range 2 {
		if answer := fire(); answer.status != 202 {
			t.Fatalf("%d %s", answer.status, answer.text)
		}
	}
	over := fire()
	if over.status != 429 || over.header.Get("Retry-After") != "1" {
		t.Errorf("%d %s", over.status, over.text)
	}
	expect(t, "over", over.value, `{"error": {"code": "TOO_MANY_REQUESTS", "message": "<text>"}}`)
	for range 20 { // webhooks have no key, the clock is never limited
		if answer := (person{service: s}).send(t, http.MethodPost, "/webhooks/blueprint/"+hook, "{}"); answer.status != 202 {
			t.Fatalf("a webhook: %d %s", answer.status, answer.text)
		}
		if answer := ada.send(t, http.MethodPost, "/clock/advance", `{"by": "0s"}`); answer.status != 200 {
			t.Fatalf("the clock: %d %s", answer.status, answer.text)
		}
	}
	s.advance(t, "1s")
	if answer := fire(); answer.status != 202 {
		t.Errorf("after the wait: %d %s", answer.status, answer.text)
	}
}

// TestRunnerUnavailable fills the queue of runs: more are refused with 503 on
// every way in, leave no run behind, and are accepted once there is room.
func TestRunnerUnavailable(t *testing.T) {
	t.Parallel()
	gate, entered := make(chan struct{}), make(chan struct{}, 10)
	outside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-gate
	}))
	defer outside.Close()
	s := newService(t, func(o *server.Options) {
		o.AllowNet, o.MaxRunning, o.MaxQueued = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, 1, 1
	})
	ada := s.user(t, "ada")
	nodes := []any{node("a", "http-request", object{"url": outside.URL})}
	id := ada.blueprint(t, "t", nodes...)
	trigger := func(kind string) string {
		return ada.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind})
	}
	manual, api, hook := trigger("manual"), trigger("api"), trigger("webhook")
	launch := object{"nodes": nodes, "options": object{"blueprintId": id}}
	running := ada.id(t, "execution.executeBlueprintWithLogging", launch)
	<-entered
	queued := ada.id(t, "execution.executeBlueprintWithLogging", launch)
	ways := map[string]func() reply{
		"blueprint.execute":                     func() reply { return ada.call(t, "blueprint.execute", object{"id": id}) },
		"execution.executeBlueprintWithLogging": func() reply { return ada.call(t, "execution.executeBlueprintWithLogging", launch) },
		"blueprintTriggers.fire":                func() reply { return ada.call(t, "blueprintTriggers.fire", object{"triggerId": manual}) },
		"/v1/triggers/" + api + "/fire":         func() reply { return ada.send(t, http.MethodPost, "/v1/triggers/"+api+"/fire", "{}") },
		"/webhooks/blueprint/" + hook:           func() reply { return (person{service: s}).send(t, http.MethodPost, "/webhooks/blueprint/"+hook, "{}") },
	}
	for name, way := range ways {
		answer := way()
		seconds, err := strconv.Atoi(answer.header.Get("Retry-After"))
		if answer.status != http.StatusServiceUnavailable || err != nil || seconds < 1 || !strings.Contains(answer.text, "SERVICE_UNAVAILABLE") {
			t.Errorf("%s: %d %s, Retry-After %q", name, answer.status, answer.text, answer.header.Get("Retry-After"))
		}
		if !strings.HasPrefix(name, "/") && at(answer.value, "error.json.code") != json.Number("-32603") {
			t.Errorf("%s: %s", name, answer.text)
		}
	}
	if runs := at(ada.ok(t, "execution.getExecutionLogs", object{"blueprintId": id}), "logs").([]any); len(runs) != 2 {
		t.Errorf("%d runs are on record", len(runs))
	}
	close(gate)
	for _, run := range []string{running, queued} {
		ada.until(t, run, blueprint.StatusCompleted)
	}
	for name, way := range ways {
		answer := way()
		run := at(answer.value, "executionId")
		if payload := answer.payload(); payload != nil {
			run = at(payload, "executionId")
		}
		if answer.status/100 != 2 || run == nil {
			t.Fatalf("afterwards %s: %d %s", name, answer.status, answer.text)
		}
		ada.until(t, run.(string), blueprint.StatusCompleted)
	}
}
