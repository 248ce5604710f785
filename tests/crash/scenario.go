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

// scene is one server on one database, killed and restarted repeatedly.
type scene struct {
	options
	name   string
	folder string
	random *rand.Rand // of the kills; each client has its own
	book   *book
	screen *screen
	api    *apiClient
	shapes []*shape
	sites  sites  // of the ledger
	links  *links // nil = none

	sources       []*source
	senders       []*sender
	post          *post
	repeats       *repeats
	dashboardUser *dashboardUser // nil = no dashboard user
	accounts      accounts       // read from the server at the end
	// With a virtual clock; otherwise nil.
	ticking *ticking

	began    time.Time
	kills    int             // so far
	stops    int             // requested stops
	early    int             // those before the server was ready
	ready    []time.Duration // durations of the starts
	calls    int             // calls that reached the ledger
	repeated int             // calls with a key that was used before
}

// newScene returns a scene in an existing folder. It shows progress and violations
// on the screen.
func newScene(o options, name, folder string, screen *screen) *scene {
	return &scene{options: o, name: name, folder: folder, random: rand.New(rand.NewPCG(o.seed, 0)), book: newBook(name, screen), screen: screen, api: newAPIClient(), post: &post{}, repeats: newRepeats(), began: now()}
}

// client returns a client with its own number.
func (s *scene) client(n int) *client {
	return &client{name: n, random: rand.New(rand.NewPCG(s.seed, uint64(n))), api: s.api, book: s.book, shapes: s.shapes, links: s.links, watches: s.ticking != nil}
}

func (s *scene) database() string  { return filepath.Join(s.folder, "blueprintd.db") }
func (s *scene) serverLog() string { return filepath.Join(s.folder, "server.log") }

// The time limits of a start and a stop.
const (
	mostToReady = 30 * time.Second
	mostToStop  = 30 * time.Second
)

// arguments are the arguments of every server on the database.
func (s *scene) arguments() []string {
	args := []string{"serve", "--addr", "127.0.0.1:0", "--db", s.database(), "--api-key", apiKey, "--rate-limit", "0", "--allow-net", "127.0.0.0/8", "--keep-executions", "all", "--keep-audit", "all"}
	if s.has("letter") {
		args = append(args, "--smtp-addr", "127.0.0.1:0", "--ready-file", s.readyFile())
	}
	return args
}

func (s *scene) launch() (*program.Process, error) {
	args := s.arguments()
	if s.random.IntN(2) == 0 {
		args = append(args, "--max-running", "8")
	}
	if s.ticking != nil {
		args = append(args, "--clock", s.ticking.flag(s.random))
	}
	return program.Start(program.Command{Path: s.binary, Args: args, Folder: s.folder, Log: s.serverLog(), Ready: program.ServerReady})
}

// up starts the server and waits until it is ready. A server that does not
// become ready is a violation, and nil.
func (s *scene) up(ctx context.Context) (*program.Process, error) {
	p, err := s.launch()
	if err != nil {
		return nil, err
	}
	address, err := p.Address(ctx, mostToReady)
	if err != nil {
		p.Kill()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.book.violated("up", "", "the server does not start: %v; its log is %s", err, s.serverLog())
		return nil, nil
	}
	s.ready = append(s.ready, now().Sub(p.Started))
	if s.ticking != nil {
		s.ticking.reached(s.ticking.given)
	}
	if err := s.openPost(ctx, p); err != nil {
		return nil, err
	}
	s.api.Open(address)
	return p, nil
}

// down ends a server, by SIGKILL or SIGTERM, and records when it ended. A SIGTERM must
// succeed at any moment, while clients keep sending requests.
func (s *scene) down(p *program.Process, polite bool) {
	from := now()
	defer s.post.open("")
	if polite {
		if err := p.Stop(mostToStop); err != nil {
			s.book.violated("up", "", "asked to end, the server did not end well: %v; its log is %s", err, s.serverLog())
		}
		s.stops++
	} else {
		s.api.Open("")
		s.post.open("")
		p.Kill()
		s.kills++
	}
	s.api.Open("")
	s.book.mu.Lock()
	s.book.outages = append(s.book.outages, outage{from: from, asked: polite})
	s.book.mu.Unlock()
}

// restarted records that the process after the latest kill is ready, or was killed too.
func (s *scene) restarted() {
	s.book.outages[len(s.book.outages)-1].to = now()
}

// play loads and kills the server as often as planned, and then lets all work end.
func (s *scene) play(ctx context.Context) error {
	p, err := s.up(ctx)
	if err != nil || p == nil {
		return err
	}
	defer func() { p.Kill() }()
	names := map[string]string{}
	if s.links != nil {
		if err := s.links.create(ctx, s.api, names); err != nil {
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
	if s.ticking != nil {
		if err := s.ticking.create(ctx, s.api); err != nil {
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
	if s.ticking != nil {
		c := s.client(-1)
		clients.Go(func() { s.ticking.work(ctx, loaded, c) })
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
	if s.links != nil {
		c := s.client(700)
		clients.Go(func() { s.links.work(ctx, loaded, c) })
	}
	if s.dashboardUser != nil {
		if err := s.dashboardUser.arrive(ctx); err != nil {
			return err
		}
		clients.Go(func() { s.dashboardUser.work(ctx, loaded) })
	}
	s.sendAll(ctx, loaded, &clients)
	keeper := s.client(800)
	for s.kills < s.options.kills && (s.duration == 0 || now().Sub(s.began) < s.duration) {
		if !process.Pause(ctx, s.life()) {
			return ctx.Err()
		}
		if s.random.IntN(8) == 0 {
			s.intrude(ctx)
		}
		if !p.Running() {
			s.book.violated("up", "", "the server exited: %v; its log is %s", p.Err, s.serverLog())
			return nil
		}
		next, err := s.replace(ctx, p)
		if err != nil || next == nil {
			return err
		}
		if p = next; s.links != nil {
			s.links.look(ctx, keeper, false)
			s.links.try(ctx, keeper, s.links.all[len(s.ready)%len(s.links.all)])
		}
	}
	process.Pause(ctx, time.Second) // load the last start too
	unload()
	clients.Wait()
	if p, err = s.settle(ctx, p); err != nil || p == nil {
		return err
	}
	if err := p.Stop(mostToStop); err != nil {
		s.book.violated("up", "", "the server did not end well: %v", err)
	}
	return nil
}

// subscribers is the number of clients that subscribe to runs.
const subscribers = 2

// edited returns the shape whose blueprint changes, nil if there is none.
func (s *scene) edited() *shape {
	for _, shape := range s.shapes {
		if shape.name == edited {
			return shape
		}
	}
	return nil
}

// life returns how long the server lives this time: often about a second, sometimes only
// into the recovery of the last one's runs.
func (s *scene) life() time.Duration {
	if s.random.IntN(5) == 0 {
		return time.Duration(s.random.IntN(60)) * time.Millisecond
	}
	return time.Duration(250+s.random.IntN(1000)) * time.Millisecond
}

// replace kills the server and restarts it; one start in five is killed too. One server in
// twelve is stopped instead, which is not a kill but interrupts the same runs.
func (s *scene) replace(ctx context.Context, p *program.Process) (*program.Process, error) {
	for polite := s.random.IntN(12) == 0; ; polite = false {
		s.down(p, polite)
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
		s.early++
		p = next
	}
	next, err := s.up(ctx)
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
