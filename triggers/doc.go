// Package triggers starts executions: by schedule, by webhook, by event, through
// the API and by hand.
//
// # The ledger
//
// Whatever activates a trigger ends as a row of the firing ledger that says what
// became of it and why:
//
//	started    a run was started; the row and the run are one transaction
//	duplicate  its key had started a run before
//	skipped    a filter or the catch-up rule left it out
//	coalesced  missed ticks for which a later one stands
//	refused    it was not allowed, or not valid
//
// A key is unique among a trigger's started rows, so one delivery or one tick
// starts at most one run. A refused delivery does not use up its key.
//
// What came is stored with the row that says what was decided about it, and
// with the run when it started one, in one transaction, before anybody is told.
// A sender that has an answer therefore finds its row after a crash, and one
// that had none yet, and whose delivery may have left no trace, is to send again.
// In "wait" mode without a delivery id, that transaction is made when the run
// ends or has worked for a second, whichever is first: a crash before it leaves
// neither row nor run, and the sender has no answer. A row that starts nothing
// is the exception when the disk is full: its sender is answered all the same,
// and the log says what the ledger lacks.
//
// # Redelivery
//
// Redeliver runs a firing again, whatever became of it, as a new row of source
// "redelivery" whose key is its own id. What came is stored with the first row
// and is judged anew, by the trigger's present config: a delivery that was
// refused for its signature runs once the secret is right. Times that were
// signed are held against when it came. A tick runs as that tick again, with a
// missedCount of 0.
//
// RedeliverSeveral does so with all rows of one kind, the oldest first, but for
// those that were run again already without failing. It works for one request of
// a trigger at a time. The key of such a row names the first and how many of its
// redeliveries failed, so a request that is repeated runs nothing twice.
//
// Explain says in words what became of a firing, and what usually makes a
// signature wrong: it tries what senders do with body, secret and digest, and
// names what would fit. No secret, signature or digest is in what it says.
//
// # Kinds
//
// A trigger type is an entry of the table in blueprint/trigger_kind.go, which holds
// its source, its route, its config keys and which of them are secrets, and one file
// of this package, kind_<name>.go: the struct of its config, whose tags make the
// check and the JSON Schema, and what judges a delivery; see Kind. A type that is
// called under a route of its own is mounted in server/routes.go and described in
// tests/describe/routes.go.
//
// # Webhooks
//
// Webhook checks a delivery in this order: the method (405), the trigger
// (404 when it does not exist, is of another type, is inactive, or its creator
// can no longer manage the blueprint; one answer for all), the size of the body
// (413), content type and encoding (415), the signature (401), the delivery id
// and the JSON (400). A trigger that does not exist is answered without a look
// at the body.
//
// With config.secret, at least one of these must be there, and all that are
// there must be right, each sent once:
//
//	X-Webhook-Signature, X-Signature, X-Hub-Signature-256
//	    hexadecimal HMAC-SHA256 of the body as it came, in any letter case, with
//	    or without "sha256=" before it
//	webhook-id, webhook-timestamp, webhook-signature
//	    Standard Webhooks: "v1," and base64, one or several; the key is the
//	    secret, or what the base64 after "whsec_" stands for; the timestamp may
//	    be five minutes from the clock
//
// Only Standard Webhooks signs a time. With the other three, somebody who
// recorded a delivery can send it again, and a delivery id keeps it from running
// twice only while nobody changes that id, which is not signed.
//
// The delivery id is the first of webhook-id, X-GitHub-Delivery and
// Idempotency-Key that is there; without one every delivery stands for itself.
// One that comes again is answered 200 with the ids of the first.
//
// With config.preset, which needs config.secret, the one scheme of a service
// must be there and right, others are not looked at, and the id is where that
// service has it:
//
//	github    X-Hub-Signature-256; X-GitHub-Delivery
//	stripe    Stripe-Signature: "t=" and one or several "v1=", over the time, a
//	          dot and the body; the body's id
//	slack     X-Slack-Signature: "v0=", over "v0:", X-Slack-Request-Timestamp, a
//	          colon and the body; the body's event_id
//	standard  Standard Webhooks; webhook-id
//
// The times of the last three may be five minutes from the clock. A new scheme
// is an entry in the table of presets (signature/scheme.go) and a function that takes its header
// apart.
//
// Beside config.secret the one before it, config.previousSecret, is good until
// config.previousSecretUntil by the clock; Rotate makes the change. The reason
// in the ledger says which of the two proved a delivery. When none did, the
// delivery's facts say what its signature looked like, without a word of it.
//
// A delivery is acknowledged (202) when the run is on the disk. With
// config.respond "wait" the answer is that of the first respond node, or else
// the run's output (200) or error (500); 202 when the run pauses or takes longer
// than Options.SyncTimeout. It goes on then, as it does when the caller leaves.
//
// A run sees the body as inputData and the headers, but for what proves who the
// sender is, as trigger.headers.
//
// Rows of refused deliveries cost their sender nothing, so a trigger has 1,000
// of them to spare and gets ten back in a minute; what comes beyond is counted,
// and one row a minute tells how many there were and why the last was refused.
//
// # Slack
//
// Slack serves the Events API: the same checks in the same order, with
// config.signingSecret and Slack's scheme. A run sees {"eventId", "eventType",
// "channel", "user", "text", "ts", "threadTs", "teamId", "raw"}, null where an
// event has none; the channel of a reaction is that of its item. The key is the
// event's id. An event is answered 200 as soon as its run is on the disk.
//
// config.eventType lets one type through, by the event's own name or, for
// messages, by that of the subscription, such as message.channels. config.channel
// is the id of a channel, or the name of one that the bot of
// config.connectionId can see; Options.Channels is asked by the right of who
// made the trigger. Whatever a filter leaves out, or is no event, is answered 200
// and has a skipped row; so has the challenge by which Slack tries an address
// out, which is answered for an active trigger once it is signed right.
//
// When nothing can be started for a reason that may pass, or a channel's name
// cannot be known, the answer is 503 (429 when there is too much of it) with
// Retry-After, and Slack sends the event again. It is told not to when no other
// try could end better. Forms, which slash commands and buttons send, are
// answered 415.
//
// # Mail
//
// Mailbox and ReceiveMail decide about mail for the addresses of email triggers;
// who speaks SMTP calls them. A mail has the Message-ID for its key, so one that
// comes again starts nothing; without one it stands for itself. Since everybody
// can write any Message-ID, a mail of the same with another author or body, and
// no domain that answers for both, is another mail: its key says what is in it,
// "<id> sha256:0123456789abcdef". In this order:
// a trigger that does not exist, is inactive, or whose creator lost access has
// no mailbox; a key that has started a run is a duplicate; config.allowFrom and
// config.requireAuth leave out what does not match (skipped, and the sender hears
// nothing of it); what is too much for one trigger (mailBurst) may come again; a
// blueprint that cannot run refuses for good.
//
// allowFrom holds the From header against addresses and @domains. Everybody can
// write there what they like, so alone it keeps out mistakes and not people.
// requireAuth does: the author's domain must answer for the mail, by DMARC or,
// where it publishes no record, by an aligned SPF or DKIM. For a mail that has
// a header twice that it may have once, such as Subject, nobody answers: which of
// them was signed, nobody can tell. When the DNS does not answer, the sender is
// asked to come again.
//
// A run sees the mail as inputData. What is absent is "" there; without a Date
// that can be read it is when the mail came. The first value of
// headers["authentication-results"] is this server's own report, and none of the
// others speaks in its name.
//
// # Events
//
// Every active event trigger of the same organization whose config.event is the
// name of an event starts its blueprint. The key of the firing is that of the
// event, so one that is raised or told again, as after a crash, starts nothing
// twice. Rows are skipped when the event is of another blueprint than
// config.blueprintId, or is custom or of an execution and of the listening
// blueprint itself; these do not keep what came. Rows are refused when more than
// blueprint.MaxEventDepth events led to it, each caused by the one before, or when
// the first of these has led to blueprint.MaxEventRuns runs through events: of
// that each trigger has one row, and what comes after it starts nothing without a
// row. How many there were is not known to the next server; the depth is.
// Triggers that are not active, or that listen
// to another name, have no row.
//
// The service's own events are written into the outbox of the store in the
// transaction that makes them true:
//
//	execution.completed   data {"status", "triggerId"?, "output"}; an output of
//	                      more than 64 KiB of JSON is null, and "outputTooLarge" true
//	execution.failed      data {"status", "triggerId"?, "error": {"nodeId", "message", "code"?}}
//	execution.paused      data {"status", "triggerId"?, "awaitingInput": {"kind", "nodeId", "prompt"}}
//	blueprint.created, blueprint.updated, blueprint.published
//	                      data {"title", "version", "status"}
//	trigger.missed        a tick was due, and no run was started for it
//
// Runs that another run waits for raise none of the first three: the end of that
// one tells. Run empties the outbox, each organization's oldest event first;
// organizations take turns. An event leaves it once everybody who listens has a
// row; whoever cannot be told for a reason that may pass is told again, five
// seconds later at first, then less and less often down to once in five minutes,
// without a row for that and without keeping the other events waiting. What only
// one trigger lacks, as room among its waiting runs, is waited for by at most 100
// events for it, 1,000 in its organization, and for 10 minutes; the row of one
// beyond that is refused, and redeliver runs it. When a server dies between a run
// and the deletion of its event, the next one tells again, and the row says
// duplicate.
//
// Emit raises an event that a blueprint made up, custom.<name>, and tells of it
// at once: the node that raises it has a key of its own, and is repeated.
//
// A run sees {"event", "at", "blueprintId", "executionId", "data"} as inputData.
//
// # Triggers that the server switches off
//
// When the last 20 runs of a trigger all failed, the server switches it off, in
// the transaction of the last one, with a row of the ledger that says so and a
// warning in the log. Runs that were cancelled, fired by hand or redelivered do
// not count when they fail; any that completes makes the count begin anew. With
// config.breaker false it never happens. Who turns the trigger on again begins
// with a count of none. A delivery meanwhile is refused with the reason.
//
// Strangers can make the runs of a webhook without a secret fail, and those of a
// mailbox whose senders need not be on a list and prove it. So that they cannot
// keep others out, senders are told to come again (503, 451), and the first
// delivery after 15 minutes switches such a trigger on: one more failure switches
// it off again, a run that completes makes the count begin anew. When somebody
// switched it off, it stays off.
//
// # Schedules
//
// Run is one loop with one timer, set to the nearest tick of all active
// schedules. Finding it, and reading one schedule that was changed, costs the
// same however many others there are. A schedule has a cursor: every tick up to it is decided. The cursor
// moves in the transaction that decides the next ticks, so none is lost and none
// decided twice, whenever the server stops and whichever way the clock is set;
// the key of a tick is its instant.
//
// A tick was missed when the server was not up at its instant, when the clock
// jumped over it, or when a minute has passed since. How far a clock jumped is
// known, but only to half a minute when: a tick that may have been due just after
// it counts as met. Where a clock is set back, what was decided stays so. Of
// missed ticks,
// config.catchUp says what becomes:
//
//	latest  the last one runs; one coalesced row for the others, whose number
//	        is the run's missedCount
//	all     each of the last 100 runs, the oldest first; one coalesced row for
//	        those before, whose number is the missedCount of the oldest run
//	none    none runs; one skipped row for all of them
//
// A tick that cannot be started because the queue or the disk is full is tried
// again; once a minute has passed it counts as missed.
//
// Of the ticks for which no run was started on time one event trigger.missed
// tells, in the transaction of the first decision about them: one for a whole
// outage. Its data:
//
//	triggerId   of the schedule
//	missed      how many ticks it tells of, those that run late among them
//	firstDueAt  the first and the last of them
//	lastDueAt
//	decision    of the first of them; of each the ledger tells
//	            coalesced  a run stands for them, perhaps late itself
//	            late       its run was started late
//	            skipped    catchUp, or the trigger's limit, left it out
//	            refused    it was not allowed, or the blueprint cannot run
//	            overdue    nothing is decided yet: the watchdog's
//	            paused     the server switched the schedule off, for its runs keep
//	                       failing: missed is 0, and both instants are null
//	reason      in words
//
// A watchdog looks after all this, by what is on the disk and not by what the
// scheduler believes: at all schedules every quarter of an hour, and within half
// a minute when something seems wrong. A tick that was due more than two minutes
// ago and is not decided, at two looks in a row, is overdue: that is logged,
// counted in Stats and raised, once for each tick; what becomes of the tick in
// the end is raised as well. A schedule whose config cannot be read any more
// stays among the overdue ones; it is raised once after each start, with missed 0
// and null for both instants.
//
// Everything that is due at one instant of a virtual clock is decided, and its
// runs are on the disk, before the clock moves on.
package triggers
