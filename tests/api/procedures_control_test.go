package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

func TestResume(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, ben, stranger := s.NewUser(t, "ada"), s.NewUser(t, "ben"), s.NewUser(t, "stranger")
	schema := object{"type": "object", "properties": object{"n": object{"type": "integer", "minimum": 1}}, "required": []any{"n"}}
	nodes := []any{
		node("first", "human", object{"prompt": "How many?", "schema": schema}), node("gate", "approval-gate", object{"prompt": "Sure?"}),
		node("end", "template", object{"text": "{{nodes.first.output.n}} {{input.approved}} {{input.comment ?? \"-\"}}"}),
	}
	id := ada.Blueprint(t, "t", nodes...)
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	run := ben.Launch(t, id, nil, nodes...)
	answer := func(input any, more ...any) object {
		all := object{"executionId": run, "input": input}
		for i := 0; i+1 < len(more); i += 2 {
			all[more[i].(string)] = more[i+1]
		}
		return all
	}
	const resume = "execution.resume"
	asks := func(nodeID, kind string) {
		t.Helper()
		record := ben.Record(t, run)
		if record["status"] != "paused" || at(record["awaitingInput"], "nodeId") != nodeID || at(record["awaitingInput"], "kind") != kind {
			t.Errorf("it waits for %v, want %s", record["awaitingInput"], nodeID)
		}
	}
	asks("first", "human")
	for _, wrong := range []any{nil, "x", object{}, object{"n": 0}, object{"n": "1"}} {
		if message := ben.Refused(t, blueprint.CodeBadRequest, resume, answer(wrong)); !strings.HasPrefix(message, "input") {
			t.Errorf("the refusal of %v says %q, want \"input\" at the start", wrong, message)
		}
	}
	ben.Refused(t, blueprint.CodeBadRequest, resume, answer(object{"n": 1}, "nodeId", "nowhere"))
	ben.Refused(t, blueprint.CodeConflict, resume, answer(object{"n": 1}, "nodeId", "gate"))
	stranger.Refused(t, blueprint.CodeNotFound, resume, answer(object{"n": 1}))
	ben.Refused(t, blueprint.CodeNotFound, resume, object{"executionId": s.IDs.ExecutionID(servertest.Noon), "input": 1})
	asks("first", "human")

	servertest.Shape(t, "answered", at(ben.OK(t, resume, answer(object{"n": 3}, "nodeId", "first")), "id"), `"`+run+`"`)
	s.Advance(t, "0s")
	asks("gate", "approval")
	ben.Refused(t, blueprint.CodeConflict, resume, answer(object{"n": 4}, "nodeId", "first"))
	ben.Refused(t, blueprint.CodeForbidden, resume, answer(object{"approved": true}))
	for _, wrong := range []any{nil, true, object{}, object{"approved": "yes"}, object{"approved": true, "comment": 5}} {
		ada.Refused(t, blueprint.CodeBadRequest, resume, answer(wrong))
	}
	asks("gate", "approval")
	ada.OK(t, resume, answer(object{"approved": true, "comment": "fine"}))
	s.Advance(t, "0s")
	record := ben.Record(t, run)
	if record["status"] != "completed" || at(record["steps"].([]any)[2], "output.text") != "3 true fine" {
		t.Errorf("in the end: %s, want status completed and output.text 3 true fine", servertest.Encoded(t, record))
	}
	ada.Refused(t, blueprint.CodeConflict, resume, answer(object{"approved": true}))

	rejected := ada.Launch(t, id, nil, nodes[1])
	ada.OK(t, resume, object{"executionId": rejected, "input": object{"approved": false}})
	s.Advance(t, "0s")
	if record := ada.Record(t, rejected); record["status"] != "failed" {
		t.Errorf("a rejection without edges: %s, want status failed", servertest.Encoded(t, record))
	}
}

