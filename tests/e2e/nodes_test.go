//go:build postgres

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"blueprintd/tests/process"
)

// cluster is several processes of one server.
type cluster struct {
	t        *testing.T
	database string
	key      string
	nodes    []*process.Server
}

// startCluster starts processes named n1, n2 and so on, one after the other.
func startCluster(t *testing.T, database string, count int) *cluster {
	t.Helper()
	c := &cluster{t: t, database: database, key: filepath.Join(t.TempDir(), "key")}
	process.Command(t, "master-key", "create", c.key)
	for i := range count {
		c.nodes = append(c.nodes, c.start(fmt.Sprintf("n%d", i+1)))
	}
	return c
}

func (c *cluster) start(name string) *process.Server {
	c.t.Helper()
	return process.Serve(c.t, "--database", c.database, "--master-key-file", c.key, "--node-name", name, "--allow-net", "127.0.0.0/8")
}

// state is the detailed answer of /readyz.
type state struct {
	Status string
	Nodes  []struct {
		Name, State string
		Duties      []string
		Lease       float64 `json:"lease_seconds"`
	}
	Unowned   int     `json:"runs_unowned"`
	OldestDue float64 `json:"oldest_due_seconds"`
}

func stateOf(t *testing.T, s *process.Server) (code int, state state) {
	t.Helper()
	response, err := http.Get(s.Host + "/readyz?verbose")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&state); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, state
}

// awaitNodes waits until the live processes are these, as s sees them.
func awaitNodes(t *testing.T, s *process.Server, wanted ...string) {
	t.Helper()
	var live []string
	for range 400 {
		live = nil
		_, state := stateOf(t, s)
		for _, n := range state.Nodes {
			if n.State == "live" {
				live = append(live, n.Name)
			}
		}
		if strings.Join(live, " ") == strings.Join(wanted, " ") && state.Unowned == 0 {
			return
		}
		process.Pause(t.Context(), 50*time.Millisecond)
	}
	t.Fatalf("the live processes are %v, want %v", live, wanted)
}

var human = []any{node("ask", "human", object{"prompt": "Your name?"}), node("greet", "template", object{"text": "Hello {{input.name}}"})}

// TestNodesShareApprovalLinks makes a link in one process, opens it in another and answers it
// through a third.
func TestNodesShareApprovalLinks(t *testing.T) {
	t.Parallel()
	c := startCluster(t, process.PostgreSQL(t), 3)
	inbox, came, answer := linkInbox(t)
	nodes := []any{notify(inbox), node("gate", "approval-gate", object{"prompt": "Pay?"}), node("paid", "template", object{"text": "paid {{input.approved}}"})}
	run := c.nodes[0].Launch(c.nodes[0].Create("pay", nodes...), nodes...)
	link := pathOf(t, <-came)
	answer <- struct{}{}
	c.nodes[0].Until(run, "paused")
	approve(t, c.nodes[1], c.nodes[2], link)
	if record := c.nodes[1].Until(run, "completed"); !strings.Contains(fmt.Sprint(record), "paid true") {
		t.Errorf("the run: %v", record)
	}
	if status, text := page(t, c.nodes[0], link, nil); status != http.StatusGone {
		t.Errorf("the link afterwards: %d %s", status, text)
	}
}

