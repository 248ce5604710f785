package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
	"strings"

	"blueprintd/store/dbfile"
	"blueprintd/store/postgres"
)

// table is a table of schema.sql. Both databases have its columns; what only one of them
// has besides is not copied.
type table struct {
	name       string
	columns    []string
	kinds      []string // of the columns: INTEGER, REAL, TEXT or BLOB
	key        []string // columns of the primary key
	references []reference
}

// reference is a foreign key.
type reference struct {
	table    string
	from, to []string // columns
}

// tablesOf returns the tables of a schema. Each follows those that it refers to.
func tablesOf(ctx context.Context, schema string) (list []table, err error) {
	err = withURI(ctx, "file::memory:", func(q *session) error {
		if _, err := q.conn.ExecContext(ctx, schema); err != nil {
			return err
		}
		var names []string
		if err := collect(q, &names, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name", nil, column); err != nil {
			return err
		}
		var found []table
		for _, name := range names {
			t, err := describe(q, name)
			if err != nil {
				return err
			}
			found = append(found, t)
		}
		list, err = inOrder(found)
		return err
	})
	return list, err
}

func describe(q *session, name string) (t table, err error) {
	t.name = name
	keys := map[int]string{}
	err = q.each("SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid", []any{name}, func(scan scanner) error {
		var column, kind string
		var key int
		if err := scan(&column, &kind, &key); err != nil {
			return err
		}
		if key > 0 {
			keys[key] = column
		}
		t.columns, t.kinds = append(t.columns, column), append(t.kinds, kind)
		return nil
	})
	for i := range len(keys) {
		t.key = append(t.key, keys[i+1])
	}
	if err != nil {
		return t, err
	}
	err = q.each(`SELECT seq, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq`, []any{name}, func(scan scanner) error {
		var part int
		var parent, from, to string
		if err := scan(&part, &parent, &from, &to); err != nil {
			return err
		}
		if part == 0 {
			t.references = append(t.references, reference{table: parent})
		}
		last := &t.references[len(t.references)-1]
		last.from, last.to = append(last.from, from), append(last.to, to)
		return nil
	})
	return t, err
}

// inOrder sorts tables so that each follows those that it refers to.
func inOrder(found []table) (list []table, err error) {
	placed := map[string]bool{}
	for len(list) < len(found) {
		before := len(list)
		for _, t := range found {
			waits := slices.ContainsFunc(t.references, func(r reference) bool { return !placed[r.table] && r.table != t.name })
			if !placed[t.name] && !waits {
				placed[t.name] = true
				list = append(list, t)
			}
		}
		if len(list) == before {
			return nil, errors.New("the tables refer to each other in a circle")
		}
	}
	return list, nil
}

// numbered reports whether the database numbers the rows of a table in the column seq.
func (t *table) numbered() bool { return slices.Equal(t.key, []string{"seq"}) }

