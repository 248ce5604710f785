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
// # Events
//
// Emit raises an event: every active event trigger of the same organization with
// that name as config.event starts its blueprint. The key of the firing is that
// of the event, so one that is raised again, as after a crash, starts nothing
// twice. Rows are skipped when the event is of the listening blueprint itself,
// or of another one than config.blueprintId, and refused when more than
// blueprint.MaxEventDepth events led to it, each caused by the one before.
// Triggers that are not active, or that listen to another name, have no row.
//
// A run sees {"event", "at", "blueprintId", "executionId", "data"} as inputData.
// Only custom.<name> is raised so far, so a trigger for another name is refused.
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
// jumped over it, or when a minute has passed since. Of missed ticks,
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
// Everything that is due at one instant of a virtual clock is decided, and its
// runs are on the disk, before the clock moves on.
package triggers
