// Package script runs untrusted JavaScript. A script is the body of a function: it is
// passed values and returns one, and has no access to files, network, environment,
// processes or other scripts.
//
// # Isolation
//
// A script runs in a child process of this executable (see Child), because nothing less can
// be stopped reliably: native parts of an interpreter (joining a sparse array of half a
// billion elements, parsing a hundred thousand brackets) check neither a clock nor a flag.
// The interpreter is QuickJS, with a fresh virtual machine for each script.
//
// Before a child reads its first byte it drops its privileges, so that even code that takes
// over the interpreter gains nothing but processor time until the deadline:
//
//   - it has no environment, its working directory is /, its only descriptors are its
//     standard streams, those of the runtime's timers, and one that reports its memory;
//     it is in a process group of its own;
//   - its limits are set: address space, data, processor time, files (none),
//     processes (none), file size (zero), core dumps (none);
//   - on Linux it dies with its parent, has no capabilities (also as root) and cannot
//     gain any, is killed first when the machine runs out of memory, and on amd64 and
//     arm64 a seccomp filter allows only system calls of a program that computes.
//
// macOS has no filter, and no memory limit besides that of the interpreter; Windows has no
// limits either. The log reports that with the first script.
//
// # Limits
//
// A script has Script.Memory for its values, as the interpreter counts them, and
// Script.Timeout of real time. After the first refused allocation it is stopped, even
// if it would catch the exception. Its result is bounded by MaxOutput and its log by
// maxLogLines. Its process may use about three times the memory, for copies. At the
// deadline the interpreter is interrupted, and killDelay later the child is killed.
//
// Options.Slots scripts run at once; a script takes one slot for each 64 MiB of its
// memory, but at most half of all, and one tenant (Script.Tenant) at most half of them.
// Waiting tenants are served round-robin; a small script may overtake a large one that
// does not fit yet, a bounded number of times.
//
// # Reuse of children
//
// Starting a child takes some ten milliseconds, a small script in an idle one a third
// of one. A child serves one owner (Script.Owner), so that a script that takes it over
// could harm only later scripts of the same author. Children start on demand and stay
// for a minute; one that was killed, crashed, ran out of memory or has run many scripts
// is replaced.
//
// # Numbers and time
//
// Values are passed as JSON, and numbers become those of JavaScript: an integer beyond 2^53
// loses digits. The log reports that with its place; such numbers should be strings. A
// BigInt in the result keeps all digits.
//
// Date begins at Script.Now and advances, or stands still with Script.Still; the time
// zone is UTC. Math.random is random unless Script.Seed is set.
package script
