// Torture checks the promises about crashes on the real program. It starts the
// server on a database file, loads it with runs of every kind, kills it with
// SIGKILL at random moments, including startup and recovery, and restarts it on
// the same file. Now and then it stops it with SIGTERM instead. Clients record
// exactly what was acknowledged to them. The ledger, a separate process that is
// never killed, records every effect of a run. At the end both records are
// compared with what the server says.
//
//	go run ./tests/crash -kills 100 -seed 1
//	go run ./tests/crash -selftest
//
// The load consists of webhooks that are answered at once or at the end of their
// run, logged, synchronous and fired runs, waits, questions to users and their
// answers, cancellations, retries, repeated deliveries, a blueprint that changes
// while its runs are in progress, and subscribers. External senders make
// deliveries that are signed in several ways, some of them wrongly, while the
// secrets are rotated; they also send Slack events, and mail with attachments.
// They repeat each delivery until it is answered. Firings are redelivered,
// blueprints subscribe to the ends of runs and to changes, and two triggers limit
// their simultaneous runs. Nodes of every type iterate over items, start other
// runs, publish events that start runs, run scripts, and call services through
// connections: with a token, with OAuth tokens that expire after two seconds, a
// language model, an MCP server, a mail server, Slack. The process of the ledger
// hosts all these services, and some echo the credentials that they received. The
// secret of one connection is changed repeatedly. A dashboard user signs in from
// several browsers, with changing passwords and with links from a command, and
// creates, changes and deletes objects. Now and then a second server is started
// on the database.
//
// Three quarters of the kills hit a server with the real clock. The others hit one
// with a virtual clock, which fires schedules and jumps back or ahead between
// starts.
//
// The invariants, by the names that a report uses:
//
//	I1   whatever was acknowledged (a run, an answer, a cancellation) exists
//	I2   every run ends, or waits for a user who did not answer
//	I3   no node starts before its predecessors have ended
//	I4   a finished step never runs again; a call is repeated only after a kill
//	     or a failure, and that of a "once" node only when a user decides so; the
//	     same holds within items, and for mail, posts, tool calls and each
//	     request of a prompt. A repetition has the same idempotency key
//	I5   a finished run never changes
//	I6   progress never falls, and is 100 exactly in a completed run
//	I7   one delivery, email, key, tick, event or acknowledged redelivery starts
//	     one run. A delivery starts none if it is signed wrongly, if a filter
//	     skips it or if its key was used with another body
//	I8   the counts of a record are those of its steps
//	I9   the database passes integrity_check and foreign_key_check
//	I10  the server did work of every kind throughout the test
//	I11  a run stays on the version of its blueprint with which it began
//	I12  the events of a subscription agree with the status before and after
//	I13  connections exist and work after every start, as acknowledged;
//	     credentials reach only the service that they are for, also after a
//	     redirect; no response, stream, log line or database contains a
//	     readable secret
//	I14  a sub-run ends and belongs to one step of its parent, which gets its
//	     output
//	I15  every answered delivery, also a refused or skipped one, has a row in the
//	     ledger of its trigger with the exact bytes received, and attachments
//	     read back as they were sent
//	I16  a trigger never has more simultaneous runs than its limit; queued runs
//	     get their turn, and the newest is never displaced
//	I17  each acknowledged change has one line in the audit log, with action,
//	     target, actor and channel. Of an unacknowledged change, either both the
//	     change and its line exist or neither, and no line is about a change that
//	     was never requested. Lines about runs are written late: one may be
//	     missing if its response came within a second before a kill and no later
//	     request was acknowledged before the kill
//	I18  the hourly counts of completed and failed runs of each blueprint and
//	     organization are correct
//	I19  a session stays valid; one that was ended, or whose password has changed,
//	     never works again, nor does a used link
//	up   every uninterrupted start becomes ready without an error in the log, and
//	     a second server on the same database is refused
//
// The seed determines the load, the moments of the kills and the behaviors of the
// ledger. It repeats the plan of a test, not the timing of the machine.
//
// With -selftest the test is tested: the server is built with mutants (see package
// mutant), and each must be caught within some kills by an invariant that it
// breaks. A server without a mutant must pass. One mutant shows only at a power
// cut, which tests/faults makes.
//
// Exit code 1 means that an invariant was violated. The database and the logs of
// the server and the ledger are then kept, and the report says where.
package main
