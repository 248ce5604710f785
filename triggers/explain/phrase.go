// Package explain describes in words why a trigger did or did not fire.
//
// Firing is about one row of the ledger: the delivery, the decision, and what to do
// next. For a refused signature it tries common mistakes. A Question is about a trigger,
// now or at an instant. The results contain no secret, no signature and no digest from
// which a signature could be derived.
package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
	"blueprintd/triggers"
	"blueprintd/triggers/signature"
)

// longest is the maximum length of an id or an error, in bytes.
const longest = 300

// phrase describes rows of the ledger.
type phrase struct {
	zone  *time.Location // of times, besides UTC
	waits bool           // whether the run waits for a slot
}

// row describes a firing in a sentence.
func (t phrase) row(row *blueprint.LedgerRow) string {
	f := &row.Firing
	subject := t.subject(f)
	if f.Why.Code == blueprint.ReasonBreaker {
		return "The server paused this trigger after " + numberOf(f.Why.Int("failures")) + " failed runs in a row."
	}
	switch f.Decision {
	case blueprint.DecisionStarted:
		return subject + " started " + t.run(row) + "."
	case blueprint.DecisionDuplicate:
		text := subject + " was repeated and started nothing"
		if row.Run != nil {
			text += ": its key had started " + t.run(row)
		}
		return text + "."
	case blueprint.DecisionCoalesced, blueprint.DecisionSkipped:
		if busy := f.Why.Text("executionId"); f.Source == blueprint.SourceSchedule && f.Why.Code == blueprint.ReasonLimit && busy != "" {
			return fmt.Sprintf("%s was skipped: config.concurrency.limit is %d and %s was still running.", subject, f.Why.Int("limit"), busy)
		}
		if f.Source == blueprint.SourceSchedule {
			return sentence(f.Reason)
		}
		return subject + " was skipped: " + stopped(f.Reason)
	}
	if f.Why.Code == blueprint.ReasonMany {
		return sentence(f.Reason)
	}
	return subject + " was refused, and nothing ran: " + stopped(f.Reason)
}

// subject names a firing by its source.
func (t phrase) subject(f *blueprint.Firing) string {
	id := ""
	if f.Key != f.ID {
		id = " with the id " + blueprint.Shorten(f.Key, longest)
	}
	switch f.Source {
	case blueprint.SourceSchedule:
		return "The tick of " + t.time(f.DueAt)
	case blueprint.SourceWebhook:
		return "A delivery" + id
	case blueprint.SourceAPI:
		return "A call" + id
	case blueprint.SourceEmail:
		return "A mail" + id
	case blueprint.SourceSlack:
		return "A message from Slack" + id
	case blueprint.SourceEvent:
		return "An event"
	case blueprint.SourceRedelivery:
		return "A redelivery"
	case blueprint.SourceManual:
		return "A manual firing"
	}
	return "A firing by " + string(f.Source) + id
}

// run describes the run of a row.
func (t phrase) run(row *blueprint.LedgerRow) string {
	if row.Run == nil {
		return "no run"
	}
	text := row.Run.ExecutionID
	switch row.Run.Status {
	case blueprint.StatusCompleted:
		return text + ", which completed"
	case blueprint.StatusFailed:
		text += ", which failed"
		if row.Run.Error != "" {
			text += ": " + strings.TrimSuffix(blueprint.Shorten(row.Run.Error, longest), ".")
		}
		return text
	case blueprint.StatusPaused:
		return text + ", which is paused and waits for an answer"
	case blueprint.StatusRunning:
		if t.waits {
			return text + ", which waits for a slot"
		}
		return text + ", which has not ended"
	}
	return text + ", whose record is no longer stored"
}

// time formats an instant in the zone and in UTC.
func (t phrase) time(at blueprint.Time) string {
	if at == 0 {
		return "no known time"
	}
	clock := "15:04:05"
	if at%60_000 == 0 {
		clock = "15:04"
	}
	utc := at.Time()
	if t.zone == nil || t.zone == time.UTC {
		return utc.Format("2006-01-02 " + clock + " UTC")
	}
	local := utc.In(t.zone)
	if local.YearDay() != utc.YearDay() {
		return local.Format("2006-01-02 "+clock+" MST") + utc.Format(" (2006-01-02 "+clock+" UTC)")
	}
	return local.Format("2006-01-02 "+clock+" MST") + utc.Format(" ("+clock+" UTC)")
}

