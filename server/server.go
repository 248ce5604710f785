// Package server is one serving process. New wires the store, the engine, the triggers,
// the API and the dashboard. Run serves until its context ends; then it refuses new
// requests, drains runs and deliveries, and closes the database.
//
// Options is a plain value. Health, metrics, the log and systemd have files of their own. A
// viewer shows the file of a run in the same dashboard, without an engine.
package server

import (
	"cmp"
	"context"
	"errors"
	"log"
	"math"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"blueprintd/blueprint"
	"blueprintd/connections"
	"blueprintd/engine"
	"blueprintd/engine/nodes"
	"blueprintd/engine/nodes/mcp"
	"blueprintd/engine/script"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/metrics"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/secret"
	"blueprintd/project"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
	"blueprintd/server/accounts"
	"blueprintd/server/approvals"
	"blueprintd/server/certificate"
	"blueprintd/server/limits"
	"blueprintd/server/sandbox"
	"blueprintd/store"
	"blueprintd/store/masterkey"
	"blueprintd/triggers"
	"blueprintd/triggers/explain"
	"blueprintd/triggers/mail"
)

// admissionWait is the real time that a request waits for memory before it is refused.
const admissionWait = 10 * time.Second

// Server is a serving process.
type Server struct {
	site
	Engine      *engine.Engine
	Scripts     *script.Pool
	Triggers    *triggers.Service
	connections *connections.Service
	approvals   *approvals.Service
	mail        *mail.Server     // nil = no mail is received
	sandbox     *sandbox.Sandbox // replaces the network; nil = the real network
	decoding    chan struct{}    // semaphore of mail attachments being decoded
	bodies      *limits.Bodies
	Bootstrap   bootstrapped

	main              *httpListener
	MetricsListener   *httpListener          // nil = metrics are served on main
	challengeListener *httpListener          // ACME HTTP-01; nil = none
	ACME              *certificate.Authority // nil = no certificates are obtained

	up      metrics.Stopwatch
	began   time.Time // wall clock
	manager notifier
}

const (
	// DefaultMaxConnections is the default of Limits.MaxConnections.
	DefaultMaxConnections = 12_000
	// fewConnections is fewer than a busy server may need.
	fewConnections = 1000
)

// connectionsWithin returns how many connections leave enough open files for the database, for
// connections being refused, and a quarter for scripts and the calls of runs. Without any left,
// runs would fail, and new connections would hang instead of being refused.
func connectionsWithin(files int64) int {
	const database, refusals = 48, 64
	return int(min(max(8, files-files/4-database-refusals), math.MaxInt32))
}

// connectionMemory is the memory of an open connection with a request that is arriving.
const connectionMemory = 32 << 10

// limitConnections lowers o.MaxConnections to what the limits on open files and on memory
// allow. The default is more than most servers need, and more than macOS allows.
func (o *Options) limitConnections(files, bytes int64) {
	if most := connectionsWithin(files); o.lowerConnections(most) {
		o.Logger.Warn("the limit on open files allows fewer connections", "connections", most, "files", files, "hint", "raise it with ulimit -n, or LimitNOFILE of the service")
	}
	if most := int(min(max(8, sharesOf(bytes).Open/connectionMemory), math.MaxInt32)); o.lowerConnections(most) {
		o.Logger.Warn("the memory limit allows fewer connections", "connections", most, "bytes", bytes, "hint", "give the server more memory, or set --max-connections")
	}
}

// lowerConnections lowers o.MaxConnections to most, and reports whether that is worth a warning.
func (o *Options) lowerConnections(most int) bool {
	if o.MaxConnections <= most {
		return false
	}
	chosen := o.MaxConnections != DefaultMaxConnections
	o.MaxConnections = most
	return chosen || most < fewConnections
}

