package store

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/store/dbfile"
	"blueprintd/store/postgres"
)

// The result codes of SQLite that the store distinguishes. The low byte of an extended code
// is its primary code.
const (
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteNoMemory   = 7
	sqliteReadOnly   = 8
	sqliteInterrupt  = 9
	sqliteIOError    = 10
	sqliteCorrupt    = 11
	sqliteFull       = 13
	sqliteCannotOpen = 14
	sqliteProtocol   = 15
	sqliteNotADB     = 26

	sqliteConstraintNotNull = 1299
)

// resultCode returns the extended result code of the driver, 0 for any other error.
func resultCode(err error) int {
	var coded interface{ Code() int }
	if errors.As(err, &coded) {
		return coded.Code()
	}
	return 0
}

// severity is how far the consequences of an error extend.
type severity uint8

const (
	ofJob   severity = iota // only the job that caused it
	ofBatch                 // the whole transaction; the next may succeed
	ofStore                 // the content of the disk is unknown
)

// severityOf classifies an error within a write transaction. After an I/O error the content
// of the disk is unknown: a second fsync may report success for pages that the first one
// lost. Only a new process, which reads everything back, can determine it.
func severityOf(err error) severity {
	if err == nil {
		return ofJob
	}
	if errors.Is(err, errFenced) {
		return ofStore
	}
	if _, ok := refusalOf(err); ok || errors.Is(err, errUnknownOutcome) {
		return ofBatch
	}
	switch resultCode(err) & 0xff {
	case sqliteIOError, sqliteCorrupt, sqliteNotADB:
		return ofStore
	case sqliteLocked, sqliteNoMemory, sqliteInterrupt, sqliteProtocol:
		return ofBatch
	}
	return ofJob
}

// retryAfter is how long callers are asked to wait when a write cannot be taken now.
const retryAfter = 5 * time.Second

// goesOn ends the hints for errors after which a running server continues by itself.
const goesOn = "; no restart is needed"

// reason describes a temporary error.
type reason struct{ message, hint string }

// refusals describe temporary errors of SQLite, with hints.
var refusals = map[int]reason{
	sqliteFull:       {"the disk is full", "free some space on the disk of the database" + goesOn},
	sqliteReadOnly:   {"the database is read-only", "make the database file, its folder and its disk writable" + goesOn},
	sqliteBusy:       {"the database is locked by another program", "end the program that holds the database in a write transaction"},
	sqliteCannotOpen: {"the database, or a file beside it, cannot be opened", "check the owner and the mode of the database, its folder and the files beside it, and how many files the process may open"},
}

// remoteRefusals describe temporary errors of PostgreSQL.
var remoteRefusals = map[postgres.Class]reason{
	postgres.Unreachable:   {"the database cannot be reached", "start PostgreSQL, or look at the network between it and the server" + goesOn},
	postgres.Full:          {"the disk of the database is full", "free some space on the disk of PostgreSQL" + goesOn},
	postgres.Busy:          {"the database is busy", "look at the locks and the limits of PostgreSQL" + goesOn},
	postgres.Canceled:      {"PostgreSQL canceled the statement", "see the log of PostgreSQL: an operator did, or a timeout" + goesOn},
	postgres.ReadOnly:      {"the database is read-only", "connect to the primary of PostgreSQL: add target_session_attrs=read-write to the URL"},
	postgres.Unprivileged:  {"the role lacks a privilege in the database", "make the role of the URL the owner of the database"},
	postgres.Authorization: {"PostgreSQL refuses the user, the password or the name of the database", "correct the URL of the database"},
}

// refusalOf returns the description of a temporary error that has one.
func refusalOf(err error) (why reason, ok bool) {
	if why, ok = refusals[resultCode(err)&0xff]; !ok {
		why, ok = remoteRefusals[postgres.ClassOf(err)]
	}
	return why, ok
}

// isNotNull reports whether a value was missing in a column that needs one.
func isNotNull(err error) bool {
	return resultCode(err) == sqliteConstraintNotNull || postgres.ClassOf(err) == postgres.NotNull
}

// conflict returns a CodeConflict error with a cause; dbfile.Refusal returns one without.
func conflict(cause error, hint, format string, args ...any) *blueprint.Error {
	err := dbfile.Refusal(hint, format, args...)
	err.Err = cause
	return err
}

// unavailable returns CodeUnavailable: the call may succeed later. cause may be nil.
func unavailable(cause error, hint, message string) *blueprint.Error {
	return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: message, Hint: hint, RetryAfter: retryAfter, Err: cause, Outage: true}
}

// explain converts the failure of a whole transaction into the error for its callers.
func explain(err error) error {
	if errors.Is(err, errUnknownOutcome) {
		return err
	}
	switch severityOf(err) {
	case ofStore:
		return broken(err)
	case ofJob:
		return err
	}
	why, known := refusalOf(err)
	if !known {
		why = reason{"the database cannot be written now", "see the log for the reason"}
	}
	return unavailable(err, why.hint, why.message)
}

