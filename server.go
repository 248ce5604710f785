package main

import (
	"cmp"
	"context"
	"errors"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"blueprintd/blueprint"
	"blueprintd/connections"
	"blueprintd/engine"
	"blueprintd/engine/nodes"
	"blueprintd/engine/nodes/mcp"
	"blueprintd/engine/script"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/metrics"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/secret"
	"blueprintd/project"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
	"blueprintd/server/accounts"
	"blueprintd/server/limits"
	"blueprintd/server/sandbox"
	"blueprintd/store"
	"blueprintd/store/masterkey"
	"blueprintd/triggers"
	"blueprintd/triggers/explain"
	"blueprintd/triggers/mail"
)

// admissionWait is how long a request waits for memory, in real time, before it
// is refused.
const admissionWait = 10 * time.Second

// server is everything that serve runs, wired.
type server struct {
	options     options
	listener    net.Listener
	store       *store.Store
	engine      *engine.Engine
	scripts     *script.Pool
	triggers    *triggers.Service
	connections *connections.Service
	rpc         *trpc.Handler
	dashboard   *trpc.Handler
	accounts    *accounts.Service
	http        *http.Server
	mail        *mail.Server     // nil = none is received
	fakes       *sandbox.Sandbox // in the place of the network; nil = the network itself
	decoding    chan struct{}    // has room for each file that may be decoded now
	doors       *limits.Connections
	bodies      *limits.Bodies
	ids         *ids.Source
	draining    chan struct{}       // closes when the server begins to stop
	opened      chan struct{}       // closes when recovery is done: requests are let in
	lost        chan struct{}       // closes when the database has failed
	ready       atomic.Bool         // it takes work
	watchers    *limits.Connections // on the address for metrics; nil = it has none of its own
	watching    *http.Server        // there
	up          metrics.Stopwatch
	began       time.Time // on the wall
	manager     notifier
	welcome     welcome
	link        *openLink // signs in who develops; nil = there is none

	certificates certificates        // nil = no TLS is spoken
	secureHost   string              // host and port that they fit
	acme         *authority          // nil = none is asked for them
	provers      *limits.Connections // on the address for proofs to it; nil = there is none
	proving      *http.Server        // there
}

