package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"blueprintd/tests/process"
)

// started counts the rows of a trigger's ledger that started a run.
func started(p *process.Server, triggerID string) (count int) {
	p.T.Helper()
	for offset := 0; ; offset += 100 {
		rows, _ := at(p.Query("blueprintTriggers.history", object{"triggerId": triggerID, "limit": 100, "offset": offset}), "firings").([]any)
		for _, row := range rows {
			if at(row, "decision") == "started" {
				count++
			}
		}
		if len(rows) < 100 {
			return count
		}
	}
}

// TestKilledServerLosesNoEvent kills the program while runs with subscribed events end:
// each event is delivered exactly once.
func TestKilledServerLosesNoEvent(t *testing.T) {
	t.Parallel()
	database := t.TempDir() + "/blueprintd.db"
	s := process.Serve(t, "--db", database)
	pure := node("a", "template", object{"text": "{{inputData.n}}"})
	trigger := func(blueprintID, kind string, config object) string {
		t.Helper()
		return at(s.Mutate("blueprintTriggers.create", object{"blueprintId": blueprintID, "triggerType": kind, "config": config}), "id").(string)
	}
	source := s.Create("source", pure)
	hook := trigger(source, "webhook", object{})
	hears := trigger(s.Create("hears", node("b", "template", object{"text": "{{inputData.data.output.text}}"})), "event", object{"event": "execution.completed", "blueprintId": source})
	for round := range 3 {
		var senders sync.WaitGroup
		var sent atomic.Int64
		some, host := make(chan struct{}), s.Host
		for sender := range 8 {
			senders.Go(func() {
				for n := range 1000 {
					response, err := http.Post(fmt.Sprintf("%s/webhooks/blueprint/%s", host, hook), "application/json", bytes.NewReader(fmt.Appendf(nil, `{"n":"%d %d"}`, sender, n)))
					if err != nil {
						return // it was killed
					}
					response.Body.Close()
					if sent.Add(1) == int64(60+50*round) {
						close(some)
					}
				}
			})
		}
		<-some
		s.Kill()
		senders.Wait()
		s = process.Serve(t, "--db", database)
	}
	s.Stop()
	s = process.Serve(t, "--db", database, "--clock", "virtual=2100-01-01T00:00:00Z")
	if status, answer := s.Post("/clock/advance", process.Key, object{"by": "10m"}); status != http.StatusOK {
		t.Fatalf("%d %v, want %v", status, answer, http.StatusOK)
	}
	fired, heard := started(s, hook), started(s, hears)
	if fired < 60+110+160 || heard != fired {
		t.Errorf("%d runs ended, %d of their ends were heard; want at least %v and %v", fired, heard, 60+110+160, fired)
	}
	t.Logf("%d ends", fired)
	s.Stop()
}
