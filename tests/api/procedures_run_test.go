package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// step returns a step as JSON, of a node named like its type, at noon.
func step(id, status, input, output, more string) string {
	when := fmt.Sprintf(`"startTime": %q, "endTime": %[1]q, "durationMs": 0, "attempt": 1`, noonText)
	switch status {
	case "pending", "skipped":
		when = `"startTime": null, "endTime": null, "durationMs": null, "attempt": 0`
	case "running", "paused":
		when = fmt.Sprintf(`"startTime": %q, "endTime": null, "durationMs": null, "attempt": 1`, noonText)
	}
	return fmt.Sprintf(`{"nodeId": %q, "nodeType": %[1]q, "title": %[1]q, "status": %[2]q, %[3]s, "input": %[4]s, "output": %[5]s%[6]s}`, id, status, when, input, output, more)
}

func line(level, node, message, more string) string {
	id := "null"
	if node != "" {
		id = `"` + node + `"`
	}
	return fmt.Sprintf(`{"timestamp": %q, "level": %q, "nodeId": %s, "message": %q%s}`, noonText, level, id, message, more)
}

// quietTelemetry are the telemetry fields of a log record of a run without outbound calls
// and errors.
const quietTelemetry = `"totalTokensUsed": 0, "usedMcpServers": false, "mcpServerCount": 0, "mcpServerNames": [], "reachedOutForData": false, "externalDataSourcesCount": 0, "dataSourcesSummary": [],
	"requiredLogin": false, "oauthFlowsTriggered": false, "authenticationMethodsUsed": [], "primaryAiProviderConnectionId": "", "aiProvidersUsedCount": 0`