// newServer opens the database and wires the rooms. Nothing runs yet, but the
// port is taken: who connects from now on is answered once run is called.
func newServer(ctx context.Context, o options) (_ *server, err error) {
	s := &server{options: o, ids: sourceOf(o.seedIDs), draining: make(chan struct{}), opened: make(chan struct{}), lost: make(chan struct{}), decoding: make(chan struct{}, mostDecoding), manager: newNotifier(o.logger), up: metrics.Begin(), began: clock.Real{}.Now()}
	if s.listener, err = listen(o.addr); err != nil {
		return nil, blueprint.Hinted("choose another one with --addr, or stop what listens there", "cannot listen on %s: %s", o.addr, listenCause(err))
	}
	defer func() {
		if err != nil {
			s.listener.Close()
			if s.watchers != nil {
				s.watchers.Close()
			}
			if s.provers != nil {
				s.provers.Close()
			}
			if s.mail != nil {
				s.mail.Listener.Close()
			}
			if s.store != nil {
				err = errors.Join(err, s.store.Close())
			}
		}
	}()
	shares, wait := sharesOf(memoryLimit(o.memoryLimit)), cmp.Or(o.admissionWait, admissionWait)
	key, err := s.masterKey()
	if err != nil {
		return nil, err
	}
	s.store, err = key.Open(func(sealer *secret.Sealer) (*store.Store, error) {
		return store.Open(ctx, store.Options{
			Path: o.db, Ephemeral: o.ephemeral, Server: true, Schema: o.schema, Sealer: sealer, Clock: o.clock, IDs: s.ids.Stream("store"), Logger: o.logger, MaxBlueprints: o.maxBlueprints,
			KeepExecutions: o.keepExecutions, KeepFirings: o.keepFirings, KeepAudit: o.keepAudit, MaxDisk: o.maxDisk,
			AllowNetworkFS: o.allowNetworkFS, MinFree: o.minFree, MailDomain: o.mailDomain, OnEvents: s.raised, Sandbox: o.sandbox != nil, VirtualClock: o.virtual() != nil,
		})
	})
	if err != nil {
		return nil, err
	}
	if o.readyFile != "" && o.readyFile != readyOnOutput {
		os.Remove(o.readyFile) // of a server that was killed: nobody may take it for this one's
	}
	s.accounts = accounts.New(accounts.Options{Store: s.store, Clock: o.clock, IDs: s.ids.Stream("accounts"), Sealer: key.Sealer, Failed: s.store.NoteWrongPassword})
	if s.welcome, err = s.firstStart(ctx); err != nil {
		return nil, err
	}
	if s.fakes, err = s.newFakes(); err != nil {
		return nil, err
	}
	way := outbound.New(s.boxed(outbound.Options{Allow: o.allowNet}))
	s.scripts = script.New(script.Options{Logger: o.logger})
	catalogue := project.CatalogueOf(nodes.Dependencies{HTTP: way, MCP: mcp.New(way, o.version), Scripts: s.scripts, Clock: o.clock, Files: s.fileOfRun})
	s.connections = s.newConnections(way)
	s.engine = engine.New(engine.Options{
		Catalogue: s.running(catalogue), Journal: s.store, Clock: o.clock, IDs: s.ids.Stream("engine"), Sealer: key.Sealer, Logger: o.logger, Turn: s.turn(),
		Blueprints: blueprints{s.store}, MaxRunning: o.maxRunning, MaxQueued: o.maxQueued, Lost: s.lost, Limits: engine.Limits{Held: int(min(shares.inputs, math.MaxInt))}, InputWait: wait, Authority: s.store, Connections: s.connections,
		Emit: func(ctx context.Context, e blueprint.Event) (int, error) { return s.triggers.Emit(ctx, e) },
		Concurrency: func(ctx context.Context, key string) (*blueprint.ConcurrencyGroup, error) {
			return s.triggers.Concurrency(ctx, key)
		},
	})
	runner := runner{s.engine, o.syncTimeout}
	s.triggers = triggers.New(triggers.Options{
		Store: s.store, Runner: starter{s.engine}, Clock: o.clock, IDs: s.ids.Stream("triggers"), Logger: o.logger, MaxBody: o.maxBody, SyncTimeout: o.syncTimeout,
		Relimit: s.engine.Relimit, Channels: s.connections, Mail: s.mailOptions(),
	})
	service := &rpc.Service{Store: s.store, Runner: runner, Triggers: s.triggers, Catalogue: catalogue, CheckConfig: project.CheckConfig, IDs: s.ids.Stream("procedures"), APIHost: s.apiHost, Connections: s.connections}
	service.Explain = func(story *blueprint.FiringStory) *blueprint.Explanation { return explain.Firing(story, o.clock.Now()) }
	started := o.clock.Now()
	service.Info = func() rpc.ServerInfo { return s.info(started) }
	limiter := trpc.NewLimiter(o.clock, o.rateLimit, o.rateBurst)
	s.dashboard = s.newDashboard(service, limiter)
	s.rpc = trpc.NewHandler(service.Procedures(), trpc.Options{
		Authenticator: s.store, Limiter: limiter, MaxBody: o.maxBody, Origins: o.origins, Draining: s.draining, Logger: o.logger, CountWith: s.dashboard, Fault: s.fault(),
	})
	s.doors = limits.NewConnections(s.listener, o.maxConnections)
	s.doors.Dispersed = debug.FreeOSMemory
	s.doors.Alone = o.untilEOF != nil
	s.bodies = limits.NewBodies(limits.BodyLimits{Arriving: shares.arriving, Decoded: shares.decoded, Largest: o.maxBody, Patience: wait})
	s.http = s.newHTTP(s.repeatable(s.healthFirst(limits.Requests(o.maxConnections, s.bodies.Handler(limits.NewAnswers(shares.answers, s.draining).Handler(limits.Gzip(s.routes())))))))
	if err = s.secure(); err != nil {
		return nil, err
	}
	s.link = s.newOpenLink()
	if err = s.receiveMail(); err != nil {
		return nil, err
	}
	if err = s.watch(); err != nil {
		return nil, err
	}
	if err = ctx.Err(); err != nil { // told to stop meanwhile
		return nil, err
	}
	return s, nil
}