// TestAnswersAtOnce answers one run many times concurrently: one answer counts.
func TestAnswersAtOnce(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t")
	for _, rival := range []string{"execution.resume", "execution.cancel"} {
		run := ada.Launch(t, id, nil, node("ask", "human", object{"prompt": "?"}), node("then", "wait", object{"durationMs": 1000}))
		var statuses [16]int
		var all sync.WaitGroup
		for i := range statuses {
			all.Go(func() {
				name := "execution.resume"
				if i%2 == 1 {
					name = rival
				}
				statuses[i] = ada.Call(t, name, object{"executionId": run, "input": i}).Status
			})
		}
		all.Wait()
		resumed, cancelled := 0, 0
		for i, status := range statuses {
			switch {
			case status == http.StatusOK && i%2 == 1 && rival == "execution.cancel":
				cancelled++
			case status == http.StatusOK:
				resumed++
			case status != http.StatusConflict:
				t.Errorf("one of many was answered %d", status)
			}
		}
		// The order of the answer and the cancellation is open, but neither counts twice.
		if rival == "execution.resume" && resumed != 1 || rival == "execution.cancel" && (cancelled != 1 || resumed > 1) {
			t.Errorf("of many answers %d counted, of many cancellations %d", resumed, cancelled)
		}
		s.Advance(t, "1s")
		if record := ada.Record(t, run); record["endTime"] == nil {
			t.Errorf("in the end: %s", servertest.Encoded(t, record))
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t")
	for _, test := range []struct {
		kind    string
		config  object
		reason  any
		summary string
	}{
		{"human", object{"prompt": "?"}, "no need", "cancelled: no need"},
		{"human", object{"prompt": "?"}, nil, "cancelled"},
		{"wait", object{"durationMs": 1000}, "", "cancelled"},
	} {
		t.Run(fmt.Sprint(test.reason), func(t *testing.T) {
			run := ada.Launch(t, id, nil, node("a", "merge", object{}), node("b", test.kind, test.config), node("c", "merge", object{}))
			input := object{"executionId": run}
			if test.reason != nil {
				input["reason"] = test.reason
			}
			ada.Refused(t, blueprint.CodeBadRequest, "execution.cancel", object{"executionId": run, "reason": strings.Repeat("x", 1001)})
			record := ada.OK(t, "execution.cancel", input).(object)
			var steps []string
			for _, step := range record["steps"].([]any) {
				steps = append(steps, at(step, "status").(string))
			}
			want := []any{"failed", false, nil, nil, []string{"completed", "skipped", "pending"}}
			if diff := cmp.Diff(want, []any{record["status"], record["endTime"] == nil, record["awaitingInput"], record["currentStep"], steps}); diff != "" {
				t.Errorf("cancelled: status, not ended, awaiting, current step and steps (-want +got):\n%s", diff)
			}
			log := ada.Log(t, run)
			got := []any{at(log, "errorSummary"), at(log, "hasErrors"), at(log, "criticalErrors"), at(log, "status"), at(log, "errorCount")}
			if diff := cmp.Diff([]any{test.summary, true, true, "failed", json.Number("0")}, got); diff != "" {
				t.Errorf("log record: summary, errors, critical, status and count (-want +got):\n%s", diff)
			}
			ada.Refused(t, blueprint.CodeConflict, "execution.cancel", input)
			s.Advance(t, "1h") // nothing continues
			if after := ada.Record(t, run); servertest.Encoded(t, after) != servertest.Encoded(t, record) {
				t.Errorf("it went on: %s", servertest.Encoded(t, after))
			}
		})
	}
	done := ada.Launch(t, id, nil, node("a", "merge", object{}))
	ada.Refused(t, blueprint.CodeConflict, "execution.cancel", object{"executionId": done})
	ada.Refused(t, blueprint.CodeNotFound, "execution.cancel", object{"executionId": "nothing like an id"})
}

func TestRetry(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer outside.Close()
	s := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	ada := s.NewUser(t, "ada")
	nodes := []any{
		node("before", "set", object{"values": object{"mark": "{{execution.id}}"}}), node("call", "http-request", object{"url": outside.URL}),
		node("after", "template", object{"text": "{{mark}} {{inputData.n}} {{v}}"}),
	}
	id := ada.IDOf(t, "blueprint.create", object{"title": "t", "blueprint_map": object{"nodes": nodes}, "environment_variables": []any{object{"name": "v"}}})
	first := at(ada.OK(t, "blueprint.execute", object{"id": id, "inputData": object{"n": 7}, "variables": object{"v": "w"}}), "executionId").(string)
	if record := ada.Record(t, first); record["status"] != "failed" {
		t.Fatalf("the first run: %s, want status failed", servertest.Encoded(t, record))
	}
	ada.OK(t, "blueprint.update", object{"id": id, "blueprint_map": object{"nodes": []any{}}}) // a retry keeps the version
	const retry = "execution.retry"
	answer := ada.OK(t, retry, object{"executionId": first})
	servertest.Shape(t, "retry", answer, `{"success": true, "executionId": "<execution>"}`)
	second := at(answer, "executionId").(string)
	s.Advance(t, "0s")
	record := ada.Record(t, second)
	if second == first || record["status"] != "completed" || at(record["steps"].([]any)[2], "output.text") != first+" 7 w" || calls.Load() != 2 {
		t.Errorf("the retry: %s after %d calls, want other than %v, status completed, output.text %v and 2", servertest.Encoded(t, record), calls.Load(), first, first+" 7 w")
	}
	log := ada.Log(t, second)
	servertest.Shape(t, "metadata", at(log, "executionMetadata"), fmt.Sprintf(`{"blueprintVersion": "1.0.0", "retryOf": %q}`, first))
	servertest.Shape(t, "variables", at(log, "inputVariables"), `{"v": "w"}`)
	if record := ada.Record(t, first); record["status"] != "failed" {
		t.Errorf("the first run has changed: %s, want status failed", servertest.Encoded(t, record))
	}

	ada.Refused(t, blueprint.CodeBadRequest, retry, object{"executionId": second})
	ada.Refused(t, blueprint.CodeBadRequest, retry, object{"executionId": second, "fromNodeId": "nowhere"})
	ada.Refused(t, blueprint.CodeNotFound, retry, object{"executionId": s.IDs.ExecutionID(servertest.Noon)})
	third := ada.IDOf(t, retry, object{"executionId": second, "fromNodeId": "after"})
	s.Advance(t, "0s")
	if record := ada.Record(t, third); record["status"] != "completed" || at(record["steps"].([]any)[2], "output.text") != first+" 7 w" || calls.Load() != 2 {
		t.Errorf("from the last node: %s after %d calls, want status completed, output.text %v and 2", servertest.Encoded(t, record), calls.Load(), first+" 7 w")
	}
	fourth := ada.IDOf(t, retry, object{"executionId": first, "fromNodeId": "before"})
	s.Advance(t, "0s")
	if record := ada.Record(t, fourth); at(record["steps"].([]any)[2], "output.text") != fourth+" 7 w" || calls.Load() != 3 {
		t.Errorf("from the first node: %s after %d calls, want output.text %v and 3", servertest.Encoded(t, record), calls.Load(), fourth+" 7 w")
	}
	paused := ada.Launch(t, id, nil, node("ask", "human", object{"prompt": "?"}))
	ada.Refused(t, blueprint.CodeConflict, retry, object{"executionId": paused})
	ada.OK(t, "execution.cancel", object{"executionId": paused})
	again := ada.IDOf(t, retry, object{"executionId": paused})
	s.Advance(t, "0s")
	if record := ada.Record(t, again); record["status"] != "paused" {
		t.Errorf("the retry of a cancelled run: %s, want status paused", servertest.Encoded(t, record))
	}
}

// TestRetryOfOtherNodes checks that users who may not send other nodes may not retry them
// either, and that a stranger cannot retry an ended run.
func TestRetryOfOtherNodes(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	stored := node("a", "template", object{"text": "stored"})
	id := ada.Blueprint(t, "t", stored)
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	ada.OK(t, "collaborator.add", object{"blueprintId": id, "email": ben.Email, "role": "editor"})
	edited := ben.Launch(t, id, nil, node("a", "template", object{"text": "edited"}))
	plain := ben.Launch(t, id, nil, stored)
	retry := func(run string) object { return object{"executionId": run, "fromNodeId": "a"} }
	ben.OK(t, "execution.retry", retry(edited))
	ada.OK(t, "collaborator.remove", object{"blueprintId": id, "userId": ben.ID})
	ben.OK(t, "execution.retry", retry(plain)) // it is public: they may run it
	ben.Refused(t, blueprint.CodeForbidden, "execution.retry", retry(edited))
	ada.OK(t, "execution.retry", retry(edited))
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "private"})
	ben.Refused(t, blueprint.CodeForbidden, "execution.retry", retry(plain))
	if record := ben.Record(t, plain); record["status"] != "completed" {
		t.Errorf("their own run is gone: %s, want status completed", servertest.Encoded(t, record))
	}
}

