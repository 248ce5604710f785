package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/store/dbfile"
)

// Health is the result of a check.
type Health string

// The results of checks.
const (
	Fine    Health = "ok"
	Dubious Health = "warning" // it works, but data may be lost or exposed
	Broken  Health = "problem" // it does not work, or data is in danger
)

// Finding is the result of one check of a database or its environment.
type Finding struct {
	Check   string `json:"check"`
	Health  Health `json:"status"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"` // what to do; empty if there is no problem
}

// diagnosis collects findings.
type diagnosis struct {
	ctx     context.Context
	options Options
	path    string
	full    bool
	list    []Finding
}

// Diagnose checks the database at options.Path or options.Database and its environment, and returns the results
// in the order in which problems should be fixed. It changes nothing and creates no file; a
// server may be running on the database. It uses Path, Database, Schema, Sealer (nil without a key),
// Clock, AllowNetworkFS and MinFree of options. With full it checks every page, index and
// reference, which reads the whole file.
func Diagnose(ctx context.Context, options Options, full bool) []Finding {
	if options.fileSystem == nil {
		options.fileSystem = dbfile.Stat
	}
	d := &diagnosis{ctx: ctx, options: options, full: full}
	if options.Database != "" {
		d.remote()
		return d.list
	}
	path, err := dbfile.RealPath(options.Path)
	if err != nil {
		d.add("file", Broken, hintOf(err, "name the database with --db"), "%s", messageOf(err))
		return d.list
	}
	d.path = path
	there := d.file()
	d.disk()
	if !there {
		return d.list
	}
	d.rights()
	d.server()
	if file := rescued(d.path); file != "" {
		d.add("rescued", Dubious, rescuedHint(d.path, file), "a server saved the data of a removed database in %s", file)
	}
	if d.log() { // SQLite would try for ten seconds to read a damaged one
		d.content()
	}
	return d.list
}

func (d *diagnosis) add(check string, health Health, fix, format string, args ...any) {
	d.list = append(d.list, Finding{check, health, fmt.Sprintf(format, args...), fix})
}

// file checks whether the path names a file that can be a database.
func (d *diagnosis) file() bool {
	info, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := inspectMissing(d.path); err != nil {
			d.add("file", Broken, hintOf(err, ""), "%s", messageOf(err))
		} else {
			d.add("file", Broken, "name it with --db FILE, or create one with blueprintd serve", "there is no database %s", d.path)
		}
		return false
	case err != nil:
		d.add("file", Broken, "check the owner and the mode of its folder", "%s", err)
		return false
	case !info.Mode().IsRegular():
		d.add("file", Broken, "name a file with --db", "%s is not a file", d.path)
		return false
	case info.Size() == 0:
		if err := inspectEmpty(d.path); err != nil {
			d.add("file", Broken, hintOf(err, ""), "%s", messageOf(err))
		} else {
			d.add("file", Dubious, "start blueprintd serve, which turns it into a database", "%s is empty", d.path)
		}
		return false
	case dbfile.CheckLinks(d.path, info) != nil:
		err := dbfile.CheckLinks(d.path, info)
		d.add("file", Broken, hintOf(err, ""), "%s", messageOf(err))
		return true
	}
	if refused := dbfile.CheckWritable(d.path, info); refused != nil && !d.options.readOnly(d.path) {
		d.add("file", Broken, refused.Hint, "%s", refused.Message)
		return false
	}
	d.add("file", Fine, "", "%s, %s", d.path, Size(info.Size()))
	return true
}

