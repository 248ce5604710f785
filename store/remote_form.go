package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
	"blueprintd/store/dbfile"
	"blueprintd/store/postgres"
)

// A PostgreSQL database records the form of its tables, and the oldest form whose programs can
// use them. A server with a newer form upgrades the tables with the steps of package postgres
// while older processes keep running, if these can use the tables afterwards.

// remoteForm describes the tables of a PostgreSQL database.
type remoteForm struct {
	blank        bool // there are none
	form         int
	readableFrom int
}

// remoteSteps returns all steps that this program knows.
func (o *Options) remoteSteps() []postgres.Step {
	if o.stepsOnPostgres != nil {
		return o.stepsOnPostgres
	}
	return postgres.Steps()
}

// form returns the newest form of the tables that this program knows.
func (o *Options) form() int {
	list := o.remoteSteps()
	return list[len(list)-1].Form
}

// SchemaVersion returns the schema version of databases that this program writes: the constant
// SchemaVersion for a file, and the newest form for PostgreSQL.
func (s *Store) SchemaVersion() int {
	if s.remote != nil {
		return s.options.form()
	}
	return s.options.version()
}

// readableFrom returns the oldest form whose programs can use the tables that this one creates.
func (o *Options) readableFrom() int { return postgres.ReadableFrom(o.remoteSteps()) }

// runForm is the oldest form whose programs can continue the runs that this one stores.
const runForm = 10

// written returns runForm, or what a test has set in its place.
func (o *Options) written() int {
	if o.runsOnPostgres > 0 {
		return o.runsOnPostgres
	}
	return runForm
}

// recogniseRemote verifies that the database is one that this program can use, or empty. A
// server creates the tables, and upgrades older ones.
func (s *Store) recogniseRemote(ctx context.Context) error {
	o := &s.options
	if !o.Server || o.ReadOnly {
		blank, err := o.recogniseCurrent(ctx, s.writer.session.conn)
		if err == nil && blank {
			err = dbfile.Refusal("name the database of a server with --database; blueprintd serve creates one", "there is nothing in the database %s", s.remote.config.Name())
		}
		return err
	}
	var older silentNodes
	for watch := metrics.Begin(); ; s.remote.pause(retryInterval) {
		found, err := recogniseTables(ctx, s.writer.session.conn)
		if err != nil {
			return err
		}
		switch {
		case found.blank:
			return s.createRemote(ctx)
		case found.form == o.form(), found.form > o.form() && found.readableFrom <= o.form():
			return nil
		case found.form > o.form():
			return dbfile.Refusal("use the newer blueprintd that wrote it", "the database has the schema version %d, which programs can use from version %d on, and this program knows %d", found.form, found.readableFrom, o.form())
		}
		err = s.upgradeRemote(ctx, &older)
		busy := postgres.ClassOf(err) == postgres.Busy && watch.Elapsed() <= startPatience || errors.Is(err, errOlderNodes)
		if err == nil || !busy || ctx.Err() != nil {
			return err
		}
	}
}

// errOlderNodes is returned until it is known whether processes that could not use the upgraded
// tables are alive.
var errOlderNodes = errors.New("processes of an older version may run")

// silentNodes holds what shows whether processes of an older version are alive: the sum of their
// beats, and how long it has been the same.
type silentNodes struct {
	known bool
	beats int64
	since metrics.Stopwatch
}

// querier is a connection or its transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// recogniseCurrent verifies that a PostgreSQL database has the tables exactly as this program
// creates them, or none: a command copies or changes all of them.
func (o *Options) recogniseCurrent(ctx context.Context, conn querier) (blank bool, err error) {
	found, err := recogniseTables(ctx, conn)
	switch {
	case err != nil || found.blank:
		return found.blank, err
	case found.form > o.form():
		return false, dbfile.Refusal("use the newer blueprintd that wrote it", "the database has the schema version %d, and this program knows %d", found.form, o.form())
	case found.form < o.form():
		return false, dbfile.Refusal("start the server once with this blueprintd to upgrade the database, or use the blueprintd that wrote it",
			"the database has the schema version %d, and this program needs %d", found.form, o.form())
	}
	return false, nil
}

// recogniseTables verifies that a PostgreSQL database is one of this program, or has no tables.
func recogniseTables(ctx context.Context, conn querier) (found remoteForm, err error) {
	var schema string
	var tables, ours int
	// Extensions may have tables and views of their own.
	const query = `SELECT coalesce(current_schema(), ''), count(*), count(*) FILTER (WHERE c.relname = 'meta')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
		AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`
	if err := conn.QueryRowContext(ctx, query).Scan(&schema, &tables, &ours); err != nil {
		return found, err
	}
	switch {
	case schema == "":
		return found, dbfile.Refusal("set search_path to a schema of the database, in the URL or for the role", "the search path of the database names no schema that exists")
	case tables == 0:
		return remoteForm{blank: true}, nil
	case ours == 0:
		return found, foreignRemote()
	}
	// Forms before 12 have no column readable_from.
	const form = "SELECT form, coalesce((to_jsonb(meta) #>> '{readable_from}')::bigint, form) FROM meta WHERE id = 1"
	err = conn.QueryRowContext(ctx, form).Scan(&found.form, &found.readableFrom)
	if err != nil && postgres.ClassOf(err) == postgres.Other {
		err = foreignRemote()
	}
	return found, err
}

