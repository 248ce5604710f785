package explain

import (
	"fmt"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// longest is how many bytes of an id or of an error are said.
const longest = 300

// phrase says rows of the ledger in words.
type phrase struct {
	zone  *time.Location // in which times are said, beside UTC
	waits bool           // the run of the row waits for its turn
}

// row says in a sentence what became of a firing.
func (t phrase) row(row *blueprint.LedgerRow) string {
	f := &row.Firing
	subject := t.subject(f)
	if f.Why.Code == blueprint.ReasonBreaker {
		return "The server switched this trigger off, after " + numberOf(f.Why.Int("failures")) + " failed runs in a row."
	}
	switch f.Decision {
	case blueprint.DecisionStarted:
		return subject + " started " + t.run(row) + "."
	case blueprint.DecisionDuplicate:
		text := subject + " came again and started nothing"
		if row.Run != nil {
			text += ": its key had started " + t.run(row)
		}
		return text + "."
	case blueprint.DecisionCoalesced, blueprint.DecisionSkipped:
		if busy := f.Why.Text("executionId"); f.Source == blueprint.SourceSchedule && f.Why.Code == blueprint.ReasonLimit && busy != "" {
			return fmt.Sprintf("%s was left out: config.concurrency.limit is %d and %s was still running.", subject, f.Why.Int("limit"), busy)
		}
		if f.Source == blueprint.SourceSchedule {
			return sentence(f.Reason)
		}
		return subject + " was left out: " + stopped(f.Reason)
	}
	if f.Why.Code == blueprint.ReasonMany {
		return sentence(f.Reason)
	}
	return subject + " was refused, and nothing ran: " + stopped(f.Reason)
}

// subject says what a firing was.
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
	}
	return "A firing by hand"
}

// run names the run of a row and says what became of it.
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
		return text + ", which is paused until somebody answers"
	case blueprint.StatusRunning:
		if t.waits {
			return text + ", which waits for its turn"
		}
		return text + ", which has not ended"
	}
	return text + ", whose record is no longer stored"
}

// time writes an instant in the zone, and in UTC behind it.
func (t phrase) time(at blueprint.Time) string {
	if at == 0 {
		return "no known time"
	}
	clock := "15:04:05"
	if at%60_000 == 0 {
		clock = "15:04"
	}
	world := at.Time()
	if t.zone == nil || t.zone == time.UTC {
		return world.Format("2006-01-02 " + clock + " UTC")
	}
	local := world.In(t.zone)
	if local.YearDay() != world.YearDay() {
		return local.Format("2006-01-02 "+clock+" MST") + world.Format(" (2006-01-02 "+clock+" UTC)")
	}
	return local.Format("2006-01-02 "+clock+" MST") + world.Format(" ("+clock+" UTC)")
}

// sentence begins a text with a capital and ends it with a stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + stopped(text[1:])
}

// stopped ends a text with a stop.
func stopped(text string) string {
	if text == "" {
		return "no reason is known."
	}
	return strings.TrimSuffix(text, ".") + "."
}