// New opens the database, listens, and wires all packages. Run accepts connections.
func New(ctx context.Context, o Options) (_ *Server, err error) {
	o.limitConnections(openFiles(), MemoryLimit(o.MemoryLimit))
	s := &Server{site: site{Options: o, IDs: sourceOf(o.SeedIDs), Clients: &trpc.Clients{Proxies: o.Proxies(), Logger: o.Logger}}, decoding: make(chan struct{}, maxDecoding), manager: newNotifier(o.Logger), up: metrics.Begin(), began: clock.Real{}.Now()}
	s.begin()
	if s.Listener, err = listen(o.Addr); err != nil {
		return nil, cannotListen("--addr", o.Addr, err)
	}
	s.opened.add(s.Listener.Close)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.opened.close())
		}
	}()
	shares, wait := sharesOf(MemoryLimit(o.MemoryLimit)), cmp.Or(o.AdmissionWait, admissionWait)
	key, err := s.masterKey()
	if err != nil {
		return nil, err
	}
	upgrade := &upgrading{site: &s.site, notify: s.manager.notify}
	s.Store, err = key.Open(func(sealer *secret.Sealer) (*store.Store, error) {
		return store.Open(ctx, store.Options{
			Path: o.DB, Database: o.URL, Node: cmp.Or(o.NodeName, nodeName(s.Listener)), Release: o.Version, Ephemeral: o.Ephemeral, Server: true, Schema: o.Schema, Sealer: sealer, Clock: o.Clock, IDs: s.IDs.Stream("store"), Logger: o.Logger, MaxBlueprints: o.MaxBlueprints,
			KeepExecutions: o.KeepExecutions, KeepFirings: o.KeepFirings, KeepAudit: o.KeepAudit, MaxDisk: o.MaxDisk,
			AllowNetworkFS: o.AllowNetworkFS, MinFree: o.MinFree, KeepOld: o.KeepOld, OnUpgrade: upgrade.stage, MailDomain: o.MailDomain, OnEvents: s.notifyEvents, Sandbox: o.Sandbox != nil, VirtualClock: o.Virtual() != nil,
		})
	})
	upgrade.end()
	if err != nil {
		return nil, err
	}
	s.opened.add(s.Store.Close)
	if o.ReadyFile != "" && o.ReadyFile != ReadyOnOutput {
		os.Remove(o.ReadyFile) // a stale one of a server that was killed
	}
	s.Accounts = accounts.New(accounts.Options{Store: s.Store, Clock: o.Clock, IDs: s.IDs.Stream("accounts"), Sealer: key.Sealer, Failed: s.Store.NoteWrongPassword, HashMemory: o.PasswordMemory})
	if s.Bootstrap, err = s.firstStart(ctx); err != nil {
		return nil, err
	}
	if s.sandbox, err = newSandbox(o, s.IDs); err != nil {
		return nil, err
	}
	client := outbound.New(s.withSandbox(outbound.Options{Allow: o.AllowNet}))
	s.opened.add(client.Close)
	s.Scripts = script.New(script.Options{Logger: o.Logger})
	catalogue := project.CatalogueOf(nodes.Dependencies{HTTP: client, MCP: mcp.New(client, o.Version), Scripts: s.Scripts, Clock: o.Clock, Files: s.fileOfRun})
	s.connections = s.newConnections(client, key.Sealer)
	var peers engine.Peers
	if o.URL != "" {
		peers = s.Store
	}
	links := approvals.Signer{Key: s.pageKey(key.Sealer, "approval links"), Host: s.APIHost}
	s.Engine = engine.New(engine.Options{
		Peers: peers, Link: links.ForNode,
		Catalogue: s.wrapCatalogue(catalogue), Journal: s.Store, Clock: o.Clock, IDs: s.IDs.Stream("engine"), Sealer: key.Sealer, Logger: o.Logger, Schedule: s.serializer(),
		Blueprints: Blueprints{s.Store}, MaxRunning: o.MaxRunning, MaxQueued: o.MaxQueued, Lost: s.lost, Limits: runLimits(MemoryLimit(o.MemoryLimit)), InputWait: wait, Authority: s.Store, Connections: s.connections,
		Emit: func(ctx context.Context, e blueprint.Event) (int, error) { return s.Triggers.Emit(ctx, e) },
		Concurrency: func(ctx context.Context, key string) (*blueprint.ConcurrencyGroup, error) {
			return s.Triggers.Concurrency(ctx, key)
		},
	})
	runner := Runner{s.Engine, s.Store, o.SyncTimeout}
	s.Triggers = triggers.New(triggers.Options{
		Store: s.Store, Runner: starter{s.Engine}, Clock: o.Clock, IDs: s.IDs.Stream("triggers"), Logger: o.Logger, MaxBody: o.MaxBody, SyncTimeout: o.SyncTimeout,
		Relimit: s.Engine.Relimit, Nodes: s.Store.LiveNodes, Channels: s.connections, Mail: s.mailOptions(), UpSince: s.upSince, WhileAvailable: s.Store.WhileAvailable,
		FormKey: s.pageKey(key.Sealer, "forms"), Network: s.Clients.Network,
	})
	var service *rpc.Service
	s.approvals = approvals.New(approvals.Options{
		Signer: links, Clock: o.Clock, Question: s.Engine.Question, Resume: s.Engine.Resume, Note: s.Store.NoteAction, Network: s.Clients.Network,
		MayAct: func(ctx context.Context, userID, executionID string) (bool, error) {
			return service.MayAct(ctx, blueprint.Principal{UserID: userID}, executionID)
		},
		Failed: func(err error) { o.Logger.Error("approval link failed", "error", err) },
	})
	started := o.Clock.Now()
	service = rpc.New(rpc.Options{
		Store: s.Store, Runner: runner, Triggers: s.Triggers, Catalogue: catalogue, CheckConfig: project.CheckConfig, IDs: s.IDs.Stream("procedures"), APIHost: s.APIHost, Connections: s.connections, Link: s.approvals.LinkFor,
		Explain:    func(story *blueprint.FiringStory) *blueprint.Explanation { return explain.Firing(story, o.Clock.Now()) },
		Info:       func() rpc.ServerInfo { return s.info(started) },
		Status:     func(ctx context.Context) rpc.ServerStatus { return s.status(ctx, started) },
		MayOperate: s.isOwner,
	})
	limiter := s.newLimiter(o.RateLimit, o.RateBurst)
	procedures := service.Procedures()
	s.Dashboard = s.newDashboard(slices.Concat(procedures, service.DashboardProcedures()), limiter)
	s.RPC = trpc.NewHandler(procedures, trpc.Options{
		Authenticator: s.Store, Limiter: limiter, MaxBody: o.MaxBody, Origins: o.Origins, Draining: s.Draining, Logger: o.Logger, CountWith: s.Dashboard, Fault: s.fault(), Available: s.Store.Available,
	})
	s.bodies = limits.NewBodies(limits.BodyLimits{Arriving: shares.Arriving, Decoded: shares.Decoded, Largest: o.MaxBody, MaxWait: wait})
	connections := limits.NewConnections(s.Listener, o.MaxConnections)
	connections.OnShrink = debug.FreeOSMemory
	connections.SingleClient = o.UntilEOF != nil
	answer := limits.NewAnswers(shares.Answers, s.Draining).Handler(limits.Gzip(s.Routes()))
	s.main = &httpListener{connections, s.newHTTP(s.reproducible(s.healthFirst(limits.Requests(o.MaxConnections, s.bodies.Handler(answer)))))}
	if err = s.secure(); err != nil {
		return nil, err
	}
	s.Link = s.newOpenLink()
	if err = s.receiveMail(); err != nil {
		return nil, err
	}
	if err = s.watch(); err != nil {
		return nil, err
	}
	if err = ctx.Err(); err != nil { // stopped meanwhile
		return nil, err
	}
	return s, nil
}

