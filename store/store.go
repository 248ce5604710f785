package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/metrics"
	"blueprintd/foundation/mutant"
	"blueprintd/foundation/secret"
	"blueprintd/store/dbfile"
	"blueprintd/store/migrations"
	"blueprintd/store/postgres"
)

// Options are the options of Open.
type Options struct {
	// Path is the database file; its folder must exist. It is ignored if Ephemeral.
	Path string
	// Ephemeral keeps everything in memory.
	Ephemeral bool
	// Database is the URL of a PostgreSQL database, instead of a file; "" = none.
	Database string
	// Server claims the database for a server. A file can have one at a time; the processes
	// that claim a PostgreSQL database are one server. Without it the store belongs to a
	// tool, which may work alongside a server.
	Server bool
	// Node is the name of a process among those of a server, Release its version.
	Node, Release string
	// ReadOnly opens a database on a read-only mount, where only Backup works. It has no
	// effect on a writable disk. An empty PostgreSQL database is refused.
	ReadOnly bool
	// Schema is the text of schema.sql.
	Schema string
	// Sealer encrypts secrets. Without one, secrets can be neither written nor read, and a
	// server refuses a database that contains any.
	Sealer *secret.Sealer
	Clock  clock.Clock
	IDs    *ids.Source
	Logger *slog.Logger // nil = slog.Default()
	// MaxBlueprints is the maximum number of blueprints of a user; 0 = unlimited.
	MaxBlueprints int
	// AllowNetworkFS opens a database on a network file system, which is otherwise refused,
	// and logs a warning.
	AllowNetworkFS bool
	// MinFree is the number of bytes on the disk reserved for runs in progress: with less
	// free space, new runs are refused with CodeUnavailable. 0 = 64 MiB, or a twentieth of
	// the disk if that is less; negative = none.
	MinFree int64
	// KeepExecutions and KeepFirings say how much history of runs and of the ledger is
	// kept. Failed runs are kept three times as long or, for a number of rows, until all
	// completed ones are removed. Rows of deliveries with an id that started a run are kept
	// for at least 72 hours. Unfinished runs, and the rows they need, are never removed.
	KeepExecutions, KeepFirings Keep
	// KeepAudit is the same for the audit log, without exceptions.
	KeepAudit Keep
	// MaxDisk is the maximum size of the database and its log in bytes; 0 = unlimited.
	MaxDisk int64
	// Sandbox says that fakes answer the requests of the server's runs, VirtualClock that
	// its time is advanced manually. The first server on a file decides permanently; see
	// checkPurpose.
	Sandbox, VirtualClock bool
	// anyKind opens a database of any such kind, for a tool that starts no runs.
	anyKind bool
	// MailDomain is the domain of the addresses of email triggers; "" =
	// DefaultMailDomain.
	MailDomain string

	// OnEvents is called when a commit has written events to the outbox, before its writers
	// are answered. It must return immediately and not call the store. May be nil.
	OnEvents func()

	// KeepOld says whether an upgrade leaves a copy of the database; "" = KeepOldAuto.
	KeepOld KeepOld
	// OnUpgrade is called at the beginning of each stage of an upgrade and every few
	// seconds, possibly concurrently.
	OnUpgrade func(stage string)

	// Tests replace these to simulate any file system.
	fileSystem func(path string) (dbfile.FileSystem, error) // nil = Stat
	syncFolder func(path string) error                      // nil = SyncFolder
	// steps replaces the steps of package migrations in tests; the last leads to
	// Schema.
	steps []migrations.Step
	// stepsOnPostgres are the same for PostgreSQL, nil = postgres.Steps, and runsOnPostgres
	// replaces runForm.
	stepsOnPostgres []postgres.Step
	runsOnPostgres  int
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	options Options
	lock    *dbfile.Lock // of a server with a file
	epoch   int64
	claimed bool    // the master key was compared
	sandbox bool    // fakes answer the requests of its runs
	remote  *remote // nil unless the database is PostgreSQL
	// unserved ends the exclusion of servers from a PostgreSQL database; nil if there is none.
	unserved func() error
	nodes    membership
	pool     *sql.DB // of the writer and the checkpoints
	writer   *writer
	readers  *readers // nil when ephemeral
	watch    *session // the gate's own; nil when ephemeral
	gate     gate
	newest   atomic.Int64 // generation that is known to be in the database

	watched watchedFiles

	generation atomic.Int64 // the current one, when ephemeral
	commits    atomic.Int64 // transactions since the last checkpoint
	written    atomic.Int64 // approximate bytes since then
	logFrames  atomic.Int64 // pages in the log at the last look
	rewound    atomic.Bool  // the next commit restarts the log
	full       atomic.Bool  // new runs are refused; see disk.go

	keys                           *cache[*knownKey]
	access                         *cache[grant]
	bindings                       *cache[*blueprint.Binding]
	mailboxes                      *cache[string]                // ids of triggers
	listeners                      *cache[[]string]              // ids of triggers
	definitions                    *cache[*blueprint.Definition] // these never change
	organizations, users, triggers numbers
	uses                           keyUses
	signedIn                       *cache[*knownSession]
	sessionUses                    keyUses
	counts                         counts
	audits                         audits

	closing sync.Once
}

