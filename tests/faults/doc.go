// Sweep checks on the real program that an operation which was answered with
// success is on the disk, whatever the disk does. It runs the server on a failing
// disk (tests/faultfs), runs a scenario of about 200 operations through the API,
// and injects one fault at one point of it: a write, sync, truncation, creation or
// rename, during a first start, a checkpoint, a shutdown, the recovery after a
// kill, or an upgrade. Then it restarts the server on the remaining files and
// compares its state with every response of the scenario.
//
//	go run ./tests/faults                      every point, in each mode
//	go run ./tests/faults -every 25            one point in 25
//	go run ./tests/faults -phase upgrade       the points of the upgrades only
//	go run ./tests/faults -cuts 500            power cuts under several clients
//	go run ./tests/faults -full 20             a disk that fills up and is freed
//	go run ./tests/faults -check               checks that the failing disk works here
//
// The modes:
//
//	kill        SIGKILL before the point takes place
//	kill-after  SIGKILL right after it
//	eio         the point fails with EIO, once
//	enospc      the point fails with ENOSPC, once
//	full        every write from the point on fails with ENOSPC, until space is freed
//	short       a write stores half of its bytes, once
//	cut         a power cut: unsynced data is lost, in part or torn
//
// What must hold: an operation that was answered with success is on the disk. A
// refused operation did not happen. A refusal is 503 with Retry-After, and a retry
// soon succeeds. After a failed sync the server exits within a second, with an
// error and a hint. The next start is ready within five seconds, on an undamaged
// database, and brings every run to its end.
//
// Each phase of the scenario is the life of one server process. A case begins with
// the files that a run of the scenario without faults had at the start of the
// phase. The last phases are the start of a server on each database in testdata/forms
// that is older than the program: whatever happens, the next start finds an upgraded
// database, in which every run continues, and the copy of the one before. Points are
// numbered through all phases. Their number varies slightly between runs, because rows
// differ in length and maintenance follows real time; a point that is not reached is
// reported as such.
//
// The sweep runs in namespaces of its own for processes and mounts, with its files in
// memory. Nothing of it is left when it is interrupted or killed.
//
// It needs Linux, /dev/fuse and permission to mount (exit code 2 without them).
package main
