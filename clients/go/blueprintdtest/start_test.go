package blueprintdtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const seedText = `users: [{email: ada@example.org, name: Ada}]
blueprints:
  - title: Hook
    owner: ada@example.org
    blueprint_map: {nodes: [{id: a, type: log, title: A, config: {level: info, message: hi}}]}
    triggers: [{triggerType: webhook}]
`

const budgetText = `title: Ask
visibility: public
budget: {calls: 1, onBreach: fail}
blueprint_map: {nodes: [{id: a, type: log, title: A, config: {level: info, message: hi}}]}
`

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConnect(t *testing.T) {
	t.Setenv("BLUEPRINTD_PUBLIC_URL", "https://elsewhere.example") // of a service beside the tests
	own := Start(t, WithSandbox(), WithSeedFile(write(t, "seed.yaml", seedText)))
	if !strings.HasPrefix(own.URL, "http://127.0.0.1:") || len(own.Seed.Users) != 1 || own.Seed.Users[0].ID == "" {
		t.Fatalf("%s, %+v; want \"http://127.0.0.1:\" at the start, length 1 and ID not empty", own.URL, own.Seed)
	}
	if hooks := own.Seed.Blueprints[0].Triggers; len(hooks) != 1 || !strings.Contains(hooks[0].URL, hooks[0].ID) {
		t.Errorf("%+v, want length 1 and %q in it", hooks, hooks[0].ID)
	}
	server := Connect(t, own.APIHost+"/", own.APIKey)
	if server.URL != own.URL || !server.Now().Equal(own.Now()) {
		t.Errorf("%s, %s", server.URL, server.Now())
	}
	id := server.CreateFile(write(t, "ask.blueprint.yaml", budgetText))
	var stored struct {
		Visibility string         `json:"visibility"`
		Budget     map[string]any `json:"budget"`
	}
	if err := server.Query(t.Context(), "blueprint.get", map[string]any{"id": id}, &stored); err != nil || stored.Visibility != "public" || stored.Budget["calls"] != 1.0 {
		t.Errorf("%+v, %v; want Visibility public and calls %v", stored, err, 1.0)
	}
}

func TestExpect(t *testing.T) {
	t.Parallel()
	server := Start(t, WithSandbox())
	id := server.Create(ask)
	get := func(times *Times) Expectation {
		return Expectation{Match: Match{NodeType: "http-request"}, Times: times, Request: &Request{Method: "GET"}}
	}
	unmet := func(want ...string) {
		t.Helper()
		got := server.Unmet()
		if len(got) != len(want) {
			t.Fatalf("%q, want %d", got, len(want))
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("%q, want %q in it", got[i], want[i])
			}
		}
	}
	server.Expect(get(nil), get(Exactly(1)), get(AtLeast(2)), get(Between(2, 3)), get(Exactly(0)), get(Between(0, 1)))
	unmet("at least 1 time, got 0 times", "want once, got 0 times", "at least 2 times, got 0 times", "2 to 3 times, got 0 times")
	server.Execute(id, nil)
	unmet("at least 2 times, got once", "2 to 3 times, got once", "want 0 times, got once")
	server.Expect(get(AtLeast(1)), get(Between(0, 1)))
	server.Execute(id, nil)
	unmet()
	hook := server.CreateTrigger(id, "webhook", map[string]any{"secret": "a-secret-of-hooks"})
	server.Send(hook, map[string]any{"a": 1})
	server.Expect()
}
