package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"blueprintd/foundation/metrics"
	"blueprintd/foundation/mutant"
	"blueprintd/store/dbfile"
	"blueprintd/store/postgres"
)

// remote is what a store needs of PostgreSQL besides its pool.
type remote struct {
	config *postgres.Config
	pool   *sql.DB
	shared *sql.DB      // of what the processes share, outside of the writer's transactions
	shares atomic.Int64 // calls of ShareRate
	// locked holds the lock of servers, and carries the beats; nil for a tool.
	locked *session
	alone  bool
	// standbys are those that confirm each commit, as PostgreSQL names them; "" = none.
	standbys string
	node     int64 // of this process, for its connections
	// mark is the name of this process's row that markTransaction writes; transaction is the
	// random number in it, of the writer's current transaction.
	mark        string
	transaction int64
	// closing ends attempts to find out the outcome of a commit.
	closing chan struct{}
	logger  *slog.Logger
	pause   func(time.Duration) // between two attempts
	outage  outage
}

// How long a start waits for PostgreSQL, and for the lock of a server that has just ended.
const (
	startPatience = 30 * time.Second
	lockPatience  = 10 * time.Second
	retryInterval = 200 * time.Millisecond
)

// serversLock is the key of the advisory lock that the servers of a database hold.
const serversLock = 0x626c7565_7072696e // "blueprin"

// CheckURL reports what is wrong with the URL of a PostgreSQL database, without repeating
// it.
func CheckURL(url string) error {
	_, err := postgres.Parse(url)
	return err
}

func newRemote(config *postgres.Config, pool *sql.DB, logger *slog.Logger) *remote {
	return &remote{
		config: config, pool: pool, logger: logger, shared: config.OpenShared(), closing: make(chan struct{}), pause: wait, outage: newOutage(),
		mark: markPrefix + strconv.FormatUint(rand.Uint64(), 16),
	}
}

