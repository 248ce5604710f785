package api

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestFaultsOfProcedures injects faults into calls: the client sees the response of a
// failing server, and the call is not made.
func TestFaultsOfProcedures(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, inABox)
	id := s.Root.Blueprint(t, "t", node("it", "template", object{"text": "x"}))
	execute := object{"id": id}
	audited := func() string {
		lines := at(s.Root.OK(t, "auditLog.list", object{}), "entries").([]any)
		return servertest.Encoded(t, slices.DeleteFunc(lines, func(one any) bool { return at(one, "action") == "sandbox.rules" }))
	}
	before := audited()
	for _, test := range []struct {
		answer, want string
		status       int
		retry        string
	}{
		{`{"status":503}`, `"code":"SERVICE_UNAVAILABLE"`, 503, "1"},
		{`{"status":500}`, `"message":"the sandbox answers 500 to blueprint.execute","code":-32603`, 500, ""},
		{`{"status":429,"headers":{"Retry-After":"7"}}`, `"code":"TOO_MANY_REQUESTS","httpStatus":429,"path":"blueprint.execute"`, 429, "7"},
		{`{"status":403,"body":"not you"}`, `{"error":{"json":{"message":"not you","code":-32003`, 403, ""},
		{`{"status":409,"body":{"error":{"message":"twice"}},"delayMs":1}`, `"message":"twice"`, 409, ""},
		{`{"status":200,"body":{"success":true}}`, `{"result":{"data":{"json":{"success":true}}}}`, 200, ""},
	} {
		t.Run(test.answer, func(t *testing.T) {
			putRules(t, s.Root, `{"rules":[{"match":{"procedure":"blueprint.execute"},"times":1,"answer":`+test.answer+`}]}`)
			answer := s.Root.Call(t, "blueprint.execute", execute)
			if answer.Status != test.status || !strings.Contains(answer.Text, test.want) || answer.Header.Get("Retry-After") != test.retry {
				t.Errorf("%d %s, after %q; want %v, %q in it and %v", answer.Status, answer.Text, answer.Header.Get("Retry-After"), test.status, test.want, test.retry)
			}
		})
	}
	if list := s.Root.OK(t, "execution.getExecutionLogs", object{"blueprintId": id}); len(at(list, "logs").([]any)) != 0 || audited() != before {
		t.Errorf("something was done: %s, want none and %v", servertest.Encoded(t, list), before)
	}
	putRules(t, s.Root, `{"rules":[{"match":{"procedure":"blueprint.*"},"times":2,"answer":{"delayMs":1}}]}`)
	if answer := s.Root.Call(t, "blueprint.execute", execute); at(answer.Payload(), "success") != true {
		t.Errorf("late: %s, want success true", answer.Text)
	}
	nobody := servertest.Caller{Server: s}
	putRules(t, s.Root, `{"rules":[{"match":{"procedure":"*"},"answer":{"status":503}}]}`)
	if answer := nobody.Send(t, http.MethodPost, "/api/trpc/blueprint.execute", `{"json":{}}`); answer.Status != http.StatusUnauthorized {
		t.Errorf("without a key: %d %s, want %v", answer.Status, answer.Text, http.StatusUnauthorized)
	}
	for _, header := range []string{"", "application/jsonl"} {
		putRules(t, s.Root, `{"rules":[{"match":{"procedure":"server.getInfo"},"times":1,"answer":{"status":429}}]}`)
		answer := s.Root.Send(t, http.MethodGet, "/api/trpc/server.getInfo,server.getInfo?batch=1&input={}", "", "trpc-accept", header)
		if strings.Count(answer.Text, "TOO_MANY_REQUESTS") != 1 || strings.Count(answer.Text, `"sandbox":true`) != 1 || header == "" && answer.Status != http.StatusMultiStatus {
			t.Errorf("in a batch %q: %d %s", header, answer.Status, answer.Text)
		}
	}
	putRules(t, s.Root, `{"rules":[{"match":{"procedure":"blueprint.execute"},"answer":{"status":503,"close":true}},{"match":{"procedure":"server.getInfo"},"answer":{"close":true}}]}`)
	for path, body := range map[string]string{"/api/trpc/blueprint.execute": `{"json":{"id":"` + id + `"}}`, "/api/trpc/server.getInfo": ""} {
		t.Run(path, func(t *testing.T) {
			method := http.MethodPost
			if body == "" {
				method = http.MethodGet
			}
			request, err := http.NewRequest(method, s.Host+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", s.Root.Authorization)
			request.Header.Set("Content-Type", "application/json")
			response, err := s.Client.Do(request)
			if err == nil {
				var read bytes.Buffer
				_, err = read.ReadFrom(response.Body)
				response.Body.Close()
				if read.Len() == 0 {
					t.Error("cut before the body")
				}
			}
			if err == nil {
				t.Error("it was not cut, want an error")
			}
		})
	}
	for route, path := range map[string]string{"webhooks": "/webhooks/blueprint/" + id, "v1": "/v1/triggers/" + id + "/fire", "mcp": "/mcp"} {
		t.Run(route, func(t *testing.T) {
			putRules(t, s.Root, `{"rules":[{"match":{"route":"`+route+`"},"answer":{"status":502}}]}`)
			answer := s.Root.Send(t, http.MethodPost, path, "{}")
			if answer.Status != 502 || at(answer.Value, "error.code") != "INTERNAL_SERVER_ERROR" || (route == "webhooks") != strings.Contains(answer.Text, `"success":false`) {
				t.Errorf("%s: %d %s, want 502 and INTERNAL_SERVER_ERROR, in the form of webhooks: %v", path, answer.Status, answer.Text, route == "webhooks")
			}
		})
	}
}

