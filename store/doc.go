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
// Environment variables with a secret value and trigger configs with a secret
// are encrypted with the master key, each bound to its row. API keys are kept
// as SHA-256 only. The files have mode 0600.
//
// # In memory
//
// An ephemeral store has one private connection that readers and the writer
// share under a lock: nothing is ever on disk, and nobody meets a locked table.
package store