// Open opens a database, creating it if there is none. A server upgrades one with an older
// schema version. A database of another program or a newer version, one in use by another
// server, and one that is sealed with another master key are refused with a
// *blueprint.Error that has a hint, and left unchanged.
func Open(ctx context.Context, options Options) (s *Store, err error) {
	defer wrap(&err, "open %s", options.name())
	for watch := metrics.Begin(); ; wait(retryInterval) {
		s, err = openOnce(ctx, options)
		again := options.Server && options.Database != "" && isPassing(err)
		if !again || watch.Elapsed() > startPatience || ctx.Err() != nil {
			return s, err
		}
	}
}

// openOnce is Open without further attempts after PostgreSQL went away meanwhile.
func openOnce(ctx context.Context, options Options) (*Store, error) {
	options.Logger = cmp.Or(options.Logger, slog.Default())
	if options.fileSystem == nil {
		options.fileSystem = dbfile.Stat
	}
	if options.syncFolder == nil {
		options.syncFolder = dbfile.SyncFolder
	}
	if mutant.Enabled {
		options.Schema = mutantSchema(options.Schema)
	}
	s := &Store{
		options:       options,
		keys:          newCache[*knownKey](10_000),
		signedIn:      newCache[*knownSession](10_000),
		access:        newCache[grant](10_000),
		bindings:      newCache[*blueprint.Binding](10_000),
		mailboxes:     newCache[string](10_000),
		listeners:     newCache[[]string](10_000),
		definitions:   newCache[*blueprint.Definition](1_000),
		organizations: numbersOf("organizations"), users: numbersOf("users"), triggers: numbersOf("triggers"),
		counts: newCounts(),
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(unopened(s.options.fullAtStart(err)), s.release())
	}
	return s, nil
}

// name returns the name of the database for messages.
func (o Options) name() string {
	if o.Ephemeral {
		return "an ephemeral database"
	}
	if o.Database != "" {
		return "the PostgreSQL database"
	}
	return o.Path
}

// onFile reports whether the database is a file.
func (s *Store) onFile() bool { return s.remote == nil && !s.options.Ephemeral }

// Name returns the database for people: the absolute path of the file, the URL without the
// password, or "memory".
func (s *Store) Name() string {
	switch {
	case s.remote != nil:
		return s.remote.config.Name()
	case s.options.Ephemeral:
		return "memory"
	}
	if path, err := filepath.Abs(s.options.Path); err == nil {
		return path
	}
	return s.options.Path
}

// ServedAt records the server's address beside the database, for links of commands.
func (s *Store) ServedAt(address string) error {
	if s.lock == nil {
		return nil
	}
	return s.lock.SetAddress(address)
}

// Close closes the store. It waits for calls in progress; later ones are refused with
// CodeUnavailable. Run must have returned.
func (s *Store) Close() (err error) {
	defer wrap(&err, "close %s", s.options.name())
	s.closing.Do(func() {
		w := s.writer
		w.mu.Lock()
		w.closed = true
		failed := w.failure != nil
		w.mu.Unlock()
		if s.options.Server && !failed && s.onFile() {
			w.connection.Lock()
			err = w.truncate()
			w.connection.Unlock()
		}
		err = errors.Join(err, s.release())
	})
	return err
}

