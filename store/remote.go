package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
	"blueprintd/store/dbfile"
	"blueprintd/store/postgres"
)

// remote is what a store needs of PostgreSQL besides its pool.
type remote struct {
	config *postgres.Config
	pool   *sql.DB
	shared *sql.DB      // of what the processes share, outside of the writer's transactions
	shares atomic.Int64 // calls of ShareRate
	// alone is the connection that holds the lock of the only server; nil for a tool.
	alone *sql.Conn
	stamp int64 // of the current transaction of the writer
	// closing ends attempts to find out the outcome of a commit.
	closing chan struct{}
	pause   func(time.Duration) // between two attempts
	since   metrics.Stopwatch
	reached atomic.Int64 // when the database last answered, in nanoseconds since then
}

// How long a start waits for PostgreSQL, and for the lock of a server that has just ended.
const (
	startPatience = 30 * time.Second
	lockPatience  = 10 * time.Second
	retryInterval = 200 * time.Millisecond
)

// soleServer is the key of the advisory lock that the only server on a database holds.
const soleServer = 0x626c7565_7072696e // "blueprin"

// CheckURL reports what is wrong with the URL of a PostgreSQL database, without repeating
// it.
func CheckURL(url string) error {
	_, err := postgres.Parse(url)
	return err
}

func newRemote(config *postgres.Config, pool *sql.DB) *remote {
	return &remote{config: config, pool: pool, shared: config.OpenShared(), closing: make(chan struct{}), pause: wait, since: metrics.Begin()}
}

func (s *Store) openRemote(ctx context.Context) error {
	config, err := postgres.Parse(s.options.Database)
	if err != nil {
		return err
	}
	pool := config.Open()
	s.pool = pool
	s.remote = newRemote(config, pool)
	session, err := s.remote.connect(ctx, startPatience)
	if err != nil {
		return err
	}
	s.writer = newWriter(session)
	if err := postgres.CheckServer(ctx, session.conn); err != nil {
		return err
	}
	if s.options.Server {
		if err := s.remote.lockAlone(ctx); err != nil {
			return err
		}
	}
	if err := s.recogniseRemote(ctx); err != nil {
		return err
	}
	s.readers = newReaders(config.Open(), maxReaders)
	s.readers.remote = s.remote
	if s.watch, err = s.remote.connect(ctx, 0); err != nil {
		return err
	}
	s.gate.read = s.readRemoteGeneration
	return s.claim(ctx)
}

// wait returns after a duration of real time.
func wait(d time.Duration) { <-time.NewTimer(d).C }

// connect opens a connection, retrying while the database cannot be reached.
func (r *remote) connect(ctx context.Context, patience time.Duration) (*session, error) {
	for watch := metrics.Begin(); ; r.pause(retryInterval) {
		session, err := newSession(context.WithoutCancel(ctx), r.pool)
		if err == nil {
			session.remote = r
			return session, nil
		}
		if postgres.ClassOf(err) != postgres.Unreachable || watch.Elapsed() > patience || ctx.Err() != nil {
			return nil, err
		}
	}
}

// replace opens a new connection for a session whose connection broke. A broken one has no
// transaction, and its prepared statements are gone.
func (r *remote) replace(s *session) error {
	s.destroy()
	_ = s.conn.Close()
	conn, err := r.pool.Conn(context.Background())
	if err == nil {
		s.conn = conn
	}
	return err
}

// revive is replace for a session whose connection may have broken.
func (r *remote) revive(s *session) error {
	if !postgres.IsBroken(s.conn) {
		return nil
	}
	return r.replace(s)
}

// readRemoteGeneration reads the generation, on a new connection if the old one has broken.
func (s *Store) readRemoteGeneration() (generation int64, err error) {
	if err = s.remote.revive(s.watch); err == nil {
		generation, err = readGeneration(s.watch)
	}
	if err != nil && postgres.IsBroken(s.watch.conn) && s.remote.revive(s.watch) == nil {
		generation, err = readGeneration(s.watch)
	}
	if err == nil {
		s.remote.reached.Store(int64(s.remote.since.Elapsed()))
	}
	return generation, err
}

// A server whose database has not answered for awayAfter is not ready. Run asks at intervals
// of reachInterval.
const (
	awayAfter     = 3500 * time.Millisecond
	reachInterval = time.Second
)

// Reachable reports whether the database answers. That of a file always does.
func (s *Store) Reachable() bool {
	return s.remote == nil || s.remote.since.Elapsed()-time.Duration(s.remote.reached.Load()) < awayAfter
}

