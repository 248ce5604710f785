package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"

	"blueprintd/blueprint"
)

// readers is a pool of connections that only read. In WAL mode they neither
// wait for the writer nor make it wait. They are opened as they are needed.
type readers struct {
	pool   *sql.DB
	idle   chan *session
	opened chan struct{} // one for each open session

	age    atomic.Int64 // goes up with each look at the log
	mu     sync.Mutex
	active map[*session]int64 // those that read, and the age at which they began
}

// maxAge is how many looks at the log a read may outlast once the log cannot be
// emptied because of reads: a second.
const maxAge = 5

// errSlowRead ends a read that keeps the log from being emptied.
var errSlowRead = &blueprint.Error{
	Code: blueprint.CodeUnavailable, Message: "reading this takes too long beside what is being written", RetryAfter: retryAfter,
	Hint: "ask for a smaller page, or again when the server is less busy",
}

// expire ends reads that have outlasted a number of looks at the log, at their
// next row.
func (r *readers) expire(looks int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for session, begun := range r.active {
		if r.age.Load()-begun > looks {
			session.expired.Store(true)
		}
	}
}

func (r *readers) begin(session *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	session.expired.Store(false)
	r.active[session] = r.age.Load()
}

func (r *readers) end(session *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.active, session)
}

func newReaders(pool *sql.DB, size int) *readers {
	return &readers{pool: pool, idle: make(chan *session, size), opened: make(chan struct{}, size), active: map[*session]int64{}}
}

func (r *readers) take(ctx context.Context) (*session, error) {
	select {
	case session := <-r.idle:
		return session, nil
	default:
	}
	select {
	case session := <-r.idle:
		return session, nil
	case r.opened <- struct{}{}:
		session, err := newSession(context.WithoutCancel(ctx), r.pool)
		if err != nil {
			<-r.opened
		}
		return session, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *readers) give(session *session) { r.idle <- session }

// drop closes a session whose transaction did not end as it should.
func (r *readers) drop(session *session) {
	session.destroy()
	<-r.opened
}

// close waits for the sessions in use and closes all.
func (r *readers) close() error {
	var errs []error
	for range cap(r.opened) {
		select {
		case r.opened <- struct{}{}: // not open; from now on it cannot be
		case session := <-r.idle:
			errs = append(errs, session.close())
		}
	}
	return errors.Join(append(errs, r.pool.Close())...)
}

// read runs f in a read transaction: all its queries see one state. f must not
// call the store again.
func (s *Store) read(ctx context.Context, f func(*session) error) (err error) {
	if err := s.usable(); err != nil {
		return err
	}
	defer func() { err = passing(err) }()
	if s.writer.whole != nil { // it sees what it wrote
		return f(s.writer.session)
	}
	if s.options.Ephemeral {
		s.writer.connection.Lock()
		defer s.writer.connection.Unlock()
		return f(s.writer.session)
	}
	session, err := s.readers.take(ctx)
	if err != nil {
		return err
	}
	ended := false
	defer func() {
		if ended {
			s.readers.give(session)
		} else {
			s.readers.drop(session)
		}
	}()
	s.readers.begin(session)
	defer s.readers.end(session)
	if _, err := session.exec("BEGIN"); err != nil {
		return err
	}
	failed := f(session)
	if _, err := session.exec("COMMIT"); err != nil {
		return errors.Join(failed, err)
	}
	ended = true
	return failed
}
