package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"blueprintd/tests/process"
)

// flaky is a service that fails at first: a path /fails/n/... n times.
type flaky struct {
	*httptest.Server
	mu    sync.Mutex
	times map[string]int
}

func newFlaky(t *testing.T) *flaky {
	f := &flaky{times: map[string]int{}}
	f.Server = httptest.NewServer(http.HandlerFunc(f.answer))
	t.Cleanup(f.Close)
	return f
}

func (f *flaky) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	key := r.URL.Path + " " + r.Header.Get("Idempotency-Key")
	f.times[key]++
	n := f.times[key]
	f.mu.Unlock()
	w.Header()["Date"] = nil
	var fails int
	fmt.Sscanf(r.URL.Path, "/fails/%d", &fails)
	if n <= fails {
		if n == 1 {
			w.Header().Set("Retry-After", "90")
		}
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"path": %q, "times": %d, "sent": %q, "type": %q}`, r.URL.Path, n, body, r.Header.Get("Content-Type"))
}

// recorded calls a server and keeps all responses.
type recorded struct {
	*process.Server
	aliases []string // addresses that differ between servers, and their replacements
	out     []string
}

// call records the response to one request, and returns its payload.
func (r *recorded) call(method, path, body string, headers ...string) any {
	r.T.Helper()
	request, err := http.NewRequest(method, r.Host+path, strings.NewReader(body))
	if err != nil {
		r.T.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+process.Key)
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.T.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		r.T.Fatal(err)
	}
	var head bytes.Buffer
	response.Header.Write(&head)
	text := fmt.Sprintf("%s %s %s\n%s\n%s%s", method, path, body, response.Status, head.String(), data)
	r.out = append(r.out, strings.NewReplacer(append(r.aliases, r.Host, "http://its.own.address")...).Replace(text)) // the ports are any
	var value any
	json.Unmarshal(data, &value)
	return value
}

// encoded returns an input as sent in a URL.
func (r *recorded) encoded(input any) string {
	r.T.Helper()
	data, err := json.Marshal(object{"json": input})
	if err != nil {
		r.T.Fatal(err)
	}
	return string(data)
}

func (r *recorded) ask(name string, input any) any {
	r.T.Helper()
	return r.answered(name, r.call(http.MethodGet, "/api/trpc/"+name+"?input="+url.QueryEscape(r.encoded(input)), ""))
}

func (r *recorded) tell(name string, input any) any {
	r.T.Helper()
	return r.answered(name, r.call(http.MethodPost, "/api/trpc/"+name, r.encoded(input)))
}

func (r *recorded) answered(name string, value any) any {
	r.T.Helper()
	if at(value, "result") == nil {
		r.T.Fatalf("%s: %v", name, value)
	}
	return at(value, "result.data.json")
}

func (r *recorded) make(title string, m object) string {
	r.T.Helper()
	return at(r.tell("blueprint.create", object{"title": title, "blueprint_map": m, "status": "published"}), "id").(string)
}

func (r *recorded) trigger(blueprintID, kind string, config object) string {
	r.T.Helper()
	return at(r.tell("blueprintTriggers.create", object{"blueprintId": blueprintID, "triggerType": kind, "config": config}), "id").(string)
}

func edge(from, to string) object { return object{"id": from + "-" + to, "source": from, "target": to} }

// play makes the same calls each time.
func (r *recorded) play(outside string) {
	forked := r.make("forked", object{
		"nodes": []any{
			node("a", "code", object{"source": "return [Math.random(), Math.random(), Date.now()]"}), node("b", "log", object{"message": "b {{now}}"}), node("c", "log", object{"message": "c"}),
			node("d", "code", object{"source": "console.log(Math.random()); return Math.random()"}), node("m", "merge", object{}),
		},
		"edges": []any{edge("a", "b"), edge("a", "c"), edge("a", "d"), edge("b", "m"), edge("c", "m"), edge("d", "m")},
	})
	inner := r.make("inner", object{"nodes": []any{
		node("say", "log", object{"message": "inner {{inputData.n}}"}), node("wait", "wait", object{"durationMs": 500}), node("out", "transform", object{"expression": "inputData.n * 2"}),
	}})
	eachNodes := []any{
		node("loop", "for-each", object{"items": "1..20", "concurrency": 8, "nodes": []any{
			node("log", "log", object{"message": "item {{item}}"}),
			node("send", "http-request", object{"method": "POST", "url": outside + "/item", "multipart": []any{object{"name": "n", "value": "{{item}}"}}}),
			node("emit", "emit-event", object{"event": "custom.item", "data": object{"n": "{{item}}"}}),
			node("sub", "blueprint", object{"blueprintId": inner, "inputData": object{"n": "{{item}}"}}),
			node("chance", "code", object{"source": "return Math.random()"}),
		}}),
	}
	each := r.make("each", object{"nodes": eachNodes})
	tries := r.make("tries", object{"nodes": []any{
		node("get", "http-request", object{"method": "GET", "url": outside + "/fails/3"}, "retry", object{"maxAttempts": 5, "delayMs": 2000}),
		node("x", "transform", object{"expression": `int("x")`}, "retry", object{"maxAttempts": 3, "delayMs": 1000}),
	}})
	asks := r.make("asks", object{"nodes": []any{
		node("q", "human", object{"prompt": "?", "expiresMs": 3_600_000, "onExpire": "continue"}), node("z", "template", object{"text": "{{now}}"}),
	}})
	hears := r.make("hears", object{"nodes": []any{node("t", "code", object{"source": "return [inputData.event, Math.random()]"}), node("l", "log", object{"message": "{{inputData.event}}"})}})
	answers := r.make("answers", object{"nodes": []any{node("r", "respond", object{"status": 201, "body": object{"got": "{{inputData}}"}}), node("w", "wait", object{"durationMs": 60_000})}})

	var all []string
	add := func(id string) string { all = append(all, id); return id }
	for _, event := range []string{"custom.item", "execution.completed", "execution.failed", "execution.paused", "blueprint.published"} {
		add(r.trigger(hears, "event", object{"event": event}))
	}
	for _, s := range [][2]string{{"0 * * * *", forked}, {"0 * * * *", inner}, {"*/20 * * * *", asks}, {"30 2 * * *", each}, {"0 */8 * * *", tries}} {
		add(r.trigger(s[1], "scheduled", object{"cron": s[0], "timezone": "Europe/Berlin"}))
	}
	hook := add(r.trigger(answers, "webhook", object{"mode": "wait"}))
	api, manual := add(r.trigger(each, "api", object{})), add(r.trigger(tries, "manual", object{}))
	add(r.trigger(forked, "email", object{}))
	rotated := add(r.trigger(forked, "webhook", object{}))
	r.tell("blueprintTriggers.rotateSecret", object{"triggerId": rotated})
	r.tell("apiKey.create", object{"name": "second"})

	r.tell("blueprint.execute", object{"id": forked})
	r.tell("execution.executeBlueprintWithLogging", object{"nodes": eachNodes, "options": object{"blueprintId": each}})
	r.call(http.MethodPost, "/webhooks/blueprint/"+hook, `{"a": 1}`)
	r.call(http.MethodPost, "/webhooks/blueprint/"+hook, `{"a": 2}`, "Idempotency-Key", "k")
	r.call(http.MethodPost, "/webhooks/blueprint/"+hook, `{"a": 2}`, "Idempotency-Key", "k")
	r.call(http.MethodPost, "/webhooks/blueprint/"+rotated, `{"a": 3}`)
	r.call(http.MethodPost, "/webhooks/blueprint/"+hook, `{`)
	r.call(http.MethodPost, "/v1/triggers/"+api+"/fire", `{"a": 4}`, "Idempotency-Key", "one")
	r.tell("blueprintTriggers.fire", object{"triggerId": manual})
	r.tell("blueprint.execute", object{"id": asks})
	r.look(all)
	steps, until, pages := []string{"1s", "499ms", "1ms", "10m", "49m49.5s", "25h"}, "2030-05-03T03:00:00Z", 2
	if *thorough {
		steps, until, pages = append(steps, "9d"), "2030-06-01T12:00:00Z", 23
	}
	for _, step := range steps {
		r.call(http.MethodPost, "/clock/advance", `{"by": "`+step+`"}`)
		r.look(all)
		r.answer()
	}
	r.call(http.MethodPost, "/clock/advance", `{"to": "`+until+`"}`)
	r.look(all)
	for _, id := range all[5:10] {
		for page := range pages {
			r.ask("blueprintTriggers.history", object{"triggerId": id, "limit": 100, "offset": 100 * page})
		}
	}
}

// runs returns the newest runs.
func (r *recorded) runs() []any {
	r.T.Helper()
	runs, ok := at(r.ask("execution.listRecentExecutions", object{"limit": 100}), "logs").([]any)
	if !ok || len(runs) == 0 {
		r.T.Fatal("there are no runs")
	}
	return runs
}

// answer answers the question of a waiting run, if there is one.
func (r *recorded) answer() {
	for _, run := range r.runs() {
		if at(run, "status") != "paused" {
			continue
		}
		r.tell("execution.resume", object{"executionId": at(run, "executionData.executionId"), "nodeId": "q", "input": object{"n": 1}})
		return
	}
}

// look calls every query.
func (r *recorded) look(triggers []string) {
	for i, run := range r.runs() {
		if i < 30 {
			r.ask("execution.getExecutionStatus", object{"executionId": at(run, "executionData.executionId")})
		}
	}
	for _, id := range triggers {
		r.ask("blueprintTriggers.history", object{"triggerId": id, "limit": 50})
	}
	r.ask("blueprintTriggers.listAll", object{})
	r.ask("blueprint.list", object{})
	r.ask("execution.listRuns", object{"limit": 100})
	r.ask("execution.getStatistics", object{})
	r.ask("auditLog.list", object{})
	r.call(http.MethodGet, "/clock", "")
}

// TestSeededAnswers makes the same calls to new servers with the same seed: every response
// is the same, byte for byte, on any number of processors.
func TestSeededAnswers(t *testing.T) {
	t.Parallel()
	sameEachTime(t, 300, func(t *testing.T, settings []string) []string {
		outside := newFlaky(t)
		p := process.ServeWith(t, settings, "--ephemeral", "--seed-ids", "7", "--clock", "virtual=2030-05-01T12:00:00Z", "--allow-net", "127.0.0.1/32")
		r := &recorded{Server: p, aliases: []string{strings.TrimPrefix(outside.URL, "http://"), "the.outside.service"}}
		r.play(outside.URL)
		p.Stop()
		return r.out
	})
}

// sameEachTime runs a script against several servers concurrently, each with another number
// of processors, and returns the responses of the first, at least least of them.
func sameEachTime(t *testing.T, least int, play func(t *testing.T, settings []string) []string) []string {
	t.Helper()
	plays := make([][]string, 2)
	if *thorough {
		plays = make([][]string, 3)
	}
	t.Run("plays", func(t *testing.T) {
		for i := range plays {
			processors := []string{"8", "1", "2"}[i]
			t.Run(processors, func(t *testing.T) {
				t.Parallel()
				plays[i] = play(t, []string{"GOMAXPROCS=" + processors})
			})
		}
	})
	for i, answers := range plays[1:] {
		sameAnswers(t, i+1, plays[0], answers)
	}
	if len(plays[0]) < least {
		t.Errorf("only %d answers, want at least %v", len(plays[0]), least)
	}
	return plays[0]
}

// sameAnswers compares the responses of a server with those of the first one.
func sameAnswers(t *testing.T, time int, first, answers []string) {
	t.Helper()
	for i := range min(len(first), len(answers)) {
		if first[i] != answers[i] {
			t.Fatalf("time %d, answer %d of %d differs:\n%s", time, i, len(first), difference(first[i], answers[i]))
		}
	}
	if len(first) != len(answers) {
		t.Fatalf("time %d: %d answers, not %d", time, len(answers), len(first))
	}
}

// difference returns the first place where two texts differ.
func difference(a, b string) string {
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	cut := func(s string) string { return s[max(0, from-600):min(len(s), from+200)] }
	return a[:min(len(a), 200)] + "\n--- was\n" + cut(a) + "\n--- is\n" + cut(b)
}
