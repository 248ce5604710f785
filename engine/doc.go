// Package engine runs executions.
//
// A run is the fold of its journal: every event (the run begins, a node starts,
// ends, waits, asks for input) is an entry, applied in memory and flushed to the
// database. After a crash the same entries, applied in the same order, restore the
// same run; recovery, resumption and wake-ups share this code path.
//
// What is durable when:
//
//   - before a run is acknowledged (Handle.Accepted): its begin entry;
//   - before a node with a side effect starts: everything that led to it, and its start;
//   - before a run is parked (waiting, paused, ended): everything;
//   - a few milliseconds after a node with a side effect ended: its end;
//   - within a second: everything else.
//
// Nodes without side effects cost no commit of their own: a short run of them is one
// row, written when it ends. After a crash, a node whose end is durable is done. An
// interrupted node starts again with the same idempotency key, unless its effect is
// "once": then the run asks what happened.
//
// A parked run holds no goroutine and is evicted from memory; a timer or an answer
// loads it again. A chain of nodes runs on one goroutine; only a fork starts more.
//
// A for-each node walks a separate graph for each item (frame). Its items are one entry;
// everything else follows from the entries of the inner nodes. A node that starts another
// run records the id of that run, then starts it and waits; the child's end wakes the
// parent, and after a crash each side checks the other. Secrets that enter a run with a
// connection or a child run are entries too.
//
// Redaction happens where a run is shown and where its record is written. Data passed
// to nodes, other runs, respond nodes and events is unaltered, except for credentials
// of a connection that a service echoes (withoutCredentials). All stored data is
// encrypted.
//
// The commit that completes, fails or pauses a run also stores the event for it. A
// child run publishes none. The number of events that led to a run is passed on to its
// children, which bounds chains of events.
//
// At most Options.MaxRunning runs execute concurrently; fairQueue divides the slots between
// organizations and their triggers. A concurrency group may also limit how many runs of a
// trigger are unfinished, parked ones included (concurrency): a blocked run is stored, not
// in memory, and keeps its place across restarts.
//
// The failure of a run is data in its record. An error returned by this package is
// the service's own.
package engine
