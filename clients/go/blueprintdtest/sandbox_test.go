package blueprintdtest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/clients/go/program"
)

// ask is a blueprint that asks another service.
var ask = map[string]any{"title": "Ask", "blueprint_map": map[string]any{"nodes": []any{
	map[string]any{"id": "ask", "type": "http-request", "title": "Ask", "config": map[string]any{"method": "GET", "url": "https://api.example.org/weather"}},
}}}

func TestSandbox(t *testing.T) {
	t.Parallel()
	server := Start(t, WithSandbox())
	id := server.Create(ask)
	server.Rules(
		Rule{Match: Match{Host: "api.example.org"}, Times: 1, Answer: Answer{Status: 418, Body: map[string]any{"kind": "teapot"}}},
		Rule{Match: Match{Procedure: "blueprint.get"}, Answer: Answer{Status: 429}},
	)
	if run := server.Execute(id, nil); run.Status != "failed" || run.Error == nil || run.Error.NodeID != "ask" {
		t.Errorf("the run is %+v, want Status failed, not nil and NodeID ask", run)
	}
	if run := server.Execute(id, nil); run.Status != "completed" {
		t.Errorf("the run is %+v, want Status completed", run)
	}
	calls := server.Calls()
	if len(calls) != 2 || calls[0].Response.Status != 418 || calls[1].Response.Status != 200 {
		t.Fatalf("the calls are %+v, want two with 418 and 200", calls)
	}
	if second := calls[1]; second.NodeID != "ask" || second.Request.URL != "https://api.example.org/weather" {
		t.Errorf("the second call is %+v, want that of ask for the weather", second)
	}
	var refusal *Error
	if err := server.Query(t.Context(), "blueprint.get", map[string]any{"id": id}, nil); !errors.As(err, &refusal) || refusal.HTTPStatus != 429 {
		t.Errorf("%v, want HTTPStatus 429", err)
	}
	server.Reset()
	if err := server.Query(t.Context(), "blueprint.get", map[string]any{"id": id}, nil); err != nil || len(server.Calls()) != 0 {
		t.Errorf("%v, %+v; want none", err, server.Calls())
	}
}

// TestUnmetExpectations stops a server that was not asked what it should have
// been: its end is a bad one, and says what was missed.
func TestUnmetExpectations(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "expect.yaml")
	if err := os.WriteFile(name, []byte("expect: [{match: {nodeType: http-request}, times: 1}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := program.Find("")
	if err != nil {
		t.Fatal(err)
	}
	var s settings
	for _, option := range []Option{WithSandbox(), WithArgs("--expect", name)} {
		option(&s)
	}
	server, err := launch(path, s.arguments())
	if err != nil {
		t.Fatal(err)
	}
	if err := server.stop(); err == nil || !strings.Contains(server.Logs(), "http-request") {
		t.Errorf("%v\n%s", err, server.Logs())
	}
}

func TestSeedFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "seed.yaml")
	text := "blueprints:\n  - {title: Sown, blueprint_map: {nodes: [{id: greet, type: template, title: Greet, config: {text: Hello!}}]}}\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var listed struct{ Data []struct{ ID, Title string } }
	server := Start(t, WithSeedFile(name))
	if err := server.Query(t.Context(), "blueprint.list", nil, &listed); err != nil || len(listed.Data) != 1 || listed.Data[0].Title != "Sown" {
		t.Fatalf("%+v, %v; want length 1 and Title Sown", listed, err)
	}
	if run := server.Execute(listed.Data[0].ID, nil); run.Status != "completed" {
		t.Errorf("the run is %+v, want Status completed", run)
	}
}

func TestSeedIDs(t *testing.T) {
	t.Parallel()
	first, second := Start(t, WithSeedIDs(7)), Start(t, WithSeedIDs(7))
	if a, b := first.Create(ask), second.Create(ask); a != b {
		t.Errorf("the ids are %s and %s", a, b)
	}
}
