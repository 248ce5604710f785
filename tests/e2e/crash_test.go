package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"blueprintd/tests/process"
)

// outside is the service that runs call. Until release is closed, calls hang.
type outside struct {
	*httptest.Server
	mu      sync.Mutex
	calls   map[string][]string // path -> idempotency keys
	arrived chan string
	release chan struct{}
}

func newOutside(t *testing.T) *outside {
	o := &outside{calls: map[string][]string{}, arrived: make(chan string, 100), release: make(chan struct{})}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.calls[r.URL.Path] = append(o.calls[r.URL.Path], r.Header.Get("Idempotency-Key"))
		o.mu.Unlock()
		o.arrived <- r.URL.Path
		select {
		case <-o.release:
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"ok":true}`)
	}))
	t.Cleanup(func() {
		o.CloseClientConnections()
		o.Close()
	})
	return o
}

func (o *outside) keys(path string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.calls[path]...)
}

// TestKilledServerGoesOn kills the program while runs of each kind are in progress, and
// checks each after the next start.
func TestKilledServerGoesOn(t *testing.T) {
	t.Parallel()
	world := newOutside(t)
	database := t.TempDir() + "/blueprintd.db"
	args := []string{"--db", database, "--allow-net", "127.0.0.0/8", "--max-running", "4"}
	s := process.Serve(t, args...)

	call := func(path string, more ...any) object {
		return node("call", "http-request", object{"method": "POST", "url": world.URL + path, "body": object{"n": 1}}, more...)
	}
	before, after := node("before", "set", object{"values": object{"kept": "{{execution.id}}"}}), node("after", "template", object{"text": "{{kept}} done"})
	again := []any{before, call("/again"), after}
	once := []any{before, call("/once", "effect", "once"), after}
	wait := []any{before, node("wait", "wait", object{"durationMs": 1500}), after}
	human := []any{before, node("ask", "human", object{"prompt": "Your name?"}), node("greet", "template", object{"text": "Hello {{input.name}}"})}
	pure := []any{before, after}

	finished := s.Launch(s.Create("pure", pure...), pure...)
	finishedRecord := s.Until(finished, "completed")
	waiting := s.Launch(s.Create("wait", wait...), wait...)
	paused := s.Launch(s.Create("human", human...), human...)
	s.Until(paused, "paused")
	onceRun := s.Launch(s.Create("once", once...), once...)
	againBlueprint := s.Create("again", again...)
	var againRuns []string
	for range 3 {
		againRuns = append(againRuns, s.Launch(againBlueprint, again...))
	}
	for range 4 {
		<-world.arrived // all four slots are used by hanging nodes
	}
	var queued []string
	pureBlueprint := s.Create("queued", pure...)
	for range 5 {
		queued = append(queued, s.Launch(pureBlueprint, pure...))
	}
	for _, id := range queued {
		if record := s.Until(id, "running"); record["progress"] != 0.0 {
			t.Errorf("queued run %s has progress %v, want %v", id, record["progress"], 0.0)
		}
	}

	s.Kill()
	close(world.release)
	s = process.Serve(t, args...)

	if record := s.Until(finished, "completed"); fmt.Sprint(record) != fmt.Sprint(finishedRecord) {
		t.Errorf("a finished run changed:\n%v\n%v, want %v", finishedRecord, record, fmt.Sprint(finishedRecord))
	}
	keys := map[string]int{}
	for _, id := range againRuns {
		s.Until(id, "completed")
	}
	for _, key := range world.keys("/again") {
		keys[key]++
	}
	for _, id := range againRuns {
		if n := keys[id+"/call"]; n != 2 {
			t.Errorf("the call of %s was made %d times under its key, want 2: once before the kill and once after", id, n)
		}
	}
	if len(keys) != len(againRuns) {
		t.Errorf("idempotency keys: %v, want length %v", keys, len(againRuns))
	}

	record := s.Until(onceRun, "paused")
	if kind := at(record, "awaitingInput.kind"); kind != "unknown-outcome" {
		t.Errorf("a once node that was cut off awaits %v, want unknown-outcome", kind)
	}
	if n := len(world.keys("/once")); n != 1 {
		t.Errorf("a once node ran %d times, want 1", n)
	}
	s.Mutate("execution.resume", object{"executionId": onceRun, "input": object{"action": "mark-done", "output": object{"seen": true}}})
	s.Until(onceRun, "completed")
	if n := len(world.keys("/once")); n != 1 {
		t.Errorf("a once node ran %d times after it was marked as done, want 1", n)
	}

	s.Until(waiting, "completed")
	s.Until(paused, "paused")
	s.Mutate("execution.resume", object{"executionId": paused, "input": object{"name": "Ada"}})
	if record := s.Until(paused, "completed"); at(record["steps"].([]any)[2], "output.text") != "Hello Ada" {
		t.Errorf("the answered run gave %v, want output.text Hello Ada", record["steps"])
	}
	for _, id := range queued {
		record := s.Until(id, "completed")
		if text := at(record["steps"].([]any)[1], "output.text"); text != id+" done" {
			t.Errorf("queued run %s gave %v, want %v", id, text, id+" done")
		}
	}
	s.Stop()
}

// TestSecondServerIsRefused starts two servers on one database.
func TestSecondServerIsRefused(t *testing.T) {
	t.Parallel()
	database := t.TempDir() + "/blueprintd.db"
	first := process.Serve(t, "--db", database)
	second := process.Run(t, "serve", "--addr", "127.0.0.1:0", "--db", database)
	if second.Code != exitFailed {
		t.Fatalf("exit code %d, want %d\n%s", second.Code, exitFailed, second.Err)
	}
	if text := second.Err; !containsAll(text, database, "hint: ", fmt.Sprint(first.Pid())) {
		t.Errorf("the refusal says: %s", text)
	}
	first.Stop()
}
