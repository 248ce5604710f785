// Sweep proves on the real program that what was answered with success is on
// the disk, whatever the disk does. It gives the server a folder on a disk that
// fails on purpose (tests/faultfs), plays a scenario of about 200 operations
// through the interface, and lets something go wrong at one point of it: at one
// write, sync, truncation, creation or change of a name, be it in a first
// start, a checkpoint, an end or the recovery after a kill. Then it starts the
// server again on what is left and compares what it says with every answer that
// was given.
//
//	go run ./tests/faults                      every point, in each of the modes
//	go run ./tests/faults -every 25            a part of them
//	go run ./tests/faults -cuts 500            power cuts under several clients
//	go run ./tests/faults -full 20             a disk that fills up and is freed
//	go run ./tests/faults -check               does the disk that fails work here?
//
// The modes:
//
//	kill        SIGKILL before the point takes place
//	kill-after  SIGKILL right after it
//	eio         the point fails with EIO, once
//	enospc      the point fails with ENOSPC, once
//	full        so does every write from the point on, until it is lifted
//	short       a write takes half of its bytes, once
//	cut         the power fails: what was not synced is lost, in part or torn
//
// What must hold: an answer of success is about something that is on the disk.
// What was refused did not happen. Who is refused is told 503 with Retry-After,
// and the next try is taken soon. After a sync that failed the server ends
// within a second, with an error and a hint. The next start is ready within
// five seconds, on a database without damage, and brings every run to its end.
//
// The scenario has phases, from start to end of a server; a case begins with
// the files that a faultless play left at the beginning of its phase. Points
// are numbered through all phases. Their number varies by a few from play to
// play, because rows differ in length and upkeep follows real time; a point
// that a play does not reach is reported as such.
//
// It needs Linux, /dev/fuse and the right to mount (exit code 2 without them).
package main