// sentence starts a text with a capital letter and ends it with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + stopped(text[1:])
}

func stopped(text string) string {
	if text == "" {
		return "no reason is known."
	}
	return strings.TrimSuffix(text, ".") + "."
}

// occupied describes which run occupies the concurrency limit of a trigger, and what to
// do about that; "" if none waits and none is paused. Runs are the unfinished ones,
// oldest first, of which as many as the limit allows have begun.
func (t phrase) occupied(trigger *blueprint.Trigger, runs []blueprint.UnfinishedRun) (text, next string) {
	group := triggers.ConcurrencyOf(trigger)
	if group == nil || len(runs) < group.Limit {
		return "", ""
	}
	first := runs[0]
	if at := slices.IndexFunc(runs[:group.Limit], func(run blueprint.UnfinishedRun) bool { return run.Status == blueprint.StatusPaused }); at >= 0 {
		first = runs[at]
	}
	waiting := len(runs) - group.Limit
	if waiting == 0 && first.Status != blueprint.StatusPaused {
		return "", ""
	}
	text = fmt.Sprintf("config.concurrency allows %s at a time; ", counted(group.Limit, "run"))
	if first.Status == blueprint.StatusPaused {
		text += first.ExecutionID + " has been paused since " + t.time(first.UpdatedAt)
		next = "answer " + first.ExecutionID + " (execution.resume) or cancel it (execution.cancel)"
	} else {
		text += first.ExecutionID + " has been running since " + t.time(first.CreatedAt)
		next = "wait until " + first.ExecutionID + " has ended, or cancel it (execution.cancel); a higher config.concurrency.limit lets more run at once"
	}
	switch {
	case waiting == 1:
		text += " and 1 waits behind it"
	case waiting > 1:
		text += fmt.Sprintf(" and %d wait behind it", waiting)
	}
	return text, next
}

// blocked describes why an unfinished run waits or makes others wait; "" for neither.
func (t phrase) blocked(story *blueprint.FiringStory) (text, next string) {
	group := triggers.ConcurrencyOf(&story.Trigger)
	if story.Run == nil || story.Run.Status.Terminal() || group == nil {
		return "", ""
	}
	at := slices.IndexFunc(story.Unfinished, func(run blueprint.UnfinishedRun) bool { return run.ExecutionID == story.Run.ExecutionID })
	if at < 0 {
		return "", ""
	}
	text, next = t.occupied(&story.Trigger, story.Unfinished)
	if at < group.Limit && story.Run.Status != blueprint.StatusPaused {
		next = ""
	}
	return text, next
}

// waits reports whether a run waits for a slot, as far as known.
func waits(story *blueprint.FiringStory) bool {
	group := triggers.ConcurrencyOf(&story.Trigger)
	if story.Run == nil || group == nil || len(story.Unfinished) <= group.Limit {
		return false
	}
	return slices.ContainsFunc(story.Unfinished[group.Limit:], func(run blueprint.UnfinishedRun) bool { return run.ExecutionID == story.Run.ExecutionID })
}

// Firing explains the decision about a firing.
func Firing(story *blueprint.FiringStory, now time.Time) *blueprint.Explanation {
	firing := &story.Firing
	words, redaction := phrase{zone: zoneOf(&story.Trigger)}, newRedaction(story)
	out := &blueprint.Explanation{
		Firing: *firing, Delivery: shownDelivery(firing.Delivery, redaction), Facts: map[string]any{}, Run: story.Run,
		Redeliveries: append([]blueprint.Redelivery{}, story.Redeliveries...),
	}
	out.Firing.Delivery = nil
	if out.Delivery != nil && notReceived(firing) {
		out.Delivery.Kept = false
	}
	add := func(label, text string) {
		if text != "" {
			out.Details = append(out.Details, blueprint.Detail{Label: label, Text: redaction.Text(text)})
		}
	}
	summary := words
	summary.waits = waits(story)
	out.Summary = redaction.Text(summary.row(&blueprint.LedgerRow{Firing: *firing, Run: story.Run}))
	causes := diagnose(story, now)
	out.Next = redaction.Text((&advice{story, causes, words}).next())
	if text, _ := words.blocked(story); text != "" {
		add("limit", text)
	}
	add("received", words.time(firing.ReceivedAt))
	if firing.DueAt != 0 {
		add("due", words.time(firing.DueAt))
	}
	add("decision", string(firing.Decision)+": "+firing.Reason)
	if d := firing.Delivery; d != nil {
		for name, value := range d.Facts {
			out.Facts[name] = redaction.Value(value)
		}
		add("delivery", deliveryWords(firing))
		for _, fact := range []struct{ name, label string }{
			{signature.FactHeader, "signature header"}, {signature.FactForm, "its form"}, {signature.FactExpected, "expected form"}, {signature.FactTried, "secret tried"},
		} {
			value, noted := d.Facts[fact.name]
			if text := fmt.Sprint(value); noted && value != nil {
				add(fact.label, text)
			} else if noted {
				add(fact.label, "none was sent")
			}
		}
	}
	for _, cause := range causes {
		add("likely cause", cause.text)
	}
	if story.Tripped != nil {
		add("paused by", "the server, because "+story.Tripped.String())
	}
	return out
}

