package blueprintdtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// schema is the part of a JSON Schema that the types of this package are compared with.
type schema struct {
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
}

// serverOnly are the members that only the server sets, in the rules and expectations that
// it returns.
var serverOnly = []string{"answered", "came"}

// TestMembers compares the types for runs and for the sandbox with the inputs of the server.
func TestMembers(t *testing.T) {
	data, err := os.ReadFile("../../openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct {
						Schema schema `json:"schema"`
					} `json:"content"`
				} `json:"requestBody"`
			} `json:"post"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &api); err != nil {
		t.Fatal(err)
	}
	rule := api.Components.Schemas["SandboxRules"].Properties["rules"]
	expectation := api.Components.Schemas["SandboxExpectations"].Properties["expect"]
	compareMembers(t, "Rule", reflect.TypeFor[Rule](), *rule.Items)
	execute := api.Paths["/api/trpc/blueprint.execute"].Post.RequestBody.Content["application/json"].Schema.Properties["json"]
	delete(execute.Properties, "id")
	compareMembers(t, "Input", reflect.TypeFor[Input](), execute)
	compareMembers(t, "Expectation", reflect.TypeFor[Expectation](), *expectation.Items)
}

// compareMembers compares the members of a struct, and of the structs in it, with a schema.
func compareMembers(t *testing.T, path string, goType reflect.Type, s schema) {
	t.Helper()
	for goType.Kind() == reflect.Pointer || goType.Kind() == reflect.Slice {
		if goType.Kind() == reflect.Slice {
			s = *s.Items
		}
		goType = goType.Elem()
	}
	if described := len(s.Properties) > 0; goType.Kind() != reflect.Struct || !described && strings.Contains(path, ".") {
		return
	}
	var got []string
	for i := range goType.NumField() {
		name, _, _ := strings.Cut(goType.Field(i).Tag.Get("json"), ",")
		got = append(got, name)
		compareMembers(t, path+"."+name, goType.Field(i).Type, s.Properties[name])
	}
	want := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Properties)), func(name string) bool { return slices.Contains(serverOnly, name) })
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the members of %s differ from those of the server (-want +got):\n%s", path, diff)
	}
}

// TestDocumentedRules sets the rules that the documentation prints.
func TestDocumentedRules(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/fake-backend.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(\\{\"rules\":.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Fatal("docs/fake-backend.md prints no rules")
	}
	server := Start(t, WithSandbox())
	for _, block := range blocks {
		var printed any
		var typed struct {
			Rules []Rule `json:"rules"`
		}
		decoder := json.NewDecoder(bytes.NewReader(block[1]))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&typed); err != nil {
			t.Fatalf("%s: %v", block[1], err)
		}
		if err := json.Unmarshal(block[1], &printed); err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(typed)
		var again any
		if err == nil {
			err = json.Unmarshal(encoded, &again)
		}
		if diff := cmp.Diff(printed, again); err != nil || diff != "" {
			t.Errorf("%v; the rules change on their way (-printed +sent):\n%s", err, diff)
		}
		server.Rules(typed.Rules...)
	}
}

// TestAnswers runs blueprints against each kind of answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	server := Start(t, WithSandbox())
	var model struct{ ID string }
	server.mutate("connection.create", object{"name": "model", "type": "ai-provider", "config": object{"provider": "openai", "baseUrl": "https://llm.example.org/v1", "apiKey": "k"}}, &model)
	prompt := server.Create(object{"title": "Prompt", "blueprint_map": object{"nodes": []any{
		object{"id": "say", "type": "ai-prompt", "title": "Say", "config": object{"connectionId": model.ID, "model": "m", "prompt": "Hello"}},
	}}})
	search := server.Create(object{"title": "Search", "blueprint_map": object{"nodes": []any{
		object{"id": "ask", "type": "http-request", "title": "Ask", "config": object{"method": "POST", "url": "https://api.example.org/search?page=2", "body": object{"q": "tea"}}},
	}}})
	server.Rules(
		Rule{Match: Match{NodeType: "ai-prompt"}, Times: 1, Answer: Answer{Text: "Hi", Usage: &Usage{InputTokens: 70, OutputTokens: 30}}},
		Rule{Match: Match{NodeType: "ai-prompt"}, Answer: Answer{JSON: map[string]any{"a": 1}}},
		Rule{Match: Match{Host: "api.example.org", Query: map[string]any{"page": "2"}, Body: map[string]any{"q": "coffee"}}, Answer: Answer{Status: 500}},
		Rule{Match: Match{Host: "api.example.org", Query: map[string]any{"page": "2"}, Body: map[string]any{"q": "tea"}}, Answer: Answer{Pause: &Pause{Prompt: "Which tea?", Kind: "approval"}}},
	)
	for _, want := range []string{`"text":"Hi"`, `{\"a\":1}`} {
		if run := server.Execute(prompt, nil); run.Status != "completed" || !strings.Contains(string(run.Output), want) {
			t.Errorf("the run is %+v with %s, want completed and %s in it", run, run.Output, want)
		}
	}
	if run := server.Execute(search, nil); run.Status != "paused" || run.AwaitingInput.Kind != "approval" || run.AwaitingInput.Prompt != "Which tea?" {
		t.Errorf("the run is %+v, want paused for the approval \"Which tea?\"", run)
	}
}
