// Package dbfile knows a database as a file: which file system it is on, which
// server holds it, who owns it, what lies beside it, and how a backup of it is
// laid out. It runs no SQL.
//
// # Lock
//
// A server holds a lock on FILE.lock for as long as it runs; the operating system
// drops it with the process. The lock file names the process and the address of
// the server, and records that the database has been used, so that a database
// that is missing later is noticed.
//
// # Files
//
// SQLite keeps FILE-wal, FILE-shm and FILE-journal beside a database. A backup is
// written to NAME.partial and a restored database to FILE.restoring; each gets its
// name only when it is complete and on the disk. What a restore replaces is kept
// as FILE.before-restore-TIME.
//
// # Backups
//
// A backup consists of the pages of a database and a trailer with a manifest, a
// signature and a digest of every byte before it; see AppendTrailer.
package dbfile