// TestRunRecords runs one blueprint to each possible end and compares the whole status and
// log records.
func TestRunRecords(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	nodes := []any{
		node("set", "set", object{"values": object{"who": `{{inputData.who ?? "nobody"}}`}}),
		node("log", "log", object{"level": "warn", "message": "hello {{who}}", "data": object{"n": json.Number("1.0")}}),
		node("switch", "switch", object{"value": "{{who}}", "cases": []any{object{"equals": "ask", "handle": "human"}, object{"equals": "fail", "handle": "stop"}}}),
		node("human", "human", object{"prompt": "Your name, {{who}}?", "schema": object{"type": "object", "required": []any{"name"}}, "expiresMs": 60_000}),
		node("stop", "stop", object{"failed": true, "message": "no more"}),
		node("template", "template", object{"text": "Hello {{who}} {{city}}"}),
	}
	edges := []any{
		object{"source": "set", "target": "log"}, object{"source": "log", "target": "switch"}, object{"source": "switch", "target": "human", "sourceHandle": "human"},
		object{"source": "switch", "target": "stop", "sourceHandle": "stop"}, object{"source": "switch", "target": "template", "sourceHandle": "default"},
	}
	id := ada.IDOf(t, "blueprint.create", object{"title": "t", "blueprint_map": object{"nodes": nodes, "edges": edges}, "environment_variables": []any{object{"name": "city", "default": "Bern"}}})
	start := func(who string) string {
		answer := ada.OK(t, "execution.executeBlueprintWithLogging", object{
			"nodes": nodes, "options": object{"blueprintId": id, "inputData": object{"who": who}, "variables": object{"city": "Basel", "extra": []any{json.Number("1.50")}}},
		})
		servertest.Shape(t, "accepted", answer, `{"success": true, "executionId": "<execution>"}`)
		s.Advance(t, "0s")
		return at(answer, "executionId").(string)
	}
	common := func(who string) (string, string) {
		input, values := fmt.Sprintf(`{"who": %q}`, who), fmt.Sprintf(`{"who": %q}`, who)
		return step("set", "completed", input, values, "") + "," + step("log", "completed", values, values, "") + "," + step("switch", "completed", values, values, ""), values
	}
	begin := func(who string) string {
		return line("info", "", "the run started", "") + "," + line("warn", "log", "hello "+who, `, "data": {"n": 1.0}`) + "," +
			line("info", "set", "completed in 0 ms", "") + "," + line("info", "log", "completed in 0 ms", "") + "," + line("info", "switch", "completed in 0 ms", "")
	}
	check := func(run, status, record, telemetry, summary string, steps, logs string) {
		t.Helper()
		servertest.Shape(t, status, ada.Record(t, run), fmt.Sprintf(`{"id": %q, "startTime": %q, "totalSteps": 6, %s, "steps": [%s], "logs": [%s]}`, run, noonText, record, steps, logs))
		shown := status
		if status == "paused" {
			shown = "running"
		}
		var counts object = servertest.Decoded(t, "{"+record+"}").(object)
		servertest.Shape(t, status+" log record", ada.Log(t, run), fmt.Sprintf(`{"id": "<ulid>", "blueprintId": %q, "organizationId": %q, "userId": %q, "status": %q, "startTime": %q, "endTime": %s, "totalSteps": 6,
			"completedSteps": %v, "failedSteps": %v, "progress": %v, "executionData": {"executionId": %q, "steps": [%s], "logs": [%s]}, "createdAt": %[5]q, "updatedAt": %[5]q, %[13]s, %[14]s,
			"inputVariables": {"city": "Basel", "extra": [1.50]}, "outputSummary": %[15]s, "executionMetadata": {"blueprintVersion": "1.0.0"}}`,
			id, ada.WorkspaceID, ada.ID, shown, noonText, servertest.Encoded(t, counts["endTime"]), counts["completedSteps"], counts["failedSteps"], counts["progress"], run, steps, logs, quietTelemetry, telemetry, summary))
	}

	before, values := common("Ada")
	check(start("Ada"), "completed",
		fmt.Sprintf(`"status": "completed", "progress": 100, "endTime": %q, "completedSteps": 4, "failedSteps": 0, "currentStep": null, "awaitingInput": null`, noonText),
		`"hasErrors": false, "errorCount": 0, "criticalErrors": false, "errorSummary": ""`, `{"output": {"text": "Hello Ada Basel"}, "nodes": {"completed": 4, "skipped": 2}}`,
		before+","+step("human", "skipped", "null", "null", "")+","+step("stop", "skipped", "null", "null", "")+","+step("template", "completed", values, `{"text": "Hello Ada Basel"}`, ""),
		begin("Ada")+","+line("info", "template", "completed in 0 ms", "")+","+line("info", "", "the run completed", ""))

	before, values = common("fail")
	check(start("fail"), "failed",
		fmt.Sprintf(`"status": "failed", "progress": 83, "endTime": %q, "completedSteps": 3, "failedSteps": 1, "currentStep": null, "awaitingInput": null`, noonText),
		`"hasErrors": true, "errorCount": 1, "criticalErrors": true, "errorSummary": "stop: no more"`, `{"output": null, "nodes": {"completed": 3, "failed": 1, "skipped": 2}}`,
		before+","+step("human", "skipped", "null", "null", "")+","+step("stop", "failed", values, "null", `, "error": {"message": "no more", "code": "stopped"}`)+","+step("template", "skipped", "null", "null", ""),
		begin("fail")+","+line("error", "stop", "failed: no more", "")+","+line("error", "", "the run failed: no more", ""))

	before, values = common("ask")
	question := `{"nodeId": "human", "kind": "human", "prompt": "Your name, ask?", "schema": {"type": "object", "required": ["name"]}, "requestedAt": "2030-05-01T12:00:00.000Z", "expiresAt": "2030-05-01T12:01:00.000Z"}`
	check(start("ask"), "paused",
		`"status": "paused", "progress": 83, "endTime": null, "completedSteps": 3, "failedSteps": 0, "currentStep": null, "awaitingInput": `+question+`, "awaitingInputs": [`+question+`]`,
		`"hasErrors": false, "errorCount": 0, "criticalErrors": false, "errorSummary": ""`, `{"output": null, "nodes": {"completed": 3, "paused": 1, "skipped": 2}}`,
		before+","+step("human", "paused", values, "null", "")+","+step("stop", "skipped", "null", "null", "")+","+step("template", "skipped", "null", "null", ""),
		begin("ask")+","+line("info", "human", "waits for input (human)", ""))

	stranger := s.NewUser(t, "stranger")
	for _, one := range []struct {
		name string
		p    servertest.Caller
		id   string
	}{{"unknown", ada, s.IDs.ExecutionID(servertest.Noon)}, {"somebody else's", stranger, start("Ada")}, {"malformed", ada, "no id <at> all"}} {
		servertest.Shape(t, one.name, one.p.Record(t, one.id), fmt.Sprintf(`{"id": %q, "status": "not_found", "progress": 0, "startTime": null, "endTime": null, "totalSteps": 0, "completedSteps": 0, "failedSteps": 0,
		"steps": [], "logs": [], "currentStep": null, "awaitingInput": null}`, one.id))
	}
}