// TestFaultsOfBatches: a rule refuses a batch like the rate limit, in the same form, before
// any of its calls, and counts once.
func TestFaultsOfBatches(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, inABox)
	const rule = `{"rules":[{"match":{"procedure":"blueprint.*"},"times":1,"answer":{"status":%s,"headers":{"Retry-After":"7"},"whole":true}}]}`
	create := `{"json":{"title":"t","blueprint_map":{"nodes":[{"id":"a","type":"template","title":"A","config":{"text":"x"}}],"edges":[]}}}`
	body := `{"0":{"json":{"id":"x"}},"1":` + create + `,"2":` + create + `}`
	send := func(path, body, accept string) servertest.Reply {
		return s.Root.Send(t, http.MethodPost, "/api/trpc/"+path, body, "trpc-accept", accept)
	}
	stored := func() string { return servertest.Encoded(t, at(s.Root.OK(t, "blueprint.list", object{}), "total")) }
	for status, want := range map[string]string{
		"429": `{"error":{"json":{"message":"the sandbox answers 429 to blueprint.create","code":-32029,"data":{"code":"TOO_MANY_REQUESTS","httpStatus":429}}}}`,
		"503": `"code":"SERVICE_UNAVAILABLE"`, "500": `"message":"the sandbox answers 500 to blueprint.create"`,
	} {
		t.Run(status, func(t *testing.T) {
			for _, accept := range []string{"", "application/jsonl"} {
				before := stored()
				putRules(t, s.Root, fmt.Sprintf(rule, status))
				answer := send("apiKey.revoke,blueprint.create,blueprint.create?batch=1", body, accept)
				if shown := s.Root.Send(t, http.MethodGet, "/sandbox/rules", ""); !strings.Contains(shown.Text, `"answered":1`) {
					t.Errorf("%s %q: %s, want \"answered\":1 in it", status, accept, shown.Text)
				}
				if answer.Header.Get("Retry-After") != "7" || strings.Contains(answer.Text, `"result"`) || strings.Contains(answer.Text, "NOT_FOUND") {
					t.Errorf("%s %q: %d %s, want Retry-After 7, no \"result\" and no \"NOT_FOUND\"", status, accept, answer.Status, answer.Text)
				}
				if accept == "" && (strconv.Itoa(answer.Status) != status || !strings.Contains(answer.Text, want)) {
					t.Errorf("%d %s, want %v", answer.Status, answer.Text, want)
				}
				if accept != "" && (answer.Status != http.StatusOK || strings.Count(answer.Text, "the sandbox answers "+status) != 3) {
					t.Errorf("%s as lines: %d %s", status, answer.Status, answer.Text)
				}
				if after := stored(); after != before {
					t.Errorf("%s %q: %s blueprints became %s", status, accept, before, after)
				}
			}
		})
	}
	// Without "whole" a single call fails in the same way, and a batch without the
	// procedure passes.
	putRules(t, s.Root, fmt.Sprintf(rule, "429"))
	if answer := send("server.getInfo,server.getInfo?batch=1", "{}", ""); answer.Status == 429 {
		t.Errorf("another batch: %d %s, want other than 429", answer.Status, answer.Text)
	}
	if answer := send("blueprint.create", create, ""); answer.Status != 429 || answer.Header.Get("Retry-After") != "7" || !strings.Contains(answer.Text, `"path":"blueprint.create"`) {
		t.Errorf("alone: %d %s, want 429, Retry-After 7 and \"path\":\"blueprint.create\" in it", answer.Status, answer.Text)
	}
	if answer := send("blueprint.create,blueprint.create?batch=1", `{"0":`+create+`,"1":`+create+`}`, ""); answer.Status != 200 {
		t.Errorf("again: %d %s, want 200", answer.Status, answer.Text)
	}
}

