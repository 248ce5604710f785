package nodes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/engine/nodes/mcp"
)

func TestTools(t *testing.T) {
	w := newWorld(t,
		says("Let me see.", `1|echo|{"n":1}`, `2|fail|{}`, `3|refuse|{}`, `4|nothing|{}`, `5|echo|{"n":"x"}`, `6|echo|[`, `7|we_ird|{}`, `8|second_one_echo|{"n":2}`),
		says("Done."))
	w.serve(otherID, "Shed", "echo")
	output, result, err := w.run("openai", `{MODEL,"prompt":"Hi","mcpConnectionIds":["TOOLS","OTHER"]}`, nil)
	if err != nil || asJSON(t, output) != `{"steps":2,"text":"Done.","toolCalls":8,"usage":{"inputTokens":20,"outputTokens":4}}` {
		t.Fatalf("got %v, %v", output, err)
	}
	if result.Tokens != 24 {
		t.Errorf("%d tokens, want 24", result.Tokens)
	}
	if s := result.MCPServers; len(s) != 2 || s[0].Name != "Workshop" || s[1].Name != "Shed" || s[0].Address == s[1].Address {
		t.Errorf("servers %+v, want Workshop and Shed at two addresses", s)
	}
	if want := []string{`Workshop.echo{"n":1}`, `Workshop.fail{}`, `Workshop.refuse{}`, `Workshop.we ird{}`, `Shed.echo{"n":2}`}; !slices.Equal(w.called, want) {
		t.Errorf("called %q, want %v", w.called, want)
	}
	var names []string
	for _, tool := range w.asked[0]["tools"].([]any) {
		names = append(names, tool.(map[string]any)["function"].(map[string]any)["name"].(string))
	}
	if want := "echo fail refuse we_ird second_one_echo"; strings.Join(names, " ") != want {
		t.Errorf("tools %v, want %v", names, want)
	}
	messages := w.asked[1]["messages"].([]any)
	var told []string
	for _, message := range messages[2:] {
		told = append(told, message.(map[string]any)["content"].(string))
	}
	for i, want := range []string{`echo says {"n":1}`, `fail says {}`, `refused: never mind`, `there is no tool of this name`, `the arguments do not fit: n: must be a whole number`, `the arguments are not a JSON object`, `we ird says {}`, `echo says {"n":2}`} {
		if len(told) <= i || !strings.Contains(told[i], want) {
			t.Errorf("told %q, want %q", told[i], want)
		}
	}
	if got := w.logged[1]; got != `debug called a tool {"isError":false,"server":"Workshop","tool":"echo"}` {
		t.Errorf("logged %q", w.logged)
	}
	if strings.Contains(strings.Join(w.logged, " "), "says") {
		t.Error("a log line shows what a tool said")
	}
}

func TestTooManySteps(t *testing.T) {
	call := says("", `1|echo|{}`)
	w := newWorld(t, call, call, call)
	_, result, err := w.run("openai", `{MODEL,"prompt":"Hi","mcpConnectionIds":["TOOLS"],"maxSteps":2}`, nil)
	got := []any{codeOf(err), len(w.called), len(w.asked), result.Tokens, len(result.MCPServers)}
	if diff := cmp.Diff([]any{"too_many_steps", 1, 2, int64(24), 1}, got); diff != "" {
		t.Errorf("code, calls, questions, tokens and servers (-want +got):\n%s", diff)
	}
}

// A server that is gone is a failure of the node, not something to tell the
// model.
func TestLostTools(t *testing.T) {
	w := newWorld(t, says("", `1|echo|{}`))
	w.budget = func() error { w.tools[toolsID].Close(); return nil }
	_, _, err := w.run("openai", `{MODEL,"prompt":"Hi","mcpConnectionIds":["TOOLS"]}`, nil)
	var f *blueprint.Failure
	if !errors.As(err, &f) || f.Code != "connect_failed" || f.NotSent {
		t.Errorf("got %+v, want Code connect_failed and not NotSent", err)
	}
	if _, _, err = newWorldWithout(t).run("openai", `{MODEL,"prompt":"Hi","mcpConnectionIds":["TOOLS"]}`, nil); !errors.As(err, &f) || !f.NotSent {
		t.Errorf("got %+v", err)
	}
	w = newWorld(t)
	tools := make([]string, 130)
	for i := range tools {
		tools[i] = fmt.Sprint("tool", i)
	}
	w.serve(otherID, "Big", tools...)
	if _, _, err = w.run("openai", `{MODEL,"prompt":"Hi","mcpConnectionIds":["OTHER"]}`, nil); codeOf(err) != "too_large" {
		t.Errorf("got %v, want too_large", err)
	}
}

func newWorldWithout(t *testing.T) *services {
	w := newWorld(t)
	w.tools[toolsID].Close()
	return w
}

func TestToolNames(t *testing.T) {
	long := strings.Repeat("x", 80)
	b := &toolbox{byName: map[string]tool{}}
	for _, step := range []struct{ own, want string }{
		{"get.weather/now é", "get_weather_now__"}, {"", "tool"}, {"", "c_1_"}, {"", "c_1__2"}, {"", "c_1__3"},
		{long, long[:64]}, {long, "c_1_" + long[:60]}, {long, "c_1_" + long[:58] + "_2"},
	} {
		got := b.freeName(step.own, "c 1")
		if got != step.want || len(got) > maxToolName {
			t.Errorf("%q: %q, want %q of at most %d", step.own, got, step.want, maxToolName)
		}
		b.byName[got] = tool{}
	}
}

func TestResultTexts(t *testing.T) {
	for _, test := range []struct{ result, want string }{
		{`{"structured":{"a":1.50},"content":[{"type":"text","text":"x"}]}`, `{"a":1.50}`},
		{`{"content":[{"type":"text","text":"x"},{"type":"resource","resource":{"uri":"u","text":"y"}},{"type":"resource_link","uri":"u"},{"type":"image","data":"` + strings.Repeat("A", 3000) + `"},7]}`,
			"x\ny\n{\"type\":\"resource_link\",\"uri\":\"u\"}\n[content that cannot be shown]\n7"},
		{`{"content":[]}`, "(no content)"}, {`{}`, "(no content)"},
		{`{"content":[{"type":"text","text":"` + strings.Repeat("é", 60_000) + `"}]}`, strings.Repeat("é", 50_000) + "\n[the rest is omitted]"},
	} {
		t.Run(fmt.Sprintf("%.40s", test.want), func(t *testing.T) {
			value := object(t, test.result)
			content, _ := value["content"].([]any)
			if got := resultText(&mcp.Result{Structured: value["structured"], Content: content}); got != test.want {
				t.Errorf("%.80s: %.200s, want %v", test.result, got, test.want)
			}
		})
	}
	if got := asJSON(t, inputSchema(object(t, `{"$schema":"x","additionalProperties":false}`))); got != `{"additionalProperties":false,"properties":{},"type":"object"}` {
		t.Error(got)
	}
	if unfitArguments(map[string]any{"$ref": "https://elsewhere"}, nil) != "" {
		t.Error("a schema that cannot be checked is the server's matter")
	}
}