// TestNodesShareRuns starts runs in one process and reads, follows, answers and cancels them
// through others. What one process changes counts in the others at once.
func TestNodesShareRuns(t *testing.T) {
	t.Parallel()
	c := startCluster(t, process.PostgreSQL(t), 3)
	a, b, d := c.nodes[0], c.nodes[1], c.nodes[2]
	id := a.Create("human", human...)
	run := a.Launch(id, human...)
	b.Until(run, "paused")
	lines := follow(t, d, run)
	b.Mutate("execution.resume", object{"executionId": run, "nodeId": "ask", "input": object{"name": "Ada"}})
	if record := d.Until(run, "completed"); !strings.Contains(fmt.Sprint(record), "Hello Ada") {
		t.Errorf("the answer is not in the run: %v", record)
	}
	if last := <-lines; !strings.Contains(last, `"completed"`) {
		t.Errorf("the subscription ended with %s", last)
	}
	canceled := b.Launch(id, human...)
	a.Until(canceled, "paused")
	d.Mutate("execution.cancel", object{"executionId": canceled})
	a.Until(canceled, "failed")
	if status, answer := b.Post("/api/trpc/execution.resume", process.Key, object{"json": object{"executionId": run, "nodeId": "ask", "input": object{}}}); status != http.StatusConflict {
		t.Errorf("an answer to a run that has ended: status %d, %v, want 409", status, answer)
	}

	made := a.Mutate("apiKey.create", object{"name": "short-lived"})
	secret := at(made, "key").(string)
	list := func(s *process.Server) int {
		status, _ := s.Post("/api/trpc/blueprint.validate", secret, object{"json": object{"blueprint_map": object{"nodes": human}}})
		return status
	}
	if status := list(b); status != http.StatusOK {
		t.Errorf("a new key in another process: status %d, want 200", status)
	}
	d.Mutate("apiKey.revoke", object{"id": at(made, "id")})
	for i, s := range c.nodes {
		if status := list(s); status != http.StatusUnauthorized {
			t.Errorf("a revoked key in process %d: status %d, want 401", i+1, status)
		}
	}
	hook := a.Mutate("blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{}})
	path := "/webhooks/blueprint/" + at(hook, "id").(string)
	if status, answer := b.Post(path, "", object{}); status != http.StatusAccepted {
		t.Errorf("a new webhook in another process: status %d, %v, want 202", status, answer)
	}
	d.Mutate("blueprintTriggers.update", object{"triggerId": at(hook, "id"), "isActive": false})
	for i, s := range c.nodes {
		if status, _ := s.Post(path, "", object{}); status == http.StatusAccepted {
			t.Errorf("a webhook that was switched off starts a run in process %d", i+1)
		}
	}
}

// follow subscribes to a run, and sends the last event when it has ended.
func follow(t *testing.T, s *process.Server, run string) <-chan string {
	t.Helper()
	input, err := json.Marshal(object{"json": object{"executionId": run}})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Host+"/api/trpc/execution.subscribe?input="+url.QueryEscape(string(input)), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+process.Key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	last := make(chan string, 1)
	go func() {
		defer response.Body.Close()
		text := ""
		for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
			if line := scanner.Text(); strings.HasPrefix(line, "data: {") {
				text = line
			}
		}
		last <- text
	}()
	return last
}

