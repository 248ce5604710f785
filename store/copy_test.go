package store

import (
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// strange is text that the databases store in different ways.
const strange = "a\x00b\x01c\xffd\u00e9\U0001F600"

// strangeWorld is a database with rows in every table, and values at the ends of what a
// column can hold.
func strangeWorld(t *testing.T) Options {
	ctx := t.Context()
	options, _ := sealedWorld(t)
	s := must(Open(ctx, options))(t)
	bob := user(t, s, "bob")
	b := create(t, s, bob, "strange "+strange)
	must(s.CreateKey(ctx, bob.UserID, strange, "a-key-of-bob"))(t)
	must(s.Rate(ctx, bob, b.ID, 1.0/3))(t)
	must(s.Favorite(ctx, bob, b.ID, true))(t)
	c := must(s.CreateCategory(ctx, bob, b.OrganizationID, "Letters"))(t)
	must(s.SetCategories(ctx, bob, b.ID, []string{c.ID}))(t)
	check(t, s.Grant(ctx, bob, b.ID, b.Version))
	lend(t, s, b, user(t, s, "cy"), blueprint.CollaboratorEditor)
	must(s.CreateTrigger(ctx, bob, b.ID, blueprint.TriggerAPI, map[string]any{}))(t)
	check(t, s.write(ctx, func(w *transaction) error {
		for _, row := range []string{
			"INSERT INTO sessions VALUES ('01AAAAAAAAAAAAAAAAAAAAAAAA', zeroblob(32), ?1, ?2, -9223372036854775808, 0, 9223372036854775807)",
			"INSERT INTO setup_links SELECT ?1, x'01000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e', 1 WHERE ?2 <> ''",
			"INSERT INTO audit_log (seq, id, at, actor_id, organization_id, action, target_type, target_id, via, detail) SELECT 9000000000, '01AAAAAAAAAAAAAAAAAAAAAAAA', 1, ?1, '', ?2, '', '', 'cli', '{\"a\":\"\\u0000\", \"n\":1e400}'",
			"INSERT INTO retries SELECT seq, ?2 FROM executions WHERE ?1 <> '' ORDER BY seq LIMIT 1",
			"INSERT INTO run_hours VALUES (?1 || ?2, 1, 2, 3, 4, 5)",
		} {
			if _, err := w.exec(row, bob.UserID, strange); err != nil {
				return fmt.Errorf("%s: %w", row, err)
			}
		}
		return nil
	}))
	check(t, s.Close())
	return options
}

// formWorld is the database of a killed server, with runs in every state, with the current
// schema.
func formWorld(t *testing.T, form string) Options {
	t.Helper()
	options := testOptions(t)
	folder := filepath.Join("../testdata/forms", form)
	for name, to := range map[string]string{"server.db.gz": options.Path, "server.db-wal.gz": options.Path + "-wal"} {
		packed := must(os.Open(filepath.Join(folder, name)))(t)
		data := must(io.ReadAll(must(gzip.NewReader(packed))(t)))(t)
		check(t, packed.Close())
		check(t, os.WriteFile(to, data, 0o600))
	}
	key := must(hex.DecodeString(strings.TrimSpace(string(must(os.ReadFile(filepath.Join(folder, "master.key")))(t)))))(t)
	options.Sealer = must(secret.NewSealer(key))(t)
	options.VirtualClock = true
	if form != fmt.Sprint(SchemaVersion) {
		check(t, must(Open(t.Context(), options))(t).Close())
	}
	return options
}

// worlds are databases whose content is copied.
var worlds = map[string]func(*testing.T) Options{
	"strange": strangeWorld,
	"form 8":  func(t *testing.T) Options { return formWorld(t, "8") },
	"form 9":  func(t *testing.T) Options { return formWorld(t, "9") },
	"new": func(t *testing.T) Options {
		options := testOptions(t)
		check(t, must(Open(t.Context(), options))(t).Close())
		return options
	},
}

// everything returns the rows of all tables of a file, read without the code that copies.
func everything(t *testing.T, path string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	check(t, withDatabase(t.Context(), path, nil, func(q *session) error {
		var names []string
		if err := collect(q, &names, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", nil, column); err != nil {
			return err
		}
		for _, name := range names {
			rows, err := q.conn.QueryContext(t.Context(), "SELECT * FROM "+name)
			if err != nil {
				return err
			}
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			list := []string{}
			for rows.Next() {
				values, into := make([]any, len(columns)), make([]any, len(columns))
				for i := range values {
					into[i] = &values[i]
				}
				if err := rows.Scan(into...); err != nil {
					return err
				}
				text := ""
				for i, value := range values {
					text += fmt.Sprintf("%s=%T:%q ", columns[i], value, fmt.Sprint(value))
				}
				list = append(list, text)
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				return err
			}
			slices.Sort(list)
			all[name] = list
		}
		return nil
	}))
	return all
}

// TestCopiedTables requires that every table is copied, after those that it refers to, and
// that the tests copy rows of each.
func TestCopiedTables(t *testing.T) {
	options := strangeWorld(t)
	tables := must(tablesOf(t.Context(), options.Schema))(t)
	rows := everything(t, options.Path)
	var names []string
	for _, table := range tables {
		for _, r := range table.references {
			if !slices.Contains(names, r.table) {
				t.Errorf("%s comes before %s, to which it refers", table.name, r.table)
			}
		}
		if len(rows[table.name]) == 0 {
			t.Errorf("no row of %s is copied in tests", table.name)
		}
		if len(table.key) == 0 || len(table.columns) != len(table.kinds) {
			t.Errorf("%s: key %v, columns %v of kinds %v", table.name, table.key, table.columns, table.kinds)
		}
		names = append(names, table.name)
	}
	var want []string
	for _, match := range regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`).FindAllStringSubmatch(options.Schema, -1) {
		want = append(want, match[1])
	}
	slices.Sort(names)
	slices.Sort(want)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("copied tables (-want +got):\n%s", diff)
	}
}

// copied copies a file into a new one.
func copied(t *testing.T, options Options) (path string, err error) {
	t.Helper()
	options.Server = false
	s := open(t, options)
	path = filepath.Join(t.TempDir(), "copy.db")
	check(t, os.WriteFile(path, nil, 0o600))
	return path, s.snapshot(t.Context(), func(q *session) error {
		c := copying{tables: must(tablesOf(t.Context(), s.options.Schema))(t), from: q, progress: func(string, int64, int64) {}}
		_, err := c.intoFile(t.Context(), path, &s.options)
		return err
	})
}

func TestCopy(t *testing.T) {
	for name, world := range worlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := world(t)
			path, err := copied(t, options)
			check(t, err)
			if diff := cmp.Diff(everything(t, options.Path), everything(t, path)); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
			options.Path = path
			check(t, must(Open(t.Context(), options))(t).Close())
		})
	}
}

// TestCopyNoticesChanges changes one value of each column between reading and comparing.
func TestCopyNoticesChanges(t *testing.T) {
	options := strangeWorld(t)
	options.Server = false
	ctx, s := t.Context(), open(t, options)
	tables := must(tablesOf(ctx, options.Schema))(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	check(t, os.WriteFile(path, nil, 0o600))
	check(t, createFile(ctx, path, &s.options))
	check(t, s.snapshot(ctx, func(from *session) error {
		return withDatabase(ctx, path, nil, func(to *session) error {
			run := func(damage func(of string, row []any)) error {
				if _, err := to.exec("BEGIN IMMEDIATE"); err != nil {
					return err
				}
				c := copying{tables: tables, from: from, to: to, progress: func(string, int64, int64) {}, damage: damage}
				_, err := c.run(ctx)
				_, undone := to.exec("ROLLBACK")
				return errors.Join(err, undone)
			}
			for _, table := range tables {
				for i, name := range table.columns {
					t.Run(table.name+"."+name, func(t *testing.T) {
						was := false
						err := run(func(of string, row []any) {
							if of == table.name && row[i] != nil {
								row[i], was = changed(row[i]), true
							}
						})
						if was && err == nil {
							t.Error("the change was not noticed")
						}
					})
				}
			}
			return run(nil)
		})
	}))
}

// changed returns another value of the same type.
func changed(value any) any {
	switch value := value.(type) {
	case int64:
		return value ^ 1
	case float64:
		return value / 2
	case string:
		return value + " "
	case []byte:
		other := slices.Clone(value)
		other[0] ^= 1
		return other
	}
	return value
}
