package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
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
)

// Options say which database to open, and how.
type Options struct {
	// Path is the database file; its folder must exist. It is not used when
	// Ephemeral.
	Path string
	// Ephemeral keeps everything in memory; nothing outlives the store.
	Ephemeral bool
	// Server takes the database for a server: there is only one at a time.
	// Without it the store is a tool's, which may work beside a server.
	Server bool
	// ReadOnly opens a database that is on a disk which is mounted read-only
	// such that Backup works, and nothing else. On any other disk it is nothing.
	ReadOnly bool
	// Schema is the text of schema.sql.
	Schema string
	// Sealer encrypts secrets. Without one, secrets can be neither written nor
	// read, and a server refuses a database that holds any.
	Sealer *secret.Sealer
	Clock  clock.Clock
	IDs    *ids.Source
	Logger *slog.Logger // nil = slog.Default()
	// MaxBlueprints is how many blueprints one user may have; 0 = any number.
	MaxBlueprints int
	// AllowNetworkFS opens a database on a network file system, which is
	// refused otherwise, with a warning.
	AllowNetworkFS bool
	// MinFree is how many bytes stay free on the disk for the runs under way:
	// with less, new runs are refused with CodeUnavailable. 0 = DefaultReserve,
	// or a twentieth of the disk if that is less; negative = none.
	MinFree int64
	// KeepExecutions and KeepFirings say how much history of runs and of the
	// ledger stays. Failed runs stay three times as long, or, of a number, until
	// all completed ones are gone; rows of deliveries that started a run with an
	// id of theirs at least 72 hours. What has not ended, and what it needs, is
	// never removed.
	KeepExecutions, KeepFirings Keep
	// KeepAudit says the same of the audit log, without exceptions.
	KeepAudit Keep
	// MaxDisk is how many bytes the database and its log may take; 0 = any
	// number.
	MaxDisk int64
	// Sandbox and VirtualClock say that fakes answer what the runs of a server
	// send, and that its time is moved by hand. A file is of one such kind for
	// good, from the first server that takes it; see claim.go.
	Sandbox, VirtualClock bool
	// anyKind is for who must be the only one and runs nothing.
	anyKind bool
	// MailDomain stands behind the @ of every email trigger's address; "" =
	// DefaultMailDomain.
	MailDomain string

	// OnEvents is called when a commit has put events into the outbox, before
	// those who wrote in it are answered. It must return at once and not call the
	// store. Nil = nobody waits for them.
	OnEvents func()

	// Tests replace these to put a database on any disk.
	fileSystem func(path string) (dbfile.FileSystem, error) // nil = Stat
	syncFolder func(path string) error                      // nil = SyncFolder
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	options Options
	lock    *dbfile.Lock // of a server with a file
	epoch   int64
	claimed bool    // the master key was compared
	sandbox bool    // fakes answer what its runs send
	pool    *sql.DB // of the writer and the checkpoints
	writer  *writer
	readers *readers // nil when ephemeral
	watch   *session // the gate's own; nil when ephemeral
	gate    gate
	newest  atomic.Int64 // generation that is known to be in the database

	watched watchedFiles

	generation atomic.Int64 // the present one, when ephemeral
	commits    atomic.Int64 // transactions since the last checkpoint
	written    atomic.Int64 // bytes, about, since then
	logFrames  atomic.Int64 // pages in the log at the last look
	rewound    atomic.Bool  // the next commit begins the log anew
	full       atomic.Bool  // new runs are refused; see disk_limit.go

	keys        *cache[*knownKey]
	access      *cache[grant]
	bindings    *cache[*blueprint.Binding]
	mailboxes   *cache[string]                // ids of triggers
	listeners   *cache[[]string]              // ids of triggers
	definitions *cache[*blueprint.Definition] // these never change
	uses        keyUses
	signedIn    *cache[*knownSession]
	sessionUses keyUses
	counts      counts
	audits      audits

	closing sync.Once
}