// TestOutsideTheBox: a server without a sandbox has none of its routes.
func TestOutsideTheBox(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for _, one := range []string{"GET /sandbox/calls", "PUT /sandbox/rules", "GET /sandbox/rules", "DELETE /sandbox", "PUT /sandbox/expectations", "POST /sandbox/verify"} {
		method, path, _ := strings.Cut(one, " ")
		if answer := s.Root.Send(t, method, path, `{"rules":[]}`); answer.Status != http.StatusNotFound {
			t.Errorf("%s: %d %s, want %v", one, answer.Status, answer.Text, http.StatusNotFound)
		}
	}
	boxed := servertest.New(t, inABox, func(o *server.Options) { o.RateLimit, o.RateBurst = 0.001, 1 })
	for range 5 {
		sandboxCalls(t, boxed.Root, "")
	}
	if answer := boxed.Root.Send(t, http.MethodPost, "/sandbox/calls", ""); answer.Status != http.StatusMethodNotAllowed || answer.Header.Get("Allow") != "GET" {
		t.Errorf("by POST: %d %s, want %v and Allow GET", answer.Status, answer.Text, http.StatusMethodNotAllowed)
	}
	if answer := boxed.Root.Send(t, http.MethodGet, "/sandbox/calls?limit=x", ""); answer.Status != http.StatusBadRequest {
		t.Errorf("a limit that is none: %d %s, want %v", answer.Status, answer.Text, http.StatusBadRequest)
	}
}

// TestNothingRealIsReached runs nodes against an existing server, which must receive
// nothing.
func TestNothingRealIsReached(t *testing.T) {
	t.Parallel()
	outside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request left the sandbox") }))
	defer outside.Close()
	s := servertest.New(t, inABox, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	if answer := execute(t, s.Root, node("it", "http-request", object{"url": outside.URL})); at(answer.Payload(), "success") != true {
		t.Errorf("got %s, want success true", answer.Text)
	}
}

// TestExpectations declares expected calls and checks that missing ones are reported.
func TestExpectations(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, inABox)
	put := func(text string) servertest.Reply {
		return s.Root.Send(t, http.MethodPut, "/sandbox/expectations", text)
	}
	verify := func() any { return s.Root.Send(t, http.MethodPost, "/sandbox/verify", "").Value }
	if answer := put(`{"expect":[{"match":{"host":"x"},"times":{"min":2,"max":1}}]}`); answer.Status != 400 || !strings.Contains(answer.Text, "expect[0].times: min must not be above max") {
		t.Errorf("%d %s, want 400 and \"expect[0].times: min must not be above max\" in it", answer.Status, answer.Text)
	}
	if answer := put(`{"expect":[{"match":{"host":"api.example.com"},"times":1,"request":{"method":"POST","url":"https://api.example.com/*","headers":{"X-A":"b"},"body":{"n":1}}},{"match":{"nodeType":"send-slack"},"times":0},{"match":{"procedure":"blueprint.execute"},"times":{"min":1}}]}`); answer.Status != 200 {
		t.Fatalf("%d %s, want 200", answer.Status, answer.Text)
	}
	servertest.Shape(t, "before", at(verify(), "met"), `false`)
	if text := servertest.Encoded(t, verify()); !strings.Contains(text, "there were no requests") {
		t.Errorf("before: %s, want \"there were no requests\" in it", text)
	}
	post := func(n int) {
		execute(t, s.Root, node("it", "http-request", object{"url": "https://api.example.com/x", "method": "POST", "headers": object{"x-a": "b"}, "body": object{"n": n, "more": true}}))
	}
	post(2)
	if text := servertest.Encoded(t, verify()); !strings.Contains(text, `want once, got 0 times; near misses: POST https://api.example.com/x {\"more\":true,\"n\":2}`) {
		t.Errorf("almost: %s", text)
	}
	post(1)
	servertest.Shape(t, "after", verify(), `{"met": true, "unmet": []}`)
	post(1)
	if text := servertest.Encoded(t, verify()); !strings.Contains(text, "want once, got 2 times") {
		t.Errorf("too often: %s", text)
	}
}

