// Package explain says why a trigger did or did not fire, in words.
//
// Firing is about one row of the ledger: what came, what became of it, and the
// first thing to do about it. For a signature that was refused it tries what
// usually makes one wrong. A Question is about a trigger: as it is now, or at an
// instant. Both read what a store has told and change nothing, and no secret, no
// signature and no digest from which one could be made is in what they say.
package explain