// notifyEvents notifies the triggers about events in the outbox. Earlier events are found
// at the start.
func (s *Server) notifyEvents() {
	if s.Triggers != nil {
		s.Triggers.Published()
	}
}

// idleTimeout is how long a connection stays open without a request. Most proxies close theirs
// sooner (Caddy after two minutes), so that none sends a request into a closing connection.
const idleTimeout = 3 * time.Minute

// newHTTP returns an HTTP server with time limits for clients.
func (s *site) newHTTP(handler http.Handler) *http.Server {
	whole := s.Options.ReadTimeout
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: cmp.Or(whole, 10*time.Second), ReadTimeout: cmp.Or(whole, time.Minute), IdleTimeout: idleTimeout, MaxHeaderBytes: 32 << 10,
		ErrorLog: log.New(newHTTPLog(s.Options.Logger), "", 0), ConnState: limits.State, ConnContext: limits.ConnContext,
	}
}

// masterKey returns the key that encrypts secrets; a random one for a database in memory.
func (s *Server) masterKey() (masterkey.Key, error) {
	if s.Options.Ephemeral {
		sealer, err := secret.NewSealer(secret.NewKey())
		return masterkey.Key{Sealer: sealer}, err
	}
	return masterkey.Open(s.Options.DB, s.Options.MasterKeyFile, s.Options.Logger)
}