// TestRunnerIsAway checks the responses of every way to start a run while the runner is
// unavailable.
func TestRunnerIsAway(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, inABox)
	nodes := []any{node("it", "template", object{"text": "x"})}
	id := s.Root.Blueprint(t, "t", nodes...)
	trigger := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual", "config": object{}})
	putRules(t, s.Root, `{"rules":[{"match":{"procedure":"*.execute*"},"answer":{"status":503}},{"match":{"procedure":"blueprintTriggers.fire"},"answer":{"status":503}}]}`)
	for name, input := range map[string]object{
		"blueprint.execute":                     {"id": id},
		"execution.executeBlueprintWithLogging": {"nodes": nodes, "options": object{"blueprintId": id}},
		"blueprintTriggers.fire":                {"triggerId": trigger},
	} {
		s.Root.Refused(t, blueprint.CodeUnavailable, name, input)
	}
}

// TestSignedWebhooks sends a webhook of each kind to a trigger that verifies its signature.
func TestSignedWebhooks(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, inABox, servertest.AtNoon)
	id := s.Root.Blueprint(t, "t", node("it", "template", object{"text": "{{trigger.firingId}}"}))
	send := func(input object) servertest.Reply {
		return s.Root.Send(t, http.MethodPost, "/sandbox/send", servertest.Encoded(t, input))
	}
	for _, test := range []struct {
		kind   string
		config object
	}{
		{"webhook", object{}}, {"webhook", object{"secret": "s"}}, {"webhook", object{"secret": "s", "preset": "github"}}, {"webhook", object{"secret": "s", "preset": "stripe"}},
		{"webhook", object{"secret": "whsec_c2VjcmV0c2VjcmV0c2VjcmV0", "preset": "standard"}}, {"webhook", object{"secret": "s", "preset": "slack"}}, {"slack", object{"signingSecret": "s"}},
	} {
		t.Run(fmt.Sprint(test.kind, " ", test.config), func(t *testing.T) {
			trigger := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": test.kind, "config": test.config})
			answer := send(object{"webhook": trigger, "body": object{"id": "evt_1", "type": "event_callback", "event_id": "Ev1", "event": object{"type": "message", "channel": "C1", "text": "x"}}})
			if status := servertest.Encoded(t, at(answer.Value, "response.status")); answer.Status != http.StatusOK || status != "200" && status != "202" {
				t.Errorf("%s %v: %d %s", test.kind, test.config, answer.Status, answer.Text)
			}
			if test.config["secret"] == nil || test.config["preset"] == "github" {
				return
			}
			if answer := send(object{"webhook": trigger, "preset": "github", "headers": object{"x-hub-signature-256": "sha256=00"}}); servertest.Encoded(t, at(answer.Value, "response.status")) != "401" {
				t.Errorf("a wrong signature: %s, want 401", answer.Text)
			}
		})
	}
	hook := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{}})
	for _, test := range []struct{ answer, want string }{{`{"status":503}`, "503"}, {`{"close":true}`, "0"}, {`{"delayMs":1}`, "202"}} {
		t.Run(test.answer, func(t *testing.T) {
			putRules(t, s.Root, `{"rules":[{"match":{"route":"webhooks"},"times":1,"answer":`+test.answer+`}]}`)
			if answer := send(object{"webhook": hook}); answer.Status != http.StatusOK || servertest.Encoded(t, at(answer.Value, "response.status")) != test.want {
				t.Errorf("%d %s, want %v and %v", answer.Status, answer.Text, http.StatusOK, test.want)
			}
		})
	}
	for _, wrong := range []object{{"webhook": hook, "boby": 1}, {"webhook": hook, "headers": 5}, {"webhook": hook, "headers": object{"a": 5}}, {"webhook": 5}} {
		if answer := send(wrong); answer.Status != http.StatusBadRequest {
			t.Errorf("%v: %d %s, want %v", wrong, answer.Status, answer.Text, http.StatusBadRequest)
		}
	}
	manual := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual", "config": object{}})
	for input, want := range map[string]int{`{}`: 400, `{"webhook":"` + manual + `"}`: 400, `{"webhook":"` + id + `"}`: 404, `{`: 400} {
		t.Run(caseName(input), func(t *testing.T) {
			if answer := s.Root.Send(t, http.MethodPost, "/sandbox/send", input); answer.Status != want {
				t.Errorf("%d %s, want %v", answer.Status, answer.Text, want)
			}
		})
	}
	ada := s.NewUser(t, "ada")
	if answer := ada.Send(t, http.MethodPost, "/sandbox/send", `{"webhook":"`+manual+`"}`); answer.Status != http.StatusForbidden {
		t.Errorf("a stranger: %d %s, want %v", answer.Status, answer.Text, http.StatusForbidden)
	}
}