// rows returns an iterator over the rows of a table in the order of its key. A value is nil
// or an int64, float64, string or []byte. The slice is reused.
func (t *table) rows(q *session) iter.Seq2[[]any, error] {
	query := "SELECT " + strings.Join(t.columns, ", ") + " FROM " + t.name + " ORDER BY " + strings.Join(t.key, ", ")
	return func(yield func([]any, error) bool) {
		into, values := make([]any, len(t.columns)), make([]any, len(t.columns))
		for i, kind := range t.kinds {
			switch kind {
			case "INTEGER":
				into[i] = new(*int64)
			case "REAL":
				into[i] = new(*float64)
			case "TEXT":
				into[i] = new(*string)
			default:
				into[i] = new([]byte)
			}
		}
		err := q.each(query, nil, func(scan scanner) error {
			if err := scan(into...); err != nil {
				return err
			}
			for i, target := range into {
				values[i] = valueOf(target)
			}
			if !yield(values, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, fmt.Errorf("read %s: %w", t.name, err))
		}
	}
}

var errStopped = errors.New("no more rows are wanted")

// valueOf returns the value that a column was read into.
func valueOf(target any) any {
	switch target := target.(type) {
	case **int64:
		if *target != nil {
			return **target
		}
	case **float64:
		if *target != nil {
			return **target
		}
	case **string:
		if *target != nil {
			return **target
		}
	case *[]byte:
		if *target != nil {
			return *target
		}
	}
	return nil
}

// insert inserts rows and returns their number.
func (t *table) insert(ctx context.Context, q *session, rows iter.Seq2[[]any, error]) (inserted int64, err error) {
	if q.remote != nil {
		next, stop := iter.Pull2(rows)
		defer stop()
		return postgres.Copy(ctx, q.conn, t.name, t.columns, func() ([]any, error) {
			row, err, _ := next()
			return row, err
		})
	}
	statement := "INSERT INTO " + t.name + " (" + strings.Join(t.columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(t.columns)-1) + ")"
	for row, err := range rows {
		if err != nil {
			return inserted, err
		}
		if _, err := q.exec(statement, row...); err != nil {
			return inserted, err
		}
		inserted++
	}
	return inserted, nil
}

// digest identifies the rows of a table, in any order.
type digest struct {
	rows int64
	sum  [sha256.Size / 8]uint64 // of the SHA-256 of the rows, word by word
}

func (d *digest) add(row []any) {
	hash := sha256.New()
	head := func(kind byte, n uint64) { hash.Write(binary.BigEndian.AppendUint64([]byte{kind}, n)) }
	for _, value := range row {
		switch value := value.(type) {
		case nil:
			head('n', 0)
		case int64:
			head('i', uint64(value))
		case float64:
			head('f', math.Float64bits(value))
		case string:
			head('t', uint64(len(value)))
			hash.Write([]byte(value))
		case []byte:
			head('b', uint64(len(value)))
			hash.Write(value)
		}
	}
	sum := hash.Sum(nil)
	for i := range d.sum {
		d.sum[i] += binary.BigEndian.Uint64(sum[8*i:])
	}
	d.rows++
}

// copying copies the tables of one database into another. Both sessions are in a
// transaction.
type copying struct {
	tables   []table
	from, to *session
	progress func(stage string, done, total int64)
	// damage lets tests change what is copied of a table.
	damage func(table string, row []any)

	done, total int64 // rows
}

// progressRows is the number of rows between two reports of progress.
const progressRows = 1000

// run copies all rows, reads them again from the target and compares. The tables of the
// target are empty.
func (c *copying) run(ctx context.Context) (rows map[string]int64, err error) {
	rows, read := map[string]int64{}, map[string]digest{}
	for _, t := range c.tables {
		var n int64
		if err := c.from.row("SELECT count(*) FROM "+t.name, nil, &n); err != nil {
			return nil, err
		}
		rows[t.name] = n
		c.total += 2 * n
	}
	for _, t := range c.tables {
		var sum digest
		inserted, err := t.insert(ctx, c.to, c.summed(ctx, "copying", &t, c.from, &sum))
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", t.name, err)
		}
		if sum.rows != rows[t.name] || inserted != sum.rows {
			return nil, fmt.Errorf("copy %s: %d rows were counted, %d read and %d inserted", t.name, rows[t.name], sum.rows, inserted)
		}
		read[t.name] = sum
	}
	for _, t := range c.tables {
		var sum digest
		for _, err := range c.summed(ctx, "comparing", &t, c.to, &sum) {
			if err != nil {
				return nil, err
			}
		}
		if sum != read[t.name] {
			return nil, fmt.Errorf("the %d rows of %s in the copy are not the %d that were read", sum.rows, t.name, rows[t.name])
		}
	}
	return rows, nil
}

