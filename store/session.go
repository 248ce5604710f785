package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"sync/atomic"

	"modernc.org/sqlite"
)

// session is one connection with the statements prepared on it. SQL texts are
// constants, so there are only so many. A session belongs to one goroutine at
// a time.
//
// No statement gets a context that can end: a query under way is short, and
// interrupting one costs a goroutine for each.
type session struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
	expired    atomic.Bool // its read must end; see readers
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
	return s.conn.Close()
}

// destroy closes the connection itself, so that no other session inherits the
// state it is in.
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

func (s *session) prepare(query string) (*sql.Stmt, error) {
	if statement := s.statements[query]; statement != nil {
		return statement, nil
	}
	statement, err := s.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	s.statements[query] = statement
	return statement, nil
}

// dataVersion gives SQLite's number of the state of the database as this
// connection knows it. Its own commits change it, and so do those of others, once
// a transaction has begun after them.
func (s *session) dataVersion() (version uint32, err error) {
	err = s.conn.Raw(func(conn any) error {
		version, err = conn.(sqlite.FileControl).FileControlDataVersion("main")
		return err
	})
	return version, err
}

// exec runs a statement that gives no rows and tells how many it changed.
func (s *session) exec(query string, args ...any) (changed int64, err error) {
	statement, err := s.prepare(query)
	if err != nil {
		return 0, err
	}
	result, err := statement.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// insert runs an INSERT of one row and gives its rowid, or 0 when it inserted
// none.
func (s *session) insert(query string, args ...any) (rowid int64, err error) {
	statement, err := s.prepare(query)
	if err != nil {
		return 0, err
	}
	result, err := statement.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	if changed, err := result.RowsAffected(); changed == 0 || err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// row reads the first row of a query, or gives sql.ErrNoRows.
func (s *session) row(query string, args []any, into ...any) error {
	statement, err := s.prepare(query)
	if err != nil {
		return err
	}
	return statement.QueryRowContext(context.Background(), args...).Scan(into...)
}

// each calls f for every row of a query; scan reads the columns.
func (s *session) each(query string, args []any, f func(scan func(into ...any) error) error) error {
	statement, err := s.prepare(query)
	if err != nil {
		return err
	}
	rows, err := statement.QueryContext(context.Background(), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if s.expired.Load() {
			return errSlowRead
		}
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
