// Package triggers starts executions: by schedule, webhook, mail, Slack event, event of the
// server, API call, and manually.
//
// # The ledger
//
// Every activation of a trigger becomes a row of the firing ledger with a decision and
// a reason:
//
//	started    a run was started; the row and the run are one transaction
//	duplicate  the key has already started a run
//	skipped    a filter or the catch-up rule skipped it
//	coalesced  missed ticks that a later one covers
//	refused    it was not allowed or not valid
//
// A key is unique among a trigger's started rows, so a delivery or a tick starts at most
// one run. A refused delivery does not use its key.
//
// The delivery is stored with the row, and with the run if there is one, in one
// transaction before the sender is answered. After a crash, a sender with a response
// finds its row; without a response, it must send again. In "wait" mode without a
// delivery id, that transaction is made when the run ends or after a second, whichever
// is first. As an exception, rows that start nothing are lost when the disk is full,
// which is logged.
//
// # Redelivery
//
// Redeliver runs a firing again, whatever its decision, as a new row of source
// "redelivery". The stored delivery is judged again by the current config, so one that
// was refused for its signature runs once the secret is right. Signed times are
// compared with the time of the original. A tick runs with a missedCount of 0.
//
// RedeliverSeveral redelivers all selected rows, oldest first, except those that were
// redelivered without failing. It serves one request per trigger at a time. The key of
// such a row is derived from the original and the number of failed redeliveries, so a
// repeated request runs nothing twice.
//
// # Kinds
//
// A trigger type has an entry in blueprint/trigger_kind.go, with its source, path,
// config keys and secrets, and a file kind_<name>.go in this package, with the struct
// of its config, its rules and, if it has a path, its Endpoint; see Kind. The server
// mounts and documents the endpoints of Kinds.
//
// # Webhooks
//
// A delivery is checked in this order: method (405), trigger (404 if it does not
// exist, is of another type, is inactive, or its creator can no longer manage the
// blueprint), size of the body (413), content type and encoding (415), signature
// (401), delivery id and JSON (400). For an unknown trigger, the body is not read.
//
// With config.secret, at least one of these must be present, each at most once, and
// all that are present must be valid:
//
//	X-Webhook-Signature, X-Signature, X-Hub-Signature-256
//	    hexadecimal HMAC-SHA256 of the body, in any letter case, with or without the
//	    prefix "sha256="
//	webhook-id, webhook-timestamp, webhook-signature
//	    Standard Webhooks: one or several of "v1," and base64; the key is the secret,
//	    decoded if it is base64 after "whsec_"; the timestamp may differ from the clock
//	    by five minutes
//
// Only Standard Webhooks signs a time. With the others, a recorded delivery can be
// replayed with another delivery id, which is not signed.
//
// The delivery id is the first of webhook-id, X-GitHub-Delivery and Idempotency-Key
// that is present. A repeated one is answered with 200 and the first ids.
//
// With config.preset, which requires config.secret, the scheme of one service must be
// present and valid, and the id is where that service puts it:
//
//	github    X-Hub-Signature-256; X-GitHub-Delivery
//	stripe    Stripe-Signature: "t=" and one or several "v1=", over the time, a dot and
//	          the body; the body's id
//	slack     X-Slack-Signature: "v0=", over "v0:", X-Slack-Request-Timestamp, a colon
//	          and the body; the body's event_id
//	standard  Standard Webhooks; webhook-id
//
// The times of the last three may differ from the clock by five minutes. A new scheme
// is an entry of the presets in signature/signature.go.
//
// config.previousSecret is valid until config.previousSecretUntil; see Rotate. The
// reason in the ledger names the secret that verified a delivery. If none did, the
// facts of the delivery describe the form of its signature, not its value.
//
// A delivery is answered with 202 when the run is durable. With config.respond "wait"
// the response is that of the first respond node, or else the run's output (200) or
// error (500); 202 if the run pauses or takes longer than Options.SyncTimeout.
//
// A run receives the body as inputData and the headers, except signatures, as
// trigger.headers.
//
// Rows of refused deliveries are limited to 1,000 per trigger and ten more per minute.
// One row per minute counts the rest, with the reason of the last.
//
// # Slack
//
// The Slack endpoint serves the Events API with the same checks, config.signingSecret
// and Slack's scheme. A run receives {"eventId", "eventType", "channel", "user",
// "text", "ts", "threadTs", "teamId", "raw"}, null where an event has none; the channel
// of a reaction is that of its item. The key is the event's id. An event is answered
// with 200 when its run is durable.
//
// config.eventType selects one type, by the event's own name or by that of a message
// subscription, such as message.channels. config.channel is the id of a channel, or a
// name that the bot of config.connectionId can look up, with the permissions of the
// trigger's creator. Skipped and other requests are answered with 200, as is the signed
// challenge with which Slack verifies the address of an active trigger.
//
// For temporary failures, including the lookup of a channel's name, the response is 503
// or 429 with Retry-After, and Slack retries. X-Slack-No-Retry prevents retries that
// cannot succeed. Forms, which slash commands and buttons send, are answered with 415.
//
// # Mail
//
// Mailbox, ReceiveMail and RefuseMail implement mail.Receiver. The key of a mail is its
// Message-ID; a mail without one is never a duplicate. A mail with a known Message-ID but
// another author or body, which the same domain did not authenticate, is not a duplicate
// either; its key is "<id> sha256:0123456789abcdef". The checks, in order: an unknown or
// inactive trigger, or one whose creator lost access, has no mailbox; a key that has
// started a run is a duplicate; config.allowFrom and config.requireAuth skip mails that do
// not match, without an error for the sender; beyond mailBurst the sender must retry; if
// the blueprint cannot run, the mail is refused permanently.
//
// allowFrom compares the From header with addresses and @domains. Because that header can
// be forged, only requireAuth excludes others: the author's domain must pass DMARC or,
// without a record, have an aligned SPF or DKIM result. A mail that repeats a header such
// as Subject never passes. If the DNS fails, the sender must retry.
//
// A run receives the mail as inputData. Absent fields are ""; without a valid Date it
// is the time of receipt. The first value of headers["authentication-results"] is this
// server's; others that use its name are removed.
//
// # Events
//
// Every active event trigger of an organization whose config.event is the name of an
// event starts its blueprint. The key is that of the event, so an event that is
// delivered again starts nothing twice. A row is skipped if the event is of another
// blueprint than config.blueprintId, or is custom or of an execution and of the
// subscribed blueprint itself. It is refused if more than blueprint.MaxEventDepth
// events led to it, or if the first of them has led to blueprint.MaxEventRuns runs,
// which is recorded once per trigger. A restart resets the number of runs, but not the
// depth. Triggers that are inactive or subscribed to another event have no row.
//
// Service events are written to the outbox in the transaction that causes them:
//
//	execution.completed   data {"status", "triggerId"?, "output"}; an output of
//	                      more than 64 KiB of JSON is null, and "outputTooLarge" true
//	execution.failed      data {"status", "triggerId"?, "error": {"nodeId", "message", "code"?}}
//	execution.paused      data {"status", "triggerId"?, "awaitingInput": {"kind", "nodeId", "prompt"}}
//	blueprint.created, blueprint.updated, blueprint.published
//	                      data {"title", "version", "status"}
//	trigger.missed        a tick was due, and no run was started for it
//
// Runs that another run waits for publish none of the first three. Run delivers the events
// of the outbox, oldest first, in turns between organizations. An event is deleted once
// every subscribed trigger has a row. Temporary failures leave no row and do not block
// other events; delivery is retried, first after five seconds and later every five minutes.
// If a trigger itself is overloaded, 100 events of it and 1,000 of its organization wait
// for up to ten minutes; others are refused and can be redelivered. If a server stops
// before an event is deleted, the next one delivers it again, and the rows are duplicates.
//
// Emit publishes a custom event, custom.<name>, immediately; the node that emits it
// has a key of its own and is repeated.
//
// A run receives {"event", "at", "blueprintId", "executionId", "data"} as inputData.
//
// # The breaker
//
// When the last 20 runs of a trigger failed, the server switches it off, in the
// transaction of the last one, with a row of the ledger and a warning in the log.
// Failures of cancelled, manual and redelivered runs do not count; any completed run
// resets the count, as does switching the trigger on. config.breaker false disables
// this. Deliveries to a trigger that is off are refused with the reason.
//
// Strangers can cause failures of a webhook without a secret, and of a mailbox without
// allowFrom and requireAuth. So that they cannot disable it permanently, senders are asked
// to retry (503, 451), and the first delivery after 15 minutes switches the trigger on: one
// more failure switches it off again, a completed run resets the count. If a user switched
// it off, it stays off.
//
// # Schedules
//
// Run is a loop with one timer, set to the nearest tick of all active schedules. All
// ticks up to a schedule's cursor are decided. The cursor advances in the transaction
// that decides the next ticks, so none is lost or decided twice, whenever the server
// stops and however the clock is set. The key of a tick is its instant.
//
// A tick was missed if the server was not up at its instant, if the clock jumped over it,
// or if a minute has passed since. The time of a jump is known only to within half a
// minute, and ticks within that time count as on time. config.catchUp decides about missed
// ticks:
//
//	latest  the last one runs; one coalesced row for the others, whose number is the
//	        run's missedCount
//	all     each of the last 100 runs, oldest first; one coalesced row for the others,
//	        whose number is the missedCount of the oldest run
//	none    none runs; one skipped row for all of them
//
// A tick that cannot start because the queue or the disk is full is retried; after a
// minute it counts as missed.
//
// One trigger.missed event reports all ticks of an outage, in the transaction of the
// first decision about them. Its data:
//
//	triggerId   of the schedule
//	missed      number of ticks, including those that run late
//	firstDueAt  the first and the last of them
//	lastDueAt
//	decision    of the first of them; the ledger has the others
//	            coalesced  a run covers them, perhaps late itself
//	            late       its run started late
//	            skipped    by catchUp or the trigger's limit
//	            refused    it was not allowed, or the blueprint cannot run
//	            overdue    not decided yet; published by the watchdog
//	            paused     the breaker switched the schedule off: missed is 0, and both
//	                       instants are null
//	reason      in words
//
// A watchdog checks by the content of the store that ticks are decided, every quarter
// of an hour and within half a minute if something seems wrong. A tick that was due
// more than two minutes ago and is undecided in two successive checks is overdue: that
// is logged, counted in Stats and published, once per tick, as is its later decision. A
// schedule with an invalid config stays overdue; it is published once per start, with
// missed 0 and null for both instants.
//
// With a virtual clock, everything that is due at an instant is decided and durable
// before the clock advances.
package triggers
