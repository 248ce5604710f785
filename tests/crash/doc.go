// Torture proves the promises about crashes on the real program. It starts the
// server on a database file, loads it with runs of every kind, kills it with
// SIGKILL at random moments, also while it starts and while it takes up what
// the last process left, and starts it again on the same file. Now and then it
// asks it to end instead. Clients remember exactly what was acknowledged to
// them; a ledger in a process of its own, which is never killed, remembers
// every effect that a run had. At the end the two memories are held against
// what the server says.
//
//	go run ./tests/crash -kills 100 -seed 1
//	go run ./tests/crash -selftest
//
// The load: webhooks that answer at once and at the end, runs that are logged,
// synchronous or fired, waits, questions to people and their answers,
// cancellations, retries, deliveries that come again, a blueprint that changes
// while runs of it are under way, and subscribers. From outside come deliveries
// that are signed in several ways, with secrets that are replaced meanwhile, some
// of them wrongly; events of Slack; and letters with attachments. Their senders
// send each again until it is answered. Somebody has firings delivered again,
// blueprints listen to the ends of runs and to changes, and two triggers have a
// limit to how many of their runs may go on at once. Nodes of every type go over
// items, start other runs, raise events that start runs, run scripts, and reach
// services through connections: with a token, with tokens of OAuth that expire
// after two seconds, a language model, an MCP server, a mail server, Slack. All of
// these are in the process of the ledger, and some repeat the credentials that
// they were shown. One connection gets another secret again and again. A visitor
// signs in to the dashboard in several browsers, with passwords that change and
// links that a command makes, and makes, changes and deletes things there. Now and
// then somebody starts a second server on the database.
//
// Three quarters of the kills hit a server under the real clock, the others one
// under a virtual clock that fires schedules, and that steps back or leaps
// ahead from start to start.
//
// The invariants, by the names that a report uses:
//
//	I1   what was acknowledged (a run, an answer, a cancellation) is there
//	I2   every run ends, or waits for a person who did not answer
//	I3   no node starts before those that it follows have ended
//	I4   a finished step never runs again; a call is repeated only after a kill
//	     or a failure, and that of a "once" node only when somebody says so; the
//	     same holds within items, and for letters, posts, tool calls and each
//	     question of a prompt. What is repeated comes under the same key
//	I5   a finished run never changes
//	I6   progress never falls, and is 100 exactly in a completed run
//	I7   one delivery, letter, key, tick, event or acknowledged redelivery starts
//	     one run, and nothing else does: none that is signed wrongly, that a
//	     filter leaves out, or whose key was used with another body
//	I8   the counts of a record are those of its steps
//	I9   the database passes integrity_check and foreign_key_check
//	I10  the server did real work of every kind all the while
//	I11  a run stays on the version of its blueprint with which it began
//	I12  what a subscriber is told agrees with the status, before and after
//	I13  connections are there after every start, as they were acknowledged, and
//	     work; credentials come to the service that they are for, and to nobody
//	     else, also by no redirect; no answer, stream, log line or
//	     database holds a secret that can be read
//	I14  a run that another one started belongs to one step of that, which gets
//	     its output, and ends
//	I15  what was answered has its row in the ledger of its trigger, also what
//	     was refused or left out; what came is known to the byte, and attachments
//	     can be read as they were sent
//	I16  no more runs of a trigger go on at once than its limit allows; who waits
//	     for others gets his turn, and the newest never makes room
//	I17  each acknowledged change has one line in the audit log, which says what
//	     was done to what, by whom and which way; of what was not acknowledged
//	     change and line are both there or neither, and no line is about what
//	     never was. A line about a run is written behind it: one may be missing
//	     whose answer came within a second before a kill, if nothing that was
//	     sent after it was acknowledged before the kill
//	I18  in each hour as many runs of each blueprint and organization are counted
//	     as completed and failed as ended so
//	I19  who is signed in stays so; a session that has ended, or whose password
//	     has changed, never works again, nor does a link that was used
//	up   every start that was not cut off becomes ready, without an error
//	     logged, and a second server on the same database is refused
//
// The seed decides the load, the moments of the kills and the moods of the
// ledger. It repeats the plan of a test, not the timing of the machine.
//
// A test that finds nothing proves something only if it would find what is
// there. With -selftest the server is built with bugs in it (see package
// mutant), and each must be found, by an invariant that it breaks, within some
// kills; a server without a bug must pass. One of them shows only at a power
// cut, which tests/faults makes.
//
// Exit code 1 means that an invariant was violated; the database, the logs of
// the server and the ledger are then kept, and the report says where.
package main