// release closes whatever is open, in the reverse order of opening.
func (s *Store) release() error {
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.close())
	}
	if s.watch != nil {
		errs = append(errs, s.watch.close())
	}
	if s.writer != nil {
		s.writer.connection.Lock()
		errs = append(errs, s.writer.session.close())
		s.writer.connection.Unlock()
	}
	if s.remote != nil {
		errs = append(errs, s.remote.close())
	}
	if s.pool != nil {
		errs = append(errs, s.pool.Close())
	}
	if s.unserved != nil {
		errs = append(errs, s.unserved())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Release())
	}
	return errors.Join(errs...)
}

// The maintenance of a running store uses real time, regardless of the clock, because it
// concerns the disk.
const (
	checkpointInterval = 200 * time.Millisecond
	keyUseInterval     = time.Minute
)

// Run batches writes into shared transactions until ctx ends: one goroutine commits the
// queued jobs. It then answers all queued writes, refuses later ones, and returns nil. If
// the disk fails, it returns the error immediately; the process must then stop, because
// only a new one can determine what is on the disk.
//
// Before Run, and in a tool that never calls it, each write is a transaction of its own in
// the goroutine of its caller.
func (s *Store) Run(ctx context.Context) (err error) {
	defer wrap(&err, "run %s", s.options.name())
	w := s.writer
	hold := s.options.Clock.Hold() // until what is due at the start is pruned
	w.mu.Lock()
	if w.running {
		w.mu.Unlock()
		hold()
		return errors.New("Run was called twice")
	}
	w.running = true
	w.mu.Unlock()

	if s.remote != nil {
		defer context.AfterFunc(ctx, func() { close(s.remote.closing) })()
		s.remote.outage.answered() // a start may take long; silence counts from here on
	}
	upkeep, stop := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	pruner := s.newPruner(upkeep)
	if s.onFile() {
		s.adviseVacuum(upkeep)
	}
	group.Go(func() { pruner.run(upkeep, hold) })
	group.Go(func() { s.every(upkeep, keyUseInterval, s.storeUses) })
	group.Go(func() { s.every(upkeep, lateInterval, s.retryLines) })
	if s.remote != nil {
		group.Go(func() { s.every(upkeep, staleCommandsInterval, s.removeStaleCommands) })
		group.Go(func() { s.every(upkeep, outageInterval, s.watchOutage) })
	}
	if s.onFile() {
		group.Go(func() { s.every(upkeep, checkpointInterval, s.checkpoint) })
		group.Go(func() { s.every(upkeep, watchInterval, s.checkFiles) })
	}
	err = s.serve(ctx)
	stop()
	group.Wait()
	if s.audits.waiting.Load() > 0 { // a last attempt, which logs a failure
		last := s.flushLines()
		last.done = make(chan struct{})
		s.writer.connection.Lock()
		s.process([]*job{last})
	}
	if write, changes := s.unstoredUses(); err == nil && len(changes) > 0 {
		last := &job{run: write, done: make(chan struct{})}
		s.writer.connection.Lock()
		s.process([]*job{last})
		if err = last.err; s.remote == nil && severityOf(err) == ofBatch {
			s.options.Logger.Warn("storing the last uses of keys and sessions failed", "error", err)
			err = nil
		}
	}
	if err == nil && s.nodes.id != 0 {
		err = s.depart()
	}
	away := s.Available() != nil || s.nodes.id != 0 && blueprint.IsOutage(err)
	if away && s.usable() == errClosed { // others find out that this process is gone
		s.options.Logger.Warn("stopped without the database, the runs of this process are taken over when it is back", "error", err)
		err = nil
	}
	return err
}

