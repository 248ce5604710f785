//go:build postgres

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/store/postgres"
	"blueprintd/tests/process"
)

// previousVariable names the program of the last release, for TestNodesOfTwoVersions.
const previousVariable = "BLUEPRINTD_TEST_PREVIOUS"

// twoVersions returns the programs of two versions: that of the last release and the present
// one or, without a release, the present one and one whose tables have a form more.
func twoVersions(t *testing.T) (older, newer string) {
	t.Helper()
	if previous := os.Getenv(previousVariable); previous != "" {
		return previous, process.Path(t)
	}
	work := t.TempDir()
	step := fmt.Sprintf("store/postgres/steps/%04d_try.sql", postgres.Form()+1)
	added, overlay := filepath.Join(work, "step.sql"), filepath.Join(work, "overlay.json")
	text := fmt.Sprintf("-- readable from: %d\nALTER TABLE users ADD COLUMN note text;\nALTER TABLE executions ADD COLUMN note text;\nCREATE TABLE notes (\n  id bigint PRIMARY KEY\n);\n", postgres.Form())
	if err := os.WriteFile(added, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(process.File(t, "store/postgres"), "steps", filepath.Base(step)): added}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		t.Fatal(err)
	}
	newer = filepath.Join(work, "blueprintd")
	if err := process.BuildIn(t.Context(), process.File(t, "store/.."), newer, "-overlay", overlay); err != nil {
		t.Fatal(err)
	}
	return process.Path(t), newer
}

// TestNodesOfTwoVersions upgrades a server of two processes one after the other, and one of them
// back in between, while clients use it.
func TestNodesOfTwoVersions(t *testing.T) {
	t.Parallel()
	older, newer := twoVersions(t)
	database, key := process.PostgreSQL(t), filepath.Join(t.TempDir(), "key")
	process.Command(t, "master-key", "create", key)
	start := func(program, name string) *process.Server {
		return process.ServeProgram(t, program, nil, "--database", database, "--master-key-file", key, "--node-name", name)
	}
	a, b := start(older, "n1"), start(older, "n2")
	asked := a.Launch(a.Create("human", human...), human...)
	a.Until(asked, "paused")
	id := a.Create("hello", node("hi", "template", object{"text": "Hello {{inputData.n}}"}))
	hook := "/webhooks/blueprint/" + at(a.Mutate("blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{}}), "id").(string)

	// A client of the process that does not stop; the others are used between their restarts.
	var clients sync.WaitGroup
	ended, accepted := make(chan struct{}), []string{}
	deliver := func(s *process.Server, n int) string {
		status, answer := s.Post(hook, "", object{"n": n})
		if status != http.StatusAccepted {
			t.Errorf("delivery %d: status %d, %v, want 202", n, status, answer)
			return ""
		}
		return at(answer, "executionId").(string)
	}
	c := start(newer, "n3")
	if !strings.Contains(c.Log.String(), "database upgraded") && os.Getenv(previousVariable) == "" {
		t.Errorf("the newer version did not upgrade the database: %s", c.Log)
	}
	clients.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-ended:
				return
			default:
				accepted = append(accepted, deliver(c, n))
				process.Pause(t.Context(), 20*time.Millisecond)
			}
		}
	})
	// use delivers to each process, reads the run in another, and waits until each of them sees
	// the others, ordered by their starts.
	use := func(order string) {
		t.Helper()
		servers := []*process.Server{a, b, c}
		for i, s := range servers {
			servers[(i+1)%len(servers)].Until(deliver(s, -i), "completed")
			awaitNodes(t, s, strings.Fields(order)...)
		}
	}
	use("n1 n2 n3") // two of the older version, one of the newer

	a.Stop() // another takes over its run
	b.Until(asked, "paused")
	a = start(newer, "n1")
	b.Stop()
	b = start(older, "n2") // on the tables of the newer version
	use("n3 n1 n2")
	asked2 := b.Launch(b.Create("human again", human...), human...)
	b.Until(asked2, "paused")
	a.Mutate("execution.resume", object{"executionId": asked2, "nodeId": "ask", "input": object{"name": "Eve"}})
	b.Until(asked2, "completed")
	b.Stop()
	b = start(newer, "n2")
	use("n3 n1 n2") // all of the newer version

	close(ended)
	clients.Wait()
	for _, run := range accepted {
		if record := a.Until(run, "completed", "failed"); record["status"] != "completed" {
			t.Errorf("run %s: %v", run, record)
		}
	}
	if len(accepted) < 10 {
		t.Errorf("only %d deliveries during the upgrade", len(accepted))
	}
	b.Mutate("execution.resume", object{"executionId": asked, "nodeId": "ask", "input": object{"name": "Ada"}})
	if record := c.Until(asked, "completed"); !strings.Contains(fmt.Sprint(record), "Hello Ada") {
		t.Errorf("the answer is not in the run: %v", record)
	}
}
