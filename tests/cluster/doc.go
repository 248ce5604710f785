// Torture of a server of several processes: three processes of the real program with one
// PostgreSQL database, under load, while random faults hit the processes, their links to the
// database and PostgreSQL itself. Package crash does the same to one process with a file.
//
//	go run ./tests/cluster -faults 200 -seed 1
//
// The harness starts PostgreSQL (Debian's programs, as the user postgres) in memory, and a
// proxy between it and each process. Clients send their requests to the processes that are
// ready, one after the other: webhooks under idempotency keys, which are repeated through
// other processes until they are acknowledged and now and then afterwards, logged runs, runs
// that wait, questions that are answered through any process, some twice at once with
// different answers, and cancellations. Schedules fire each minute, runs publish events that
// start runs, and three triggers limit their simultaneous runs. The nodes of all runs call
// the harness, which knows by the connection which process has called.
//
// The faults: kill -9 with and without a prompt restart, SIGSTOP for up to 40 s, SIGTERM; a
// link that is cut, reset, delayed by up to 3 s each way, or half-open in one or both
// directions, after which what it holds arrives late or is lost; a connection that is reset
// at a COMMIT, before it arrives or before its answer does, after which the link may stay cut;
// kill -9 of PostgreSQL with all its processes, its immediate shutdown, and the promotion of
// a synchronous standby after the primary was killed; a second process under the name of one
// that runs. A process that ends is started again. One process at least has no fault of its
// own at any time.
//
// The invariants, by the names that a report uses:
//
//	accepted  an acknowledged run exists and is listed
//	ends      after the faults every run ends
//	ended     a finished run never changes
//	fails     no run fails, except by a cancellation
//	key       one run for each key, also if its deliveries went through several processes
//	tick      one run for each tick of a schedule
//	event     one run for each event
//	calls     a call has the idempotency key of its node, and a node that has ended has the
//	          answer to one of its calls
//	repeat    a call is made again only if its process was killed, stopped, frozen, cut off
//	          or delayed after it, and never once the run has gone on
//	once      a node with the effect once calls once
//	step      a node has one step and one output, which is the one that later nodes got
//	limit     a trigger never has more runs at work than its limit
//	answer    of the answers to a question one has effect, and one is acknowledged
//	cancel    a run whose cancellation was acknowledged does not complete
//	ready     a process without faults is ready within 15 s
//	takeover  the unfinished runs of a silent process belong to another one within 15 s after
//	          its last beat, counted while PostgreSQL and one other process have no fault. 2 s
//	          are added for a busy machine, and 6 s if another process had a fault meanwhile:
//	          it may have held the lock of all writes
//	lease     a process that is cut off from the database calls nothing after its lease of 7 s
//	          (and 1.5 s, in which a call may arrive late)
//	early     a process is declared dead only if its faults lasted 8 s
//	duties    one process has the duties
//	late      a run goes on within 45 s, the time of three takeovers
//	refused   no request is refused, except with 503, and an answer or a cancellation that
//	          comes too late with 409
//	waits     a run waits only for what its nodes ask
//	fenced    a process that was declared dead ends
//	exit      it ends with exit code 1. No other process ends by itself, except one that
//	          cannot start because its database is away
//	counts    the counts of runs are those of the list
//	log       no process logs an error, except that it was declared dead
//	doctor    blueprintd doctor --full finds nothing at the end
//
// The seed determines the faults and what the clients send. It repeats the plan of a test,
// not the timing of the machine.
//
// Exit code 1 means that an invariant was violated. The report lists the faults before it,
// and the logs are kept.
package main