// Run serves until ctx ends, then drains in reverse order: no new work starts, running
// nodes finish or are journalled, the last commits follow. A disk failure ends it.
func (s *Server) Run(ctx context.Context) error {
	ctx, stop := s.delayStop(ctx)
	defer stop()

	// The database outlives everything that writes to it.
	storeCtx, stopStore := context.WithCancel(context.WithoutCancel(ctx))
	storeEnded := make(chan error, 1)
	go func() {
		err := s.Store.Run(storeCtx)
		if err != nil {
			close(s.lost)
		}
		storeEnded <- err
	}()

	stopScripts := s.Scripts.Background() // they end after the runs that use them
	group, working := errgroup.WithContext(ctx)
	recovered, atRest, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	beating, stopBeating := context.WithCancel(context.WithoutCancel(ctx))
	beaten := make(chan struct{})
	go func() {
		defer close(beaten)
		s.heartbeat(beating, recovered, working)
	}()
	group.Go(func() error {
		defer close(atRest)
		return s.Engine.Run(working, func() { close(recovered) })
	})
	group.Go(func() error {
		defer close(left)
		select {
		case <-recovered:
		case <-working.Done():
			return nil
		}
		var err error
		if s.Store.AwaitDuties(working) {
			err = s.Triggers.Run(working)
		}
		s.leave(ctx)
		return err
	})
	group.Go(func() error {
		<-atRest
		<-left
		s.handOver(ctx)
		return nil
	})
	group.Go(func() error { return s.ServeHTTP(working, recovered, atRest) })
	group.Go(func() error {
		select {
		case err := <-storeEnded: // it ends early only if the disk fails
			storeEnded <- err
			return errors.Join(err, errors.New("the database stopped"))
		case <-working.Done():
			return nil
		}
	})
	if s.mail != nil {
		group.Go(func() error { return s.serveMail(working, recovered) })
	}
	for _, limiter := range s.limiters {
		group.Go(func() error {
			limiter.Run(working)
			return nil
		})
	}
	if s.ACME != nil {
		group.Go(func() error { return s.ACME.Run(working) })
	}
	if s.challengeListener != nil {
		group.Go(func() error { return s.challengeListener.run(working, nil) })
	}
	if s.MetricsListener != nil {
		group.Go(func() error { return s.MetricsListener.run(working, atRest) })
	}
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.manager.Watch(watching, s.Store.Ping)
	}()
	err := group.Wait()
	stopScripts()
	stopWatching()
	<-watched
	stopBeating()
	<-beaten
	stopStore()
	err = errors.Join(err, <-storeEnded, s.Store.Close())
	s.removeReadyFile()
	return err
}