// passing converts the error of a read: the same read may succeed later, or it found a
// damaged part. Damage found by a read does not stop the server, because everything else
// can be read and written; a write that finds damage stops the server.
func passing(err error) error {
	if _, ok := errors.AsType[*blueprint.Error](err); ok {
		return err
	}
	switch resultCode(err) & 0xff {
	case sqliteIOError:
		return unavailable(err, "look for disk errors in the system log and for a limit on the size of files (ulimit -f), then run blueprintd doctor --full",
			"the disk of the database cannot be read or written")
	case sqliteCorrupt, sqliteNotADB:
		return damagedPart(err)
	}
	if severityOf(err) != ofBatch {
		return err
	}
	return explain(err)
}

// unopened explains why a database cannot be opened.
func unopened(err error) error {
	if resultCode(err)&0xff == sqliteCorrupt {
		return conflict(err, "run blueprintd doctor --full to see what is damaged; "+restoreHint,
			"the database file is damaged")
	}
	err = passing(err)
	if known, ok := errors.AsType[*blueprint.Error](err); ok && strings.HasSuffix(known.Hint, goesOn) {
		stopped := *known
		stopped.Hint = strings.TrimSuffix(known.Hint, goesOn) + "; then start again"
		return &stopped
	}
	return err
}

// minFreeSpace is the free space below which SQLite cannot create the files it needs beside a
// database. SQLite then reports only an I/O error.
const minFreeSpace = 64 << 10

// fullAtStart returns an error for a full disk if that is why a database cannot be opened.
func (o *Options) fullAtStart(err error) error {
	code := resultCode(err) & 0xff
	full := code == sqliteFull || errors.Is(err, errNoSpace)
	if !full && !o.Ephemeral && (code == sqliteIOError || code == sqliteCannotOpen) {
		p, lookErr := o.fileSystem(filepath.Dir(o.Path))
		full = lookErr == nil && p.Known && p.Free < minFreeSpace
	}
	if !full {
		return err
	}
	return unavailable(err, "free some space on it, or choose another place with --db, and start again",
		"the disk of the database is full")
}

// restoreHint is the hint to restore a backup.
var restoreHint = blueprint.SeeDocs("restore a backup with blueprintd restore --force, which keeps what is there under another name", "backup-and-recovery")

// errClosed is returned for calls after Run or Close has returned.
var errClosed = unavailable(nil, "", "the server is shutting down")

// broken returns the error for all calls once the store has failed permanently.
func broken(err error) error {
	if _, ok := errors.AsType[*lostFileError](err); ok {
		return unavailable(err, "stop a server before you touch its files; the log says what was saved and where",
			"files of the database are gone and the server is stopping")
	}
	message, hint := "the database has failed and the server is stopping", "blueprintd doctor --full reports whether the database is sound"
	switch code := resultCode(err) & 0xff; {
	case errors.Is(err, errDeclaredDead):
		message, hint = "this process was declared dead and is stopping: it was silent for ten seconds, or another one has its name", "start it again; give each process a --node-name of its own"
	case errors.Is(err, errWentBack):
		message, hint = "the database lost what it had confirmed, and this process is stopping: a standby that was behind was promoted, or a backup was restored", "start it again; it continues from what the database has"
	case errors.Is(err, errFenced):
		message, hint = "another server has claimed the database, and this one is stopping", "run only one server on a database; stop this one permanently, or start it with another --db"
	case code == sqliteIOError:
		message = "the disk of the database has failed and the server is stopping"
		hint = "look for disk errors in the system log; once the disk works, run blueprintd doctor --full; if the database is sound start the server, if not " + restoreHint
	case code == sqliteCorrupt || code == sqliteNotADB:
		message, hint = "the database is damaged and the server is stopping", "run blueprintd doctor --full to see what is damaged; "+restoreHint
	}
	return unavailable(err, hint, message)
}

// fencedError ends a process that may not write any more. All of them match errFenced.
type fencedError struct{ error }

func (e fencedError) Is(target error) bool { return target == errFenced }

var (
	// errFenced ends a server whose database another server has claimed.
	errFenced error = fencedError{errors.New("another server has taken over the database")}
	// errDeclaredDead ends a process whose runs another process of the server has taken over.
	errDeclaredDead error = fencedError{errors.New("this process was declared dead; other processes of the server continue its runs")}
	// errWentBack ends a process that has more in memory than the database has.
	errWentBack error = fencedError{errors.New("the database lost committed data")}
)

// wrap names the operation that an error came from. It is deferred by every
// exported method; the codes and types inside stay visible to errors.As.
func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("store: "+format+": %w", append(args, *err)...)
	}
}

// phrase is constant text. A string variable does not convert to it implicitly, so an
// error text of this type contains nothing that was read from the database.
type phrase string

// notFound returns a CodeNotFound error. The id must be one that the caller sent, because
// callers receive the error even if they may not see what is stored.
func notFound(what phrase, id string) error {
	id = cmp.Or(id, `""`)
	return blueprint.Errorf(blueprint.CodeNotFound, "%s %s not found", what, id)
}

// forbidden returns a CodeForbidden error. It takes no arguments besides its text,
// so that a refusal reveals no id, title or address.
func forbidden(text phrase) error {
	return blueprint.Errorf(blueprint.CodeForbidden, "%s", text)
}
