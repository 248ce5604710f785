package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"

	"blueprintd/store/postgres"
)

// readers is a pool of connections that only read. In WAL mode readers and the writer
// do not wait for each other. Connections are opened when needed.
type readers struct {
	pool   *sql.DB
	remote *remote // nil unless the database is PostgreSQL
	idle   chan *session
	opened chan struct{} // one for each open session

	age    atomic.Int64 // counts the checks of the log
	mu     sync.Mutex
	active map[*session]int64 // sessions in use, with the age when their reads began
}

func newReaders(pool *sql.DB, size int) *readers {
	return &readers{pool: pool, idle: make(chan *session, size), opened: make(chan struct{}, size), active: map[*session]int64{}}
}

// read runs f in a read transaction, which sees one state. f must not call the store.
func (s *Store) read(ctx context.Context, f func(*session) error) error {
	return s.readBy(ctx, s.readOn, f)
}

// readOnce is read for an f that makes one query, which sees one state without a
// transaction. If the connection to PostgreSQL broke while it was idle, f runs twice.
func (s *Store) readOnce(ctx context.Context, f func(*session) error) error {
	return s.readBy(ctx, s.queryOn, f)
}

// readBy is read or readOnce: on is readOn or queryOn.
func (s *Store) readBy(ctx context.Context, on func(context.Context, *session, func(*session) error) error, f func(*session) error) (err error) {
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.Available(); err != nil {
		return err
	}
	defer func() { err = passing(err) }()
	if s.writer.enclosing != nil { // f sees its own writes
		return f(s.writer.session)
	}
	if s.options.Ephemeral {
		s.writer.connection.Lock()
		defer s.writer.connection.Unlock()
		return f(s.writer.session)
	}
	ctx, done := s.WhileAvailable(ctx)
	defer done()
	session, err := s.readers.acquire(ctx)
	if err != nil {
		return orAway(ctx, err)
	}
	return on(ctx, session, f)
}

// readIfIdle is read for an optional f: it skips f if no reader is idle.
func (s *Store) readIfIdle(f func(*session) error) {
	select {
	case session := <-s.readers.idle:
		_ = s.readOn(context.Background(), session, f)
	default:
	}
}

// readOn runs f in a read transaction of an acquired session and makes the session idle.
func (s *Store) readOn(ctx context.Context, session *session, f func(*session) error) error {
	ended := false
	defer s.readers.using(session, &ended)()
	if err := session.begin(ctx, "BEGIN"); err != nil {
		return orAway(ctx, err)
	}
	failed := f(session)
	if _, err := session.exec("COMMIT"); err != nil {
		return errors.Join(failed, err)
	}
	ended = true
	return failed
}

// queryOn runs f, which makes one query, in an acquired session and makes the session idle.
func (s *Store) queryOn(ctx context.Context, session *session, f func(*session) error) error {
	ended := false
	defer s.readers.using(session, &ended)()
	err := session.retryBroken(ctx, func() error { return f(session) })
	ended = !session.isBroken()
	if err != nil {
		return orAway(ctx, err)
	}
	return nil
}

// readRow reads the first row of a query, or returns sql.ErrNoRows.
func (s *Store) readRow(ctx context.Context, query string, args []any, into ...any) error {
	return s.readOnce(ctx, func(q *session) error { return q.row(query, args, into...) })
}

// readRows sets list to what read returns for each row of a query.
func readRows[T any](ctx context.Context, s *Store, list *[]T, query string, args []any, read func(scanner) (T, error)) error {
	return s.readOnce(ctx, func(q *session) error {
		*list = (*list)[:0]
		return collect(q, list, query, args, read)
	})
}