// Open opens a database, creating it first if there is none. A database that is not this program's, is newer
// than it, is in use by another server, or was sealed with another master key
// is refused with a *blueprint.Error that has a hint, and left as it is.
func Open(ctx context.Context, options Options) (_ *Store, err error) {
	defer wrap(&err, "open %s", options.name())
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	if options.fileSystem == nil {
		options.fileSystem = dbfile.Stat
	}
	if options.syncFolder == nil {
		options.syncFolder = dbfile.SyncFolder
	}
	if mutant.Possible {
		options.Schema = mutantSchema(options.Schema)
	}
	s := &Store{
		options:     options,
		keys:        newCache[*knownKey](10_000),
		signedIn:    newCache[*knownSession](10_000),
		access:      newCache[grant](10_000),
		bindings:    newCache[*blueprint.Binding](10_000),
		mailboxes:   newCache[string](10_000),
		listeners:   newCache[[]string](10_000),
		definitions: newCache[*blueprint.Definition](1_000),
		counts:      newCounts(),
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(unopened(s.options.fullAtStart(err)), s.release())
	}
	return s, nil
}

// name is what messages call the database.
func (o Options) name() string {
	if o.Ephemeral {
		return "an ephemeral database"
	}
	return o.Path
}

// Epoch is the number of this server's start, 0 for a tool: each server that
// takes a database has a higher one than those before it.
func (s *Store) Epoch() int64 { return s.epoch }

// ServedAt notes beside the database under which address its server is reached,
// for commands that print links to it.
func (s *Store) ServedAt(address string) error {
	if s.lock == nil {
		return nil
	}
	return s.lock.SetAddress(address)
}

