package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"blueprintd/tests/process"

	"github.com/oklog/ulid/v2"
)

// insertArgument makes this program the inserter: it reads an insertJob from its standard
// input, runs it, and writes a result.
const insertArgument = "insert"

// insertJob stores the rows of a run repeatedly, without anything else: as many goroutines
// as there are connections in other rows submit rows to one writer, which commits whatever
// is queued.
type insertJob struct {
	Template    string // a database with one run and its firing
	Path        string // where to insert
	Bare        bool   // the bytes of both rows as one row of a table without indexes
	Connections int
	Warmup      time.Duration
	Length      time.Duration
}

// insertSettings are the settings of the server's writer connection.
var insertSettings = []string{"_foreign_keys=1", "_synchronous=FULL", "_pragma=journal_mode(wal)", "_pragma=temp_store(2)", "_pragma=cache_size(-8000)", "_pragma=wal_autocheckpoint(8000)"}

// maxBatch is the maximum number of runs in a commit, as in the server.
const maxBatch = 512

// templates makes two copies of the server's database with only one run of the trigger: one
// to read the rows from, and one to insert into. It returns the paths.
func templates(ctx context.Context, database, trigger, folder string) (template, indexed string, err error) {
	template, indexed = folder+"/template.db", folder+"/indexed.db"
	db, err := openDatabase(database)
	if err != nil {
		return "", "", err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", template); err != nil {
		return "", "", err
	}
	copied, err := openDatabase(template)
	if err != nil {
		return "", "", err
	}
	defer copied.Close()
	for _, statement := range []string{
		"DELETE FROM journal",
		"DELETE FROM executions WHERE seq <> (SELECT max(seq) FROM executions WHERE trigger_seq = (SELECT seq FROM triggers WHERE id = ?1) AND status = 'completed')",
		"DELETE FROM firings WHERE execution_id IS NOT (SELECT id FROM executions WHERE trigger_seq = (SELECT seq FROM triggers WHERE id = ?1))",
	} {
		if _, err := copied.ExecContext(ctx, statement, trigger); err != nil {
			return "", "", err
		}
	}
	_, err = copied.ExecContext(ctx, "VACUUM INTO ?", indexed)
	return template, indexed, err
}

func serveInsert(in io.Reader, out io.Writer) error {
	var job insertJob
	if err := json.NewDecoder(in).Decode(&job); err != nil {
		return err
	}
	r, err := insert(context.Background(), &job)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}

// sample returns the two rows that are inserted.
func sample(ctx context.Context, path string) (execution, firing stored, err error) {
	template, err := openDatabase(path, "_query_only=1")
	if err != nil {
		return execution, firing, err
	}
	defer template.Close()
	if execution, err = readRow(ctx, template, "SELECT * FROM executions"); err != nil {
		return execution, firing, err
	}
	firing, err = readRow(ctx, template, "SELECT * FROM firings")
	return execution, firing, err
}

// contentSize returns the bytes of both.
func contentSize(ctx context.Context, path string) (int, error) {
	execution, firing, err := sample(ctx, path)
	return execution.length() + firing.length(), err
}

func insert(ctx context.Context, job *insertJob) (*result, error) {
	execution, firing, err := sample(ctx, job.Template)
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(job.Path, insertSettings...)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	w, err := newInserter(ctx, db, job.Bare, execution, firing)
	if err != nil {
		return nil, err
	}
	return w.run(ctx, job)
}

// inserter is the only goroutine that writes.
type inserter struct {
	db         *sql.DB
	conn       *sql.Conn
	queue      chan chan struct{}
	begin, end *sql.Stmt
	row        func() error
	inserted   int64
	commits    int64 // during the measurement
	// Also during the measurement, which begins and ends with a commit.
	from, to  time.Time
	used, cpu time.Duration
}