// readValue is read for a function with a result. With an error it returns the zero value.
func readValue[T any](ctx context.Context, s *Store, f func(*session) (T, error)) (value T, err error) {
	err = s.read(ctx, func(q *session) error {
		value, err = f(q)
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return value, nil
}

func (r *readers) acquire(ctx context.Context) (*session, error) {
	select {
	case session := <-r.idle:
		return session, nil
	default:
	}
	select {
	case session := <-r.idle:
		return session, nil
	case r.opened <- struct{}{}:
		if r.remote == nil {
			ctx = context.WithoutCancel(ctx)
		}
		session, err := newSession(ctx, r.pool)
		if err == nil {
			session.remote = r.remote
		} else {
			<-r.opened
		}
		return session, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// using notes that an acquired session is in use until the returned function runs, which makes
// it idle if all has ended properly, and drops it otherwise.
func (r *readers) using(session *session, ended *bool) func() {
	session.expired.Store(false)
	r.mu.Lock()
	r.active[session] = r.age.Load()
	r.mu.Unlock()
	return func() {
		r.mu.Lock()
		delete(r.active, session)
		r.mu.Unlock()
		if *ended {
			r.idle <- session
		} else {
			r.drop(session)
		}
	}
}

// drop closes a session whose transaction did not end properly.
func (r *readers) drop(session *session) {
	session.destroy()
	<-r.opened
}

// close waits for the sessions in use, then closes all.
func (r *readers) close() error {
	var errs []error
	for range cap(r.opened) {
		select {
		case r.opened <- struct{}{}: // reserves the slot of a session that is not open
		case session := <-r.idle:
			errs = append(errs, session.close())
		}
	}
	return errors.Join(append(errs, r.pool.Close())...)
}

// maxAge is the number of log checks that a read may outlast while reads prevent the log
// from being emptied: one second.
const maxAge = 5

// errSlowRead ends a read that prevents the log from being emptied.
var errSlowRead = unavailable(nil, "ask for a smaller page, or again when the server is less busy",
	"reading this takes too long beside what is being written")

// expire ends reads that have outlasted a number of log checks, at their next row.
func (r *readers) expire(looks int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for session, begun := range r.active {
		if r.age.Load()-begun > looks {
			session.expired.Store(true)
		}
	}
}

// session is a connection with its prepared statements. SQL texts are constants, so their
// number is bounded. A session is used by one goroutine at a time.
//
// No statement gets a context that can end: queries are short, and making one interruptible
// costs a goroutine.
type session struct {
	conn       *sql.Conn
	remote     *remote // nil unless the database is PostgreSQL
	statements map[string]*sql.Stmt
	reading    bool        // the rows of a statement
	expired    atomic.Bool // its read has to end; see readers.expire
}

func newSession(ctx context.Context, pool *sql.DB) (*session, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, statements: map[string]*sql.Stmt{}}, nil
}

func (s *session) close() error {
	s.forget()
	if err := s.conn.Close(); !errors.Is(err, sql.ErrConnDone) { // it may have broken
		return err
	}
	return nil
}

// destroy closes the underlying connection, so that no other session inherits its state.
func (s *session) destroy() {
	s.forget()
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
}

// forget closes the statements, which must not outlive their connection.
func (s *session) forget() {
	for _, statement := range s.statements {
		_ = statement.Close()
	}
	clear(s.statements)
}

// arguments converts the arguments of a statement for the database.
func (s *session) arguments(args []any) []any {
	if s.remote != nil {
		return postgres.Arguments(args)
	}
	return args
}

func (s *session) prepare(query string) (*sql.Stmt, error) {
	if s.reading {
		return nil, fmt.Errorf("prepare %q: the rows of another statement are still being read", query) // PostgreSQL has one at a time
	}
	if statement := s.statements[query]; statement != nil {
		return statement, nil
	}
	text := query
	if s.remote != nil {
		text = postgres.Statement(query)
	}
	statement, err := s.conn.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	s.statements[query] = statement
	return statement, nil
}

// dataVersion returns SQLite's version number of the database as this connection knows it.
// It changes with commits of this connection, and with those of other connections once a
// transaction has begun after them.
func (s *session) dataVersion() (version uint32, err error) {
	err = s.conn.Raw(func(conn any) error {
		version, err = conn.(sqlite.FileControl).FileControlDataVersion("main")
		return err
	})
	return version, err
}

// begin begins a transaction; in PostgreSQL one that reads, see beginRemote. A connection to
// PostgreSQL that broke while it was idle is replaced first; ctx limits how long that takes.
func (s *session) begin(ctx context.Context, query string) error {
	return s.retryBroken(ctx, func() error {
		_, err := s.exec(query)
		return err
	})
}

// retryBroken calls f, and once more on a new connection if the one to PostgreSQL has ended.
func (s *session) retryBroken(ctx context.Context, f func() error) error {
	err := f()
	if err != nil && s.isBroken() {
		if err = s.remote.replace(ctx, s); err == nil {
			err = f()
		}
	}
	return err
}

// isBroken reports whether the connection to PostgreSQL has ended.
func (s *session) isBroken() bool { return s.remote != nil && postgres.IsBroken(s.conn) }

// execAll runs statements without result rows, in their order, until one fails. In PostgreSQL
// they are one round trip.
func (s *session) execAll(list []postgres.Query) (err error) {
	if s.remote != nil && len(list) > 1 {
		return s.pipeline(list)
	}
	for i := range list {
		if list[i].Changed, err = s.exec(list[i].Text, list[i].Arguments...); err != nil {
			return err
		}
	}
	return nil
}

// pipeline runs statements in PostgreSQL in one round trip.
func (s *session) pipeline(list []postgres.Query) error {
	return postgres.Pipeline(context.Background(), s.conn, list)
}

// exec runs a statement without result rows and returns how many rows it changed.
func (s *session) exec(query string, args ...any) (changed int64, err error) {
	statement, err := s.prepare(query)
	if err != nil {
		return 0, err
	}
	result, err := statement.ExecContext(context.Background(), s.arguments(args)...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// insert runs an INSERT of one row into a table with a column seq and returns its number,
// 0 if it inserted none.
func (s *session) insert(query string, args ...any) (seq int64, err error) {
	if s.remote != nil {
		return seq, optional(s.row(query+" RETURNING seq", args, &seq))
	}
	statement, err := s.prepare(query)
	if err != nil {
		return 0, err
	}
	result, err := statement.ExecContext(context.Background(), s.arguments(args)...)
	if err != nil {
		return 0, err
	}
	if changed, err := result.RowsAffected(); changed == 0 || err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// row reads the first row of a query, or returns sql.ErrNoRows.
func (s *session) row(query string, args []any, into ...any) error {
	statement, err := s.prepare(query)
	if err != nil {
		return err
	}
	err = statement.QueryRowContext(context.Background(), s.arguments(args)...).Scan(into...)
	if s.remote != nil && err == nil {
		err = postgres.Restore(into)
	}
	return err
}

// scanner reads the columns of a row, like the Scan method of sql.Row.
type scanner = func(into ...any) error

// first returns a scanner of the first row of a query; the scanner returns sql.ErrNoRows
// if there is none.
func (s *session) first(query string, args ...any) scanner {
	return func(into ...any) error { return s.row(query, args, into...) }
}

// also returns a scanner that reads additional columns after those that its caller reads.
func also(scan scanner, more ...any) scanner {
	return func(into ...any) error { return scan(append(into, more...)...) }
}

// each calls f for every row of a query.
func (s *session) each(query string, args []any, f func(scan scanner) error) error {
	statement, err := s.prepare(query)
	if err != nil {
		return err
	}
	rows, err := statement.QueryContext(context.Background(), s.arguments(args)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	s.reading = true
	defer func() { s.reading = false }()
	scan := rows.Scan
	if s.remote != nil {
		scan = func(into ...any) error {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			return postgres.Restore(into)
		}
	}
	for rows.Next() {
		if s.expired.Load() {
			return errSlowRead
		}
		if err := f(scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// collect appends what read returns for each row of a query to list.
func collect[T any](q *session, list *[]T, query string, args []any, read func(scanner) (T, error)) error {
	return q.each(query, args, func(scan scanner) error {
		one, err := read(scan)
		*list = append(*list, one)
		return err
	})
}

// column reads a row of one column, for collect.
func column[T any](scan scanner) (value T, err error) {
	err = scan(&value)
	return value, err
}

// fields returns a function for collect that reads a row into the fields that of returns.
func fields[T any](of func(*T) []any) func(scanner) (T, error) {
	return func(scan scanner) (one T, err error) {
		err = scan(of(&one)...)
		return one, err
	}
}

// orNotFound returns CodeNotFound if err means that there is no row, and err otherwise.
func orNotFound(err error, what phrase, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return notFound(what, id)
	}
	return err
}

// optional returns nil if err means that there is no row, and err otherwise.
func optional(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}