// TestNodesKeepLimits sends deliveries of a trigger with a limit to all processes at once.
func TestNodesKeepLimits(t *testing.T) {
	t.Parallel()
	var working, most, calls atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := working.Add(1)
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
		process.Pause(r.Context(), 100*time.Millisecond)
		working.Add(-1)
		calls.Add(1)
		w.Write([]byte("{}"))
	}))
	defer service.Close()
	c := startCluster(t, process.PostgreSQL(t), 3)
	id := c.nodes[0].Create("limited", node("call", "http-request", object{"method": "POST", "url": service.URL}), node("answer", "respond", object{"status": 201, "body": object{"run": "{{execution.id}}"}}))
	hook := at(c.nodes[0].Mutate("blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"respond": "wait", "concurrency": object{"limit": 2, "onLimit": "queue"}}}), "id").(string)
	var clients sync.WaitGroup
	var runs sync.Map
	for i := range 12 {
		clients.Go(func() {
			status, answer := c.nodes[i%3].Post("/webhooks/blueprint/"+hook, "", object{"n": i})
			if status != http.StatusCreated {
				t.Errorf("delivery %d: status %d, %v, want the 201 of its node", i, status, answer)
				return
			}
			runs.Store(at(answer, "run"), true)
		})
	}
	clients.Wait()
	different := 0
	runs.Range(func(any, any) bool { different++; return true })
	if most.Load() > 2 || calls.Load() != 12 || different != 12 {
		t.Errorf("%d runs at once, %d calls, %d different answers, want at most 2, 12, 12", most.Load(), calls.Load(), different)
	}
}

// TestNodesTakeOver kills processes at work: others go on with their runs, and one that
// comes back under its name has its runs at once.
func TestNodesTakeOver(t *testing.T) {
	t.Parallel()
	world := newOutside(t)
	c := startCluster(t, process.PostgreSQL(t), 3)
	a, b, d := c.nodes[0], c.nodes[1], c.nodes[2]
	call := func(path string, more ...any) []any {
		return []any{node("call", "http-request", object{"method": "POST", "url": world.URL + path}, more...), node("after", "template", object{"text": "done"})}
	}
	again, once := call("/again"), call("/once", "effect", "once")
	runAgain, runOnce := a.Launch(a.Create("again", again...), again...), a.Launch(a.Create("once", once...), once...)
	<-world.arrived
	<-world.arrived
	asked := a.Launch(a.Create("human", human...), human...)
	a.Until(asked, "paused")

	a.Kill()
	close(world.release)
	awaitNodes(t, b, "n2", "n3")
	b.Until(runAgain, "completed")
	if record := d.Until(runOnce, "paused"); at(record, "awaitingInput.kind") != "unknown-outcome" {
		t.Errorf("a once node of a dead process: %v, want the question for its outcome", record["awaitingInput"])
	}
	if keys := world.keys("/again"); len(keys) != 2 || keys[0] != keys[1] {
		t.Errorf("idempotency keys of the repeated call: %v, want the same twice", keys)
	}
	if keys := world.keys("/once"); len(keys) != 1 {
		t.Errorf("the once node called %d times, want 1", len(keys))
	}
	d.Mutate("execution.resume", object{"executionId": asked, "nodeId": "ask", "input": object{"name": "Ada"}})
	b.Until(asked, "completed")

	mine := d.Launch(d.Create("human", human...), human...)
	d.Until(mine, "paused")
	d.Kill()
	d = c.start("n3")
	awaitNodes(t, d, "n2", "n3")
	d.Mutate("execution.resume", object{"executionId": mine, "nodeId": "ask", "input": object{"name": "Eve"}})
	d.Until(mine, "completed")
}

// TestNodesTakeOverResponse kills the process to which a waiting delivery was handed: the
// caller still gets the response of the run.
func TestNodesTakeOverResponse(t *testing.T) {
	t.Parallel()
	world := newOutside(t)
	c := startCluster(t, process.PostgreSQL(t), 3)
	a, b := c.nodes[0], c.nodes[1]
	id := a.Create("limited", node("call", "http-request", object{"method": "POST", "url": world.URL}), node("answer", "respond", object{"status": 201, "body": object{"run": "{{execution.id}}"}}), node("after", "template", object{"text": "done"}))
	hook := at(a.Mutate("blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"respond": "wait", "concurrency": object{"limit": 1, "onLimit": "queue"}}}), "id").(string)
	go func() { // its connection breaks with the process
		request, err := http.NewRequest(http.MethodPost, a.Host+"/webhooks/blueprint/"+hook, strings.NewReader("{}"))
		if err == nil {
			if response, err := http.DefaultClient.Do(request); err == nil {
				response.Body.Close()
			}
		}
	}()
	<-world.arrived
	type result struct {
		status int
		answer any
	}
	handed := make(chan result, 1)
	go func() {
		status, answer := b.Post("/webhooks/blueprint/"+hook, "", object{})
		handed <- result{status, answer}
	}()
	for range 400 {
		if logs, _ := at(b.Query("execution.listRecentExecutions", object{"limit": 10}), "logs").([]any); len(logs) == 2 {
			break
		}
		process.Pause(t.Context(), 50*time.Millisecond)
	}
	process.Pause(t.Context(), time.Second) // a has taken the run into its queue
	a.Kill()
	close(world.release)
	if got := <-handed; got.status != http.StatusCreated || at(got.answer, "run") == nil {
		t.Errorf("status %d, %v; want the 201 of its node", got.status, got.answer)
	}
}

// TestNodesHandOver stops the process with the duties while a client has sent half a request:
// another one takes its duties and goes on with its runs without waiting for the client.
func TestNodesHandOver(t *testing.T) {
	t.Parallel()
	c := startCluster(t, process.PostgreSQL(t), 2)
	a, b := c.nodes[0], c.nodes[1]
	wait := []any{node("wait", "wait", object{"durationMs": 3000}), node("after", "template", object{"text": "done"})}
	run := a.Launch(a.Create("wait", wait...), wait...)
	slow, err := net.Dial("tcp", strings.TrimPrefix(a.Host, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	if _, err := fmt.Fprintf(slow, "POST /api/trpc/blueprint.create HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", slow.RemoteAddr(), process.Key); err != nil {
		t.Fatal(err)
	}
	if err := a.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	b.Until(run, "completed")
	select {
	case <-a.Ended():
		t.Error("the process that stops ended before its client did")
	default:
	}
	if _, state := stateOf(t, b); len(state.Nodes) != 2 || len(state.Nodes[1].Duties) == 0 {
		t.Errorf("beside the other process, which has handed over: %+v, want the duties", state.Nodes)
	}
	_ = slow.Close()
	<-a.Ended()
	if a.Err != nil {
		t.Errorf("the process that stopped ended with %v", a.Err)
	}
	awaitNodes(t, b, "n2")
}

// TestNodesFrozen freezes a process until another has taken over its runs. When it wakes, it
// does nothing more and ends with exit code 1.
func TestNodesFrozen(t *testing.T) {
	t.Parallel()
	world := newOutside(t)
	c := startCluster(t, process.PostgreSQL(t), 2)
	a, b := c.nodes[0], c.nodes[1]
	nodes := []any{node("wait", "wait", object{"durationMs": 1000}), node("call", "http-request", object{"method": "POST", "url": world.URL + "/call"})}
	run := a.Launch(a.Create("frozen", nodes...), nodes...)
	close(world.release)
	if err := a.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	awaitNodes(t, b, "n2")
	b.Until(run, "completed")
	if err := a.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	<-a.Ended()
	if a.Err == nil || a.Err.Error() != "exit status 1" {
		t.Errorf("the process that was frozen ended with %v, want exit status 1", a.Err)
	}
	if keys := world.keys("/call"); len(keys) != 1 {
		t.Errorf("the call was made %d times, want 1", len(keys))
	}
	if log := a.Log.String(); !strings.Contains(log, "was declared dead") {
		t.Errorf("its log does not say why it ended:\n%s", log)
	}
}

// link is a proxy in front of PostgreSQL that can be cut or become silent.
type link struct {
	net.Listener
	server string
	mu     sync.Mutex
	goesOn *sync.Cond
	cut    bool // connections are closed, new ones at once
	silent bool // connections stay open, and nothing is passed on
	open   map[net.Conn]bool
}

func newLink(t *testing.T, database string) (*link, string) {
	t.Helper()
	target, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{Listener: listener, server: target.Host, open: map[net.Conn]bool{}}
	l.goesOn = sync.NewCond(&l.mu)
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go l.serve(client)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		l.set(true, false)
	})
	target.Host = l.Addr().String()
	return l, target.String()
}

func (l *link) serve(client net.Conn) {
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		client.Close()
		return
	}
	l.mu.Lock()
	l.open[client], l.open[server] = true, true
	if l.cut {
		client.Close()
		server.Close()
	}
	l.mu.Unlock()
	go l.pass(client, server)
	l.pass(server, client)
}

// pass copies what one side sends to the other.
func (l *link) pass(to, from net.Conn) {
	defer to.Close()
	data := make([]byte, 32<<10)
	for {
		n, err := from.Read(data)
		if err != nil {
			return
		}
		l.mu.Lock()
		for l.silent {
			l.goesOn.Wait()
		}
		l.mu.Unlock()
		if _, err := to.Write(data[:n]); err != nil {
			return
		}
	}
}

func (l *link) set(cut, silent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut, l.silent = cut, silent
	l.goesOn.Broadcast()
	for conn := range l.open {
		if cut {
			conn.Close()
			delete(l.open, conn)
		}
	}
}

// TestNodesOutage takes the database away from all processes: they are not ready and refuse
// calls, and go on once it is back, none of them declared dead.
func TestNodesOutage(t *testing.T) {
	for name, silent := range map[string]bool{"cut": false, "silent": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outage(t, !silent, silent)
		})
	}
}

