package flows

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"example.org/flows/internal/blueprintd/blueprintdtest"
)

func greeting(text string) map[string]any {
	return map[string]any{"title": "Greeting", "blueprint_map": map[string]any{"nodes": []any{
		map[string]any{"id": "greet", "type": "template", "title": "Greet", "config": map[string]any{"text": text}},
	}}}
}

func TestRun(t *testing.T) {
	for i := range 40 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			server := blueprintdtest.Start(t)
			note(t, server)
			text := fmt.Sprintf("Hello %d!", i)
			got, err := (&Client{URL: server.URL, Key: server.APIKey}).Run(server.Create(greeting(text)))
			if err != nil || got != text {
				t.Errorf("%q, %v; want %v", got, err, text)
			}
		})
	}
}

func TestComesBack(t *testing.T) {
	t.Parallel()
	server := blueprintdtest.Start(t, blueprintdtest.WithSandbox(), blueprintdtest.WithSeedIDs(7))
	note(t, server)
	id := server.Create(greeting("Hello!"))
	server.Rules(blueprintdtest.Rule{Match: blueprintdtest.Match{Procedure: "blueprint.execute"}, Times: 2, Answer: blueprintdtest.Answer{Status: 429}})
	client := &Client{URL: server.URL, Key: server.APIKey, Attempts: 2}
	if _, err := client.Run(id); err == nil || !strings.Contains(err.Error(), "429 at attempt 2") {
		t.Errorf("%v, want an error and \"429 at attempt 2\" in it", err)
	}
	if got, err := client.Run(id); err != nil || got != "Hello!" {
		t.Errorf("%q, %v; want Hello!", got, err)
	}
	if calls := server.Calls(); len(calls) != 0 {
		t.Errorf("the calls are %+v, want none", calls)
	}
	server.Reset()
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	server := blueprintdtest.Start(t)
	note(t, server)
	flow := greeting("Good morning")
	flow["status"] = "published"
	server.CreateTrigger(server.Create(flow), "scheduled", map[string]any{"cron": "0 7 * * *"})
	if fired := server.Advance(7 * 24 * time.Hour); fired != 7 {
		t.Errorf("%d mornings in a week, want 7", fired)
	}
}

// note tells who runs the tests which processes there were.
func note(t *testing.T, server *blueprintdtest.Server) {
	file, err := os.OpenFile(os.Getenv("PIDS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fmt.Fprintln(file, server.PID)
}
