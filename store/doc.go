// Package store keeps everything that must outlive the process, in one SQLite
// database. All SQL of the service is here and in schema.sql.
//
// # One writer, many readers
//
// A single connection writes. Run takes all writes that have queued while the
// one before was on its way to the disk, and commits them together: many
// callers share one fsync when the server is busy, and nobody waits for a timer
// when it is idle. Each write has its own savepoint, so that one that fails
// undoes itself alone. When a method that writes returns nil, its change is on
// the disk (the log is synced with each commit); when it returns an error,
// nothing was changed. Readers have connections of their own, which see one
// state each and wait for nobody.
//
// An exported method is one transaction. Whoever may see or change a thing is
// decided by the query that reads it; methods that take no principal say who
// may call them.
//
// # Events and triggers that fail
//
// What happens to runs and blueprints goes into the outbox in the transaction that
// makes it true, if a trigger listens to it; Options.OnEvents says so before the
// writer is answered. The writer remembers who listens until the generation moves,
// and which triggers have failed last, so that both cost nothing where nobody
// listens and nothing fails. With the 20th failure in a row a trigger is switched
// off in the transaction of that run's end.
//
// # Errors
//
// What a caller may be told is a *blueprint.Error: CodeNotFound, CodeForbidden,
// CodeConflict and CodeBadRequest as the methods say. CodeUnavailable, which
// any method may give, means that nothing was done and that the same call may
// succeed later: the disk is full, the database is locked, the server is
// shutting down. After an I/O error the store refuses everything and Run
// returns it; see Run. Anything else is a fault of the service. Errors are told
// apart by SQLite's result codes, never by their texts.
//
// # History
//
// Run removes what Options.KeepExecutions and KeepFirings no longer want, at
// instants of the clock, in transactions of at most 200 rows or about a
// megabyte, which wait for writes that are queued; then free pages go back to
// the disk in small steps. What has not ended is never removed, nor the records
// of the runs that an unfinished one began, nor the rows of the ledger that
// belong to it, that keep a delivery with an id from running again and are
// younger than 72 hours, or whose tick its schedule has not decided. When all
// history is too old at the start, nothing goes for a day of the clock, unless
// that is set right: it may be wrong, or the database from an old backup. Versions of blueprints stay, and so do deleted blueprints and
// triggers: they are small beside what ran. A row of the ledger may name a run
// that is gone.
//
// Runs that were removed stay counted: what ended in each hour, and how long it
// took, is added up in the transaction of the end, once for each blueprint and
// organization however many runs share it. The hours of blueprints stay for 90
// days, those of organizations for 400.
//
// Beyond Options.MaxDisk rows of the ledger that started nothing go first, then
// completed runs, then other rows of the ledger, then failed runs, and last
// runs that ended within the last minute; but only as far as what is stored is
// above the limit. When that is not what takes the room, as when a backup holds
// the log, or nothing is left to remove, new runs are CodeUnavailable, and so
// are rows that start nothing.
//
// The log stays below 64 MiB: checkpoints copy it beside the writing, empty it
// once it has 16 MiB, and end reads that keep them from it for a second. A write
// that finds 44 MiB waits until the log is empty. Only a long read of another
// process can hold it up.
//
// # Processes
//
// One server has a database: it holds a lock on FILE.lock for its life, and
// each of its transactions checks that no other server has started on the
// database since (its epoch). Any number of tools may open the same file beside
// it and write. So that a running server notices, every change that it may have
// remembered the opposite of raises the generation, a number in the database.
// What a server keeps in memory (keys, access, trigger bindings) is used only
// after the number was read anew, by a read that began after the request
// arrived; concurrent requests share one such read.
//
// # Secrets
//
// Environment variables with a secret value, trigger configs with a secret, and
// of connections the configs, tokens and sign-ins are encrypted with the master
// key, each bound to its row. So is whatever a run takes in or leaves behind:
// deliveries with their files and the reasons of firings, journals, records and
// the data of events (sealedColumns). API keys and the states of sign-ins are kept as
// SHA-256 only. The files have mode 0600. ChangeKey encrypts all of it with
// another master key.
//
// Who may change a connection cannot learn its secrets: they are never returned,
// and an update that would have them sent somewhere else is refused unless it
// brings them along.
//
// # Backups
//
// A backup is a file with the pages of one moment and a checksum behind them;
// Backup makes one beside a server, Restore puts one in a database's place.
// Both check all of it and rename only what is whole, so that a kill at any
// moment leaves what was there or what was to be. The master key is in no
// backup.
//
// # Bad files and bad disks
//
// Before anything is touched, inspect looks at what is there through connections
// that leave no trace, and refuses what is not ours, not whole or not safe: a
// foreign or newer file, another database's log, a wrong key, a network file
// system. A refused file stays as it is to the byte. While it runs, a server
// looks each second whether its files are still there and the same, and ends
// when they are not, saving what it can (watchfiles.go). With little room on the disk
// it takes no new runs but lets those under way end, until there is room. What
// runs leave behind carries checksums (checksum), because SQLite does not notice
// a bit that turns inside a value. Diagnose looks at all of this from outside.
//
// # In memory
//
// An ephemeral store has one private connection that readers and the writer
// share under a lock: nothing is ever on disk, and nobody meets a locked table.
package store