// lockAlone takes the lock of the only server.
func (r *remote) lockAlone(ctx context.Context) error {
	conn, err := r.pool.Conn(ctx)
	if err != nil {
		return err
	}
	r.alone = conn
	for watch := metrics.Begin(); ; r.pause(retryInterval) {
		if taken, err := r.tryAlone(ctx); err != nil || taken {
			return err
		}
		if watch.Elapsed() > lockPatience {
			return dbfile.Refusal("stop that server, or start this one with another --database", "another server has the database open")
		}
	}
}

// tryAlone reports whether it has taken the lock of the only server.
func (r *remote) tryAlone(ctx context.Context) (taken bool, err error) {
	err = r.alone.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", int64(soleServer)).Scan(&taken)
	return taken, err
}

// fence locks the row of meta for the transaction: writes of the whole database are made
// one after the other. It returns the epoch and the generation.
func (r *remote) fence(s *session) (epoch, generation int64, err error) {
	r.stamp = rand.Int64()
	err = s.row("SELECT epoch, generation FROM meta WHERE id = 1 FOR UPDATE", nil, &epoch, &generation)
	return epoch, generation, err
}

// errUnknownOutcome is returned when the store closes before it could find out whether a
// transaction was committed.
var errUnknownOutcome = unavailable(nil, "look whether it was stored before you try again", "the connection to the database broke, and this may have been stored")

// commit commits the transaction of the writer. When the connection breaks meanwhile, it
// finds out whether the transaction was committed: each one leaves its stamp. Until then
// no other transaction of this server could be made either.
func (r *remote) commit(s *session) error {
	if _, err := s.exec("UPDATE meta SET stamp = ? WHERE id = 1", r.stamp); err != nil {
		return err
	}
	unknown, err := postgres.Commit(context.Background(), s.conn)
	for unknown {
		if r.revive(s) == nil {
			var last int64
			// The lock waits until the interrupted transaction has ended one way or the other.
			if s.row("SELECT stamp FROM meta WHERE id = 1 FOR UPDATE", nil, &last) == nil {
				if last == r.stamp {
					return nil
				}
				break
			}
		}
		select {
		case <-r.closing:
			return errUnknownOutcome
		default:
			r.pause(retryInterval)
		}
	}
	return err
}

func (r *remote) close() error {
	err := r.shared.Close()
	if r.alone != nil {
		err = errors.Join(err, r.alone.Close())
	}
	return err
}

// recogniseRemote verifies that the database is one of this program, or empty, in which
// case it creates the schema, unless the store only reads.
func (s *Store) recogniseRemote(ctx context.Context) error {
	blank, err := recogniseTables(ctx, s.writer.session.conn, &s.options)
	if err != nil || !blank {
		return err
	}
	if s.options.ReadOnly {
		return dbfile.Refusal("name the database of a server with --database", "there is nothing in the database %s", s.remote.config.Name())
	}
	return s.createRemote(ctx)
}

// recogniseTables verifies that a PostgreSQL database is one of this program with the
// current schema, or has no tables.
func recogniseTables(ctx context.Context, conn *sql.Conn, o *Options) (blank bool, err error) {
	var tables, ours int
	const query = `SELECT count(*), count(*) FILTER (WHERE table_name = 'meta') FROM information_schema.tables WHERE table_schema = current_schema()`
	if err := conn.QueryRowContext(ctx, query).Scan(&tables, &ours); err != nil || tables == 0 {
		return err == nil, err
	}
	if ours == 0 {
		return false, foreignRemote()
	}
	var form int
	if err := conn.QueryRowContext(ctx, "SELECT form FROM meta WHERE id = 1").Scan(&form); err != nil {
		return false, foreignRemote()
	}
	if form != o.version() {
		return false, dbfile.Refusal("use the version of blueprintd that wrote it", "the tables of the database have the form %d, and this version knows %d", form, o.version())
	}
	return false, nil
}

func foreignRemote() error {
	return dbfile.Refusal("name an empty database; this one was left as it is", "the database is not one of blueprintd")
}

// createRemote creates the schema in one transaction.
func (s *Store) createRemote(ctx context.Context) error {
	tx, err := s.writer.session.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := createTables(ctx, tx, &s.options); err != nil {
		return err
	}
	now := blueprint.TimeOf(s.options.Clock.Now())
	if _, err := tx.ExecContext(ctx, "INSERT INTO meta (id, epoch, generation, created_at, form) VALUES (1, 0, 0, $1, $2)", int64(now), s.options.version()); err != nil {
		return err
	}
	return tx.Commit()
}

// createTables creates the tables of the schema, without rows.
func createTables(ctx context.Context, in interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, o *Options,
) error {
	for _, statement := range postgres.Split(postgres.Schema(o.Schema)) {
		if _, err := in.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("schema: %w: %s", err, statement)
		}
	}
	return nil
}