// deliveryWords describes the size and origin of a delivery, and where it is stored.
func deliveryWords(firing *blueprint.Firing) string {
	d := firing.Delivery
	text := fmt.Sprintf("a body of %d bytes", d.Size)
	if notReceived(firing) {
		text = "a mail, of which nothing was received,"
	}
	if d.From != "" {
		text += " from " + d.From
	}
	switch first := firing.RedeliveryOf(); {
	case first != "":
		return text + "; it is stored with firing " + first
	case notReceived(firing):
		return strings.TrimSuffix(text, ",")
	case !d.IsComplete():
		return text + ", which was not kept"
	}
	return text
}

// leastRedacted is the minimum length of a secret to redact, in bytes: shorter ones
// occur in any text by chance.
const leastRedacted = 6

// leastProof is the minimum length of a signature within a header.
const leastProof = 16

// newRedaction returns a masker for the secrets of a trigger, the signatures of a
// delivery and the secrets of an event, which senders may repeat in headers or body.
func newRedaction(story *blueprint.FiringStory) *secret.Masker {
	var hidden []any
	add := func(texts ...string) {
		for _, text := range texts {
			if len(text) >= leastRedacted {
				hidden = append(hidden, text)
			}
		}
	}
	for _, name := range blueprint.SecretTriggerConfig {
		secret, _ := story.Trigger.Config[name].(string)
		add(secret, strings.TrimSpace(secret), strings.TrimPrefix(secret, "whsec_"))
	}
	if d := story.Firing.Delivery; d != nil {
		add(d.Hidden...)
		for _, values := range d.Proof {
			for _, value := range values {
				add(value)
				for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,=", r) }) {
					if len(part) >= leastProof { // not a prefix or a time
						add(part)
					}
				}
			}
		}
	}
	return secret.NewMasker(hidden)
}

// sensitiveNames are parts of the names of headers with credentials.
var sensitiveNames = []string{"auth", "token", "secret", "password", "api-key", "apikey", "signature", "cookie", "session", "credential"}

// maxShownBody is the maximum length of a shown body, in bytes.
const maxShownBody = 16 << 10

// shownDelivery returns a redacted delivery.
func shownDelivery(d *blueprint.Delivery, v *secret.Masker) *blueprint.ShownDelivery {
	if d == nil {
		return nil
	}
	out := &blueprint.ShownDelivery{From: d.From, Size: d.Size, Kept: d.IsComplete(), Headers: make(map[string]string, len(d.Header))}
	for name, values := range d.Header {
		text := v.Text(strings.Join(values, ", "))
		if signature.IsProof(name) || signature.Confidential[name] || slices.ContainsFunc(sensitiveNames, func(part string) bool { return strings.Contains(name, part) }) {
			text = secret.Mask
		}
		out.Headers[name] = text
	}
	if d.Body == nil || !d.IsComplete() || !utf8.Valid(d.Body) {
		return out
	}
	// Redact before truncating, so that no part of a secret remains.
	text := v.Text(string(d.Body))
	whole := len(text)
	text = blueprint.Prefix(text, maxShownBody)
	out.Body, out.BodyTruncated = &text, len(text) < whole
	return out
}