// rights checks whether other users may read or write the files, and whether files can be
// created in the folder.
func (d *diagnosis) rights() {
	before := len(d.list)
	folder := filepath.Dir(d.path)
	if info, err := os.Stat(folder); err == nil && info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
		d.add("rights", Dubious, "chmod go-w "+folder, "other users may replace files in %s", folder)
	}
	if dbfile.Writable(folder) != nil && !d.options.readOnly(d.path) {
		d.add("rights", Broken, "make the folder writable for the user that runs blueprintd", "the folder %s is not writable, and the database needs files beside it", folder)
	}
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		info, err := os.Stat(d.path + suffix)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			d.add("rights", Dubious, "chmod 600 "+d.path+suffix, "other users may access %s (mode %o)", d.path+suffix, info.Mode().Perm())
		}
	}
	if len(d.list) == before {
		d.add("rights", Fine, "", "no other user may read or write the files")
	}
}

// disk checks the kind of the file system and its free space.
func (d *diagnosis) disk() {
	p, err := d.options.fileSystem(filepath.Dir(d.path))
	if err != nil {
		d.add("disk", Broken, "check the owner and the mode of the folder", "%s", err)
		return
	}
	if !p.Known {
		d.add("disk", Dubious, "keep the database on a local disk with free space", "the kind of the disk and its free space are unknown on this system")
		return
	}
	kind := p.Kind()
	switch warning, err := p.Concern(d.options.AllowNetworkFS); {
	case err != nil:
		d.add("file system", Broken, hintOf(err, ""), "%s", messageOf(err))
	case p.ReadOnly:
		d.add("file system", Broken, "mount it writable", "the disk is mounted read-only")
	case warning != nil:
		d.add("file system", Dubious, warning.Hint, "%s", warning.Message)
	case kind.Name == "overlay":
		d.add("file system", Dubious, "keep the database on a volume of the container", "the database is in a container's own layer (overlay) and is lost with the container")
	default:
		d.add("file system", Fine, "", "%s", kind.Name)
	}
	reserve := p.Reserve(d.options.MinFree)
	switch {
	case p.Free < reserve:
		d.add("disk", Broken, "free some space; the server then accepts new runs again", "%s are free, and with less than %s new runs are refused", Size(p.Free), Size(reserve))
	case p.Free < 4*reserve:
		d.add("disk", Dubious, "free some space", "%s are free; with less than %s new runs are refused", Size(p.Free), Size(reserve))
	default:
		d.add("disk", Fine, "", "%s of %s are free", Size(p.Free), Size(p.Total))
	}
}

// server checks which process holds the lock.
func (d *diagnosis) server() {
	switch number, held, err := dbfile.LockHolder(d.path + ".lock"); {
	case err != nil:
		d.add("server", Dubious, "check the owner and the mode of the file", "%s", err)
	case held:
		d.add("server", Fine, "", "process %s has the database open", number)
	default:
		d.add("server", Fine, "", "no server is running on it")
	}
}

// log checks the write-ahead log and reports whether the database can be read with it.
func (d *diagnosis) log() bool {
	const long = 256 << 20
	path := d.path + "-wal"
	length := size(path)
	if err := checkLog(path); err != nil {
		d.add("log", Broken, hintOf(err, ""), "%s", messageOf(err))
		return false
	}
	switch {
	case length > long:
		d.add("log", Dubious, "end programs that keep the database open for reading; the log then shrinks", "the write-ahead log takes %s", Size(length))
	case length == 0:
		d.add("log", Fine, "", "the write-ahead log is empty")
	default:
		d.add("log", Fine, "", "the write-ahead log takes %s", Size(length))
	}
	return true
}

// Size returns a number of bytes in words: 1.5 GiB.
func Size(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	value, unit := float64(n), 0
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	return strings.Replace(fmt.Sprintf("%.1f %s", value, units[unit]), ".0 ", " ", 1)
}

// content opens the database and checks its content, and repeats the check if another
// process changed it meanwhile.
func (d *diagnosis) content() {
	before := len(d.list)
	_ = steadily(d.ctx, d.path, func() error {
		d.list = d.list[:before]
		d.contentOnce()
		for _, f := range d.list[before:] {
			if f.Health == Broken {
				return errUnsteady
			}
		}
		return nil
	})
}

