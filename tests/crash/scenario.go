package main

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

// scenario is one server on one database, killed and restarted repeatedly.
type scenario struct {
	options
	name        string
	folder      string
	random      *rand.Rand // of the kills; each client has its own
	history     *history
	display     *display
	api         *apiClient
	shapes      []*shape
	sites       sites        // of the ledger
	connections *connections // nil = none

	sources       []*source
	senders       []*sender
	mailServer    *mailAddress
	redeliveries  *redeliveries
	dashboardUser *dashboardUser // nil = no dashboard user
	accounts      accounts       // read from the server at the end
	// With a virtual clock; otherwise nil.
	clock *virtualClock

	began         time.Time
	kills         int             // so far
	stops         int             // requested stops
	earlyKills    int             // those before the server was ready
	ready         []time.Duration // durations of the starts
	calls         int             // calls that reached the ledger
	repeatedCalls int             // calls with a key that was used before
}

// newScenario returns a scenario in an existing folder. It shows progress and violations
// on the display.
func newScenario(o options, name, folder string, display *display) *scenario {
	return &scenario{options: o, name: name, folder: folder, random: rand.New(rand.NewPCG(o.seed, 0)), history: newHistory(name, display), display: display, api: newAPIClient(), mailServer: &mailAddress{}, redeliveries: newRedeliveries(), began: now()}
}

// client returns a client with its own number.
func (s *scenario) client(n int) *client {
	return &client{name: n, random: rand.New(rand.NewPCG(s.seed, uint64(n))), api: s.api, history: s.history, shapes: s.shapes, connections: s.connections, observesOnly: s.clock != nil}
}

func (s *scenario) database() string  { return filepath.Join(s.folder, "blueprintd.db") }
func (s *scenario) serverLog() string { return filepath.Join(s.folder, "server.log") }

// The time limits of a start and a stop.
const (
	maxReady = 30 * time.Second
	maxStop  = 30 * time.Second
)

// arguments are the arguments of every server on the database.
func (s *scenario) arguments() []string {
	args := []string{"serve", "--addr", "127.0.0.1:0", "--db", s.database(), "--api-key", apiKey, "--rate-limit", "0", "--allow-net", "127.0.0.0/8", "--keep-executions", "all", "--keep-audit", "all"}
	if s.hasShape("email") {
		args = append(args, "--smtp-addr", "127.0.0.1:0", "--ready-file", s.readyFile())
	}
	return args
}

func (s *scenario) launch() (*program.Process, error) {
	args := s.arguments()
	if s.random.IntN(2) == 0 {
		args = append(args, "--max-running", "8")
	}
	if s.clock != nil {
		args = append(args, "--clock", s.clock.flag(s.random))
	}
	return program.Start(program.Command{Path: s.binary, Args: args, Folder: s.folder, Log: s.serverLog(), Ready: program.ServerReady})
}

// start starts the server and waits until it is ready. A server that does not
// become ready is a violation, and nil.
func (s *scenario) start(ctx context.Context) (*program.Process, error) {
	p, err := s.launch()
	if err != nil {
		return nil, err
	}
	address, err := p.Address(ctx, maxReady)
	if err != nil {
		p.Kill()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.history.violated("up", "", "the server does not start: %v; its log is %s", err, s.serverLog())
		return nil, nil
	}
	s.ready = append(s.ready, now().Sub(p.Started))
	if s.clock != nil {
		s.clock.setAtLeast(s.clock.startTime)
	}
	if err := s.readMailAddress(ctx, p); err != nil {
		return nil, err
	}
	s.api.Open(address)
	return p, nil
}

// stop ends a server, by SIGKILL or SIGTERM, and records when it ended. A SIGTERM must
// succeed at any moment, while clients keep sending requests.
func (s *scenario) stop(p *program.Process, polite bool) {
	from := now()
	defer s.mailServer.set("")
	if polite {
		if err := p.Stop(maxStop); err != nil {
			s.history.violated("up", "", "the server did not stop cleanly after SIGTERM: %v; its log is %s", err, s.serverLog())
		}
		s.stops++
	} else {
		s.api.Open("")
		s.mailServer.set("")
		p.Kill()
		s.kills++
	}
	s.api.Open("")
	s.history.mu.Lock()
	s.history.outages = append(s.history.outages, outage{from: from, asked: polite})
	s.history.mu.Unlock()
}

// restarted records that the process after the latest kill is ready, or was killed too.
func (s *scenario) restarted() {
	s.history.outages[len(s.history.outages)-1].to = now()
}

