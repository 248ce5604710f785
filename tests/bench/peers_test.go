package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

func TestSelectPeers(t *testing.T) {
	for names, want := range map[string]string{"true": peerNames(), "n8n": "n8n", "pocketbase,node-red": "pocketbase, node-red"} {
		t.Run(names, func(t *testing.T) {
			list, err := selectPeers(names)
			var got []string
			for _, p := range list {
				got = append(got, p.name)
			}
			if err != nil || strings.Join(got, ", ") != want {
				t.Errorf("got %v, %v; want %s", got, err, want)
			}
		})
	}
	if _, err := selectPeers("n8n,other"); err == nil || !strings.Contains(err.Error(), `"other" is unknown: want names of node-red, n8n`) {
		t.Errorf("an unknown name: %v, want it and the known ones", err)
	}
	o, err := parse([]string{"-peers=temporal", "-quick"})
	if err != nil || len(o.peers) != 1 || o.peers[0].name != "temporal" {
		t.Errorf("-peers=temporal selects %d peers, %v; want one", len(o.peers), err)
	}
	if o, err = parse([]string{"-peers", "-quick"}); err != nil || len(o.peers) != len(peers) {
		t.Errorf("-peers selects %d peers, %v; want all", len(o.peers), err)
	}
}

// A peer that cannot be installed is left out with its reason; the others are there, and are
// installed once.
func TestInstallPeers(t *testing.T) {
	folder, installs := t.TempDir(), 0
	good := peer{name: "good", title: "Good 1", folder: "good-1", size: "program", without: "program/other", install: func(_ context.Context, folder string) error {
		installs++
		if _, err := os.Stat(filepath.Join(folder, "leftover")); err == nil {
			t.Error("the incomplete installation is still there")
		}
		if err := os.MkdirAll(filepath.Join(folder, "program/other"), 0o700); err != nil {
			return err
		}
		return writeFiles(folder, map[string]string{"program/file": "four", "program/other/file": "five!"})
	}}
	bad := peer{name: "bad", title: "Bad 2", folder: "bad-2", install: func(ctx context.Context, folder string) error {
		return runIn(ctx, folder, nil, "program-that-no-machine-has", "install")
	}}
	worse := peer{name: "worse", title: "Worse 3", folder: "worse-3", install: func(context.Context, string) error {
		return errors.New("go build: exit status 1\nmuch output")
	}}
	if err := os.Mkdir(filepath.Join(folder, "good-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeFiles(folder, map[string]string{"good-1/leftover": ""}); err != nil {
		t.Fatal(err)
	}
	var progress bytes.Buffer
	o := &options{progress: &progress}
	for range 2 {
		list, left, err := installPeers(t.Context(), o, []peer{bad, good, worse}, folder)
		if err != nil || len(list) != 1 || list[0].name != "good" || list[0].Install != int64(len("four")) {
			t.Fatalf("got %+v, %v; want the good one with 4 bytes", list, err)
		}
		want := []string{"Bad 2 is left out: program-that-no-machine-has is not installed", "Worse 3 is left out: go build: exit status 1"}
		if !slices.Equal(left, want) {
			t.Errorf("left out are %q, want %q", left, want)
		}
	}
	if installs != 1 {
		t.Errorf("the good one was installed %d times, want 1", installs)
	}
	if !strings.Contains(progress.String(), "much output") {
		t.Errorf("the progress lacks the output of the failure:\n%s", progress.String())
	}
}

func TestPeersText(t *testing.T) {
	p := &peerFigures{
		figures: figures{Rounds: 1, Rows: []figure{{Name: "c", Connections: 4, Results: []result{{Completed: 10, Elapsed: time.Second}}}, {Name: "n8n", What: n8n.flow, Connections: 4, Results: []result{{Completed: 5, Elapsed: time.Second, Peak: 7 << 20}}}}},
		Peers:   []standing{{Name: n8n.title, Stores: n8n.stores, Idle: 3 << 20, Loaded: 7 << 20, Times: []time.Duration{time.Second}, Install: 9 << 20}},
		Left:    []string{"Bad 2 is left out: npm is not installed"},
	}
	p.hold(p.Rows, "c", "n8n")
	for _, want := range []string{
		"| (n8n) the same flow on n8n | 4 | 5 [5-5] |", "| (c) / (n8n) | 4 | 2.00 [2.00-2.00] |", "\n- Bad 2 is left out: npm is not installed\n",
		"| n8n " + n8nVersion + " on Node.js " + nodeVersion + " | the execution, in SQLite | 3 | 7 | 1000 [1000-1000] | 9 |\n",
	} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("no %q in\n%s", want, p.text())
		}
	}
	p.Rows[1].Results[0].Completed, p.Ratios = 0, nil
	p.hold(p.Rows, "c", "n8n")
	if want := "| (c) / (n8n) | 4 | - |"; !strings.Contains(p.text(), want) {
		t.Errorf("a round without a response: no %q in\n%s", want, p.text())
	}
	if got := p.loaded("n8n"); got != 7<<20 {
		t.Errorf("the memory under load is %d, want %d", got, 7<<20)
	}
}