func newInserter(ctx context.Context, db *sql.DB, bare bool, execution, firing stored) (*inserter, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &inserter{db: db, conn: conn}
	prepare := func(query string) (statement *sql.Stmt) {
		if err == nil {
			statement, err = conn.PrepareContext(ctx, query)
		}
		return statement
	}
	w.begin, w.end = prepare("BEGIN IMMEDIATE"), prepare("COMMIT")
	if bare {
		if _, err := conn.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS bare (seq INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT"); err != nil {
			return nil, err
		}
		data := make([]byte, execution.length()+firing.length())
		statement := prepare("INSERT INTO bare (data) VALUES (?)")
		w.row = func() error {
			_, err := statement.Exec(data)
			return err
		}
		return w, err
	}
	insertFiring, insertExecution := prepare(insertInto("firings", firing)), prepare(insertInto("executions", execution))
	w.row = func() error {
		id, at := ulid.Make().String(), now().UnixMilli()
		run := fmt.Sprintf("exec_%d_%s", at, strings.ToLower(id))
		for column, value := range map[string]any{"seq": nil, "id": id, "execution_id": run, "received_at": at} {
			firing.values[firing.at(column)] = value
		}
		for column, value := range map[string]any{"seq": nil, "id": run, "firing_id": id, "created_at": at, "updated_at": at, "start_time": at, "end_time": at} {
			execution.values[execution.at(column)] = value
		}
		if _, err := insertFiring.Exec(firing.values...); err != nil {
			return err
		}
		_, err := insertExecution.Exec(execution.values...)
		return err
	}
	return w, err
}

func insertInto(table string, row stored) string {
	return "INSERT INTO " + table + " (" + strings.Join(row.columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(row.columns)-1) + ")"
}

func (w *inserter) run(ctx context.Context, job *insertJob) (*result, error) {
	w.queue = make(chan chan struct{}, job.Connections)
	begin := now().Add(job.Warmup)
	end := begin.Add(job.Length)
	noted := make([]histogram, job.Connections)
	var senders, upkeep sync.WaitGroup
	for i := range noted {
		senders.Go(func() {
			done := make(chan struct{}, 1)
			for sent := now(); sent.Before(end); {
				w.queue <- done
				<-done
				at := now()
				if sent.After(begin) && at.Before(end) {
					noted[i].note(at.Sub(sent))
				}
				sent = at
			}
		})
	}
	go func() { senders.Wait(); close(w.queue) }()
	checkpoints, stop := context.WithCancel(ctx)
	upkeep.Go(func() { w.checkpoint(checkpoints) })
	w.from, w.to = begin, end
	err := w.write()
	stop()
	upkeep.Wait()
	if err != nil {
		return nil, err
	}
	var all histogram
	for i := range noted {
		all.add(&noted[i])
	}
	r := &result{Completed: all.total, Answered: w.inserted, Elapsed: job.Length, CPU: w.cpu, Batch: float64(all.total) / float64(max(w.commits, 1))}
	r.latencies(&all)
	if _, r.Peak, err = process.Memory(os.Getpid()); err != nil {
		return nil, err
	}
	return r, w.conn.Close()
}

// write commits until the queue is closed.
func (w *inserter) write() error {
	batch := make([]chan struct{}, 0, maxBatch)
	for first := range w.queue {
		batch = append(batch[:0], first)
		runtime.Gosched() // lets the goroutines of the last commit submit their next rows
		for more := true; more && len(batch) < maxBatch; {
			select {
			case next, open := <-w.queue:
				if more = open; open {
					batch = append(batch, next)
				}
			default:
				more = false
			}
		}
		if _, err := w.begin.Exec(); err != nil {
			return err
		}
		for range batch {
			if err := w.row(); err != nil {
				return err
			}
		}
		if _, err := w.end.Exec(); err != nil {
			return err
		}
		w.note(len(batch))
		for _, done := range batch {
			done <- struct{}{}
		}
	}
	return nil
}

// note counts a commit.
func (w *inserter) note(rows int) {
	w.inserted += int64(rows)
	switch at := now(); {
	case at.Before(w.from) || at.After(w.to):
		return
	case w.used == 0:
		w.used = ownCPUTime()
	default:
		w.commits++
		w.cpu = ownCPUTime() - w.used
	}
}

// checkpoint copies the write-ahead log as often as the server does.
func (w *inserter) checkpoint(ctx context.Context) {
	for process.Pause(ctx, 200*time.Millisecond) {
		var busy, frames, copied int
		_ = w.db.QueryRow("PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames, &copied)
	}
}
