package triggers

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// teller says rows of the ledger in words.
type teller struct {
	zone *time.Location // in which times are said, beside UTC
}

// row says in a sentence what became of a firing.
func (t teller) row(row *blueprint.LedgerRow) string {
	f := &row.Firing
	subject := t.subject(f)
	if _, failures, ok := tripped(f); ok {
		return "The server switched this trigger off, after " + failures + " failed runs in a row."
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
		if f.Source == blueprint.SourceSchedule && isLimit(f.Reason) {
			return subject + " was left out: " + limitWords(f.Reason)
		}
		if f.Source == blueprint.SourceSchedule {
			return sentence(f.Reason)
		}
		return subject + " was left out: " + stopped(f.Reason)
	}
	if many.MatchString(f.Reason) {
		return sentence(f.Reason)
	}
	return subject + " was refused, and nothing ran: " + stopped(f.Reason)
}

// subject says what a firing was.
func (t teller) subject(f *blueprint.Firing) string {
	id := ""
	if f.Key != f.ID {
		id = " with the id " + shorten(f.Key)
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

// many begins the reason of a row that stands for several.
var many = regexp.MustCompile(`^\d+ more deliveries `)

// notEnded is said of a run that goes on.
const notEnded = ", which has not ended"

// limitWords tells of a limit that left no room, with the run that took it when
// the reason names one.
func limitWords(reason string) string {
	limit, _, _ := strings.Cut(reason, ",")
	if busy := runID.FindString(reason); busy != "" && strings.HasPrefix(reason, blueprint.LimitReason) {
		return limit + " and " + busy + " was still running."
	}
	return stopped(reason)
}

// run names the run of a row and says what became of it.
func (t teller) run(row *blueprint.LedgerRow) string {
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
			text += ": " + strings.TrimSuffix(shorten(row.Run.Error), ".")
		}
		return text
	case blueprint.StatusPaused:
		return text + ", which is paused until somebody answers"
	case blueprint.StatusRunning:
		return text + notEnded
	}
	return text + ", whose record is no longer stored"
}

// time writes an instant in the zone, and in UTC behind it.
func (t teller) time(at blueprint.Time) string {
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

// inWords writes a length of time for people, to the second.
func inWords(d time.Duration) string {
	seconds := int(d.Abs().Round(time.Second) / time.Second)
	h, m, s := seconds/3600, seconds/60%60, seconds%60
	switch {
	case h == 0 && m == 0:
		return counted(s, "second")
	case h == 0 && s == 0:
		return counted(m, "minute")
	case h == 0:
		return fmt.Sprintf("%d min %d s", m, s)
	case m == 0 && s == 0 && h%24 == 0:
		return counted(h/24, "day")
	case h >= 24:
		return fmt.Sprintf("%s %d h", counted(h/24, "day"), h%24)
	case m == 0 && s == 0:
		return counted(h, "hour")
	}
	return fmt.Sprintf("%d h %d min", h, m)
}

// stopped ends a text with a stop.
func stopped(text string) string {
	if text == "" {
		return "no reason is known."
	}
	return strings.TrimSuffix(text, ".") + "."
}
