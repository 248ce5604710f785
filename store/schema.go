package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/store/dbfile"
)

// schemaVersion is the form of the database, which its header has beside
// ApplicationID.
const schemaVersion = 8

// recognise verifies that the file is a database of this program, or empty, in which
// case it becomes one. Nothing is written to any other file.
func (s *Store) recognise(ctx context.Context) error {
	switch blank, err := marks(s.writer.session); {
	case err != nil:
		return err
	case blank:
		return s.create(ctx)
	}
	return compareSchema(ctx, s.writer.session, s.options.Schema)
}

// marks reads the marks of a file: blank if it is empty, an error unless it is a
// database of this program in the current form.
func marks(q *session) (blank bool, err error) {
	var application, version, objects int
	// One statement, so that no other process can create the database in between.
	const query = "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id, pragma_user_version"
	err = q.row(query, nil, &application, &version, &objects)
	switch {
	case err != nil:
		return false, err
	case application == 0 && version == 0 && objects == 0:
		return true, nil
	case application != dbfile.ApplicationID:
		return false, foreign("it belongs to another program")
	case version > schemaVersion:
		return false, dbfile.Refusal("use the newer blueprintd that wrote it",
			"the database is of form %d, and this program knows forms up to %d", version, schemaVersion)
	case version < schemaVersion:
		return false, dbfile.Refusal("export its blueprints with the blueprintd that wrote it and import them into a new database",
			"the database is of form %d, which this program cannot bring up to form %d", version, schemaVersion)
	}
	return false, nil
}

func foreign(reason string) error {
	return dbfile.Refusal("choose another name with --db; the file was left as it is",
		"the file is not a database of blueprintd: %s", reason)
}

// create creates the schema in an empty database, in one transaction.
func (s *Store) create(ctx context.Context) error {
	conn := s.writer.session.conn
	// Free pages can be given back in small steps. This can be chosen neither later nor
	// in a transaction.
	if _, err := conn.ExecContext(ctx, "PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer s.writer.rollback()
	var version int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version != 0 { // another process was faster
		s.writer.rollback()
		return s.recognise(ctx)
	}
	if _, err := conn.ExecContext(ctx, s.options.Schema); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	now := blueprint.TimeOf(s.options.Clock.Now())
	if _, err := conn.ExecContext(ctx, "INSERT INTO meta (id, epoch, generation, created_at) VALUES (1, 0, 0, ?)", now); err != nil {
		return err
	}
	marks := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", dbfile.ApplicationID, schemaVersion)
	_, err := conn.ExecContext(ctx, marks)
	return err
}

// compareSchema refuses a database whose schema is not exactly the current one: it was
// damaged, tampered with, or created by a build that was never released.
func compareSchema(ctx context.Context, found *session, schema string) error {
	want, err := wantedObjects(ctx, schema)
	if err != nil {
		return err
	}
	have, err := objects(found)
	if err != nil {
		return err
	}
	if !slices.Equal(want, have) {
		return dbfile.Refusal("when another build of blueprintd wrote it, export its blueprints with that one and import them into a new database; else restore a backup",
			"the tables of the database are not those of this program")
	}
	return nil
}

// wanted holds the results of wantedObjects by their schema.
var wanted sync.Map

func wantedObjects(ctx context.Context, schema string) (list []string, err error) {
	if known, ok := wanted.Load(schema); ok {
		return known.([]string), nil
	}
	err = withURI(ctx, "file::memory:", func(q *session) error {
		if _, err := q.conn.ExecContext(ctx, schema); err != nil {
			return fmt.Errorf("schema: %w", err)
		}
		list, err = objects(q)
		return err
	})
	if err == nil {
		wanted.Store(schema, list)
	}
	return list, err
}

// objects lists the objects of a schema, regardless of comments and blanks.
func objects(q *session) (list []string, err error) {
	const query = "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY 1"
	err = collect(q, &list, query, nil, func(scan scanner) (string, error) {
		var name, text string
		err := scan(&name, &text)
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i], _, _ = strings.Cut(line, "--")
		}
		return name + ": " + strings.Join(strings.Fields(strings.Join(lines, " ")), " "), err
	})
	return list, err
}