// TestOtherNodes tells a run of one node of a blueprint from a run of all.
func TestOtherNodes(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	nodes := []any{node("a", "template", object{"text": "a"}), node("b", "template", object{"text": "b"})}
	id := s.Root.Blueprint(t, "t", nodes...)
	for name, test := range map[string]struct {
		nodes []any
		want  string
	}{
		"all": {nodes, `{"blueprintVersion": "1.0.0"}`},
		"one": {nodes[1:], `{"blueprintVersion": "1.0.0", "otherNodes": true}`},
	} {
		t.Run(name, func(t *testing.T) {
			run := s.Root.Launch(t, id, nil, test.nodes...)
			servertest.Shape(t, name, at(s.Root.OK(t, "execution.getRecord", object{"executionId": run}), "executionMetadata"), test.want)
		})
	}
}

func containsEach(text string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

// TestFork starts a run from a node of another one with an edited input, and finds each from
// the other.
func TestFork(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	id := ada.IDOf(t, "blueprint.create", object{
		"title": "t", "blueprint_map": object{"nodes": []any{
			node("order", "set", object{"values": object{"id": "{{inputData.id}}", "mark": "{{execution.id}}"}}),
			node("text", "template", object{"text": "{{input.id}} {{nodes.order.output.mark}} {{token}}"}),
		}}, "environment_variables": []any{object{"name": "token", "secret": true, "default": "open sesame"}},
	})
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	first := at(ada.OK(t, "blueprint.execute", object{"id": id, "inputData": object{"id": 1}}), "executionId").(string)
	if data := at(ada.OK(t, "execution.getRecord", object{"executionId": first}), "inputData.id"); data != json.Number("1") {
		t.Errorf("inputData.id is %v, want 1", data)
	}
	const fork = "execution.fork"
	answer := ada.OK(t, fork, object{"executionId": first, "fromNodeId": "text", "input": object{"id": 2}})
	servertest.Shape(t, "fork", answer, `{"success": true, "executionId": "<execution>"}`)
	second := at(answer, "executionId").(string)
	s.Advance(t, "0s")
	record := ada.Record(t, second)
	if text := at(record["steps"].([]any)[1], "output.text"); record["status"] != "completed" || text != "2 "+first+" ***" {
		t.Errorf("the fork: %s, want status completed and output.text 2 %s ***", servertest.Encoded(t, record), first)
	}
	servertest.Shape(t, "metadata", at(ada.OK(t, "execution.getRecord", object{"executionId": second}), "executionMetadata"),
		fmt.Sprintf(`{"blueprintVersion": "1.0.1", "retryOf": %q, "fromNodeId": "text", "inputEdited": true}`, first))

	refused := ada.Refused(t, blueprint.CodeBadRequest, "execution.exportTest", object{"executionId": second})
	if !strings.Contains(refused, "the input of text was edited in a fork") {
		t.Errorf("exportTest: %q, want the name of the edited node", refused)
	}
	null := at(ada.OK(t, fork, object{"executionId": second, "fromNodeId": "order", "input": nil}), "executionId").(string)
	s.Advance(t, "0s")
	if data, ok := ada.OK(t, "execution.getRecord", object{"executionId": null}).(object)["inputData"]; !ok || data != nil {
		t.Errorf("a fork with null has the inputData %v, want null", data)
	}
	retried := at(ada.OK(t, "execution.retry", object{"executionId": null, "fromNodeId": "text"}), "executionId").(string)
	s.Advance(t, "0s")
	for id, want := range map[string][]string{
		first:   {"as run " + first + "\n"},
		null:    {"# It is a fork of the run " + second + " at the node order.\n", "as run " + null + ", a fork of run " + second},
		retried: {"# It repeats the run " + null + " from the node text.\n", "as run " + retried + ", a retry of run " + null},
	} {
		t.Run(want[0], func(t *testing.T) {
			files := at(ada.OK(t, "execution.exportTest", object{"executionId": id}), "files").([]any)
			if text := at(files[1], "content").(string); !containsEach(text, want) || id == first && strings.Contains(text, "# It ") {
				t.Errorf("the test of %s is\n%s\nwant %q in it", id, text, want)
			}
		})
	}
	third := at(ada.OK(t, fork, object{"executionId": first, "fromNodeId": "order", "input": object{"id": 3}}), "executionId").(string)
	s.Advance(t, "0s")
	if data := at(ada.OK(t, "execution.getRecord", object{"executionId": third}), "inputData.id"); data != json.Number("3") {
		t.Errorf("a fork from the first node has the inputData.id %v, want 3", data)
	}
	fourth := at(ada.OK(t, "execution.retry", object{"executionId": second, "fromNodeId": "text"}), "executionId").(string)
	s.Advance(t, "0s")
	again := func(caller servertest.Caller, of string) (list []string) {
		for _, run := range at(caller.OK(t, "execution.listRuns", object{"retryOf": of}), "runs").([]any) {
			if at(run, "retryOf") != of {
				t.Errorf("a run in the list retries %v, want %s", at(run, "retryOf"), of)
			}
			list = append(list, at(run, "executionId").(string))
		}
		return list
	}
	want := map[string][]string{first: {third, second}, second: {fourth, null}, third: nil}
	got := map[string][]string{}
	for of := range want {
		got[of] = again(ada, of)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("retries of each run (-want +got):\n%s", diff)
	}
	if list := again(ben, first); list != nil {
		t.Errorf("ben finds %v, want none", list)
	}

	ada.Refused(t, blueprint.CodeBadRequest, fork, object{"executionId": first, "fromNodeId": "text"})
	ada.Refused(t, blueprint.CodeBadRequest, fork, object{"executionId": first, "input": 1})
	ada.Refused(t, blueprint.CodeBadRequest, fork, object{"executionId": first, "fromNodeId": "nowhere", "input": 1})
	ada.Refused(t, blueprint.CodeBadRequest, fork, object{"executionId": first, "fromNodeId": "text[0]/a", "input": 1})
	ben.Refused(t, blueprint.CodeNotFound, fork, object{"executionId": first, "fromNodeId": "text", "input": 1})
	// Ada manages the blueprint, but cannot see the data of ben's run.
	bens := at(ben.OK(t, "execution.executeBlueprintWithLogging", object{"nodes": at(ada.OK(t, "blueprint.get", object{"id": id}), "blueprint_map.nodes"), "options": object{"blueprintId": id, "inputData": object{"id": 9}}}), "executionId").(string)
	s.Advance(t, "0s")
	ada.Refused(t, blueprint.CodeForbidden, fork, object{"executionId": bens, "fromNodeId": "order", "input": object{"id": 1}})
	ada.OK(t, "execution.retry", object{"executionId": bens, "fromNodeId": "order"})
	ben.OK(t, fork, object{"executionId": bens, "fromNodeId": "order", "input": object{"id": 1}})
	// Ben may only start the blueprint: another input of a later node would skip what checks it.
	message := ben.Refused(t, blueprint.CodeForbidden, fork, object{"executionId": bens, "fromNodeId": "text", "input": object{"id": 1}})
	if !strings.Contains(message, "edit the input data of the run") {
		t.Errorf("refused with %q, want the advice to edit the input data of the run", message)
	}
}

// TestSubscribe reads the records of a run as they change, to its end.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t")
	run := ada.Launch(t, id, nil, node("wait", "wait", object{"durationMs": 60_000}), node("ask", "human", object{"prompt": "?"}))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Host+"/api/trpc/execution.subscribe?input="+url.QueryEscape(servertest.Encoded(t, object{"json": object{"executionId": run}})), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", ada.Authorization)
	response, err := s.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("the content type is %q, want text/event-stream", kind)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	// next reads records up to one with a status, and reports whether there was one.
	next := func(status string) (record any) {
		for lines.Scan() {
			if data, found := strings.CutPrefix(lines.Text(), "data: {\"json\":"); found {
				record = servertest.Decoded(t, strings.TrimSuffix(data, "}"))
				if at(record, "status") == status {
					return record
				}
			}
			if lines.Text() == "event: return" {
				break
			}
		}
		t.Fatalf("the stream ended without %s; last: %s", status, servertest.Encoded(t, record))
		return nil
	}
	if record := next("running"); at(record.(object)["steps"].([]any)[0], "status") != "running" {
		t.Errorf("first: %s, want status running", servertest.Encoded(t, record))
	}
	s.Advance(t, "1m")
	if record := next("paused"); at(record, "awaitingInput.nodeId") != "ask" {
		t.Errorf("then: %s, want awaitingInput.nodeId ask", servertest.Encoded(t, record))
	}
	ada.OK(t, "execution.resume", object{"executionId": run, "input": "answer"})
	last := next("completed")
	if now := ada.Record(t, run); servertest.Encoded(t, now) != servertest.Encoded(t, last) {
		t.Errorf("the last record is\n%s\nthe status is\n%s", servertest.Encoded(t, last), servertest.Encoded(t, now))
	}
	if !lines.Scan() || !slices.ContainsFunc(remaining(lines), func(line string) bool { return line == "event: return" }) {
		t.Errorf("the stream does not end with its return")
	}

	again := ada.Call(t, "execution.subscribe", object{"executionId": run})
	names := ""
	for _, one := range servertest.Events(t, strings.NewReader(again.Text)) {
		names += one.Name + ";"
	}
	if names != "connected;;return;" || servertest.Encoded(t, again.Payload()) != servertest.Encoded(t, last) {
		t.Errorf("of a run at its end: %q", again.Text)
	}
}

