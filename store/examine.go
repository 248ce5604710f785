package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"blueprintd/blueprint"
)

// errNoSpace is what the system says when a disk is full.
const errNoSpace = syscall.ENOSPC

const countUnfinished = "SELECT count(*) FROM executions WHERE end_time IS NULL"

// examined is what a database that is in nobody's use was found to hold.
type examined struct {
	rows            map[string]int64
	unfinished      int64
	pageSize, pages int64
	keyCheck        []byte
	sealed          bool // something is encrypted
	damaged         DamagedRuns
}

// withDatabase opens a database by itself, uses it, and closes it.
func withDatabase(ctx context.Context, path string, settings []string, use func(*sql.Conn) error) (err error) {
	pool, err := sql.Open("sqlite", fileURI(path, append(commonSettings[:len(commonSettings):len(commonSettings)], settings...)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return use(conn)
}

// examine reads the whole of a database that is not in WAL mode and makes sure
// that it is one of ours, of the present form and sound in every page, index
// and reference. Nothing is written.
func examine(ctx context.Context, path, schema string) (found examined, err error) {
	err = withDatabase(ctx, path, []string{"_query_only=1"}, func(conn *sql.Conn) error {
		session := &session{conn: conn, statements: map[string]*sql.Stmt{}}
		defer session.forget()
		for _, check := range []string{"PRAGMA integrity_check(1)", "PRAGMA foreign_key_check"} {
			if err := sound(ctx, conn, check); err != nil {
				return err
			}
		}
		if blank, err := marks(session); err != nil {
			return err
		} else if blank {
			return foreign("it is empty")
		}
		if err := (&Store{options: Options{Schema: schema}, writer: &writer{session: session}}).compare(ctx); err != nil {
			return err
		}
		if found.rows, err = countRows(ctx, conn); err != nil {
			return err
		}
		if found.damaged, err = contents(session); err != nil {
			return err
		}
		if found.sealed, err = holdsSealed(&transaction{session: session}); err != nil {
			return err
		}
		return errors.Join(
			session.row(countUnfinished, nil, &found.unfinished),
			session.row("SELECT key_check FROM meta", nil, &found.keyCheck),
			session.row("PRAGMA page_size", nil, &found.pageSize),
			session.row("PRAGMA page_count", nil, &found.pages))
	})
	if code := resultCode(err) & 0xff; code == sqliteCorrupt || code == sqliteNotADB {
		err = unsound(err)
	}
	return found, err
}

// errUnsound is what a check of all that there is has found.
var errUnsound = errors.New("not every part is sound")

func unsound(reason any) error {
	return &blueprint.Error{
		Code: blueprint.CodeConflict, Message: fmt.Sprintf("the database is damaged: %v", reason),
		Hint: "restore an older backup with blueprintd restore", Err: errUnsound,
	}
}

// sound runs a check of SQLite, which gives no row, or one "ok", when all is well.
func sound(ctx context.Context, conn *sql.Conn, check string) error {
	rows, err := conn.QueryContext(ctx, check)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var what any
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		into := make([]any, len(columns))
		for i := range into {
			into[i] = new(any)
		}
		into[0] = &what
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if what != "ok" {
			return unsound(fmt.Sprintf("%s found: %v", strings.TrimPrefix(check, "PRAGMA "), what))
		}
	}
	return rows.Err()
}

// countRows counts the rows of every table.
func countRows(ctx context.Context, conn *sql.Conn) (map[string]int64, error) {
	rows, err := conn.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, name := range names {
		var n int64
		if err := conn.QueryRowContext(ctx, `SELECT count(*) FROM "`+strings.ReplaceAll(name, `"`, `""`)+`"`).Scan(&n); err != nil {
			return nil, err
		}
		counts[name] = n
	}
	return counts, nil
}

// syncFolder brings the names in a folder onto the disk. Windows cannot be
// asked to.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(filepath.Clean(path))
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}