func outage(t *testing.T, cut, silent bool) {
	l, database := newLink(t, process.PostgreSQL(t))
	c := startCluster(t, database, 2)
	a, b := c.nodes[0], c.nodes[1]
	wait := []any{node("wait", "wait", object{"durationMs": 2000}), node("after", "template", object{"text": "done"})}
	id := a.Create("wait", wait...)
	run := a.Launch(id, wait...)
	hook := at(a.Mutate("blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{}}), "id").(string)
	l.set(cut, silent)
	await := func(s *process.Server, want int) {
		t.Helper()
		code := 0
		for range 400 {
			if code, _ = stateOf(t, s); code == want {
				return
			}
			process.Pause(t.Context(), 50*time.Millisecond)
		}
		t.Fatalf("/readyz answers %d, want %d", code, want)
	}
	refused := func(s *process.Server, path, key string) {
		t.Helper()
		request, err := http.NewRequest(http.MethodPost, s.Host+path, strings.NewReader(`{"json":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		if key != "" {
			request.Header.Set("Authorization", "Bearer "+key)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
			t.Errorf("%s without a database: status %d, Retry-After %q, want 503 with a time", path, response.StatusCode, response.Header.Get("Retry-After"))
		}
	}
	for _, s := range c.nodes {
		await(s, http.StatusServiceUnavailable)
		refused(s, "/api/trpc/blueprint.validate", process.Key)
		refused(s, "/webhooks/blueprint/"+hook, "")
	}
	l.set(false, false)
	for _, s := range c.nodes {
		await(s, http.StatusOK)
	}
	b.Until(run, "completed")
	awaitNodes(t, a, "n1", "n2")
	if status, answer := b.Post("/webhooks/blueprint/"+hook, "", object{}); status != http.StatusAccepted {
		t.Errorf("after the outage: status %d, %v, want 202", status, answer)
	}
}
