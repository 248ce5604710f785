// Bench measures the real program, and holds it against what the machine could
// do at best.
//
//	go run ./tests/bench                              the tables of README.md
//	go run ./tests/bench -write docs/benchmarks.md         and puts them there
//	go run ./tests/bench -rows b,c -connections 32    some of it
//	go run ./tests/bench -profile c -connections 32   a CPU profile of the server
//	go run ./tests/bench -peers                       side by side with Node-RED
//	go run ./tests/bench -quick                       shows that all works, not how fast
//
// It builds the server and starts it on a database file in a temporary folder.
// Everything runs in a process of its own: the server, the load generator, the
// echo server and the inserter (the last three are this program again), so that
// /proc tells what each costs. All of them share the machine's processors; the
// load generator is made to take little of them, and says how much in -json.
//
// The rows, measured in turn, round after round, so that a machine that is
// slower for a while is slower for all:
//
//	a   a net/http server that decodes a JSON body and encodes it again
//	b1  group-committed inserts of the bytes that a run of c leaves behind, into
//	    a table without indexes: same driver, WAL, synchronous=FULL
//	b2  the same, but the very rows, into the real schema with its indexes
//	c   a webhook whose run has three nodes without side effects; it is answered
//	    with their result, once that is on the disk
//	d   the same, answered with 202 once the run is on the disk
//	e   blueprint.execute of the same nodes, through the RPC with a key
//	f   execution.getExecutionStatus of finished runs, chosen at random
//
// The load is a closed loop: each connection sends its next request when it has
// the answer to the last. Latency is that of the client, from its write to the
// last byte of the answer; in b it is the time from handing in the rows until
// their commit. CPU is the server's user and system time. Bytes are the growth
// of the used pages of the database. Memory is what is resident: idle, and the
// most while loaded.
//
// Then it starts the server again and again, and leaves runs waiting. What
// those cost in memory is read from the process once it is at rest; nothing
// forces a collection of garbage.
//
// Exit code 1 means that something did not work, such as an answer other than
// 2xx; slow is no failure.
package main
