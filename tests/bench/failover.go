package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"blueprintd/tests/process"
)

// failovers holds how long each fail-over took, from the kill -9 of the process that had the
// duties and some runs.
type failovers struct {
	Answer  []time.Duration `json:"answerNs"`  // until a surviving process answers a webhook
	Longest []time.Duration `json:"longestNs"` // of all webhooks of the surviving processes
	Runs    []time.Duration `json:"runsNs"`    // until all runs of the killed process have continued
	Tick    []time.Duration `json:"tickNs"`    // until the schedule has fired that was due meanwhile
}

const (
	// runsLost is how many runs the killed process has. They wait for runWait, so that they
	// continue in another process.
	runsLost = 100
	runWait  = 5 * time.Second
	// beforeTick is how long before the minute at which a schedule is due the process is killed.
	// It takes over ten seconds until another process has the duties.
	beforeTick = 2 * time.Second
	// mostFailover is the longest time of a fail-over.
	mostFailover = time.Minute
)

// trio is a server of several processes that are killed in turn.
type trio struct {
	o       *options
	servers []*server
	hook    string // responds with the result of three nodes
	waits   string // starts a run that waits, then calls
	calls   *calls
	failovers
}

// measureFailovers kills processes of a server on PostgreSQL.
func measureFailovers(ctx context.Context, o *options, storage []string) (*failovers, error) {
	c := &trio{o: o, calls: &calls{at: map[string]time.Time{}}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	receiver := &http.Server{Handler: c.calls}
	go func() { _ = receiver.Serve(listener) }()
	defer receiver.Close()
	defer func() {
		for _, s := range c.servers {
			s.Kill()
		}
	}()
	for n := range maxProcesses {
		s := &server{binary: o.binary, folder: o.folder, storage: append(slices.Clone(storage), "--node-name", fmt.Sprint("n", n), "--allow-net", "127.0.0.0/8")}
		if err := s.start(ctx); err != nil {
			return nil, err
		}
		c.servers = append(c.servers, s)
	}
	if err := c.store(ctx, "http://"+listener.Addr().String()); err != nil {
		return nil, err
	}
	for round := range o.failovers {
		o.say("fail-over %d of %d", round+1, o.failovers)
		if err := c.round(ctx); err != nil {
			return nil, fmt.Errorf("fail-over %d: %w", round+1, err)
		}
	}
	return &c.failovers, nil
}

// store stores the blueprints and triggers.
func (c *trio) store(ctx context.Context, receiver string) error {
	f, err := storeFlows(ctx, c.servers[0])
	if err != nil {
		return err
	}
	c.hook = f.wait
	client := process.NewClient(c.servers[0].address, apiKey, http.DefaultClient)
	trigger := func(title, kind string, config object, nodes ...any) (id string, err error) {
		if id, err = client.Create(ctx, "blueprint.create", object{"title": title, "blueprint_map": object{"nodes": nodes}}); err == nil {
			id, err = client.Create(ctx, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": config})
		}
		return id, err
	}
	call := func(key string) any {
		return process.Node("call", "http-request", object{"url": receiver + "/?key=" + key})
	}
	c.waits, err = trigger("wait and call", "webhook", object{}, process.Node("wait", "wait", object{"durationMs": runWait.Milliseconds()}), call("{{execution.id}}"))
	if err == nil {
		_, err = trigger("each minute", "scheduled", object{"cron": "* * * * *"}, call("{{inputData.scheduledAt}}"))
	}
	return err
}

// round kills the process with the duties shortly before a full minute, waits until the others
// have done its work, and starts it again.
func (c *trio) round(ctx context.Context) error {
	victim, err := c.withDuties(ctx)
	if err != nil {
		return err
	}
	var survivors []*server
	for _, s := range c.servers {
		if s != victim {
			survivors = append(survivors, s)
		}
	}
	due := now().Add(beforeTick + time.Second).Truncate(time.Minute).Add(time.Minute)
	if !process.Pause(ctx, due.Add(-beforeTick-time.Second).Sub(now())) {
		return ctx.Err()
	}
	keys := []string{due.UTC().Format("2006-01-02T15:04:05.000Z")}
	client := process.NewClient(victim.address, apiKey, http.DefaultClient)
	for range runsLost {
		answer := client.Do(ctx, http.MethodPost, "/webhooks/blueprint/"+c.waits, object{})
		if !answer.OK() {
			return fmt.Errorf("the run was not accepted: %s", answer)
		}
		keys = append(keys, answer.Text("executionId"))
	}
	if !process.Pause(ctx, due.Add(-beforeTick).Sub(now())) {
		return ctx.Err()
	}
	if c.calls.missing(keys) != len(keys) {
		return errors.New("a run or the schedule went on before the process was killed")
	}
	killed := now()
	victim.Kill()
	using, end := context.WithCancel(ctx)
	var clients sync.WaitGroup
	var unused error
	clients.Go(func() { unused = c.use(using, survivors, killed) })
	late := ""
	for c.calls.missing(keys) > 0 && late == "" {
		if now().Sub(killed) > mostFailover {
			late = fmt.Sprintf("after %s, %d of %d calls have not been made", mostFailover, c.calls.missing(keys), len(keys))
		}
		process.Pause(ctx, 10*time.Millisecond)
	}
	end()
	clients.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if late != "" {
		return errors.New(late)
	}
	if unused != nil {
		return unused
	}
	c.Tick = append(c.Tick, c.calls.last(keys[:1]).Sub(killed))
	c.Runs = append(c.Runs, c.calls.last(keys[1:]).Sub(killed))
	return victim.start(ctx)
}

// withDuties returns the process that fires the schedules.
func (c *trio) withDuties(ctx context.Context) (*server, error) {
	var state struct {
		Nodes []struct {
			Name, State string
			Duties      []string
		}
	}
	client := process.NewClient(c.servers[0].address, "", http.DefaultClient)
	for end := now().Add(mostFailover); now().Before(end) && ctx.Err() == nil; process.Pause(ctx, 50*time.Millisecond) {
		answer := client.Do(ctx, http.MethodGet, "/readyz?verbose", nil)
		if err := json.Unmarshal(answer.Body, &state); err != nil {
			return nil, fmt.Errorf("/readyz: %s: %w", answer, err)
		}
		live, duties := 0, -1
		for _, n := range state.Nodes {
			if n.State == "live" {
				live++
				if len(n.Duties) > 0 {
					duties = slices.IndexFunc(c.servers, func(s *server) bool { return slices.Contains(s.storage, n.Name) })
				}
			}
		}
		if live == len(c.servers) && duties >= 0 {
			return c.servers[duties], nil
		}
	}
	return nil, fmt.Errorf("no process has the duties, or not all are live: %+v", state.Nodes)
}

// use sends webhooks to the surviving processes until ctx ends. It is an error if none succeeds.
func (c *trio) use(ctx context.Context, survivors []*server, killed time.Time) error {
	var first, longest time.Duration
	var last process.Answer
	client := &http.Client{Timeout: mostFailover}
	for n := 0; ctx.Err() == nil; n++ {
		began := now()
		answer := process.NewClient(survivors[n%len(survivors)].address, "", client).Do(context.WithoutCancel(ctx), http.MethodPost, "/webhooks/blueprint/"+c.hook, json.RawMessage(payload()))
		took := now().Sub(began)
		if !answer.OK() || !strings.Contains(string(answer.Body), greeting) {
			c.o.say("a surviving process answers %s", answer)
			last = answer
			took = mostFailover
		} else if first == 0 {
			first = now().Sub(killed)
		}
		longest = max(longest, took)
		process.Pause(ctx, 10*time.Millisecond)
	}
	if first == 0 {
		return fmt.Errorf("no surviving process answered a webhook: %s", last)
	}
	c.Answer, c.Longest = append(c.Answer, first), append(c.Longest, longest)
	return nil
}

// calls records the first call with each key.
type calls struct {
	mu sync.Mutex
	at map[string]time.Time
}

func (c *calls) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if key := r.URL.Query().Get("key"); c.at[key].IsZero() {
		c.at[key] = now()
	}
	w.WriteHeader(http.StatusNoContent)
}

// missing counts the keys without a call.
func (c *calls) missing(keys []string) (count int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if c.at[key].IsZero() {
			count++
		}
	}
	return count
}

// last returns when the last of the keys was called.
func (c *calls) last(keys []string) (at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if c.at[key].After(at) {
			at = c.at[key]
		}
	}
	return at
}

// text returns the figures as a table in Markdown.
func (f *failovers) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| after a `kill -9` of the process with the duties and %d runs | seconds, median of %d [lowest-highest] |\n|---|--:|\n", runsLost, len(f.Tick))
	for _, row := range []struct {
		what  string
		times []time.Duration
	}{
		{"a surviving process has answered a webhook", f.Answer},
		{"longest webhook of the surviving processes", f.Longest},
		{"all runs of the killed process have continued", f.Runs},
		{"the schedule that was due meanwhile has fired", f.Tick},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row.what, spread(row.times, func(d time.Duration) string { return fmt.Sprintf("%.3g", d.Seconds()) }))
	}
	return b.String()
}