var errUnsteady = errors.New("the database is damaged, or another process is changing it")

func (d *diagnosis) contentOnce() {
	err := probe(d.ctx, d.path, func(q *session, whole bool) error {
		if !whole {
			d.add("log", Dubious, "start the server once to recover the log", "the write-ahead log has no index, so its content was not checked")
		}
		version, blank, err := readVersion(q)
		if err != nil {
			return err
		}
		if blank {
			d.add("form", Dubious, "start blueprintd serve, which turns it into a database", "it is an empty SQLite database")
			return nil
		}
		if steps, err := d.options.stepsFrom(d.path, version); err != nil {
			return err
		} else if len(steps) > 0 {
			err := d.options.outdated(version)
			d.add("form", Dubious, err.Hint, "%s", err.Message)
			d.integrity(q)
			return nil
		}
		if err := compareSchema(d.ctx, q, d.options.Schema); err != nil {
			return err
		}
		d.add("form", Fine, "", "a database of blueprintd, schema version %d", version)
		if whole && size(d.path+"-wal") > 0 {
			if err := sameOrigin(d.ctx, q, d.path); err != nil {
				d.add("log", Broken, hintOf(err, ""), "%s", messageOf(err))
			}
		}
		d.integrity(q)
		d.runs(q)
		d.key(q)
		d.clock(q)
		return nil
	})
	if resultCode(err)&0xff == sqliteNotADB {
		err = foreign("it is not an SQLite database")
	}
	if err != nil {
		err = unopened(err)
		d.add("form", Broken, hintOf(err, "restore a backup with blueprintd restore"), "%s", messageOf(err))
	}
}

// integrity runs the checks of SQLite.
func (d *diagnosis) integrity(q *session) {
	checks := []string{checkPagesQuick}
	if d.full {
		checks = []string{checkPages, checkReferences}
	}
	found, err := problems(q, checks...)
	if err != nil {
		found = append(found, err.Error())
	}
	switch {
	case len(found) > 0:
		d.add("integrity", Broken, "restore a backup with blueprintd restore", "the database is damaged: %s", strings.ReplaceAll(strings.Join(found, "; "), "\n", "; "))
	case d.full:
		d.add("integrity", Fine, "", "every page, index and reference is sound")
	default:
		d.add("integrity", Fine, "", "the pages are sound; --full checks indexes and references too")
	}
}

// runs compares the data of runs with its checksums.
func (d *diagnosis) runs(q *session) {
	if !d.full {
		return
	}
	switch damaged, err := contents(q); {
	case err != nil:
		d.add("runs", Broken, "restore a backup with blueprintd restore", "the data of some runs cannot be read: %s", err)
	case damaged.Count > 0:
		d.add("runs", Broken, "restore a backup with blueprintd restore; all other data can be used, and blueprintd backup --allow-damaged copies it unchanged",
			"the content of %d runs is not what was stored: %s", damaged.Count, &damaged)
	default:
		d.add("runs", Fine, "", "the data of all runs is intact")
	}
}

// key checks whether the master key belongs to the database.
func (d *diagnosis) key(q *session) {
	options := d.options
	options.Server = true
	_, err := options.keyFits(q)
	var refused *blueprint.Error
	switch {
	case errors.As(err, &refused) && options.Sealer == nil:
		d.add("master key", Broken, "restore the key file from your backup, or name it with --master-key-file", "the master key is missing, and secrets of the database are encrypted with it")
	case err != nil:
		d.add("master key", Broken, hintOf(err, "restore the key file from your backup"), "%s", messageOf(err))
	case options.Sealer == nil:
		d.add("master key", Dubious, "restore the key file from your backup, or start the server, which makes a new one", "there is no master key; nothing is encrypted with one yet")
	default:
		d.add("master key", Fine, "", "it belongs to the database")
	}
}

