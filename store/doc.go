// Package store keeps everything that outlives the process in one SQLite database.
// All SQL of the service is here and in schema.sql. Package dbfile handles the
// database as a file.
//
// # One writer, many readers
//
// A single connection writes. Run commits all writes that queued during the previous commit
// together: on a busy server many callers share one fsync, on an idle one no write waits
// for a timer. Each write has its own savepoint, so that a failing write is undone alone.
// When a method that writes returns nil, its change is on the disk (the log is synced with
// each commit); when it returns an error, nothing was changed. Readers have their own
// connections. A reader sees one consistent state of the database and never waits for the
// writer.
//
// An exported method is one transaction. The query that reads a row also decides whether
// the principal may see or change it. A method without a principal documents its callers.
//
// The texts of statements are valid for SQLite and PostgreSQL, except for the
// constructs that TestPortable lists. PostgreSQL ends a transaction in which a statement
// failed, so an INSERT that may meet an existing row says ON CONFLICT, and the number of
// changed rows shows whether it did. One statement may still fail: the INSERT of a run whose
// blueprint was deleted meanwhile.
//
// # PostgreSQL
//
// With Options.Database everything is in a PostgreSQL database (remote.go). Package postgres
// translates schema.sql, the statements and their arguments. A write transaction locks the
// row of meta, so that writes are made one after the other as in a file, and leaves a stamp
// there: when the connection breaks during a commit, the writer finds out from it whether
// the transaction was committed, before it answers a caller. An advisory lock refuses a
// second server, and the epoch ends one that lost it.
//
// # Events and the breaker
//
// An event of a run or a blueprint is written to the outbox in the transaction that causes
// it, if a trigger listens to it. Options.OnEvents is called before the writers of that
// transaction are answered. The writer caches which events have listeners, until the
// generation changes, and which triggers failed last, so that neither costs anything
// without listeners or failures. The 20th consecutive failure pauses the trigger, in the
// transaction that ends the run.
//
// # Errors
//
// An error that a caller may see is a *blueprint.Error: CodeNotFound, CodeForbidden,
// CodeConflict and CodeBadRequest as the methods say. Any method may return
// CodeUnavailable: nothing was done, and the same call may succeed later, for instance
// because the disk is full, the database is locked or the server is shutting down. After an
// I/O error the store refuses everything and Run returns the error; see Run. Any other
// error is a fault of the service. Errors of SQLite are distinguished by their result
// codes, never by their texts.
//
// # History
//
// Run removes the history that Options.KeepExecutions and KeepFirings no longer keep, at
// instants of the clock, in transactions of at most 200 rows or about a megabyte that yield
// to queued writes. Then it returns free pages to the disk in small steps. It never removes
// unfinished runs, the records of runs that an unfinished run started, or rows of the
// ledger that belong to an unfinished run, that are younger than 72 hours and prevent a
// delivery with an id from running twice, or whose tick the schedule has not decided yet.
// If all history is too old when the server starts, nothing is removed for a day of the
// clock unless the clock is corrected: the clock may be wrong, or the database may come
// from an old backup. Versions of blueprints, deleted blueprints and deleted triggers stay,
// because they are small compared to runs. A row of the ledger may name a run that was
// removed.
//
// Removed runs stay counted: the transaction that ends a run adds it and its
// duration to the counts of its hour, once for its blueprint and once for its
// organization. The hours of blueprints stay for 90 days, those of organizations for
// 400.
//
// Above Options.MaxDisk, Run removes rows of the ledger that started nothing, then
// completed runs, then other rows of the ledger, then failed runs, and last the runs that
// ended within the last minute, each only as far as necessary. If something else takes the
// space, such as a log that a backup holds, or nothing is left to remove, new runs are
// refused with CodeUnavailable, and so are rows that start nothing.
//
// The log stays below 64 MiB. Checkpoints copy it concurrently with the writer, empty it
// from 16 MiB on, and end reads that have prevented that for a second. A write that finds a
// log of 44 MiB waits until it is empty. Only a long read in another process can delay
// that.
//
// # Processes
//
// One server owns a database: it holds a lock on FILE.lock while it runs, and each of its
// transactions checks that no other server has started on the database since (its epoch).
// Any number of tools may open the same file and write to it meanwhile. A change that could
// invalidate a server's caches raises the generation, a number in the database. A server
// uses what it caches (keys, access, trigger bindings) only after it has read the
// generation again, in a read that began after the request arrived; concurrent requests
// share one such read.
//
// # Secrets
//
// The master key encrypts secret environment variables, trigger configs with a secret, and
// the configs, tokens and sign-ins of connections, each bound to its row. It also encrypts
// all data that a run receives or stores: deliveries with their files, the reasons of
// firings, journals, records and the data of events (sealedColumns). Of API keys and the
// states of sign-ins only the SHA-256 is stored. The files have mode 0600. ChangeKey
// encrypts everything with another master key.
//
// A user who may change a connection cannot learn its secrets: they are never
// returned, and an update that would send them to another address is refused unless
// it contains them.
//
// # Backups
//
// A backup is a file with the pages of one moment and a checksum. Backup writes one while a
// server runs, Restore replaces a database with one. Both verify all of it and rename only
// complete files, so that a kill at any moment leaves either the old state or the new one.
// No backup contains the master key.
//
// # Upgrades
//
// A server upgrades a database with an older schema version before it claims it,
// with the steps of package migrations (upgrade.go). No other process can use the
// database meanwhile. The pages and references are checked and a copy is written;
// then all steps run in one transaction, which commits only if the schema, the
// references, the numbers of rows and the checksums of runs are what they must be.
// Tools refuse an older version; Restore upgrades what it restores before it checks it.
//
// On PostgreSQL the steps are those of package postgres (remote_form.go). Processes of the
// older version go on meanwhile if they can use the tables afterwards, and otherwise the
// upgrade is refused while one is alive. A process takes over only runs that it can read.
//
// # Bad files and bad disks
//
// Before anything is changed, inspect examines the files through connections that modify
// nothing. It refuses a foreign or newer file, the log of another database, a wrong key and
// a network file system, and leaves a refused file unchanged to the byte. A running server
// checks every second that its files are still the ones on the disk; if not, it stops and
// saves what it can (lost_files.go). With little space on the disk it refuses new runs and
// lets the others end until there is space again. The data of runs has checksums (seal.go),
// because SQLite does not notice a flipped bit inside a value. Diagnose checks all of this
// from outside.
//
// # In memory
//
// An ephemeral store has one private connection that the writer and the readers
// share under a lock: nothing is written to a disk, and no table is ever locked.
package store