// raised tells that events came into the outbox. Those of before anybody empties
// it are found at the start.
func (s *server) raised() {
	if s.triggers != nil {
		s.triggers.Raised()
	}
}

// newHTTP makes an HTTP server that has patience with its clients, but only so
// much.
func (s *server) newHTTP(handler http.Handler) *http.Server {
	whole := s.options.readTimeout
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: cmp.Or(whole, 10*time.Second), ReadTimeout: cmp.Or(whole, time.Minute), IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: log.New(newHTTPLog(s.options.logger), "", 0), ConnState: limits.State, ConnContext: limits.ConnContext,
	}
}

// masterKey gives the key that encrypts secrets: one of the moment for a
// database that lasts no longer.
func (s *server) masterKey() (masterkey.Key, error) {
	if s.options.ephemeral {
		sealer, err := secret.NewSealer(secret.NewKey())
		return masterkey.Key{Sealer: sealer}, err
	}
	return masterkey.Open(s.options.db, s.options.masterKeyFile, s.options.logger)
}

// run serves until ctx ends, then brings everything to rest in the reverse
// order: no new work, nodes under way finish or are journalled, the last
// commits are made. A failure of the disk ends it at once.
func (s *server) run(ctx context.Context) error {
	// The database outlives everything that writes to it.
	storeCtx, stopStore := context.WithCancel(context.WithoutCancel(ctx))
	storeEnded := make(chan error, 1)
	go func() {
		err := s.store.Run(storeCtx)
		if err != nil {
			close(s.lost)
		}
		storeEnded <- err
	}()

	stopScripts := runScripts(s.scripts) // they outlive the runs that wait for them
	group, working := errgroup.WithContext(ctx)
	recovered, atRest := make(chan struct{}), make(chan struct{})
	group.Go(func() error {
		defer close(atRest)
		return s.engine.Run(working, func() {
			close(recovered)
			s.tidyMemory()
		})
	})
	group.Go(func() error {
		select {
		case <-recovered:
			return s.triggers.Run(working)
		case <-working.Done():
			return nil
		}
	})
	group.Go(func() error { return s.serveHTTP(working, recovered, atRest) })
	group.Go(func() error {
		select {
		case err := <-storeEnded: // only a failed disk ends it before it is told to
			storeEnded <- err
			return errors.Join(err, errors.New("the database stopped"))
		case <-working.Done():
			return nil
		}
	})
	if s.mail != nil {
		group.Go(func() error { return s.serveMail(working, recovered) })
	}
	if s.acme != nil {
		group.Go(func() error { return s.acme.run(working) })
	}
	if s.proving != nil {
		group.Go(func() error { return s.serveProofs(working) })
	}
	if s.watching != nil {
		group.Go(func() error { return s.serveWatchers(working, atRest) })
	}
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.manager.watch(watching, s.store.Ping)
	}()
	err := group.Wait()
	stopScripts()
	stopWatching()
	<-watched
	stopStore()
	err = errors.Join(err, <-storeEnded, s.store.Close())
	s.removeReadyFile()
	return err
}