// delayStop returns a context that ends Options.ShutdownDelay after ctx, if the server serves
// by then. Meanwhile it is not ready.
func (s *Server) delayStop(ctx context.Context) (context.Context, context.CancelFunc) {
	delay := s.Options.ShutdownDelay
	if delay == 0 {
		return ctx, func() {}
	}
	later, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	unregister := context.AfterFunc(ctx, func() {
		if s.IsOpen() {
			s.leaving.Store(true)
			s.Options.Logger.Info("not ready, stopping later", "delay", delay)
			clock.Sleep(later, delay)
		}
		stop(context.Cause(ctx))
	})
	return later, func() {
		unregister()
		stop(context.Canceled)
	}
}

// ServeHTTP serves the main listener: only health checks until recovery is done, when it
// announces that the server is ready. While it drains, late requests get 503.
func (s *Server) ServeHTTP(ctx context.Context, recovered, atRest <-chan struct{}) error {
	failed := make(chan error, 1)
	go func() { failed <- s.serveMain() }()
	select {
	case err := <-failed:
		return err
	case <-recovered:
		close(s.Opened)
		s.Ready.Store(true)
		if err := s.Store.ServedAt(s.APIHost()); err != nil {
			s.Options.Logger.Warn("server address not noted beside the database", "error", err)
		}
		if err := s.Announce(); err != nil {
			return errors.Join(err, s.main.http.Close())
		}
		s.manager.Ready(s.APIHost())
		s.logServing()
		if s.Options.Collector != nil {
			s.Options.Collector.Settle()
			go s.Options.Collector.Trim(ctx)
		}
	case <-ctx.Done():
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.Ready.Store(false)
	s.manager.Stopping()
	defer s.logStopped(s.logStopping())
	close(s.Draining)
	<-atRest
	most := 15 * time.Second
	if blueprint.CodeOf(context.Cause(ctx)) == blueprint.CodeUnavailable || isClosed(s.lost) {
		most = 200 * time.Millisecond // the disk has failed: no other answer is possible
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	s.main.Drain(patience)
	if err := s.main.http.Shutdown(patience); err != nil {
		s.Options.Logger.Warn("requests did not end in time", "error", err)
		return s.main.http.Close()
	}
	return nil
}

// Runner implements rpc.Runner by the engine.
type Runner struct {
	*engine.Engine
	store   *store.Store
	timeout time.Duration
}

// begun returns the id of a run once it is durable, even if the caller disconnects.
func (r Runner) begun(ctx context.Context, handle *engine.Handle) (string, error) {
	ctx, done := r.store.WhileAvailable(context.WithoutCancel(ctx))
	defer done()
	err := handle.Accepted(ctx)
	if full, ok := errors.AsType[*blueprint.ConcurrencyLimitError](err); ok {
		err = blueprint.Errorf(blueprint.CodeConflict, "%s", full.Error())
	}
	if err != nil {
		return "", err
	}
	return handle.ID, nil
}

// Execute starts a run and waits for it up to the time limit of synchronous calls.
func (r Runner) Execute(ctx context.Context, request *blueprint.StartRequest) (string, *blueprint.Execution, error) {
	return executeUntil(ctx, r, request, (*engine.Handle).Wait)
}

// executeToEnd is Execute with the unredacted output; nil for a run that has not ended.
func (r Runner) executeToEnd(ctx context.Context, request *blueprint.StartRequest) (string, *blueprint.Ending, error) {
	return executeUntil(ctx, r, request, func(h *engine.Handle, ctx context.Context) (*blueprint.Ending, error) {
		ending, err := h.Ending(ctx)
		return &ending, err
	})
}

func executeUntil[T any](ctx context.Context, r Runner, request *blueprint.StartRequest, wait func(*engine.Handle, context.Context) (*T, error)) (string, *T, error) {
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
	id, refused := r.begun(ctx, handle)
	switch {
	case refused != nil:
		return "", nil, refused
	case waiting.Err() != nil:
		err = ctx.Err() // nil unless the client disconnected
	}
	return id, nil, err
}

// Start starts a run and waits until it is durable.
func (r Runner) Start(ctx context.Context, request *blueprint.StartRequest) (string, error) {
	handle, err := r.Engine.StartOrWait(ctx, request, engine.Soon)
	if err != nil {
		return "", err
	}
	return r.begun(ctx, handle)
}

func (r Runner) Retry(ctx context.Context, stored *blueprint.StoredExecution, fromNodeID string, principal blueprint.Principal, canManage bool) (string, error) {
	handle, err := r.Engine.Retry(ctx, stored, fromNodeID, principal, canManage)
	if err != nil {
		return "", err
	}
	return r.begun(ctx, handle)
}

func (r Runner) Fork(ctx context.Context, stored *blueprint.StoredExecution, fromNodeID string, input any, principal blueprint.Principal, canManage bool) (string, error) {
	handle, err := r.Engine.Fork(ctx, stored, fromNodeID, input, principal, canManage)
	if err != nil {
		return "", err
	}
	return r.begun(ctx, handle)
}

// starter implements the runner of triggers by the engine.
type starter struct{ engine *engine.Engine }

func (s starter) Start(ctx context.Context, request *blueprint.StartRequest, patience time.Duration) (triggers.Run, error) {
	handle, err := s.engine.StartOrWait(ctx, request, engine.Urgency(patience))
	if err != nil {
		return nil, err
	}
	return handle, nil
}

// Blueprints returns the blueprints that nodes run.
type Blueprints struct{ Store *store.Store }

// Runnable returns a blueprint that a user may run.
func (b Blueprints) Runnable(ctx context.Context, userID, blueprintID string) (*blueprint.Definition, bool, error) {
	if !blueprint.IsUUID(blueprintID) {
		return nil, false, blueprint.Errorf(blueprint.CodeNotFound, "%q is not the id of a blueprint", blueprintID)
	}
	definition, access, err := b.Store.Definition(ctx, blueprint.Principal{UserID: userID}, blueprintID)
	return definition, access >= blueprint.AccessManage, err
}

// pageKey returns the key that signs pages of one kind; nil makes them reproducible.
func (s *Server) pageKey(sealer *secret.Sealer, pages string) []byte {
	if s.IDs.IsSeeded() {
		return nil
	}
	return sealer.Derive(pages)
}

// newConnections returns the connections of nodes. s.Engine is set before any sign-in.
func (s *Server) newConnections(client *outbound.Client, sealer *secret.Sealer) *connections.Service {
	return connections.New(connections.Options{
		Store: s.Store, HTTP: client, Clock: s.Options.Clock, IDs: s.IDs.Stream("connections"), Key: s.pageKey(sealer, "sign-in pages"), APIHost: s.APIHost, Logger: s.Options.Logger,
		Resume: func(ctx context.Context, executionID, address string) error {
			return s.Engine.SignedIn(ctx, executionID, address)
		},
		Probe: mcp.New(client, s.Options.Version).Check, RewriteURL: s.signInPage(),
	})
}

// info describes the server to callers with a key.
func (s *site) info(started time.Time) rpc.ServerInfo {
	o := &s.Options
	info := rpc.ServerInfo{
		Version: o.Version, StartedAt: blueprint.TimeOf(started), Now: blueprint.TimeOf(o.Clock.Now()), APIHost: s.APIHost(), Ephemeral: o.Ephemeral, Sandbox: o.Sandbox != nil, Clock: "real",
		Limits: rpc.ServerLimits{
			MaxBlueprints: o.MaxBlueprints, RateLimit: o.RateLimit, RateBurst: o.RateBurst, MaxBody: o.MaxBody, SyncTimeoutMs: o.SyncTimeout.Milliseconds(),
			MaxRunning: o.MaxRunning, MaxQueued: o.MaxQueued, KeepExecutions: o.KeepExecutions.String(), KeepFirings: o.KeepFirings.String(), KeepAudit: o.KeepAudit.String(), MaxDisk: o.MaxDisk,
		},
	}
	if _, virtual := o.Clock.(*clock.Virtual); virtual {
		info.Clock = "virtual"
	}
	if o.SMTPAddr != "" {
		info.MailDomain = &o.MailDomain
	}
	return info
}
