package blueprintdtest

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blueprintd/clients/go/program"
)

func TestMain(m *testing.M) {
	if os.Getenv(program.Variable) == "" { // not one on the PATH, which may be any
		path, err := program.Built()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Setenv(program.Variable, path)
	}
	os.Exit(m.Run())
}

const hello = "testdata/hello.blueprint.yaml"

func TestExecute(t *testing.T) {
	t.Parallel()
	server := Start(t)
	id := server.CreateFile(hello)
	run := server.Execute(id, map[string]any{"greeting": "Servus"})
	if run.Status != "completed" || run.Error != nil || !strings.Contains(string(run.Outputs["english"]), "Servus, world!") {
		t.Errorf("the run is %+v, want Status completed, nil and \"Servus, world!\" in it", run)
	}
	e := server.Wait(run.ID)
	if e.Status != "completed" || e.Step("english") == nil || e.Step("german").Status != "skipped" || e.Step("nowhere") != nil {
		t.Errorf("the execution is %+v, want Status completed, english not nil, Status skipped and nowhere nil", e)
	}
}

// TestCreateFileResolvesNames stores a file that names connections and another file.
func TestCreateFileResolvesNames(t *testing.T) {
	t.Parallel()
	server := Start(t, WithSandbox())
	connect := func(name string) {
		t.Helper()
		if err := server.Mutate(t.Context(), "connection.create", map[string]any{"name": name, "type": "http", "config": map[string]any{"hosts": []any{name + ".example.org"}, "auth": map[string]any{"type": "bearer", "token": "token-of-" + name}}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	connect("shop")
	connect("crm")
	folder := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	get := func(name, host, config string) string {
		return "title: " + name + "\nblueprint_map:\n  nodes:\n    - {id: get, type: http-request, title: Get, config: {method: GET, url: 'https://" + host + ".example.org/orders', connectionId: " + config + "}}\n"
	}
	write("sub/child.blueprint.yaml", get("Child", "crm", "{$connection: crm}"))
	path := write("parent.blueprint.yaml", get("Parent", "shop", "{$connection: shop}")+
		"    - {id: note, type: template, title: Note, config: {text: '{\"$connection\": \"shop\"} 12345678901234567890'}}\n"+
		"    - {id: call, type: blueprint, title: Call, config: {blueprintId: {$blueprint: sub/child.blueprint.yaml}}}\n")
	if run := server.Execute(server.CreateFile(path), nil); run.Status != "completed" {
		t.Errorf("the run is %+v, want Status completed", run)
	}
	var called []string
	for _, call := range server.Calls() {
		called = append(called, call.Request.URL)
	}
	if want := []string{"https://shop.example.org/orders", "https://crm.example.org/orders"}; !slices.Equal(called, want) {
		t.Errorf("the calls are to %q, want %q", called, want)
	}
	connect("crm")
	for _, c := range []struct{ name, config, want string }{
		{"unknown", "{$connection: shopp}", `there is no connection "shopp"; the server has crm, shop`},
		{"ambiguous", "{$connection: crm}", `there are 2 connections with the name "crm"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(c.name+".blueprint.yaml", get(c.name, "crm", c.config))
			if _, err := server.createFile(path); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error and %q in it", err, c.want)
			}
		})
	}
	loop := write("loop.blueprint.yaml", "title: Loop\nblueprint_map:\n  nodes:\n    - {id: call, type: blueprint, title: Call, config: {blueprintId: {$blueprint: loop.blueprint.yaml}}}\n")
	if _, err := server.createFile(loop); err == nil || !strings.Contains(err.Error(), "refers to itself") {
		t.Errorf("%v, want an error and \"refers to itself\" in it", err)
	}
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	server := Start(t)
	triggers := server.Triggers(server.CreateFile(hello))
	if len(triggers) != 1 || triggers[0].Type != "webhook" || !triggers[0].IsActive {
		t.Fatalf("the triggers are %+v, want length 1, Type webhook and IsActive", triggers)
	}
	reply := server.Webhook(triggers[0].ID, map[string]any{"name": "Ada", "language": "de"})
	if reply.Status != http.StatusOK || !strings.Contains(string(reply.Body), "Guten Tag, Ada!") {
		t.Errorf("%d %s, want %v and \"Guten Tag, Ada!\" in it", reply.Status, reply.Body, http.StatusOK)
	}
	if reply := server.Webhook(triggers[0].ID, []byte("{")); reply.Status != http.StatusBadRequest {
		t.Errorf("a body that is no JSON: %d %s, want %v", reply.Status, reply.Body, http.StatusBadRequest)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	begin := time.Date(2030, 5, 1, 8, 0, 0, 0, time.UTC)
	server := Start(t, ClockAt(begin))
	id := server.Create(map[string]any{"title": "Nap", "status": "published", "blueprint_map": map[string]any{"nodes": []any{
		map[string]any{"id": "nap", "type": "wait", "title": "Nap", "config": map[string]any{"durationMs": 7_200_000}},
	}}})
	server.CreateTrigger(id, "scheduled", map[string]any{"cron": "0 9 * * *"})
	if fired := server.Advance(90 * time.Minute); fired != 1 {
		t.Errorf("%d runs were started, want 1", fired)
	}
	var listed struct{ Logs []struct{ ID, Status string } }
	if err := server.Query(t.Context(), "execution.listRecentExecutions", nil, &listed); err != nil || len(listed.Logs) != 1 || listed.Logs[0].Status == "completed" {
		t.Fatalf("the runs are %+v (%v), want length 1 and Status other than completed", listed.Logs, err)
	}
	server.AdvanceTo(begin.Add(4 * time.Hour))
	if err := server.Query(t.Context(), "execution.listRecentExecutions", nil, &listed); err != nil || listed.Logs[0].Status != "completed" {
		t.Errorf("the runs are %+v (%v), want Status completed", listed.Logs, err)
	}
	if now := server.Now(); !now.Equal(begin.Add(4 * time.Hour)) {
		t.Errorf("it is %s", now)
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	server := Start(t)
	id := server.Create(map[string]any{"title": "Order", "blueprint_map": map[string]any{"nodes": []any{
		map[string]any{"id": "approve", "type": "approval-gate", "title": "Approve", "config": map[string]any{"prompt": "Buy?"}},
	}}})
	run := server.Execute(id, nil)
	if run.Status != "paused" || run.AwaitingInput == nil || run.AwaitingInput.Prompt != "Buy?" {
		t.Fatalf("the run is %+v, want one that waits for an answer to Buy?", run)
	}
	if runs := server.Runs(id); len(runs) != 1 || runs[0].ExecutionID != run.ID || runs[0].Status != "paused" || runs[0].Awaiting != "approval" {
		t.Errorf("the runs are %+v, want the one that waits for an approval", runs)
	}
	if e := server.Resume(run.ID, map[string]any{"approved": true}); e.Status != "completed" || string(e.Step("approve").Output) != `{"approved":true}` {
		t.Errorf("the run is %+v, want it completed and approved", e)
	}
	runs := server.Runs(id)
	if len(runs) != 1 || runs[0].Status != "completed" || runs[0].BlueprintTitle != "Order" || !runs[0].CreatedAt.Equal(server.Now()) {
		t.Errorf("the runs are %+v, want one of Order that completed at %s", runs, server.Now())
	}
	var refused *Error
	if _, err := server.Client.Resume(t.Context(), run.ID, nil); !errors.As(err, &refused) || refused.Code != "CONFLICT" {
		t.Errorf("an answer to a run that has ended: %v, want CONFLICT", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	server := Start(t, WithArgs("--rate-limit", "1", "--rate-burst", "3"))
	var refusal *Error
	err := server.Query(t.Context(), "blueprint.get", map[string]any{"id": "3fa85f64-5717-4562-b3fc-2c963f66afa6"}, nil)
	if !errors.As(err, &refusal) || refusal.Message == "" {
		t.Fatalf("%+v, want a refusal with a message", err)
	}
	if refusal.Code != "NOT_FOUND" || refusal.HTTPStatus != 404 || refusal.Path != "blueprint.get" {
		t.Errorf("%+v, want NOT_FOUND, 404 and blueprint.get", refusal)
	}
	err = server.Mutate(t.Context(), "blueprint.create", map[string]any{"title": 1}, nil)
	if !errors.As(err, &refusal) || refusal.Code != "BAD_REQUEST" || len(refusal.Issues) == 0 || refusal.Issues[0].Path[0] != "title" {
		t.Errorf("%+v, want Code BAD_REQUEST, some and Path title", err)
	}
	err = server.Query(t.Context(), "nothing.here", nil, nil)
	if !errors.As(err, &refusal) || refusal.Code != "NOT_FOUND" {
		t.Errorf("%+v, want Code NOT_FOUND", err)
	}
	for range 3 {
		err = server.Query(t.Context(), "server.getInfo", nil, nil)
	}
	if !errors.As(err, &refusal) || refusal.Code != "TOO_MANY_REQUESTS" || refusal.RetryAfter < time.Second {
		t.Errorf("%+v, want Code TOO_MANY_REQUESTS and RetryAfter at least %v", err, time.Second)
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	var server *Server
	t.Run("server", func(t *testing.T) { server = Start(t, RealClock(), WithArgs("--log-format", "json")) })
	if log := server.Logs(); !strings.Contains(log, `"msg":"serving"`) || !strings.Contains(log, `"msg":"stopped"`) {
		t.Errorf("the log is %q, want \"msg\":\"serving\" in it and \"msg\":\"stopped\" in it", log)
	}
	var end tail
	for i := range 3 * mostLog / 8 {
		fmt.Fprintf(&end, "%7d\n", i)
	}
	if got := end.String(); len(got) != mostLog || !strings.HasSuffix(got, fmt.Sprintf("%7d\n", 3*mostLog/8-1)) || len(end.text) > 2*mostLog {
		t.Errorf("%d bytes are kept, %d shown; want %v, %q at the end and at most %v", len(end.text), len(got), mostLog, fmt.Sprintf("%7d\n", 3*mostLog/8-1), 2*mostLog)
	}
}

func TestNoServer(t *testing.T) {
	compiler, err := exec.LookPath("go") // a program that is none of ours
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, args, want string }{
		{os.Getenv(program.Variable), "--nonsense", "nonsense"},
		{compiler, "", "did not become ready"},
		{"testdata/nowhere", "", "which is no program"},
	} {
		t.Run(c.path, func(t *testing.T) {
			path, err := program.Find(c.path)
			if err == nil {
				_, err = launch(path, (&settings{args: []string{c.args}}).arguments())
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v, want an error and %q in it", c.path, c.args, err, c.want)
			}
		})
	}
	t.Setenv(program.Variable, "testdata")
	if _, err := program.Find(""); err == nil || !strings.Contains(err.Error(), program.Variable+" names testdata") {
		t.Errorf("%v, want an error and %q in it", err, program.Variable+" names testdata")
	}
}
