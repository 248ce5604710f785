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
		"without a stub":        {`{}`, `{status: completed}`, false, false, blueprint.StatusFailed, false, "add to the test: stubs: {\"api.example.com\": {status: 200, body: {}}}"},
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
