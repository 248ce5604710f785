// Package engine runs executions.
//
// A run is the fold of its journal. Everything that happens to it is an entry:
// it began, a node started, ended, waits, asks for input. The engine applies
// an entry to the run in memory and, when something is to be promised or done
// outside, makes all entries so far durable first (flush). After a crash the
// same entries, read back and applied in the same order, give the same run;
// there is no second code path for recovery, for a resumed run or for one that
// waited.
//
// What is durable when:
//
//   - before a run is acknowledged (Handle.Accepted): its begin;
//   - before a node with a side effect starts: all that led to it, and its start;
//   - before a run is parked (it waits, is paused, has ended): everything;
//   - a few milliseconds after a node with a side effect ended: its end;
//   - within a second: whatever else happened.
//
// Nodes without side effects cost no commit of their own: a short run of them
// is one row, written once, when it ends.
//
// After a crash a node whose end is on the disk is done. One that was under way
// begins again with the same idempotency key, unless its effect is "once": then
// somebody is asked what happened.
//
// A parked run holds no goroutine and is dropped from memory; a timer or an
// answer loads it again. While it works, a chain of nodes stays on one
// goroutine; only a fork starts more.
//
// A for-each node walks over a graph of its own for each item (frame). Its items
// are one entry; which of them begin, and what becomes of the node, follows from
// the entries of their nodes. A node that starts another run writes down the id
// of that run first, then starts it, and waits without holding it: the end of
// the other run is what wakes this one, and after a crash both sides look for
// each other. Secrets that come into a run with a connection or another run are
// entries too, so that they are masked in all that is shown of it.
//
// Masking happens where a run is shown and where its record is written. What nodes,
// other runs, respond nodes and events are given is unaltered, but for the
// credentials of a connection that a service repeats (withoutCredentials). All
// that is stored is encrypted.
//
// That a run has completed, failed or paused is an event for others, which the
// commit brings that makes it true: one for each pause that is committed as such.
// A run that another one waits for raises none, neither for its end nor for its
// pauses. How many events led to a run is told to those that it starts, so that a
// chain of events through them ends too.
//
// Of all runs only so many have their turn to work; who gets one is decided
// between organizations, and within each between triggers, so that one that has
// very many runs keeps nobody waiting (fairQueue). Besides, a trigger may limit how
// many of its runs are unfinished at once, parked ones included (concurrency): a run
// that is blocked until others have ended is on the disk and not in memory, and keeps
// its place across restarts.
//
// A run's failure is data: it ends as failed, with an error in its record. An
// error from this package is the service's own.
package engine