// TestRunningRecord reads a run while one of its nodes is running.
func TestRunningRecord(t *testing.T) {
	t.Parallel()
	gate, entered := make(chan struct{}), make(chan struct{}, 10)
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-gate
	}))
	defer outside.Close()
	s := servertest.New(t, func(o *server.Options) {
		o.AllowNet, o.SyncTimeout = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, 50*time.Millisecond
	})
	ada := s.NewUser(t, "ada")
	nodes := []any{node("a", "template", object{"text": "x"}), node("b", "http-request", object{"url": outside.URL}), node("c", "template", object{"text": "y"})}
	id := ada.Blueprint(t, "t", nodes...)
	run := ada.IDOf(t, "execution.executeBlueprintWithLogging", object{"nodes": nodes, "options": object{"blueprintId": id}})
	<-entered
	record := ada.Record(t, run)
	got := []any{record["status"], record["progress"], record["currentStep"], record["endTime"], record["awaitingInput"]}
	if diff := cmp.Diff([]any{"running", json.Number("33"), "b", nil, nil}, got); diff != "" {
		t.Errorf("a running run: status, progress, step, end and awaiting (-want +got):\n%s", diff)
	}
	steps := record["steps"].([]any)
	if diff := cmp.Diff([]any{"running", "pending"}, []any{at(steps[1], "status"), at(steps[2], "status")}); diff != "" {
		t.Errorf("a running run: second and third step (-want +got):\n%s", diff)
	}
	if log := ada.Log(t, run); at(log, "status") != "running" || at(log, "endTime") != nil {
		t.Errorf("its log record is %s, want status running and endTime nil", servertest.Encoded(t, log))
	}
	// A run that outlasts the sync timeout is reported as running, and continues.
	answer := ada.OK(t, "blueprint.execute", object{"id": id})
	servertest.Shape(t, "execute", answer, `{"success": false, "executionId": "<execution>", "result": {"status": "running", "output": null, "outputs": {}}}`)
	close(gate)
	for _, id := range []string{run, at(answer, "executionId").(string)} {
		if record := ada.Await(t, id, blueprint.StatusCompleted); record["currentStep"] != nil || record["progress"] != json.Number("100") {
			t.Errorf("in the end: %s", servertest.Encoded(t, record))
		}
	}
}