func remaining(lines *bufio.Scanner) (all []string) {
	for lines.Scan() {
		all = append(all, lines.Text())
	}
	return all
}

func TestLogLists(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	one := node("a", "merge", object{})
	first, second := ada.Blueprint(t, "first", one), ada.Blueprint(t, "second", one)
	ada.OK(t, "blueprint.update", object{"id": first, "visibility": "public"})
	var runs, ofFirst []string
	for i := range 30 {
		s.Advance(t, "1s")
		id := first
		if i%5 == 4 {
			id = second
		}
		run := at(ada.OK(t, "blueprint.execute", object{"id": id}), "executionId").(string)
		runs = slices.Insert(runs, 0, run)
		if id == first {
			ofFirst = slices.Insert(ofFirst, 0, run)
		}
	}
	listed := func(p servertest.Caller, name string, input object) []string {
		t.Helper()
		answer := p.OK(t, name, input).(object)
		var ids []string
		for _, record := range answer["logs"].([]any) {
			ids = append(ids, at(record, "executionData.executionId").(string))
		}
		if len(answer) != 2 || answer["total"] != json.Number(fmt.Sprint(len(ids))) {
			t.Errorf("%s %v: total %v of %d", name, input, answer["total"], len(ids))
		}
		return ids
	}
	const of, recent = "execution.getExecutionLogs", "execution.listRecentExecutions"
	for _, test := range []struct {
		name  string
		input object
		want  []string
	}{
		{of, object{"blueprintId": first}, ofFirst[:20]},
		{of, object{"blueprintId": first, "limit": 100}, ofFirst},
		{of, object{"blueprintId": first, "limit": 3}, ofFirst[:3]},
		{of, object{"blueprintId": first, "limit": 3, "offset": 2}, ofFirst[2:5]},
		{of, object{"blueprintId": first, "offset": 19}, ofFirst[19:]},
		{of, object{"blueprintId": first, "offset": 24}, nil},
		{of, object{"blueprintId": second}, []string{runs[0], runs[5], runs[10], runs[15], runs[20], runs[25]}},
		{recent, object{}, runs[:20]},
		{recent, object{"limit": 100}, runs},
		{recent, object{"limit": 10, "offset": 20}, runs[20:]},
		{recent, object{"limit": 2, "organizationId": ada.WorkspaceID}, runs[:2]},
		{recent, object{"offset": 24, "organizationId": strings.ToUpper(ada.WorkspaceID)}, runs[24:]},
	} {
		t.Run(caseName(fmt.Sprint(test.name, " ", test.input)), func(t *testing.T) {
			if got := listed(ada, test.name, test.input); !slices.Equal(got, test.want) {
				t.Errorf("%s %v lists %d runs, want %d:\n%q\n%q", test.name, test.input, len(got), len(test.want), got, test.want)
			}
		})
	}
	// Ids decide the order of equal times.
	for range 5 {
		ada.OK(t, "blueprint.execute", object{"id": second})
	}
	if got := listed(ada, of, object{"blueprintId": second, "limit": 6}); !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("not sorted: %q", got)
	}
	// A user who may only see a blueprint sees their own runs of it.
	bens := at(ben.OK(t, "blueprint.execute", object{"id": first}), "executionId").(string)
	for p, want := range map[*servertest.Caller]int{&ben: 1, &ada: 25} {
		t.Run(p.Name, func(t *testing.T) {
			if got := listed(*p, of, object{"blueprintId": first, "limit": 100}); len(got) != want || got[0] != bens {
				t.Errorf("%s sees %d runs, want %v and %v", p.Name, len(got), want, bens)
			}
		})
	}
	if got := listed(ben, recent, object{}); !slices.Equal(got, []string{bens}) {
		t.Errorf("ben's recent runs are %q, want %v", got, []string{bens})
	}
	if record := ben.Log(t, bens); at(record, "organizationId") != ada.WorkspaceID || at(record, "userId") != ben.ID {
		t.Errorf("ben's record: %s, want organizationId %v and userId %v", servertest.Encoded(t, record), ada.WorkspaceID, ben.ID)
	}
	for _, organization := range []string{ada.WorkspaceID, s.IDs.UUID()} {
		ben.Refused(t, blueprint.CodeForbidden, recent, object{"organizationId": organization})
	}
	for _, name := range []string{of, recent} {
		if message := ada.Refused(t, blueprint.CodeBadRequest, name, object{"blueprintId": first, "limit": 101}); !strings.Contains(message, "limit") {
			t.Errorf("%s with 101: %q, want \"limit\" in it", name, message)
		}
	}
}
