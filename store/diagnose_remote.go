package store

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/store/postgres"
)

// remote checks a PostgreSQL database, in one read transaction.
func (d *diagnosis) remote() {
	config, err := postgres.Parse(d.options.Database)
	if err != nil {
		d.add("database", Broken, "--database postgres://USER@HOST/NAME", "%s", err)
		return
	}
	r := newRemote(config, config.Open(), d.options.Logger)
	defer func() { _ = errors.Join(r.close(), r.pool.Close()) }()
	q, err := r.connect(d.ctx, 0)
	if err != nil {
		err = passing(err)
		d.add("database", Broken, hintOf(err, "see the log of PostgreSQL"), "%s", messageOf(err))
		return
	}
	defer q.destroy()
	if err := q.begin(d.ctx, "BEGIN"); err != nil {
		d.add("database", Broken, "see the log of PostgreSQL", "%s", err)
		return
	}
	for _, check := range []func(*session, *postgres.Config) error{d.remoteServer, d.remoteTables, d.remoteContent} {
		if err := check(q, config); err != nil {
			err = passing(err)
			d.add("database", Broken, hintOf(err, "see the log of PostgreSQL"), "%s", messageOf(err))
			return
		}
	}
}

// remoteServer checks the server of PostgreSQL.
func (d *diagnosis) remoteServer(q *session, config *postgres.Config) error {
	var version, commit, standbys, vacuum, counts string
	var bytes int64
	const settings = `SELECT current_setting('server_version'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
		current_setting('autovacuum'), current_setting('track_counts'), pg_database_size(current_database())`
	if err := q.row(settings, nil, &version, &commit, &standbys, &vacuum, &counts, &bytes); err != nil {
		return err
	}
	d.add("database", Fine, "", "%s, PostgreSQL %s, %s", config.Name(), version, Size(bytes))
	switch err := postgres.CheckServer(d.ctx, q.conn); {
	case err != nil:
		d.add("settings", Broken, hintOf(err, ""), "%s", messageOf(err))
	case commit == "local" && standbys != "":
		d.add("durability", Dubious, "set synchronous_commit = on for the database", "an acknowledged run is lost with the machine of PostgreSQL: synchronous_commit is local, which does not wait for standbys")
	default:
		d.add("durability", Fine, "", "an acknowledged run survives %s", durability(standbys))
	}
	if vacuum != "on" || counts != "on" {
		d.add("autovacuum", Dubious, "set autovacuum and track_counts to on in postgresql.conf", "autovacuum is off in PostgreSQL: tables grow, and queries become slow")
	} else {
		d.add("autovacuum", Fine, "", "it is on")
	}
	return d.remoteActivity(q)
}

// longTransaction is the age, in seconds, from which on a transaction is reported: vacuum
// cannot remove rows that it could still see.
const longTransaction = 15 * 60