// TestTelemetry makes real requests and compares the log record.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/there", http.StatusFound)
		case "/bad":
			w.WriteHeader(http.StatusTeapot)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"n": 1.0}`)
		}
	}))
	defer outside.Close()
	host := strings.TrimPrefix(outside.URL, "http://")
	name, port, _ := strings.Cut(host, ":")
	s := servertest.New(t, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	get := func(id, url string, more ...any) object { return node(id, "http-request", object{"url": url}, more...) }
	for _, test := range []struct {
		name   string
		nodes  []any
		reach  bool
		source string // the summary, as JSON
		errors string
	}{
		{"none", []any{node("a", "template", object{"text": "x"})}, false, `[]`, `[false,0,false,""]`},
		{"one", []any{get("a", outside.URL)}, true, `[{"host": "HOST", "calls": 1, "statuses": [200]}]`, `[false,0,false,""]`},
		{"several", []any{get("a", outside.URL+"/away"), get("b", outside.URL), get("c", outside.URL+"/bad", "onError", "continue")},
			true, `[{"host": "HOST", "calls": 4, "statuses": [200, 302, 418]}]`, `[true,1,false,"<text>"]`},
		{"failed", []any{get("a", outside.URL+"/bad"), get("b", outside.URL)}, true, `[{"host": "HOST", "calls": 1, "statuses": [418]}]`, `[true,1,true,"<text>"]`},
		{"refused", []any{get("a", "http://10.0.0.1:"+port+"/x", "onError", "continue")}, true, `[{"host": "10.0.0.1:PORT", "calls": 1, "statuses": []}]`, `[true,1,false,"<text>"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			id := s.Root.Blueprint(t, test.name, test.nodes...)
			answer := s.Root.OK(t, "blueprint.execute", object{"id": id})
			record := s.Root.Log(t, at(answer, "executionId").(string))
			if test.name == "refused" {
				// Nothing was sent: whether the attempt counts must be consistent with the
				// summary.
				sources := at(record, "dataSourcesSummary").([]any)
				if at(record, "reachedOutForData") != (len(sources) > 0) || fmt.Sprint(at(record, "externalDataSourcesCount")) != fmt.Sprint(len(sources)) {
					t.Errorf("%s", servertest.Encoded(t, record))
				}
			} else {
				servertest.Shape(t, "sources", at(record, "dataSourcesSummary"), strings.NewReplacer("HOST", host, "NAME", name).Replace(test.source))
				count := json.Number(fmt.Sprint(strings.Count(test.source, "host")))
				if at(record, "reachedOutForData") != test.reach || at(record, "externalDataSourcesCount") != count {
					t.Errorf("reached out: %v, count %v; want %v and %v", at(record, "reachedOutForData"), at(record, "externalDataSourcesCount"), test.reach, count)
				}
			}
			servertest.Shape(t, "errors", []any{at(record, "hasErrors"), at(record, "errorCount"), at(record, "criticalErrors"), at(record, "errorSummary")}, test.errors)
		})
	}
}