// run loads and kills the server as often as planned, and then lets all work end.
func (s *scenario) run(ctx context.Context) error {
	p, err := s.start(ctx)
	if err != nil || p == nil {
		return err
	}
	defer func() { p.Kill() }()
	names := map[string]string{}
	if s.connections != nil {
		if err := s.connections.create(ctx, s.api, names); err != nil {
			return err
		}
	}
	for _, shape := range s.shapes {
		if err := shape.create(ctx, s.api, names); err != nil {
			return err
		}
	}
	for _, source := range s.sources {
		if err := source.create(ctx, s.api); err != nil {
			return err
		}
	}
	if s.clock != nil {
		if err := s.clock.create(ctx, s.api); err != nil {
			return err
		}
	}
	loaded, unload := context.WithCancel(ctx)
	var clients sync.WaitGroup
	defer clients.Wait()
	defer unload()
	for i := range s.clients {
		c := s.client(i + 1)
		clients.Go(func() { c.work(ctx, loaded) })
	}
	if s.clock != nil {
		c := s.client(-1)
		clients.Go(func() { s.clock.work(ctx, loaded, c) })
	}
	for i := range subscribers {
		c := s.client(500 + i)
		clients.Go(func() { c.follow(ctx, loaded) })
	}
	if shape := s.edited(); shape != nil {
		c := s.client(600)
		e := &editor{random: c.random, ledger: s.sites.services}
		clients.Go(func() { e.work(ctx, loaded, c, shape) })
	}
	if s.connections != nil {
		c := s.client(700)
		clients.Go(func() { s.connections.work(ctx, loaded, c) })
	}
	if s.dashboardUser != nil {
		if err := s.dashboardUser.create(ctx); err != nil {
			return err
		}
		clients.Go(func() { s.dashboardUser.work(ctx, loaded) })
	}
	s.startSenders(ctx, loaded, &clients)
	keeper := s.client(800)
	for s.kills < s.options.kills && (s.duration == 0 || now().Sub(s.began) < s.duration) {
		if !process.Pause(ctx, s.lifetime()) {
			return ctx.Err()
		}
		if s.random.IntN(8) == 0 {
			s.startSecondServer(ctx)
		}
		if !p.Running() {
			s.history.violated("up", "", "the server exited: %v; its log is %s", p.Err, s.serverLog())
			return nil
		}
		next, err := s.replace(ctx, p)
		if err != nil || next == nil {
			return err
		}
		if p = next; s.connections != nil {
			s.connections.list(ctx, keeper, false)
			s.connections.test(ctx, keeper, s.connections.all[len(s.ready)%len(s.connections.all)])
		}
	}
	process.Pause(ctx, time.Second) // load the last start too
	unload()
	clients.Wait()
	if p, err = s.settle(ctx, p); err != nil || p == nil {
		return err
	}
	if err := p.Stop(maxStop); err != nil {
		s.history.violated("up", "", "the server did not stop cleanly: %v", err)
	}
	return nil
}

// subscribers is the number of clients that subscribe to runs.
const subscribers = 2

// edited returns the shape whose blueprint changes, nil if there is none.
func (s *scenario) edited() *shape {
	for _, shape := range s.shapes {
		if shape.name == edited {
			return shape
		}
	}
	return nil
}

// lifetime returns how long the server lives this time: often about a second, sometimes only
// into the recovery of the last one's runs.
func (s *scenario) lifetime() time.Duration {
	if s.random.IntN(5) == 0 {
		return time.Duration(s.random.IntN(60)) * time.Millisecond
	}
	return time.Duration(250+s.random.IntN(1000)) * time.Millisecond
}

// replace kills the server and restarts it; one start in five is killed too. One server in
// twelve is stopped instead, which is not a kill but interrupts the same runs.
func (s *scenario) replace(ctx context.Context, p *program.Process) (*program.Process, error) {
	for polite := s.random.IntN(12) == 0; ; polite = false {
		s.stop(p, polite)
		if polite {
			break
		}
		s.progress("")
		if s.random.IntN(5) > 0 || s.kills >= s.options.kills {
			break
		}
		next, err := s.launch()
		if err != nil {
			return nil, err
		}
		process.Pause(ctx, time.Duration(s.random.IntN(150))*time.Millisecond)
		s.restarted()
		s.earlyKills++
		p = next
	}
	next, err := s.start(ctx)
	s.restarted()
	return next, err
}

// percentile returns the value at a percentile.
func percentile(all []time.Duration, percent int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)].Round(time.Millisecond)
}