// remoteActivity checks which processes and transactions use the database.
func (d *diagnosis) remoteActivity(q *session) error {
	var long, pid, seconds, processes int64
	const oldest = `SELECT count(*), coalesce((array_agg(pid ORDER BY xact_start))[1], 0), coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::bigint FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < clock_timestamp() - ? * interval '1 second'`
	if err := q.row(oldest, []any{float64(longTransaction)}, &long, &pid, &seconds); err != nil {
		return err
	}
	if long > 0 {
		d.add("transactions", Dubious, fmt.Sprintf("end it, in psql with SELECT pg_terminate_backend(%d)", pid), "a transaction has been open for %d minutes; PostgreSQL keeps all rows that were removed since", seconds/60)
	} else {
		d.add("transactions", Fine, "", "none has been open for long")
	}
	const holders = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND (classid::bigint << 32) + objid::bigint = ?`
	if err := q.row(holders, []any{int64(serversLock)}, &processes); err != nil {
		return err
	}
	if processes == 0 {
		d.add("server", Fine, "", "no server is running on it")
	} else {
		d.add("server", Fine, "", "a server has the database open, with %s", blueprint.Counted(int(processes), "process"))
	}
	return nil
}

var createIndex = regexp.MustCompile(`(?m)^CREATE (?:UNIQUE )?INDEX (\w+)`)

// remoteTables checks the tables, their indexes, and what the role may do.
func (d *diagnosis) remoteTables(q *session, _ *postgres.Config) error {
	blank, err := d.options.recogniseCurrent(d.ctx, q.conn)
	if err != nil {
		return err
	}
	if blank {
		d.add("form", Dubious, "start blueprintd serve, or move a database to it with blueprintd move", "the database is empty")
		return nil
	}
	schema := postgres.Schema(d.options.Schema)
	var missing, locked []string
	names := postgres.Tables(schema)
	for _, name := range names {
		var there, allowed bool
		const privileges = `SELECT to_regclass(?1) IS NOT NULL, coalesce(has_table_privilege(to_regclass(?1), 'SELECT') AND has_table_privilege(to_regclass(?1), 'INSERT')
			AND has_table_privilege(to_regclass(?1), 'UPDATE') AND has_table_privilege(to_regclass(?1), 'DELETE'), true)`
		if err := q.row(privileges, []any{name}, &there, &allowed); err != nil {
			return err
		}
		if !there {
			missing = append(missing, name)
		}
		if !allowed {
			locked = append(locked, name)
		}
	}
	for _, match := range createIndex.FindAllStringSubmatch(schema, -1) {
		var valid bool
		if err := q.row("SELECT coalesce((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(?)), false)", []any{match[1]}, &valid); err != nil {
			return err
		}
		if !valid {
			missing = append(missing, "the index "+match[1])
		}
	}
	if len(missing) > 0 {
		d.add("form", Broken, "restore a backup with blueprintd restore", "the tables of the database are not those of this program: it lacks %s", strings.Join(missing, ", "))
	} else {
		d.add("form", Fine, "", "a database of blueprintd, schema version %d", d.options.form())
	}
	if len(locked) > 0 {
		d.add("privileges", Broken, "make the role of the URL the owner of the database", "the role may not read and write %s", strings.Join(locked, ", "))
	} else {
		d.add("privileges", Fine, "", "the role may read and write all tables")
	}
	return nil
}

// remoteContent checks what is stored.
func (d *diagnosis) remoteContent(q *session, _ *postgres.Config) error {
	if slices.ContainsFunc(d.list, func(f Finding) bool {
		return f.Check == "form" && f.Health != Fine || f.Check == "privileges" && f.Health != Fine
	}) {
		return nil
	}
	tables, err := tablesOf(d.ctx, d.options.Schema)
	if err != nil {
		return err
	}
	if err := d.numbers(q, tables); err != nil {
		return err
	}
	if d.full {
		if err := d.references(q, tables); err != nil {
			return err
		}
	}
	d.runs(q)
	d.key(q)
	d.clock(q)
	return nil
}

// numbers checks that the next number of each table is a new one: that is not so after a
// copy by a program that left the sequences as they were.
func (d *diagnosis) numbers(q *session, tables []table) error {
	var used []string
	fix := ""
	for _, t := range tables {
		if !t.numbered() {
			continue
		}
		var sequence string
		var last, next int64
		if err := q.row("SELECT pg_get_serial_sequence(?, 'seq')", []any{t.name}, &sequence); err != nil {
			return err
		}
		if err := q.row("SELECT coalesce((SELECT max(seq) FROM "+t.name+"), 0), CASE WHEN is_called THEN last_value + 1 ELSE last_value END FROM "+sequence, nil, &last, &next); err != nil {
			return err
		}
		if next <= last {
			used = append(used, t.name)
			fix = cmp.Or(fix, fmt.Sprintf("with the server stopped, in psql: ALTER TABLE %s ALTER COLUMN seq RESTART WITH %d", t.name, last+1))
		}
	}
	if len(used) > 0 {
		d.add("numbers", Broken, fix, "the next rows of %s would have numbers that are used", strings.Join(used, ", "))
	} else {
		d.add("numbers", Fine, "", "new rows have new numbers")
	}
	return nil
}

// references checks that everything that a row refers to is there.
func (d *diagnosis) references(q *session, tables []table) error {
	var broken []string
	for _, t := range tables {
		for _, r := range t.references {
			var set, same []string
			for i, column := range r.from {
				set = append(set, "c."+column+" IS NOT NULL")
				same = append(same, "p."+r.to[i]+" = c."+column)
			}
			var orphans int64
			query := "SELECT count(*) FROM " + t.name + " c WHERE " + strings.Join(set, " AND ") + " AND NOT EXISTS (SELECT 1 FROM " + r.table + " p WHERE " + strings.Join(same, " AND ") + ")"
			if err := q.row(query, nil, &orphans); err != nil {
				return err
			}
			if orphans > 0 {
				broken = append(broken, fmt.Sprintf("%d of %s refer to missing %s", orphans, t.name, r.table))
			}
		}
	}
	if len(broken) > 0 {
		d.add("integrity", Broken, "restore a backup with blueprintd restore", "the database is damaged: %s", strings.Join(broken, "; "))
	} else {
		d.add("integrity", Fine, "", "every reference is sound; pg_amcheck checks pages and indexes")
	}
	return nil
}