// The load generator counts a response with another body as failed.
func TestLoadAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, greeting) }))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	job := loadJob{Address: host, Connections: 2, Most: 10, Server: os.Getpid(), Requests: [][]byte{postRequest(host, "/", payload())}, Answer: greeting}
	if r, err := generate(&job); err != nil || r.Answered != 10 || r.Failed != 0 {
		t.Errorf("the right answer: %+v, %v; want ten answered", r, err)
	}
	job.Answer = `"HELLO BOB"`
	if r, err := generate(&job); err != nil || r.Answered != 0 || r.Failed != 10 || !strings.Contains(r.Failure, greeting) {
		t.Errorf("another answer: %+v, %v; want ten failed, with the answer", r, err)
	}
}

// A server may close a connection that has no further request while others still wait.
func TestLoadClosed(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	closed := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			w.Header().Set("Connection", "close")
		} else {
			<-closed
		}
		_, _ = io.WriteString(w, greeting)
	}))
	var once sync.Once
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			once.Do(func() { close(closed) })
		}
	}
	server.Start()
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	job := loadJob{Address: host, Connections: 2, Most: 2, Server: os.Getpid(), Requests: [][]byte{postRequest(host, "/", payload())}}
	if r, err := generate(&job); err != nil || r.Answered != 2 {
		t.Errorf("got %+v, %v; want two answered", r, err)
	}
}

// A measurement of a slow peer is repeated with a longer one.
func TestLonger(t *testing.T) {
	for name, test := range map[string]struct {
		length    time.Duration
		completed int64
		want      time.Duration
	}{
		"enough":      {2 * time.Second, 64, 2 * time.Second},
		"too few":     {2 * time.Second, 63, 8 * time.Second},
		"at most":     {20 * time.Second, 0, longest},
		"the longest": {longest, 0, longest},
		"longer":      {2 * longest, 0, 2 * longest},
	} {
		t.Run(name, func(t *testing.T) {
			if got := longer(test.length, test.completed, 32); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// A measurement that fails is a line, not the end of the comparison.
func TestPeerFails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "another") }))
	defer server.Close()
	r := &runningPeer{peer: peer{name: "bad", title: "Bad 2", path: "/", answer: greeting}, at: place{host: strings.TrimPrefix(server.URL, "http://")}, lengths: map[int]time.Duration{}}
	var err error
	if r.Process, err = program.Start(program.Command{Path: process.Path(t), Args: []string{"serve", "--addr", "127.0.0.1:0", "--until-eof"}, Folder: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Kill)
	measured, err := r.measure(t.Context(), 2, 0, 10*time.Millisecond)
	if err != nil || measured.Completed != 0 {
		t.Errorf("got %+v and %v; want an empty result", measured, err)
	}
	failures := strings.Join(r.failures, "\n")
	if !strings.HasPrefix(failures, "Bad 2 failed with 2 connections: ") || !strings.Contains(failures, "another") || strings.Contains(failures, "\n") {
		t.Errorf("got %q; want one line that names the peer and the body", failures)
	}
}

