package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"blueprintd/blueprint"
	"blueprintd/clock"
	"blueprintd/ids"
	"blueprintd/planted"
	"blueprintd/secret"
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
	// good, from the first server that takes it; see purpose.go.
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

	lookAt     lookAt             // nil = lookAround
	syncFolder func(string) error // nil = syncFolder
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	options Options
	lock    *fileLock // of a server with a file
	epoch   int64
	taken   bool    // the master key was compared
	sandbox bool    // fakes answer what its runs send
	pool    *sql.DB // of the writer and the checkpoints
	writer  *writer
	readers *readers // nil when ephemeral
	watch   *session // the gate's own; nil when ephemeral
	gate    gate
	newest  atomic.Int64 // generation that is known to be in the database

	ground ground

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
	if options.lookAt == nil {
		options.lookAt = lookAround
	}
	if options.syncFolder == nil {
		options.syncFolder = syncFolder
	}
	if planted.Possible {
		options.Schema = plantedSchema(options.Schema)
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
		errs = append(errs, s.lock.release())
	}
	return errors.Join(errs...)
}
