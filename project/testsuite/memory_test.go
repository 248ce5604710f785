package testsuite

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/engine/script"
	"blueprintd/foundation/recording"
)

func TestMemory(t *testing.T) {
	m, issues := blueprint.ParseMap(map[string]any{"nodes": []any{
		map[string]any{"id": "get", "type": "http-request", "title": "Get", "config": map[string]any{"url": "https://api.example.com/x"}},
		map[string]any{"id": "ask", "type": "human", "title": "Ask", "config": map[string]any{"prompt": "?", "expiresMs": json.Number("1000")}},
	}})
	if issues != nil {
		t.Fatal(issues)
	}
	memory := &Memory{Definition: &blueprint.Definition{BlueprintID: "3fa85f64-5717-4562-b3fc-2c963f66afa6", Map: m}, Scripts: script.New(script.Options{}), Errors: io.Discard}
	for name, test := range map[string]struct {
		stubs, expect string
		fakes         bool
		cassette      bool
		status        blueprint.Status
		passed        bool
		part          string // of the lines, or of the error of the run
	}{
		"without a stub":        {`{}`, `{status: completed}`, false, false, blueprint.StatusFailed, false, "add to the test: stubs: {\"api.example.com\": {\"status\": 200, \"body\": {}}}"},
		"without a fake":        {`{}`, `{}`, true, false, blueprint.StatusFailed, true, `there is no fake for GET https://api.example.com/x; add fakes: {"api.example.com": {"status": 200, "body": {}}}`},
		"stops at the question": {`{get: {output: 1}}`, `{}`, true, false, blueprint.StatusPaused, true, ""},
		"waits for its end":     {`{get: {output: 1}}`, `{status: failed}`, false, false, blueprint.StatusFailed, true, "no answer in time"},
		"with an answer":        {`{get: {output: 1}, ask: {output: yes}, other.example.com: {status: 200}}`, `{status: completed, output: 'yes'}`, false, false, blueprint.StatusCompleted, true, ""},
		"with a cassette":       {`{ask: {output: yes}}`, `{status: completed}`, false, true, blueprint.StatusCompleted, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cassette := ""
			memory.Fakes, memory.Cassettes = test.fakes, nil
			if test.cassette {
				cassette = "cassette: x.cassette.json, "
				memory.Cassettes = map[string]*recording.Cassette{"x.cassette.json": recording.NewCassette([]blueprint.Exchange{{
					NodeID: "get", Request: blueprint.ExchangeRequest{Method: "GET", URL: "https://api.example.com/x"}, Response: &blueprint.ExchangeResponse{Status: 200},
				}}, nil)}
			}
			data := []byte("blueprint: x\ntests: [{name: t, " + cassette + "stubs: " + test.stubs + ", expect: " + test.expect + "}]\n")
			file, issues, err := Read("tests", data, true)
			if err != nil || issues != nil {
				t.Fatal(err, issues)
			}
			out := memory.Run(t.Context(), "tests", data, file.Tests[0])
			if out.Recording == nil || out.Recording.Status != test.status || out.Passed() != test.passed {
				t.Fatalf("got %+v and %v, want %s", out.Recording, out.Lines(false), test.status)
			}
			said := strings.Join(out.Lines(false), "\n")
			if failure := out.Recording.Failure; failure != nil {
				said += failure.Message
			}
			if !strings.Contains(said, test.part) {
				t.Errorf("it says %s, want %s in it", said, test.part)
			}
			if complete := !strings.HasPrefix(name, "without"); (out.Expectation != nil) != complete {
				t.Errorf("the expectation is %v", out.Expectation)
			}
			if unused := strings.Join(out.Unused, " "); (unused == "other.example.com") != strings.Contains(test.stubs, "other") {
				t.Errorf("unused are %q", unused)
			}
		})
	}
	if memory.Definition.BlueprintID == testedID {
		t.Error("a run changed the definition")
	}
}

// TestMemoryIsBounded runs a blueprint that starts many others, each of which is small: the run
// ends when all of them together keep more than there is room for.
func TestMemoryIsBounded(t *testing.T) {
	parsed := func(nodes ...any) *blueprint.Map {
		t.Helper()
		m, issues := blueprint.ParseMap(map[string]any{"nodes": nodes})
		if issues != nil {
			t.Fatal(issues)
		}
		return m
	}
	const child = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
	items := make([]any, 200)
	for i := range items {
		items[i] = json.Number("1")
	}
	memory := &Memory{
		Definition: &blueprint.Definition{BlueprintID: "6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b03", Map: parsed(map[string]any{"id": "each", "type": "for-each", "title": "Each", "config": map[string]any{
			"items": items, "nodes": []any{
				map[string]any{"id": "call", "type": "blueprint", "title": "Call", "config": map[string]any{"blueprintId": child}},
				map[string]any{"id": "done", "type": "set", "title": "Done", "config": map[string]any{"values": map[string]any{}}},
			},
		}})},
		Others: map[string]*blueprint.Definition{child: {BlueprintID: child, Map: parsed(
			map[string]any{"id": "a", "type": "template", "title": "A", "config": map[string]any{"text": strings.Repeat("x", 10_000)}},
			map[string]any{"id": "b", "type": "set", "title": "B", "config": map[string]any{"values": map[string]any{}}},
		)}},
		Scripts: script.New(script.Options{}), Errors: io.Discard, Fakes: true,
	}
	data := []byte("blueprint: x\ntests: [{name: t}]\n")
	file, issues, err := Read("tests", data, true)
	if err != nil || issues != nil {
		t.Fatal(err, issues)
	}
	for name, test := range map[string]struct {
		room   int
		status blueprint.Status
	}{"without a limit": {0, blueprint.StatusCompleted}, "with room": {64 << 20, blueprint.StatusCompleted}, "with too little": {512 << 10, blueprint.StatusFailed}} {
		t.Run(name, func(t *testing.T) {
			memory.Room = test.room
			out := memory.Run(t.Context(), "tests", data, file.Tests[0])
			if out.Recording == nil || out.Recording.Status != test.status {
				t.Fatalf("got %+v and %v, want %s", out.Recording, out.Lines(false), test.status)
			}
			if test.status != blueprint.StatusFailed {
				return
			}
			if failure := out.Recording.Failure; !strings.Contains(failure.Message, "keep more than 512 KiB") {
				t.Errorf("it failed with %q, want the limit in it", failure.Message)
			}
			calls := 0
			for _, step := range out.Recording.Steps {
				if strings.HasSuffix(step.NodeID, "/call") && step.Status == blueprint.StepCompleted {
					calls++
				}
			}
			if calls == 0 || calls > 150 {
				t.Errorf("%d of 200 calls were made, want some, and that it stopped", calls)
			}
		})
	}
}