// TestExecute compares whole responses of synchronous runs.
func TestExecute(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	text := func(id, text string) object { return node(id, "template", object{"text": text}) }
	variables := []any{object{"name": "city", "required": true}, object{"name": "count", "type": "number", "default": json.Number("2")}, object{"name": "any", "type": "json"}}
	for _, test := range []struct {
		name  string
		nodes []any
		input string
		want  string // the response without the id, or the invalid field of a 400
	}{
		{"completes", []any{text("a", "{{city}} {{count}}"), node("b", "transform", object{"expression": "count * 2"})}, `{"variables": {"city": "Bern"}}`,
			`{"success": true, "result": {"status": "completed", "output": 4, "outputs": {"a": {"text": "Bern 2"}, "b": 4}}}`},
		{"input data", []any{node("a", "merge", object{}), node("b", "transform", object{"expression": "inputData"})}, `{"variables": {"city": "", "any": null}, "inputData": [1.50, null]}`,
			`{"success": true, "result": {"status": "completed", "output": [1.50, null], "outputs": {"a": {}, "b": [1.50, null]}}}`},
		{"no input data", []any{node("b", "transform", object{"expression": "inputData"})}, `{"variables": {"city": ""}}`,
			`{"success": true, "result": {"status": "completed", "output": {}, "outputs": {"b": {}}}}`},
		{"a node fails", []any{text("a", "x"), text("b", "{{nowhere}}"), text("c", "y")}, `{"variables": {"city": "Bern"}}`,
			`{"success": false, "result": {"status": "failed", "output": null, "outputs": {"a": {"text": "x"}}, "error": {"nodeId": "b", "message": "<text>", "code": "unknown_name"}}}`},
		{"unknown type", []any{node("a", "nope", object{})}, `{"variables": {"city": "Bern"}}`,
			`{"success": false, "result": {"status": "failed", "output": null, "outputs": {}, "error": {"nodeId": "a", "message": "<text>", "code": "unknown_type"}}}`},
		{"pauses", []any{text("a", "x"), node("b", "human", object{"prompt": "?"})}, `{"variables": {"city": "Bern"}}`,
			`{"success": false, "result": {"status": "paused", "output": null, "outputs": {"a": {"text": "x"}}, "awaitingInput": {"nodeId": "b", "kind": "human", "prompt": "?", "requestedAt": "2030-05-01T12:00:00.000Z"}}}`},
		{"stops well", []any{node("a", "stop", object{}), text("b", "x")}, `{"variables": {"city": "Bern"}}`,
			`{"success": true, "result": {"status": "completed", "output": {}, "outputs": {"a": {}}}}`},
		{"a failure that does not stop", []any{node("a", "template", object{"text": "{{nowhere}}"}, "onError", "continue")}, `{"variables": {"city": "Bern"}}`,
			`{"success": true, "result": {"status": "completed", "output": {"error": {"message": "<text>", "code": "unknown_name"}}, "outputs": {"a": {"error": {"message": "<text>", "code": "unknown_name"}}}}}`},
		{"no nodes", []any{}, `{"variables": {"city": "Bern"}}`, `no nodes to execute`},
		{"required variable missing", []any{text("a", "x")}, `{}`, `variables.city: required`},
		{"variables of the wrong type", []any{text("a", "x")}, `{"variables": {"city": 5, "count": "5", "input": 1}}`, `variables.city: must be a string; variables.count: must be a number; variables.input`},
		{"a variable that is null", []any{text("a", "x")}, `{"variables": {"city": null}}`, `variables.city: required`},
	} {
		t.Run(test.name, func(t *testing.T) {
			id := ada.IDOf(t, "blueprint.create", object{"title": "t", "blueprint_map": object{"nodes": test.nodes}, "environment_variables": variables})
			input := servertest.Decoded(t, test.input).(object)
			input["id"] = id
			if !strings.HasPrefix(test.want, "{") {
				if message := ada.Refused(t, blueprint.CodeBadRequest, "blueprint.execute", input); !strings.Contains(message, test.want) {
					t.Errorf("the refusal says %q, want %q in it", message, test.want)
				}
				if logs := at(ada.OK(t, "execution.getExecutionLogs", object{"blueprintId": id}), "logs").([]any); len(logs) != 0 {
					t.Errorf("a refused run has a record, want none")
				}
				return
			}
			want := servertest.Decoded(t, test.want).(object)
			want["executionId"] = "<execution>"
			servertest.Shape(t, "answer", ada.OK(t, "blueprint.execute", input), servertest.Encoded(t, want))
		})
	}
	ada.Refused(t, blueprint.CodeBadRequest, "blueprint.execute", object{"id": ada.IDOf(t, "blueprint.create", object{"title": "without a map"})})
}