// summed returns the rows of a table and adds each to sum.
func (c *copying) summed(ctx context.Context, stage string, t *table, q *session, sum *digest) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		step := func() error {
			c.progress(stage, c.done, c.total)
			return ctx.Err()
		}
		if err := step(); err != nil {
			yield(nil, err)
			return
		}
		for row, err := range t.rows(q) {
			if c.done++; err == nil && c.done%progressRows == 0 {
				err = step()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			sum.add(row)
			if c.damage != nil && q == c.from {
				c.damage(t.name, row)
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// snapshot begins a read transaction on a session of its own and calls use.
func (s *Store) snapshot(ctx context.Context, use func(*session) error) (err error) {
	source, err := newSession(ctx, s.readers.pool)
	if err != nil {
		return err
	}
	source.remote = s.remote
	defer func() {
		if err != nil {
			source.destroy()
		} else {
			err = source.close()
		}
	}()
	if err := source.begin(ctx, "BEGIN"); err != nil {
		return err
	}
	if err := use(source); err != nil {
		return err
	}
	_, err = source.exec("COMMIT")
	return err
}

// intoFile copies everything into a new database at path, which is a missing or an empty
// file. It is on the disk afterwards.
func (c *copying) intoFile(ctx context.Context, path string, o *Options) (rows map[string]int64, err error) {
	if err := createFile(ctx, path, o); err != nil {
		return nil, err
	}
	settings := []string{"_synchronous=OFF", "_pragma=journal_mode(OFF)", "_pragma=locking_mode(EXCLUSIVE)", "_pragma=cache_size(-64000)"}
	err = withDatabase(ctx, path, settings, func(q *session) error {
		if _, err := q.exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		c.to = q
		if rows, err = c.run(ctx); err != nil {
			return err
		}
		_, err := q.exec("COMMIT")
		return err
	})
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return rows, errors.Join(file.Sync(), file.Close())
}

// createFile creates the tables of the schema, without rows, in an empty file.
func createFile(ctx context.Context, path string, o *Options) error {
	return withDatabase(ctx, path, []string{"_synchronous=FULL"}, func(q *session) error {
		for _, statement := range []string{allowShrinking, "BEGIN IMMEDIATE", o.Schema, o.marks() + "; COMMIT"} {
			if _, err := q.conn.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// intoRemote copies everything into a PostgreSQL database that has no tables or, if replace
// is set, replaces everything in one of this program, in one transaction. name is the
// database for messages.
func (c *copying) intoRemote(ctx context.Context, o *Options, replace bool) (rows map[string]int64, name string, err error) {
	config, err := postgres.Parse(o.Database)
	if err != nil {
		return nil, "", err
	}
	name = config.Name()
	r := newRemote(config, config.Open(), o.Logger)
	defer func() { err = errors.Join(err, r.close(), r.pool.Close()) }()
	c.to, err = r.connect(ctx, startPatience)
	if err != nil {
		return nil, name, err
	}
	committed := false
	defer func() {
		if committed {
			err = errors.Join(err, c.to.close())
		} else {
			c.to.destroy() // which rolls the transaction back
		}
	}()
	if err := postgres.CheckServer(ctx, c.to.conn); err != nil {
		return nil, name, err
	}
	for _, statement := range []string{"BEGIN", "SET LOCAL lock_timeout = '30s'"} { // for commands that read or write
		if _, err := c.to.conn.ExecContext(ctx, statement); err != nil {
			return nil, name, err
		}
	}
	blank, err := o.recogniseCurrent(ctx, c.to.conn)
	if err != nil {
		return nil, name, err
	}
	epoch := int64(0)
	switch {
	case blank:
		err = createTables(ctx, c.to.conn, o)
	case !replace:
		err = dbfile.Refusal("name an empty database, such as a new one that createdb makes; blueprintd restore --force replaces everything in this one", "the database %s has the tables of blueprintd already", name)
	default:
		epoch, err = c.empty(ctx, o)
	}
	if err != nil {
		return nil, name, err
	}
	if rows, err = c.run(ctx); err != nil {
		return nil, name, err
	}
	if err := c.complete(ctx, o, epoch); err != nil {
		return nil, name, err
	}
	unknown, err := postgres.Commit(ctx, c.to.conn)
	if unknown {
		err = unavailable(err, "run blueprintd doctor with --database to see which", "the connection to the database broke at the end: it holds either everything or what it held before")
	}
	committed = err == nil
	return rows, name, err
}

// empty removes all rows, and returns the epoch of the database. Other objects, such as
// views and privileges of other roles, stay.
func (c *copying) empty(ctx context.Context, o *Options) (epoch int64, err error) {
	if err := c.to.row("SELECT epoch FROM meta WHERE id = 1", nil, &epoch); err != nil {
		return 0, err
	}
	_, err = c.to.conn.ExecContext(ctx, "TRUNCATE "+strings.Join(postgres.Tables(postgres.Schema(o.Schema)), ", "))
	return epoch, err
}

// complete sets what is not copied: the form of the tables, an epoch that no server had
// before, the concurrency group of unfinished runs, and the next number of each table.
func (c *copying) complete(ctx context.Context, o *Options, epoch int64) error {
	if _, err := c.to.exec("UPDATE meta SET form = ?1, readable_from = ?2, epoch = CASE WHEN epoch > ?3 THEN epoch ELSE ?3 + 1 END WHERE id = 1", o.form(), o.readableFrom(), epoch); err != nil {
		return err
	}
	// The group of a run is its trigger; see placeRun.
	const group = "UPDATE executions SET concurrency_key = (SELECT t.id FROM triggers t WHERE t.seq = trigger_seq) WHERE end_time IS NULL AND trigger_seq IS NOT NULL"
	if _, err := c.to.exec(group); err != nil {
		return err
	}
	var names []string
	for _, t := range c.tables {
		names = append(names, t.name)
		if !t.numbered() {
			continue
		}
		var next int64
		if err := c.to.row("SELECT coalesce(max(seq), 0) + 1 FROM "+t.name, nil, &next); err != nil {
			return err
		}
		// Unlike setval, this is undone if the transaction is.
		if _, err := c.to.conn.ExecContext(ctx, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN seq RESTART WITH %d", t.name, next)); err != nil {
			return err
		}
	}
	// The planner knows nothing about new rows before.
	_, err := c.to.conn.ExecContext(ctx, "ANALYZE "+strings.Join(names, ", "))
	return err
}