func (s *Store) openRemote(ctx context.Context) error {
	config, err := postgres.Parse(s.options.Database)
	if err != nil {
		return err
	}
	if s.options.Server {
		config.EndFrozen()
	}
	pool := config.Open()
	s.pool = pool
	s.remote = newRemote(config, pool, s.options.Logger)
	session, err := s.remote.connect(ctx, startPatience)
	if err != nil {
		return err
	}
	s.writer = newWriter(session)
	if err := postgres.CheckServer(ctx, session.conn); err != nil {
		return err
	}
	if s.remote.standbys, err = postgres.Standbys(ctx, session.conn); err != nil {
		return err
	}
	if s.options.Server {
		s.remote.alone = s.options.VirtualClock || s.options.Sandbox
		if err := s.remote.lock(ctx); err != nil {
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
	if s.options.Server {
		s.nodes.session = s.remote.locked
		s.nodes.changes, s.nodes.patience = make(chan struct{}), commandPatience
	}
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
func (r *remote) replace(ctx context.Context, s *session) error {
	s.destroy()
	_ = s.conn.Close()
	conn, err := r.pool.Conn(ctx)
	if err == nil {
		s.conn = conn
		if err = r.nameNode(s); err != nil {
			s.destroy() // runs stored through it would belong to no process
		}
	}
	return err
}

// nameNode sets the node that a connection belongs to: new runs are those of the node.
func (r *remote) nameNode(s *session) error {
	if r.node == 0 {
		return nil
	}
	_, err := s.exec("SELECT set_config('blueprintd.node', ?, false)", strconv.FormatInt(r.node, 10))
	return err
}

// revive is replace for a session whose connection may have broken.
func (r *remote) revive(s *session) error {
	if !postgres.IsBroken(s.conn) {
		return nil
	}
	return r.replace(context.Background(), s)
}

// readRemoteGeneration reads the generation, on a new connection if the old one has broken.
func (s *Store) readRemoteGeneration() (generation int64, err error) {
	if !postgres.IsBroken(s.watch.conn) {
		generation, err = readGeneration(s.watch)
	}
	if postgres.IsBroken(s.watch.conn) {
		ctx, done := s.WhileAvailable(context.Background())
		defer done()
		if err = s.remote.replace(ctx, s.watch); err == nil {
			generation, err = readGeneration(s.watch)
		} else {
			err = orAway(ctx, err)
		}
	}
	if err == nil {
		s.remote.outage.answered()
	}
	return generation, err
}

// lock takes the lock of the servers of a database: the processes of one server share it, and
// one that has to be alone has it for itself. It opens the session that holds the lock.
func (r *remote) lock(ctx context.Context) (err error) {
	if r.locked, err = r.connect(ctx, 0); err != nil {
		return err
	}
	for watch := metrics.Begin(); ; r.pause(retryInterval) {
		taken, err := r.tryLock()
		if err != nil || taken {
			return err
		}
		if watch.Elapsed() < lockPatience {
			continue
		}
		if r.alone {
			return dbfile.Refusal("stop it, or use another --database; a server with a virtual clock or a sandbox is one process", "another server has the database open")
		}
		return dbfile.Refusal("stop that server, or start this one with another --database", "a server that has to be alone, with a virtual clock or a sandbox, has the database open")
	}
}

func (r *remote) tryLock() (taken bool, err error) {
	query := "SELECT pg_try_advisory_lock_shared(?)"
	if r.alone {
		query = "SELECT pg_try_advisory_lock(?)"
	}
	return taken, r.locked.row(query, []any{int64(serversLock)}, &taken)
}

// keepLock takes the lock again on a new connection after the old one broke, which the beats
// that it carries have noticed.
func (r *remote) keepLock() error {
	if !postgres.IsBroken(r.locked.conn) {
		return nil
	}
	if err := r.replace(context.Background(), r.locked); err != nil {
		return err
	}
	taken, err := r.tryLock()
	if err == nil && !taken {
		r.locked.destroy() // tried again at the next beat
	}
	return err
}

// lockMeta locks the row of meta for a transaction: writes of the whole database are made
// one after the other.
const lockMeta = "SELECT epoch, generation FROM meta WHERE id = 1 FOR UPDATE"

// markTransaction writes the number of the transaction into the row of the process, from
// which the process can see later whether it was committed. PostgreSQL's own id of the
// transaction would not do: after a crash, and on a standby that is promoted, the id of one
// that was lost is given to another one.
const (
	markTransaction = `INSERT INTO claims (name, holder, node, until) VALUES (?, ?, ?, clock_timestamp() + interval '1 hour')
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until`
	markPrefix   = "transaction of "
	dropOldMarks = "DELETE FROM claims WHERE name LIKE '" + markPrefix + "%' AND until < clock_timestamp()"
)

// beginRemote begins a write transaction in PostgreSQL and runs statements in it, all in one
// round trip. After an error there is no transaction.
//
// A connection that broke is replaced once: its transaction was not committed, because COMMIT
// is not among the statements.
func (s *Store) beginRemote(then []postgres.Query) error {
	w, r := s.writer, s.remote
	var epoch, generation int64
	r.transaction = rand.Int64()
	list := append([]postgres.Query{
		{Text: beginWrites},
		{Text: lockMeta, Into: []any{&epoch, &generation}},
		{Text: markTransaction, Arguments: []any{r.mark, r.transaction, r.node}},
	}, then...)
	err := w.session.pipeline(list)
	if err != nil && postgres.IsBroken(w.session.conn) {
		if err = r.replace(context.Background(), w.session); err == nil {
			err = w.session.pipeline(list)
		}
	}
	if err == nil {
		copy(then, list[3:])
		if generation != w.subscriptions.generation {
			w.failing = nil
		}
		err = s.checkEpoch(epoch)
	}
	if err != nil {
		w.undo()
		return err
	}
	w.begun(generation)
	return nil
}

// errUnknownOutcome is returned when the store could not find out whether a transaction was
// committed: it closes, or the database refuses the question.
var errUnknownOutcome = unavailable(nil, "look whether it was stored before you try again", "the connection to the database broke, and this may have been stored")

// commit commits the transaction of the writer. When the connection breaks meanwhile, it
// asks the database whether the transaction was committed. Until then this process makes no
// other transaction.
func (r *remote) commit(s *session) error {
	unknown, err := postgres.Commit(context.Background(), s.conn)
	if unknown {
		r.logger.Warn("connection broke during a commit, finding out its outcome", "error", err)
	}
	if mutant.Is(mutant.UnknownIsDone) && unknown {
		err = nil
	}
	for unknown && !mutant.Is(mutant.UnknownIsDone) && !mutant.Is(mutant.UnknownIsFailed) {
		committed, asked := r.isCommitted(s)
		switch {
		case asked == nil && committed:
			return nil
		case asked == nil:
			return err
		case postgres.ClassOf(asked) == postgres.Other:
			return errUnknownOutcome
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

// isCommitted reports whether the last transaction of the writer was committed. It waits for
// the end of that transaction, which holds the row of meta.
func (r *remote) isCommitted(s *session) (committed bool, err error) {
	if err := r.revive(s); err != nil {
		return false, err
	}
	var epoch, generation int64
	err = s.pipeline([]postgres.Query{
		{Text: beginWrites},
		{Text: lockMeta, Into: []any{&epoch, &generation}},
		{Text: "SELECT EXISTS (SELECT 1 FROM claims WHERE name = ? AND holder = ?)", Arguments: []any{r.mark, r.transaction}, Into: []any{&committed}},
	})
	_, _ = s.exec("ROLLBACK") // nothing was written; a broken connection is replaced
	return committed, err
}

func (r *remote) close() error {
	err := r.shared.Close()
	if r.locked != nil {
		err = errors.Join(err, r.locked.close())
	}
	return err
}