// Close ends the store. It waits for calls under way; later ones are refused
// with CodeUnavailable. Run must have returned.
func (s *Store) Close() (err error) {
	defer wrap(&err, "close %s", s.options.name())
	s.closing.Do(func() {
		w := s.writer
		w.mu.Lock()
		w.closed = true
		failed := w.failure != nil
		w.mu.Unlock()
		if s.options.Server && !failed && !s.options.Ephemeral {
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
	if s.pool != nil {
		errs = append(errs, s.pool.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Release())
	}
	return errors.Join(errs...)
}

// The upkeep of a running store follows real time, whatever the clock: it is
// about the disk, not about what the service promises.
const (
	checkpointInterval = 200 * time.Millisecond
	keyUseInterval     = time.Minute
)

// Run lets writes share transactions until ctx ends: one goroutine commits
// whatever has queued behind it. It then answers all that is queued, refuses
// later writes, and returns nil. When the disk fails it returns why, at once;
// the process must then stop, because only a fresh one can find out what the
// disk holds.
//
// Before Run, and in a tool that never calls it, each write is a transaction
// of its own, made by its caller.
func (s *Store) Run(ctx context.Context) (err error) {
	defer wrap(&err, "run %s", s.options.name())
	w := s.writer
	hold := s.options.Clock.Hold() // until what is due at the start is pruned
	w.mu.Lock()
	if w.running {
		w.mu.Unlock()
		hold()
		return errors.New("it runs already")
	}
	w.running = true
	w.mu.Unlock()

	upkeep, stop := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	pruner := s.newPruner(upkeep)
	if !s.options.Ephemeral {
		s.adviseVacuum(upkeep)
	}
	group.Go(func() { pruner.run(upkeep, hold) })
	group.Go(func() { s.every(upkeep, keyUseInterval, s.storeKeyUses) })
	group.Go(func() { s.every(upkeep, keyUseInterval, s.storeSessionUses) })
	if !s.options.Ephemeral {
		group.Go(func() { s.every(upkeep, checkpointInterval, s.checkpoint) })
		group.Go(func() { s.every(upkeep, watchInterval, s.checkFiles) })
	}
	err = s.serve(ctx)
	stop()
	group.Wait()
	if changes := s.uses.changes(); err == nil && len(changes) > 0 {
		last := &job{run: writeKeyUses(changes), done: make(chan struct{})}
		s.writer.connection.Lock()
		s.process([]*job{last})
		err = last.err
	}
	if changes := s.sessionUses.changes(); err == nil && len(changes) > 0 {
		last := &job{run: func(t *transaction) error { return writeSessionUses(t, changes) }, done: make(chan struct{})}
		s.writer.connection.Lock()
		s.process([]*job{last})
		err = last.err
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

// committed notes what a committed transaction means for the rest of the store.
func (s *Store) committed(bump bool) {
	s.commits.Add(1)
	if s.rewound.Load() {
		s.rewound.Store(false)
	}
	if bump && s.options.Ephemeral {
		s.generation.Add(1)
	}
}

// Ping asks the writer for a transaction that changes nothing, and returns when
// it was made: the writer is alive, and the database can be locked. It costs no
// access to the disk that waits for it.
func (s *Store) Ping(ctx context.Context) (err error) {
	defer wrap(&err, "ping")
	return s.submit(ctx, &job{run: func(*transaction) error { return nil }, single: true})
}

// Stats tell how a store is doing. What counts up does so since Open; sizes
// are bytes.
type Stats struct {
	Commits, Jobs             int64 // transactions of the writer, and the writes in them
	PrunedRuns, PrunedFirings int64
	CheckpointFailures        int64
	Tripped                   int64 // triggers that were switched off because their runs kept failing
	Queued, MaxQueued         int   // writes that wait for the writer
	// Durations are from the beginning of each commit to its end, in real time.
	Durations metrics.Distribution
	// BusySince is when the writer began with the writes that it is at, or when
	// the first of those that wait came, in real time; zero while it is idle.
	BusySince time.Time
	// LastCommit is when the last one ended, in real time; zero before the first.
	LastCommit time.Time
	// LastError is the last commit that failed, at LastErrorAt; nil if none did.
	LastError   error
	LastErrorAt time.Time
	// Failure is why the store takes nothing any more; nil while it does.
	Failure error

	Database, Log int64 // the files; 0 when ephemeral
	Free, Reserve int64 // on the disk, and what stays free of that; 0 when unknown
	LowSpace      bool  // new runs are refused, for less than Reserve is free
	Limit         int64 // of Database and Log together; 0 = none
	Full          bool  // new runs are refused, for the limit is reached
}

// Stats returns the numbers of now. It asks the file system, not the database.
func (s *Store) Stats() Stats {
	c := &s.counts
	stats := Stats{
		Commits: c.commits.Value(), Jobs: c.jobs.Value(), PrunedRuns: c.prunedRuns.Value(), PrunedFirings: c.prunedFirings.Value(),
		CheckpointFailures: c.checkpointFailures.Value(), Tripped: c.tripped.Value(), Queued: s.writer.queued(), MaxQueued: maxQueued, Durations: c.durations.Distribution(),
		Failure: s.usable(), LowSpace: s.watched.lowSpace.Load(), Limit: s.options.MaxDisk, Full: s.full.Load(),
	}
	s.writer.mu.Lock()
	stats.BusySince = s.writer.busySince
	s.writer.mu.Unlock()
	c.mu.Lock()
	stats.LastCommit, stats.LastError, stats.LastErrorAt = c.last, c.failure, c.failed
	c.mu.Unlock()
	if s.options.Ephemeral {
		return stats
	}
	stats.Database, stats.Log = size(s.options.Path), size(s.options.Path+"-wal")
	if p, err := s.options.fileSystem(s.options.Path); err == nil && p.Known {
		stats.Free, stats.Reserve = p.Free, p.Reserve(s.options.MinFree)
	}
	return stats
}

// counts are what a store counts as it goes.
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

// batch counts one transaction.
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
