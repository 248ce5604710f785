package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

// measurement is a row that is ready to be measured.
type measurement struct {
	name, what string
	measure    measure
}

// measure applies load with a number of connections.
type measure func(ctx context.Context, connections int, warmup, length time.Duration) (*result, error)

// stage holds everything that the rows need while they are measured in turn.
type stage struct {
	folder  string
	server  *server
	echo    *program.Process
	flows   flows
	echoAt  string
	indexed string // databases of the inserter
	bare    string
	sample  string
	quiet   time.Duration // how long the server must be idle
	runSize int           // content of a run, once there is a sample
}

// prepare starts what the rows need. The caller must close the stage, also after an error.
func (s *stage) prepare(ctx context.Context, names []string) (err error) {
	if err := s.server.start(ctx); err != nil {
		return err
	}
	if s.server.idle, err = settled(ctx, s.server.Pid(), s.quiet, 15*time.Second); err != nil {
		return err
	}
	if s.flows, err = storeFlows(ctx, s.server); err != nil {
		return err
	}
	// A few runs: rows to copy, runs to read, warm code. If only one row is measured, no
	// runs of others, which would show in its profile.
	for _, m := range s.measurements(slices.DeleteFunc(append([]string{"c"}, names...), func(name string) bool { return !strings.Contains("cde", name) })) {
		if _, err := m.measure(ctx, 4, 0, 200*time.Millisecond); err != nil {
			return err
		}
	}
	if slices.Contains(names, "a") {
		if err := s.startEcho(ctx); err != nil {
			return err
		}
	}
	if slices.Contains(names, "b") {
		s.bare = filepath.Join(s.folder, "bare.db")
		if s.sample, s.indexed, err = templates(ctx, s.server.database(), s.flows.wait, s.folder); err != nil {
			return err
		}
		s.runSize, err = contentSize(ctx, s.sample)
	}
	return err
}

func (s *stage) startEcho(ctx context.Context) (err error) {
	if s.echo, err = launchSelf(echoArgument, s.folder, echoLine); err != nil {
		return err
	}
	s.echoAt, err = s.echo.Address(ctx, 20*time.Second)
	s.echoAt = strings.TrimPrefix(s.echoAt, "http://")
	return err
}

// close stops everything that the stage started.
func (s *stage) close() {
	s.echo.Kill()
	s.server.Kill()
}

// measurements returns the rows by their names, in the table's order.
func (s *stage) measurements(names []string) (list []measurement) {
	authorization := "Authorization: Bearer " + apiKey
	add := func(name, what string, measure measure) {
		if slices.Contains(names, name[:1]) {
			list = append(list, measurement{name, what, measure})
		}
	}
	webhook := func(trigger func() string, answer string) measure {
		return func(ctx context.Context, connections int, warmup, length time.Duration) (*result, error) {
			path := "/webhooks/blueprint/" + trigger()
			return s.load(ctx, loadJob{Connections: connections, Warmup: warmup, Length: length, Requests: [][]byte{postRequest(s.server.host(), path, payload())}, Answer: answer})
		}
	}
	add("a", "net/http JSON echo", func(ctx context.Context, connections int, warmup, length time.Duration) (*result, error) {
		return loadProcess(ctx, s.echo.Pid(), loadJob{Address: s.echoAt, Connections: connections, Warmup: warmup, Length: length, Requests: [][]byte{postRequest(s.echoAt, "/", payload())}})
	})
	add("b1", "bare inserts: the bytes of a run, one table, no index", func(ctx context.Context, connections int, warmup, length time.Duration) (*result, error) {
		return s.insert(ctx, insertJob{Path: s.bare, Bare: true, Connections: connections, Warmup: warmup, Length: length})
	})
	add("b2", "bare inserts: the rows of a run, the real schema", func(ctx context.Context, connections int, warmup, length time.Duration) (*result, error) {
		return s.insert(ctx, insertJob{Path: s.indexed, Connections: connections, Warmup: warmup, Length: length})
	})
	add("c", "webhook, three nodes, durable, answered at the end", webhook(func() string { return s.flows.wait }, greeting))
	add("d", "webhook, three nodes, durable, answered with 202", webhook(func() string { return s.flows.accept }, ""))
	add("e", "blueprint.execute by RPC", func(ctx context.Context, connections int, warmup, length time.Duration) (*result, error) {
		body := fmt.Sprintf(`{"json":{"id":%q,"variables":%s}}`, s.flows.execute, payload())
		return s.load(ctx, loadJob{Connections: connections, Warmup: warmup, Length: length, Requests: [][]byte{postRequest(s.server.host(), "/api/trpc/blueprint.execute", body, authorization)}})
	})
	add("f", "execution.getExecutionStatus of a stored run", func(ctx context.Context, connections int, warmup, length time.Duration) (*result, error) {
		ids, err := s.someRuns(ctx)
		if err != nil {
			return nil, err
		}
		requests := make([][]byte, len(ids))
		for i, id := range ids {
			input, err := json.Marshal(object{"json": object{"executionId": id}})
			if err != nil {
				return nil, err
			}
			requests[i] = getRequest(s.server.host(), "/api/trpc/execution.getExecutionStatus?input="+url.QueryEscape(string(input)), authorization)
		}
		return s.load(ctx, loadJob{Connections: connections, Warmup: warmup, Length: length, Requests: requests})
	})
	return list
}

// someRuns returns the ids of 2,000 finished runs from the whole history.
func (s *stage) someRuns(ctx context.Context) ([]string, error) {
	const query = `SELECT id FROM executions WHERE seq IN (
		SELECT 1 + abs(random()) % (SELECT max(seq) FROM executions) FROM generate_series) AND end_time IS NOT NULL`
	numbers := "WITH RECURSIVE generate_series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM generate_series WHERE n < 2000) "
	return column(ctx, s.server.database(), numbers+query)
}

// load loads the server and measures the growth of its database.
func (s *stage) load(ctx context.Context, job loadJob) (*result, error) {
	job.Address = s.server.host()
	return grown(ctx, s.server.database(), func() (*result, error) { return loadProcess(ctx, s.server.Pid(), job) })
}

func (s *stage) insert(ctx context.Context, job insertJob) (*result, error) {
	job.Template = s.sample
	return grown(ctx, job.Path, func() (*result, error) { return delegate(ctx, insertArgument, job) })
}

// loadProcess loads a process and measures its memory.
func loadProcess(ctx context.Context, pid int, job loadJob) (*result, error) {
	job.Server = pid
	for _, pid := range job.servers() {
		process.ForgetPeak(pid)
	}
	r, err := delegate(ctx, loadArgument, job)
	if err != nil {
		return nil, err
	}
	if r.Failed > 0 || r.Failure != "" {
		return nil, fmt.Errorf("%d requests failed, for example: %s", r.Failed, r.Failure)
	}
	for _, pid := range job.servers() {
		_, peak, err := process.Memory(pid)
		if err != nil {
			return nil, err
		}
		r.Peak = max(r.Peak, peak)
	}
	return r, nil
}

// grown adds the growth of a database.
func grown(ctx context.Context, database string, measure func() (*result, error)) (*result, error) {
	before, err := size(ctx, database)
	if err != nil {
		return nil, err
	}
	r, err := measure()
	if err != nil {
		return nil, err
	}
	after, err := size(ctx, database)
	r.Growth = after - before
	return r, err
}