// clock checks whether the clock is behind stored times.
func (d *diagnosis) clock(q *session) {
	const newest = `SELECT max(at) FROM (
		SELECT (SELECT created_at FROM executions ORDER BY seq DESC LIMIT 1) AS at UNION ALL
		SELECT (SELECT received_at FROM firings ORDER BY seq DESC LIMIT 1) UNION ALL
		SELECT (SELECT created_at FROM blueprints ORDER BY seq DESC LIMIT 1) UNION ALL
		SELECT created_at FROM meta WHERE id = 1) newest`
	var at int64
	if err := q.row(newest, nil, &at); err != nil {
		d.add("clock", Broken, "restore a backup with blueprintd restore", "the newest row cannot be read: %s", err)
		return
	}
	now, last := d.options.Clock.Now(), blueprint.Time(at).Time()
	if behind := last.Sub(now); behind > time.Minute {
		d.add("clock", Broken, "correct the clock of the machine; stored runs and ticks with later times wait until then",
			"the clock shows %s, but the newest row is of %s: %s later", blueprint.TimeOf(now), blueprint.TimeOf(last), behind.Round(time.Second))
		return
	}
	d.add("clock", Fine, "", "%s, after the newest row", blueprint.TimeOf(now))
}

// messageOf and hintOf return the message and the hint of an error.
func messageOf(err error) string {
	if known, ok := errors.AsType[*blueprint.Error](err); ok {
		return known.Message
	}
	return err.Error()
}

func hintOf(err error, otherwise string) string {
	if known, ok := errors.AsType[*blueprint.Error](err); ok && known.Hint != "" {
		return known.Hint
	}
	return otherwise
}

const countUnfinished = "SELECT count(*) FROM executions WHERE end_time IS NULL"

// examined describes the content of a database that no process uses.
type examined struct {
	rows            map[string]int64
	unfinished      int64
	pageSize, pages int64
	keyCheck        []byte
	sealed          bool // something is encrypted
	damaged         DamagedRuns
}

// examine reads a whole database that is not in WAL mode, and verifies that it is a
// database of this program with the current schema version and that every page, index and
// reference is intact. It writes nothing.
func examine(ctx context.Context, path string, o *Options) (found examined, err error) {
	err = withDatabase(ctx, path, []string{"_query_only=1"}, func(q *session) error {
		if err := sound(q); err != nil {
			return err
		}
		if blank, err := o.recognise(q, path); err != nil {
			return err
		} else if blank {
			return foreign("it is empty")
		}
		if err := compareSchema(ctx, q, o.Schema); err != nil {
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

// SQLite's checks return a text for each problem; those of pages return "ok" for none.
const (
	checkPages      = "PRAGMA integrity_check(5)"
	checkPagesQuick = "PRAGMA quick_check(5)"
	checkReferences = `SELECT 'row ' || coalesce(rowid, '') || ' of ' || "table" || ' refers to a row of ' || parent || ' that is not there'
		FROM pragma_foreign_key_check LIMIT 5`
)

// problems runs SQLite's checks and returns the problems found.
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

// errUnsound marks an error found by a check of the whole database.
var errUnsound = errors.New("the database is damaged")

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

// contents reads everything that has a checksum and returns the damaged runs. Damage that
// SQLite detects is an error.
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
	// The entries of a run are consecutive.
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

// mostNamed is the maximum number of damaged runs that DamagedRuns names.
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

// String returns the ids of the runs.
func (d *DamagedRuns) String() string {
	text := strings.Join(d.IDs, ", ")
	if more := d.Count - len(d.IDs); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// damagedContents returns the error for a backup that would contain damaged runs.
func damagedContents(d *DamagedRuns) error {
	return dbfile.Refusal("run blueprintd doctor --full for details; keep your older backups; --allow-damaged makes the backup anyway",
		"the database is damaged: what it holds of %d runs is not what was stored: %s", d.Count, d)
}
