// Package simulation runs the real engine and the real scheduler in a world that one
// seed decides: blueprints, what nodes do, what clients ask for, how long
// everything takes, when the disk refuses and when the process dies.
//
// A world is a loop. It waits until nothing moves any more; looks at what has
// come about and asks the oracle about it; then lets exactly one thing happen:
// a node ends, a commit reaches the disk or fails, time passes, a client calls,
// the process crashes or stops, another one starts over the surviving disk.
// Everything else stands still meanwhile, because nodes and commits go on only
// when the world lets them. So one seed gives one history, every time, as long
// as one processor runs it: with several, goroutines that one commit lets go of
// may take turns otherwise, which is one more order that has to be right.
//
// What a node does is a pure function of the seed, the run's input, the node
// and the attempt. So a tiny interpreter, which knows nothing of journals or
// goroutines, can tell what must become of a run, however often it was cut off.
//
// The attempts of a for-each node go over its items anew, so a node of an item
// is known by its place: its address, and which attempt of each for-each node
// around it. Items that are at work at once stop each other when one fails. What
// depends on who was faster then is left open by the interpreter, and a run of
// which something is left open is counted as one "with items that stopped each
// other": what became of its items need only be possible, while of all
// that does not follow from them everything is still known. An item that begins
// anew keeps what its nodes came to. So where something is left open it is a
// mixture of its attempts: what each of its nodes made of the input that it had
// must be what it makes in one of them, and no node that was finished in one runs
// in another. That input itself is known only of nodes to which no other leads.
//
// Whether a run did what must not be done twice is taken from its record, which
// must say so at least of what its nodes and the runs below it did; when it says
// so though nothing of it can, that is wrong, too. What a run gives
// to the node that started it is a fact for the interpreter of the other run,
// like a person's decision; and what it gives is checked by its own.
//
// Rule I11 is about such runs: each call of a node starts one and never two, none
// exists that is not called by an entry on the disk, and none begins anything
// long after the run that waited for it has ended.
//
// The world needs a bubble of testing/synctest: in it time stands still while
// anybody works, and Options.Quiet can tell when nobody does.
package simulation
