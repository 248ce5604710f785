package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/store/dbfile"
)

const countUnfinished = "SELECT count(*) FROM executions WHERE end_time IS NULL"

// examined is the content of a database that no process uses.
type examined struct {
	rows            map[string]int64
	unfinished      int64
	pageSize, pages int64
	keyCheck        []byte
	sealed          bool // something is encrypted
	damaged         DamagedRuns
}

// examine reads a whole database that is not in WAL mode, and verifies that it is a
// database of this program in the current form and that every page, index and reference
// is sound. It writes nothing.
func examine(ctx context.Context, path, schema string) (found examined, err error) {
	err = withDatabase(ctx, path, []string{"_query_only=1"}, func(q *session) error {
		if err := sound(q); err != nil {
			return err
		}
		if blank, err := marks(q); err != nil {
			return err
		} else if blank {
			return foreign("it is empty")
		}
		if err := compareSchema(ctx, q, schema); err != nil {
			return err
		}
		if found.rows, err = countRows(q); err != nil {
			return err
		}
		if found.damaged, err = contents(q); err != nil {
			return err
		}
		if found.sealed, err = holdsSealed(&transaction{session: q}); err != nil {
			return err
		}
		return errors.Join(
			q.row(countUnfinished, nil, &found.unfinished),
			q.row("SELECT key_check FROM meta", nil, &found.keyCheck),
			q.row("PRAGMA page_size", nil, &found.pageSize),
			q.row("PRAGMA page_count", nil, &found.pages))
	})
	if code := resultCode(err) & 0xff; code == sqliteCorrupt || code == sqliteNotADB {
		err = unsound(err)
	}
	return found, err
}

// withDatabase calls use with a connection to a database.
func withDatabase(ctx context.Context, path string, settings []string, use func(*session) error) (err error) {
	return withURI(ctx, fileURI(path, slices.Concat(commonSettings, settings)), use)
}

func withURI(ctx context.Context, uri string, use func(*session) error) (err error) {
	pool, err := sql.Open("sqlite", uri)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	q, err := newSession(ctx, pool)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.close()) }()
	return use(q)
}

// The checks of SQLite return a text for each problem; those of pages "ok" for none.
const (
	checkPages      = "PRAGMA integrity_check(5)"
	checkPagesQuick = "PRAGMA quick_check(5)"
	checkReferences = `SELECT 'row ' || coalesce(rowid, '') || ' of ' || "table" || ' refers to a row of ' || parent || ' that is not there'
		FROM pragma_foreign_key_check LIMIT 5`
)

// problems runs checks of SQLite and returns what they find.
func problems(q *session, checks ...string) (list []string, err error) {
	for _, check := range checks {
		if err := collect(q, &list, check, nil, column); err != nil {
			return list, err
		}
	}
	return slices.DeleteFunc(list, func(text string) bool { return text == "ok" }), nil
}

// sound checks every page, index and reference.
func sound(q *session) error {
	found, err := problems(q, checkPages, checkReferences)
	if err == nil && len(found) > 0 {
		err = unsound(found[0])
	}
	return err
}

// errUnsound marks an error that a check of the whole database has found.
var errUnsound = errors.New("not every part is sound")

func unsound(reason any) error {
	return conflict(errUnsound, "restore an older backup with blueprintd restore",
		"the database is damaged: %v", reason)
}

// countRows counts the rows of every table.
func countRows(q *session) (map[string]int64, error) {
	var names []string
	err := collect(q, &names, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name", nil, column)
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, name := range names {
		var n int64
		if err := q.row(`SELECT count(*) FROM "`+strings.ReplaceAll(name, `"`, `""`)+`"`, nil, &n); err != nil {
			return nil, err
		}
		counts[name] = n
	}
	return counts, nil
}

// contents reads everything with a checksum and returns the damaged runs. Damage that
// SQLite finds is an error.
func contents(q *session) (d DamagedRuns, err error) {
	err = q.each("SELECT id, record, state FROM executions WHERE record IS NOT NULL ORDER BY seq", nil, func(scan scanner) error {
		var stored blueprint.StoredExecution
		if err := scan(&stored.Row.ID, &stored.Record, &stored.State); err != nil {
			return err
		}
		if checkedRun(&stored) != nil {
			d.add(stored.Row.ID)
		}
		return nil
	})
	if err != nil {
		return d, err
	}
	// Entries of one run are consecutive.
	last := int64(0)
	const entries = `SELECT j.execution, j.position, j.entry, coalesce(e.id, 'number ' || j.execution)
		FROM journal j LEFT JOIN executions e ON e.seq = j.execution ORDER BY j.execution, j.position`
	err = q.each(entries, nil, func(scan scanner) error {
		var execution, position int64
		var entry []byte
		var id string
		if err := scan(&execution, &position, &entry, &id); err != nil {
			return err
		}
		if checked(&entry, entryPlace(execution, position)) != nil && execution != last {
			last = execution
			d.add(id)
		}
		return nil
	})
	return d, err
}

// mostNamed is how many damaged runs DamagedRuns names.
const mostNamed = 10

// DamagedRuns are executions with a damaged record, state or journal entry.
type DamagedRuns struct {
	Count int      `json:"count"`
	IDs   []string `json:"ids"` // at most ten
}

func (d *DamagedRuns) add(id string) {
	if d.Count++; len(d.IDs) < mostNamed {
		d.IDs = append(d.IDs, id)
	}
}

// String names the runs.
func (d *DamagedRuns) String() string {
	text := strings.Join(d.IDs, ", ")
	if more := d.Count - len(d.IDs); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// damagedContents returns the error for a backup that would contain damage.
func damagedContents(d *DamagedRuns) error {
	return dbfile.Refusal("blueprintd doctor --full tells more; keep your older backups; --allow-damaged makes the backup all the same",
		"the database is damaged: what it holds of %d runs is not what was stored: %s", d.Count, d)
}
