// Package script runs JavaScript that nobody trusts. A script is the body of a
// function; it is given values and gives one back, and there is nothing else in
// its world: no file, no network, no environment, no process, no other script.
//
// # Where a script runs
//
// In a child process of this very executable (see Child), because nothing less
// can be stopped for certain: parts of an interpreter that are written in its
// own language (joining an array of half a billion holes, parsing a hundred
// thousand brackets) look at no clock and no flag. The interpreter is QuickJS,
// one fresh virtual machine for each script.
//
// Before a child reads its first byte it gives up whatever it could do harm
// with, so that even who takes over the interpreter by a bug of it has gained
// nothing but processor time until the deadline:
//
//   - it has no environment, stands in /, has no descriptor but its two pipes,
//     standard error, those with which the runtime waits for timers, and one
//     that tells how much memory it uses, and is in a process group of its own;
//   - its limits are set: address space, data, processor time, files (none),
//     processes (none), file size (nothing), core dumps (none);
//   - on Linux it dies with its parent, has no capability, also where that is
//     root, and cannot gain one, is the first to go when the machine runs out of
//     memory, and, on amd64 and arm64, its filter of system calls leaves those of a program that only computes: none that opens,
//     connects, executes, forks, or maps memory that can be executed.
//
// Elsewhere the child is the same without what the system does not offer:
// macOS has no filter and no bound on memory but the interpreter's own, Windows
// no limits either; the log says so with the first script.
//
// # Bounds
//
// A script has Script.Memory for its values, as the interpreter counts them, and
// Script.Timeout of real time. A script that was refused memory once has run out
// of it and is stopped, whether or not it would catch that. Its result may take MaxOutput and its log
// maxLogLines. The process around it has about three times the memory, so that
// what is being copied fits. At the deadline the interpreter is asked to stop,
// and grace later the child is killed.
//
// As many scripts run at once as Options.Slots allows; a script takes one slot
// for each 64 MiB of its memory, but at most half of all. One tenant
// (Script.Tenant) never has more than half of them. Who finds none free waits:
// tenants are served in turn, and a small script goes before a large one that
// does not fit yet, though not for ever.
//
// # Who shares a child
//
// Starting a child costs some ten milliseconds, a tiny script in a waiting one a
// third of one. A child serves one owner (Script.Owner) for all its life, so that
// a script that took its child over could harm only later scripts of the same
// author. Children are started when they are needed and kept for a minute; one
// that was killed, crashed, ran out of memory or has run many scripts is
// replaced.
//
// # Checking
//
// Pool.Check only compiles a source, in a child and within the same bounds: the
// compiler, too, looks at no clock.
//
// # Numbers and time
//
// Values go in and out as JSON, and numbers are those of JavaScript: an integer
// beyond 2^53 loses digits when it comes in, as in any JavaScript program. The
// log says so and names the place; such numbers should travel as strings. A
// BigInt in the result is written with all its digits.
//
// Date begins at Script.Now and runs on from there, or stands still with
// Script.Still; the time zone is UTC. Math.random is random, and nothing makes it
// repeat itself but Script.Seed, from which it then follows.
package script