func foreignRemote() error {
	return dbfile.Refusal("name an empty database; this one was left as it is", "the database was not created by blueprintd")
}

// creating is the key of the advisory lock of a transaction that creates or changes the tables.
const creating = serversLock + 1

// changeRemote runs a function in a transaction that changes the tables, one process at a time.
func (s *Store) changeRemote(ctx context.Context, change func(tx *sql.Tx, found remoteForm) error) error {
	tx, err := s.writer.session.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(creating)); err != nil {
		return err
	}
	found, err := recogniseTables(ctx, tx)
	if err == nil {
		err = change(tx, found)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// createRemote creates the schema in one transaction, unless another process has done so.
func (s *Store) createRemote(ctx context.Context) error {
	return s.changeRemote(ctx, func(tx *sql.Tx, found remoteForm) error {
		if !found.blank {
			return nil
		}
		if err := createTables(ctx, tx, &s.options); err != nil {
			return err
		}
		now := blueprint.TimeOf(s.options.Clock.Now())
		const row = "INSERT INTO meta (id, epoch, generation, created_at, form, readable_from) VALUES (1, 0, 0, $1, $2, $3)"
		_, err := tx.ExecContext(ctx, row, int64(now), s.options.form(), s.options.readableFrom())
		return err
	})
}

// upgradeRemote upgrades the tables in one transaction, unless another process has done so.
// Meanwhile the other processes cannot write.
func (s *Store) upgradeRemote(ctx context.Context, older *silentNodes) error {
	o := &s.options
	began, from := metrics.Begin(), 0
	err := s.changeRemote(ctx, func(tx *sql.Tx, found remoteForm) error {
		var steps []postgres.Step
		for _, step := range o.remoteSteps() {
			if step.Form > found.form {
				steps = append(steps, step)
			}
		}
		if len(steps) == 0 {
			return nil
		}
		if from = found.form; steps[0].Form != from+1 {
			return dbfile.Refusal("use the blueprintd that wrote it", "the database has the schema version %d, which this program cannot upgrade to version %d", from, o.form())
		}
		// Shorter than PostgreSQL's deadlock_timeout, so that in a deadlock this transaction is
		// tried again, rather than that of another process failing.
		if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = '500ms'"); err != nil {
			return err
		}
		readable := max(found.readableFrom, postgres.ReadableFrom(steps))
		if readable > from {
			if err := older.end(ctx, tx, readable); err != nil {
				return err
			}
		}
		// This waits for the transactions of writers, and makes new ones wait.
		if _, err := tx.ExecContext(ctx, "UPDATE meta SET form = $1 WHERE id = 1", o.form()); err != nil {
			return err
		}
		for _, step := range steps {
			for _, statement := range postgres.Split(step.SQL) {
				if _, err := tx.ExecContext(ctx, statement); err != nil {
					return fmt.Errorf("upgrade the database to schema version %d, %s: %w", step.Form, step.Name, err)
				}
			}
		}
		_, err := tx.ExecContext(ctx, "UPDATE meta SET readable_from = $1 WHERE id = 1", readable)
		return err
	})
	if err == nil && from > 0 && o.Logger != nil {
		o.Logger.Info("database upgraded", "database", s.remote.config.Name(), "from", from, "to", o.form(), "duration", began.Elapsed().Round(time.Millisecond))
	}
	return err
}

// end refuses an upgrade if processes are running that could not use the tables afterwards,
// because they know only forms below readable. It declares processes dead that have sent no beat
// for deadAfter.
func (n *silentNodes) end(ctx context.Context, tx *sql.Tx, readable int) error {
	// Forms before 12 have no column form.
	const older = "state IN ('live', 'leaving') AND coalesce((to_jsonb(nodes) #>> '{form}')::bigint, 10) < $1"
	var names string
	var beats int64
	const query = "SELECT coalesce(string_agg(name, ', ' ORDER BY name), ''), coalesce(sum(beats), 0) FROM nodes LEFT JOIN beats ON node = id WHERE " + older
	if err := tx.QueryRowContext(ctx, query, readable).Scan(&names, &beats); err != nil {
		return err
	}
	switch {
	case names == "":
		return nil
	case !n.known:
		*n = silentNodes{true, beats, metrics.Begin()}
		return errOlderNodes
	case beats != n.beats:
		return dbfile.Refusal("stop them, then start this version", "the database cannot be upgraded while processes of an older version run: %s", names)
	case n.since.Elapsed() < deadAfter:
		return errOlderNodes
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM beats WHERE node IN (SELECT id FROM nodes WHERE "+older+")", readable); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE nodes SET state = 'dead', duties = 0, ended_at = clock_timestamp() WHERE "+older, readable)
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE meta SET epoch = epoch + 1 WHERE id = 1") // see changeNodes
	}
	return err
}

// createTables creates the tables of the schema, without rows.
func createTables(ctx context.Context, in interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, o *Options,
) error {
	for _, statement := range postgres.Split(postgres.Schema(o.Schema)) {
		if _, err := in.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("create the tables of the database: %w", err)
		}
	}
	return nil
}