// every calls f at intervals until ctx ends.
func (s *Store) every(ctx context.Context, interval time.Duration, f func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			f(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// Ping waits until the writer has made a transaction that changes nothing, which verifies
// that the writer works and the database can be locked. It causes no fsync. While PostgreSQL
// does not answer, waiting for it is all that the writer can do, and Ping succeeds.
func (s *Store) Ping(ctx context.Context) (err error) {
	defer wrap(&err, "ping")
	err = s.write(ctx, func(*transaction) error { return nil })
	if s.Available() != nil {
		return nil
	}
	return err
}

// Stats holds counters since Open and the state of a store. Sizes are in bytes.
type Stats struct {
	Commits, Jobs             int64 // transactions of the writer, and the writes in them
	PrunedRuns, PrunedFirings int64
	CheckpointFailures        int64
	Tripped                   int64 // triggers that were switched off because their runs kept failing
	Queued, MaxQueued         int   // writes that wait for the writer
	// Durations measures each commit from its beginning to its end, in real time.
	Durations metrics.Distribution
	// BusySince is when the writer began its current batch, or when the first waiting job
	// arrived, in real time; zero while it is idle.
	BusySince time.Time
	// LastCommit is when the last commit ended, in real time; zero before the first.
	LastCommit time.Time
	// LastError is the error of the last failed commit, at LastErrorAt; nil for none.
	LastError   error
	LastErrorAt time.Time
	// Failure is the reason why the store refuses all calls; nil while it accepts them.
	Failure error

	Database, Log int64 // the files; 0 when ephemeral
	Free, Reserve int64 // on the disk, and the part of it that is reserved; 0 when unknown
	Unreachable   bool  // the database does not answer
	LowSpace      bool  // new runs are refused, because less than Reserve is free
	Limit         int64 // of Database and Log together; 0 = none
	Full          bool  // new runs are refused, because the limit is reached
}

// Stats returns the current numbers. It reads the file system, not the database.
func (s *Store) Stats() Stats {
	c := &s.counts
	stats := Stats{
		Commits: c.commits.Value(), Jobs: c.jobs.Value(), PrunedRuns: c.prunedRuns.Value(), PrunedFirings: c.prunedFirings.Value(),
		CheckpointFailures: c.checkpointFailures.Value(), Tripped: c.tripped.Value(), Queued: s.writer.queued(), MaxQueued: maxQueued, Durations: c.durations.Distribution(),
		Failure: s.usable(), Unreachable: !s.Reachable(), LowSpace: s.watched.lowSpace.Load(), Limit: s.options.MaxDisk, Full: s.full.Load(),
	}
	s.writer.mu.Lock()
	stats.BusySince = s.writer.busySince
	s.writer.mu.Unlock()
	c.mu.Lock()
	stats.LastCommit, stats.LastError, stats.LastErrorAt = c.last, c.failure, c.failed
	c.mu.Unlock()
	if !s.onFile() {
		return stats
	}
	stats.Database, stats.Log = size(s.options.Path), size(s.options.Path+"-wal")
	if p, err := s.options.fileSystem(s.options.Path); err == nil && p.Known {
		stats.Free, stats.Reserve = p.Free, p.Reserve(s.options.MinFree)
	}
	return stats
}

type counts struct {
	commits, jobs, prunedRuns, prunedFirings, checkpointFailures, tripped metrics.Counter
	durations                                                             *metrics.Histogram

	mu           sync.Mutex
	last, failed time.Time
	failure      error
}

func newCounts() counts {
	return counts{durations: metrics.NewHistogram(
		100*time.Microsecond, 250*time.Microsecond, 500*time.Microsecond, time.Millisecond, 2500*time.Microsecond, 5*time.Millisecond, 10*time.Millisecond,
		25*time.Millisecond, 50*time.Millisecond, 100*time.Millisecond, 250*time.Millisecond, 500*time.Millisecond, time.Second, 5*time.Second,
	)}
}

func (c *counts) batch(took time.Duration, jobs int, failure error) {
	now := clock.Real{}.Now()
	c.durations.Observe(took)
	c.mu.Lock()
	defer c.mu.Unlock()
	if failure != nil {
		c.failure, c.failed = failure, now
		return
	}
	c.commits.Add(1)
	c.jobs.Add(int64(jobs))
	c.last = now
}
