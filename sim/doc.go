// Package sim runs the real engine and the real scheduler in a world that one
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
// The world needs a bubble of testing/synctest: in it time stands still while
// anybody works, and Options.Quiet can tell when nobody does.
package sim