// serveHTTP answers requests: until recovery is done only how the server is.
// Then it tells the world that it is ready. When the server stops it goes on answering until the engine is at rest, so
// that who comes late is told 503 instead of finding the door shut.
func (s *server) serveHTTP(ctx context.Context, recovered, atRest <-chan struct{}) error {
	failed := make(chan error, 1)
	go func() { failed <- s.serveDoors() }()
	select {
	case err := <-failed:
		return err
	case <-recovered:
		close(s.opened)
		s.ready.Store(true)
		if err := s.store.ServedAt(s.apiHost()); err != nil {
			s.options.logger.Warn("server address not noted beside the database", "error", err)
		}
		if err := s.announce(); err != nil {
			return errors.Join(err, s.http.Close())
		}
		s.manager.ready(s.apiHost())
		s.logServing()
	case <-ctx.Done():
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.ready.Store(false)
	s.manager.stopping()
	defer s.logStopped(s.logStopping())
	close(s.draining)
	<-atRest
	most := 15 * time.Second
	if blueprint.CodeOf(context.Cause(ctx)) == blueprint.CodeUnavailable || s.hasLost() {
		most = 200 * time.Millisecond // the disk has failed: there is nothing left to answer but that
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	s.doors.Leave(patience)
	if err := s.http.Shutdown(patience); err != nil {
		s.options.logger.Warn("some requests did not end in time", "error", err)
		return s.http.Close()
	}
	return nil
}

// hasLost tells whether the database has failed for good.
func (s *server) hasLost() bool {
	select {
	case <-s.lost:
		return true
	default:
		return false
	}
}

// runner is the engine as the procedures see it.
type runner struct {
	*engine.Engine
	timeout time.Duration
}

// begun gives the id of a run once it is durable. Whoever asked may go away
// meanwhile; that it was begun is to be known all the same.
func begun(ctx context.Context, handle *engine.Handle) (string, error) {
	if err := handle.Accepted(context.WithoutCancel(ctx)); err != nil {
		return "", err
	}
	return handle.ID, nil
}

// Execute starts a run and waits for it as long as one may wait for an answer.
func (r runner) Execute(ctx context.Context, request *blueprint.StartRequest) (string, *blueprint.Execution, error) {
	return executeUntil(ctx, r, request, (*engine.Handle).Wait)
}

// executeToEnd is Execute for a caller that is given the output as data; nil for a
// run of which the end is not known.
func (r runner) executeToEnd(ctx context.Context, request *blueprint.StartRequest) (string, *blueprint.Ending, error) {
	return executeUntil(ctx, r, request, func(h *engine.Handle, ctx context.Context) (*blueprint.Ending, error) {
		ending, err := h.Ending(ctx)
		return &ending, err
	})
}

func executeUntil[T any](ctx context.Context, r runner, request *blueprint.StartRequest, wait func(*engine.Handle, context.Context) (*T, error)) (string, *T, error) {
	handle, err := r.Engine.StartOrWait(ctx, request, engine.AtEnd)
	if err != nil {
		return "", nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	outcome, err := wait(handle, waiting)
	if err == nil {
		return handle.ID, outcome, nil
	}
	id, refused := begun(ctx, handle)
	switch {
	case refused != nil:
		return "", nil, refused
	case waiting.Err() != nil:
		err = ctx.Err() // nil unless the client hung up: it goes on without us
	}
	return id, nil, err
}

// Start starts a run and waits until it is durable.
func (r runner) Start(ctx context.Context, request *blueprint.StartRequest) (string, error) {
	handle, err := r.Engine.StartOrWait(ctx, request, engine.Soon)
	if err != nil {
		return "", err
	}
	return begun(ctx, handle)
}

// Resume gives an answer to a paused run.
func (r runner) Resume(ctx context.Context, a rpc.ResumeAnswer) error {
	return r.Engine.Resume(ctx, engine.Answer(a))
}

// Retry starts a finished run anew.
func (r runner) Retry(ctx context.Context, stored *blueprint.StoredExecution, fromNodeID string, principal blueprint.Principal, canManage bool) (string, error) {
	handle, err := r.Engine.Retry(ctx, stored, fromNodeID, principal, canManage)
	if err != nil {
		return "", err
	}
	return begun(ctx, handle)
}

// starter is the engine as the triggers see it.
type starter struct{ engine *engine.Engine }

// Start begins a run.
func (s starter) Start(ctx context.Context, request *blueprint.StartRequest, patience time.Duration) (triggers.Run, error) {
	handle, err := s.engine.StartOrWait(ctx, request, engine.Urgency(patience))
	if err != nil {
		return nil, err
	}
	return handle, nil
}
