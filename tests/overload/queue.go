package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"blueprintd/tests/process"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers of the databases
	_ "modernc.org/sqlite"
)

// runs returns the state of every run in a database, read-only and without the server.
func runs(database string) (map[string]string, error) {
	driver, source := "sqlite", "file:"+database+"?mode=ro"
	if strings.Contains(database, "://") {
		driver, source = "pgx", database
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query("SELECT id, status FROM executions")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]string{}
	for rows.Next() {
		var id, status string
		if err := rows.Scan(&id, &status); err != nil {
			return nil, err
		}
		all[id] = status
	}
	return all, rows.Err()
}

// playQueue starts runs that do not end, until no more can be queued.
func (s *stage) playQueue(ctx context.Context, sc *scene) error {
	hold := make(chan struct{})
	stub := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}))
	defer stub.Close()
	open := func() {
		select {
		case <-hold:
		default:
			close(hold)
		}
	}
	defer open()
	const running, queued = 50, 200
	p, err := s.launch(ctx, "queue", "--rate-limit", "0", "--max-running", fmt.Sprint(running), "--max-queued", fmt.Sprint(queued))
	if err != nil {
		return err
	}
	defer p.kill()
	call := process.Node("call", "http-request", object{"url": stub.URL})
	call["timeoutMs"] = 600_000
	hang, err := p.webhook(ctx, "hang", "", call)
	if err != nil {
		return err
	}
	var acknowledged []string
	flood := func(wanted string, requests, size int, right func(accepted int) bool) error {
		process.ForgetPeak(p.Pid())
		r, err := perform(ctx, job{Kind: "flood", Address: p.address, Paths: []string{hang}, Connections: 64, Requests: requests, Size: size})
		if err != nil {
			return err
		}
		_, peak, err := process.Memory(p.Pid())
		accepted := r.Counts["202"]
		sc.demand(right(accepted) && total(r) == accepted+r.Counts["503"]+r.Counts["429"], wanted, "%s", counts(r))
		sc.demand(peak <= mostMemory, "memory at most "+mebibytes(mostMemory), "at most %s", mebibytes(peak))
		acknowledged = append(acknowledged, r.IDs...)
		return err
	}
	if err := flood("64 MiB of input accepted, the others refused with 503 and Retry-After", 400, 1<<20, func(n int) bool { return n >= 60 && n <= 64 }); err != nil {
		return err
	}
	before := len(acknowledged)
	// One trigger leaves a ninth of the slots and of the queue to others.
	mayRun, mayWait := running-running/9, queued-queued/9
	if err := flood(fmt.Sprintf("about %d running, %d waiting, the others refused with 429 and Retry-After", mayRun, mayWait), 3000, 0, func(n int) bool {
		return before+n >= mayRun+mayWait-2 && before+n <= mayRun+mayWait+2
	}); err != nil {
		return err
	}
	open()
	stored := map[string]string{}
	for end := now().Add(time.Minute); now().Before(end) && process.Pause(ctx, 200*time.Millisecond); {
		if stored, err = runs(p.database); err != nil {
			return err
		}
		under := 0
		for _, status := range stored {
			if status == "running" {
				under++
			}
		}
		if under == 0 {
			break
		}
	}
	ended := 0
	for _, id := range acknowledged {
		if stored[id] == "completed" {
			ended++
		}
	}
	sc.demand(ended == len(acknowledged) && len(stored) == ended, "every accepted run ends, no refused one runs", "%d of %d, %d stored", ended, len(acknowledged), len(stored))
	return nil
}
