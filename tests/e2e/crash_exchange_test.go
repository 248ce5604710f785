package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"blueprintd/foundation/recording"
	"blueprintd/tests/process"
)

// TestARecordedRunOutlivesAKill kills the program after a recorded run has called a
// service, and searches for the recorded traffic.
func TestARecordedRunOutlivesAKill(t *testing.T) {
	t.Parallel()
	world := newOutside(t)
	close(world.release)
	database := t.TempDir() + "/blueprintd.db"
	args := []string{"--db", database, "--allow-net", "127.0.0.0/8"}
	s := process.Serve(t, args...)
	call := func(id string) object {
		return node(id, "http-request", object{"method": "POST", "url": world.URL + "/" + id, "body": object{"n": 1}})
	}
	nodes := []any{call("first"), node("ask", "human", object{"prompt": "On?"}), call("second")}
	id := s.Create("recorded", nodes...)
	begun := s.Mutate("execution.executeBlueprintWithLogging", object{"nodes": nodes, "options": object{"blueprintId": id, "record": true}})
	recorded := at(begun, "executionId").(string)
	s.Until(recorded, "paused")
	kept := func() (all string) {
		t.Helper()
		for _, x := range at(s.Query("execution.getExchanges", object{"executionId": recorded}), "exchanges").([]any) {
			all += fmt.Sprint(at(x, "nodeId"), " ", at(x, "response.body.ok"), " ")
		}
		return all
	}
	if got := kept(); got != "first true " {
		t.Errorf("before: %s, want first true ", got)
	}
	s.Kill()
	s = process.Serve(t, args...)
	if got := kept(); got != "first true " {
		t.Errorf("after the kill: %s, want first true ", got)
	}
	s.Mutate("execution.resume", object{"executionId": recorded, "input": "yes"})
	s.Until(recorded, "completed")
	s.Kill()
	s = process.Serve(t, args...)
	if got := kept(); got != "first true second true " {
		t.Errorf("at the end, after another: %s; want first true second true ", got)
	}
	exportBeside(t, database, recorded)
}

// exportBeside exports a run while a server uses the database, as a file and as a test, and
// repeats both without the services.
func exportBeside(t *testing.T, database, id string) {
	t.Helper()
	folder := t.TempDir()
	portable, tests := folder+"/my.run.json", folder+"/tests"
	for _, args := range [][]string{
		{"export-run", id, "--db", database, "--out", portable},
		{"export-run", id, "--db", database, "--test", tests},
		{"test", tests, "--replay"},
		{"replay", portable},
	} {
		if r := process.Run(t, args...); r.Code != 0 {
			t.Errorf("%v: exit %d\n%s", args, r.Code, r.Said())
		}
	}
	data, err := os.ReadFile(portable)
	if err != nil {
		t.Fatal(err)
	}
	f, err := recording.Parse(data)
	if err != nil || f.Run.ID != id || len(f.Cassette.Exchanges) != 2 {
		t.Errorf("the file: %v %+v, want ID %v and length 2", err, f, id)
	}
	if r := process.Run(t, "export-run", id, "--db", database, "--out", portable); r.Code != exitFailed || !strings.Contains(r.Err, "exists already") {
		t.Errorf("a file that is there: exit %d, %s; want %v and \"exists already\" in it", r.Code, r.Err, exitFailed)
	}
}
