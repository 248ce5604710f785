// Bench measures the real program and compares it with the best that the machine
// can do.
//
//	go run ./tests/bench                              the tables of docs/benchmarks.md
//	go run ./tests/bench -write docs/benchmarks.md         writes them to that page
//	go run ./tests/bench -rows b,c -connections 32    a part of the rows
//	go run ./tests/bench -profile c -connections 32   a CPU profile of the server
//	go run ./tests/bench -layers                      the CPU time of (c) by layer
//	go run ./tests/bench -shapes                      long and wide blueprints
//	go run ./tests/bench -startup                     the time and the memory of starts
//	go run ./tests/bench -day FILE.svg                latency through a day of mixed runs
//	go run ./tests/bench -peers                       side by side with other servers
//	go run ./tests/bench -peers=n8n,temporal          with some of them
//	go run ./tests/bench -database URL                on PostgreSQL; make bench-postgresql starts one
//	go run ./tests/bench -quick                       one round: checks that everything works
//
// It builds the server and starts it on a database file in a temporary folder.
// The server, the load generator, the echo server and the inserter each run in a
// process of their own (the last three are this program again), so that /proc
// reports the cost of each. They share the machine's processors; the load
// generator is written to use little CPU, and -json reports how much it used.
//
// The rows are measured in turn, round after round, so that a slow phase of the
// machine affects all of them:
//
//	a   a net/http server that decodes a JSON body and encodes it again
//	b1  group-committed inserts of as many bytes as a run of c stores, into a
//	    table without indexes: same driver, WAL, synchronous=FULL
//	b2  the same with the actual rows, into the real schema with its indexes
//	c   a webhook whose run has three nodes without side effects; the response
//	    is their result, sent once it is on the disk
//	d   the same, answered with 202 once the run is on the disk
//	e   blueprint.execute of the same nodes, through the RPC with a key
//	f   execution.getExecutionStatus of finished runs, chosen at random
//
// The load is a closed loop: each connection sends its next request when it has
// the response to the last. Latency is measured at the client, from its write to
// the last byte of the response; in b it is the time from submitting the rows
// until their commit. CPU is the server's user and system time. Bytes are the
// growth of the used pages of the database. Memory is resident memory: idle, and
// the peak under load.
//
// More measurements follow: repeated starts of the server, and the memory of waiting
// runs and of idle connections. Memory is read from the process once it is idle,
// without asking it for a garbage collection.
//
// With -shapes, each blueprint gets a server of its own, and its runs follow one
// another: the CPU time is divided by their nodes, items, kilobytes or requests.
//
// With -peers, the same flow runs on Node-RED, n8n and Temporal's development server, as
// closely as each allows; PocketBase stores a record of the size of a run instead. Each peer
// is one process, in a file of its own here, with a fixed version that is installed from the
// npm registry or the Go module proxy outside the repository. One that cannot be installed is
// left out, and a measurement of one that fails is 0; neither is an error. All run at the
// same time and are loaded in turn; every response must contain the expected answer.
//
// With -database, a file and one to three processes on PostgreSQL are measured in turn with
// River and with n8n in queue mode, which have databases on the same PostgreSQL server. The load
// of several processes is divided among them. Then the process with the duties is killed as
// often as -failovers says.
//
// Exit code 1 means that something did not work, such as a response other than
// 2xx. Slow results do not change the exit code.
package main
