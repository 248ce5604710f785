// Package simulation runs the real engine and the real scheduler in a world that is
// determined by a seed: the blueprints, what nodes do, what clients request, how long
// everything takes, when the disk fails and when the process crashes.
//
// A world is a loop. It waits until all goroutines are idle, checks the new events
// against an oracle, and then lets exactly one thing happen: a node ends, a commit
// reaches the disk or fails, time passes, a client makes a request, the process crashes
// or stops, or another one starts on the surviving disk. Nodes and commits proceed only
// when the world lets them, so a seed always produces the same history on one processor.
// With several, goroutines that one commit releases may run in another order, which
// must also be correct.
//
// What a node does is a pure function of the seed, the run's input, the node and the
// attempt. A small interpreter without journal and goroutines therefore knows the
// correct result of a run, however often it was interrupted.
//
// Each attempt of a for-each node processes its items again, so a node of an item is
// identified by its place: its address and the attempt of each for-each node around it.
// Concurrent items stop each other when one fails. The interpreter leaves open what
// depends on their order, and such a run is counted as "with items that stopped each
// other": the results of its items need only be possible, all others must be exact. An
// item that starts again keeps the results of its nodes, so it is a mixture of its
// attempts: the output of each node for its input must be that of one attempt, and no
// node that is finished in one attempt runs in another. The input itself is known only
// for nodes without predecessors.
//
// The record of a run must say that it acted if its nodes or child runs did, and must
// not if none of them can. The output of a child run is a fact for the interpreter of
// its parent, like a decision of a user, and is checked by its own interpreter.
//
// Rule I11 is about child runs: each call of a node starts exactly one, each one is
// called by an entry on the disk, and none begins anything long after its parent has
// ended.
//
// Worlds with an even seed have two or three processes over one disk, as on PostgreSQL.
// The engines and their commands to each other are real. The disk keeps the processes,
// the owners of runs and the commands as the store does. The world itself works out the
// beats: which one has reached the disk, which one was answered, and who has looked at
// whom for how long. A process may freeze, lose its link to the disk, wait for the answer
// to a beat, or be cut off in the middle of a commit, whose outcome it finds out later. It
// may be killed, stopped, started again under its name or another one, and declared dead.
// The rules about that:
//
//   - I20: between two take-overs, one process commits to a run.
//   - I21: no node with an effect begins in a process without a lease.
//   - I22: the runs of a dead process are taken over within seconds while another process
//     can.
//   - I23: each command is taken once, and an acknowledged answer or cancellation is on
//     the disk, each answer once.
//   - I24: no process is declared dead that was silent for less than ten seconds while
//     the disk could be reached.
//   - I25: no more runs of a concurrency group are at work than its limit.
//
// The world needs a bubble of testing/synctest, in which time stands still while any
// goroutine works, and Options.Quiet reports when none does.
package simulation