// A peer is started again if any of its processes has ended, also one beside it.
func TestPeerIsComplete(t *testing.T) {
	begin := func() *program.Process {
		p, err := program.Start(program.Command{Path: process.Path(t), Args: []string{"serve", "--addr", "127.0.0.1:0", "--until-eof"}, Folder: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		return p
	}
	beside, main := begin(), begin()
	r := &runningPeer{peer: peer{name: "pair", title: "Pair 1", command: func(place) program.Command { return program.Command{Path: "program-that-no-machine-has"} }}, at: place{data: t.TempDir()}, Process: main, others: []*program.Process{beside}}
	if !r.complete() {
		t.Error("both processes run, and the peer is not complete")
	}
	beside.Kill()
	if r.complete() {
		t.Error("the peer is complete without the process beside it")
	}
	if _, err := r.measure(t.Context(), 1, 0, 10*time.Millisecond); err != nil || len(r.failures) != 1 || main.Running() {
		t.Errorf("got %v and %q; want one failure to start, after the main process was stopped", err, r.failures)
	}
}

// Another program of a peer is installed into another folder.
func TestGoPeerFolder(t *testing.T) {
	one, other := goPeerFolder("peer-1", "package main"), goPeerFolder("peer-1", "package main // changed")
	if one == other || !strings.HasPrefix(one, "peer-1-") || one != goPeerFolder("peer-1", "package main") {
		t.Errorf("got %s and %s, want different folders that begin with peer-1-", one, other)
	}
}

// A fail-over after which no webhook succeeds has no figures.
func TestFailoverWithoutAnswer(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	survivor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		end()
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer survivor.Close()
	c := &trio{o: &options{progress: io.Discard}}
	err := c.use(ctx, []*server{{address: survivor.URL}}, now())
	if err == nil || !strings.Contains(err.Error(), "503") || len(c.Answer) != 0 || len(c.Longest) != 0 {
		t.Errorf("got %v, %v and %v; want the error of the webhook and no times", err, c.Answer, c.Longest)
	}
}

// Every wire of the flow for Node-RED leads to a node.
func TestNodeRedFlow(t *testing.T) {
	ids := map[string]bool{}
	for _, n := range nodeRedFlow() {
		ids[n["id"].(string)] = true
	}
	for _, n := range nodeRedFlow() {
		wires, _ := n["wires"].([][]string)
		for _, wire := range wires {
			if !ids[wire[0]] {
				t.Errorf("node %s leads to %s, which does not exist", n["id"], wire[0])
			}
		}
	}
}

// Every connection of the flow for n8n leads from a node to a node.
func TestN8nFlow(t *testing.T) {
	flow, names := n8nFlow(), map[string]bool{}
	for _, n := range flow["nodes"].([]object) {
		names[n["name"].(string)] = true
	}
	connections := flow["connections"].(object)
	if len(names) != 4 || len(connections) != 3 {
		t.Errorf("%d nodes and %d connections, want 4 and 3", len(names), len(connections))
	}
	for from, to := range connections {
		if next := to.(object)["main"].([][]object)[0][0]["node"].(string); !names[from] || !names[next] {
			t.Errorf("a connection leads from %s to %s, want nodes", from, next)
		}
	}
}

func TestDatabaseText(t *testing.T) {
	o := &options{connections: []int{1, 32}, rounds: 2, length: time.Second}
	of := func(rates ...int64) map[int][]result {
		results := map[int][]result{}
		for _, connections := range o.connections {
			for _, rate := range rates {
				results[connections] = append(results[connections], result{Completed: rate, Elapsed: time.Second})
			}
		}
		return results
	}
	river := databasePeers[0].title
	f := &databaseFigures{
		Arrangements: []*arrangement{{Name: onFile, Results: of(100, 200)}, {Name: oneProcess, Results: of(50, 150)}, {Name: river, Results: of(5, 0)}},
		Failovers:    &failovers{Answer: []time.Duration{2 * time.Millisecond}, Runs: []time.Duration{11 * time.Second, 12 * time.Second, 10 * time.Second}, Tick: []time.Duration{time.Second, time.Second, time.Second}},
		Left:         []string{"n8n is left out: npm is not installed"},
	}
	text := f.text(o, &machine{Foreign: -1})
	for _, want := range []string{
		"| 32 | " + oneProcess + " | 50 | 0.500 |",
		"| " + oneProcess + " / " + onFile + " | 1 | 0.50 [0.50-0.75] | - |\n",
		"| " + oneProcess + " / " + onFile + " | 32 | 0.50 [0.50-0.75] | at least 0.6 |\n",
		"| " + oneProcess + " / " + river + " | 32 | 10.00 [10.00-10.00] | at least 10 |\n", // the second round failed
		"| " + oneProcess + " / " + n8nQueue.title + " | 32 | - | at least 20 |\n",
		"| a surviving process has answered a webhook | 0.002 [0.002-0.002] |\n",
		"| all runs of the killed process have continued | 11 [10-12] |\n",
		"\n- n8n is left out: npm is not installed\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "others used") {
		t.Errorf("the load of PostgreSQL counts as foreign:\n%s", text)
	}
}

// Both processes of n8n in queue mode use the same database and the same Redis, on the given
// port.
func TestN8nQueue(t *testing.T) {
	at := place{installed: "/installed", data: "/data", host: "127.0.0.1:1001", redis: "127.0.0.1:1002", database: "postgres://user:secret@127.0.0.1:1003/flows"}
	beside := n8nQueue.beside(at)
	if !slices.Contains(beside[0].Args, "1002") {
		t.Errorf("Redis is started with %q, want the port 1002", beside[0].Args)
	}
	for _, command := range []program.Command{beside[1], n8nQueue.command(at)} {
		for _, want := range []string{"EXECUTIONS_MODE=queue", "QUEUE_BULL_REDIS_PORT=1002", "DB_TYPE=postgresdb", "DB_POSTGRESDB_HOST=127.0.0.1", "DB_POSTGRESDB_PORT=1003", "DB_POSTGRESDB_USER=user", "DB_POSTGRESDB_PASSWORD=secret", "DB_POSTGRESDB_DATABASE=flows"} {
			if !slices.Contains(command.Env, want) {
				t.Errorf("%q has no %s", command.Args, want)
			}
		}
	}
	if alone := n8n.command(place{host: at.host}); slices.Contains(alone.Env, "DB_TYPE=postgresdb") {
		t.Error("n8n without a database has one on PostgreSQL")
	}
}