// TestExecuteWithLogging sends nodes that are stored, edited, or equal to the stored ones.
func TestExecuteWithLogging(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	a := func() object { return node("a", "template", object{"text": "stored"}, "position", object{"x": 1}) }
	b := func() object { return node("b", "template", object{"text": "{{input.text}}, second"}) }
	edge := func(from, to string) object { return object{"source": from, "target": to} }
	with := func(n object, key string, value any) object {
		n[key] = value
		return n
	}
	id := ada.IDOf(t, "blueprint.create", object{"title": "t", "blueprint_map": object{"nodes": []any{a(), b()}, "edges": []any{edge("a", "b")}}})
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	for _, test := range []struct {
		name   string
		nodes  []any
		edges  []any  // nil = none sent
		stored bool   // counts as stored
		output string // of the run
	}{
		{"as stored", []any{a(), b()}, nil, true, `{"text": "stored, second"}`},
		{"with its edges", []any{a(), b()}, []any{edge("a", "b")}, true, `{"text": "stored, second"}`},
		{"with edges that say the same", []any{a(), b()}, []any{object{"id": "e1", "source": "a", "target": "b", "sourceHandle": "main", "color": "red"}}, true, `{"text": "stored, second"}`},
		{"with defaults spelled out", []any{with(with(a(), "onError", "stop"), "disabled", false), with(b(), "retry", object{"maxAttempts": 1})}, nil, true, `{"text": "stored, second"}`},
		{"other titles and positions", []any{with(with(a(), "title", "other"), "position", object{"x": 2}), with(b(), "note", "new")}, nil, true, `{"text": "stored, second"}`},
		{"another text", []any{with(a(), "config", object{"text": "edited"}), b()}, nil, false, `{"text": "edited, second"}`},
		{"another key of config", []any{with(a(), "config", object{"text": "stored", "extra": 1}), b()}, nil, false, `{"text": "stored, second"}`},
		{"another type", []any{with(a(), "type", "set"), b()}, nil, false, ``},
		{"another order", []any{b(), a()}, nil, false, ``},
		{"one node less", []any{a()}, nil, false, `{"text": "stored"}`},
		{"one node more", []any{a(), b(), node("c", "merge", object{})}, nil, false, ``},
		{"another id", []any{a(), with(b(), "id", "c")}, nil, false, `{"text": "stored, second"}`},
		{"empty edges", []any{a(), b()}, []any{}, true, `{"text": "stored, second"}`},
		{"other edges", []any{a(), b()}, []any{edge("b", "a")}, false, ``},
		{"another handle", []any{a(), b()}, []any{with(edge("a", "b"), "sourceHandle", "error")}, false, `{"text": "stored"}`},
		{"disabled", []any{with(a(), "disabled", true), b()}, nil, false, ``},
		{"another effect", []any{with(a(), "effect", "once"), b()}, nil, false, `{"text": "stored, second"}`},
		{"another reaction to errors", []any{with(a(), "onError", "continue"), b()}, nil, false, `{"text": "stored, second"}`},
		{"a time-out", []any{with(a(), "timeoutMs", 60_000), b()}, nil, false, `{"text": "stored, second"}`},
		{"another try", []any{with(a(), "retry", object{"maxAttempts": 2}), b()}, nil, false, `{"text": "stored, second"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			input := object{"nodes": test.nodes, "options": object{"blueprintId": id}}
			if test.edges != nil {
				input["edges"] = test.edges
			}
			if test.stored {
				ben.OK(t, "execution.executeBlueprintWithLogging", input)
			} else {
				ben.Refused(t, blueprint.CodeForbidden, "execution.executeBlueprintWithLogging", input)
			}
			run := ada.IDOf(t, "execution.executeBlueprintWithLogging", input)
			s.Advance(t, "0s")
			if test.output != "" {
				servertest.Shape(t, "output", at(ada.Log(t, run), "outputSummary.output"), test.output)
			}
		})
	}
	ada.Refused(t, blueprint.CodeBadRequest, "execution.executeBlueprintWithLogging", object{"nodes": []any{}, "options": object{"blueprintId": id}})
	ada.Refused(t, blueprint.CodeBadRequest, "execution.executeBlueprintWithLogging", object{"nodes": []any{a(), a()}, "options": object{"blueprintId": id}})
	// Stored nodes run, and fail, in the same way for every user.
	wrong := ada.Blueprint(t, "wrong", with(a(), "onError", "never heard of"))
	ada.OK(t, "blueprint.update", object{"id": wrong, "visibility": "public"})
	if record := ben.Record(t, ben.Launch(t, wrong, nil, with(a(), "onError", "never heard of"))); record["status"] != "failed" {
		t.Errorf("a node with a mistake: %s, want status failed", servertest.Encoded(t, record))
	}
	// Nodes for a blueprint without stored ones.
	empty := ada.IDOf(t, "blueprint.create", object{"title": "empty"})
	run := ada.Launch(t, empty, nil, a())
	servertest.Shape(t, "output", at(ada.Log(t, run), "outputSummary.output"), `{"text": "stored"}`)
}
