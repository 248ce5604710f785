package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers"
)

// Answer describes what happened to a trigger and why. It contains no secrets.
type Answer struct {
	Trigger About `json:"trigger"`
	// At is the instant of the question, zero for the present.
	At blueprint.Time `json:"at"`
	// Words are sentences, one fact each.
	Words []string `json:"words"`
	// Rows are the ledger rows that the sentences describe.
	Rows []Row `json:"rows"`
	// Ticks are the next ticks of an active schedule.
	Ticks []blueprint.Time `json:"ticks,omitempty"`
	// Next is the next step, "" for none.
	Next string `json:"next"`
}

// About identifies a trigger.
type About struct {
	ID             string                `json:"id"`
	Type           blueprint.TriggerType `json:"triggerType"`
	BlueprintID    string                `json:"blueprintId"`
	BlueprintTitle string                `json:"blueprintTitle"`
	IsActive       bool                  `json:"isActive"`
	Paused         string                `json:"pausedReason,omitempty"`
	// InactiveSince is zero if the trigger is active or the time is unknown. InactiveAction is
	// the audit action that made it inactive, "" for the breaker; InactiveBy is its user, ""
	// for the command line.
	InactiveSince  blueprint.Time `json:"inactiveSince,omitzero"`
	InactiveAction string         `json:"inactiveAction,omitempty"`
	InactiveBy     string         `json:"inactiveBy,omitempty"`
	CreatedAt      blueprint.Time `json:"createdAt"`
	Zone           string         `json:"timezone"`
}

// Row is a row of the ledger, described in words.
type Row struct {
	blueprint.Firing
	Status blueprint.Status `json:"executionStatus,omitempty"`
	When   string           `json:"when"` // it was received, in the trigger's zone and in UTC
	Words  string           `json:"words"`
}

// Question holds the data from which an Answer is made.
type Question struct {
	Story *blueprint.TriggerStory
	Rows  []blueprint.LedgerRow // the newest first
	// Unclear is the story of the row that UnclearRow returns, nil without one.
	Unclear *blueprint.FiringStory
	// Unserved is true if it is known that no server runs on the database.
	Unserved bool
	// Counts are those of the last 24 hours.
	Counts []blueprint.ReasonCount
	Now    time.Time // on the caller's clock
}

// ticksAhead is the number of future ticks in an answer.
const ticksAhead = 3

// zoneOf returns the time zone of a schedule, UTC for other triggers.
func zoneOf(trigger *blueprint.Trigger) *time.Location {
	if trigger.Type == blueprint.TriggerScheduled {
		if timing, _ := triggers.ReadSchedule(trigger.Config); timing.Zone != nil {
			return timing.Zone
		}
	}
	return time.UTC
}

// answer returns an answer that describes the trigger.
func (q *Question) answer() (*Answer, phrase) {
	trigger := &q.Story.Trigger
	words := phrase{zone: zoneOf(trigger)}
	w := &Answer{Rows: []Row{}, Trigger: About{
		ID: trigger.ID, Type: trigger.Type, BlueprintID: trigger.BlueprintID, BlueprintTitle: q.Story.BlueprintTitle,
		IsActive: trigger.IsActive, Paused: q.Story.Tripped.String(), CreatedAt: q.Story.CreatedAt, Zone: words.zone.String(),
	}}
	w.Trigger.InactiveSince = q.Story.TrippedAt
	if off := q.Story.Deactivated; off != nil {
		w.Trigger.InactiveSince, w.Trigger.InactiveAction, w.Trigger.InactiveBy = off.At, off.Action, cmp.Or(off.ActorName, off.ActorID)
	}
	w.say("It is %s trigger of the blueprint %q (%s), created %s.", blueprint.WithArticle(string(trigger.Type)), q.Story.BlueprintTitle, trigger.BlueprintID, words.time(q.Story.CreatedAt))
	return w, words
}

// sayInactive says since when, and by which change, the trigger is inactive, if known.
func (w *Answer) sayInactive(words phrase) {
	about := &w.Trigger
	switch since := words.time(about.InactiveSince); {
	case about.InactiveSince == 0 && about.Paused != "":
		w.say("The ledger no longer has the row that says since when.")
	case about.InactiveSince == 0:
		w.say("The audit log does not say since when.")
	case about.Paused != "":
		w.say("It has been paused since %s.", since)
	case about.InactiveBy == "":
		w.say("It has been paused since %s: %s on the command line.", since, about.InactiveAction)
	default:
		w.say("It has been paused since %s: %s by %s.", since, about.InactiveAction, about.InactiveBy)
	}
}

func (w *Answer) say(format string, args ...any) {
	w.Words = append(w.Words, fmt.Sprintf(format, args...))
}

func (w *Answer) list(words phrase, rows []blueprint.LedgerRow) {
	for i := range rows {
		row := Row{Firing: rows[i].Firing, When: words.time(rows[i].ReceivedAt), Words: words.row(&rows[i])}
		if rows[i].Run != nil {
			row.Status = rows[i].Run.Status
		}
		w.Rows = append(w.Rows, row)
	}
}

// Around is the maximum distance of relevant rows from an instant.
const Around = 10 * time.Minute

// searched is how far to search for the nearest tick: leap years around a turn of the
// century are eight years apart.
const searched = 9 * 366 * 24 * time.Hour

// ReadInstant parses a time: RFC 3339, or local time of the trigger's zone as in
// "2006-01-02 15:04". Errors are CodeBadRequest, also for a local time that does not
// exist in the zone.
func ReadInstant(text string, trigger *blueprint.Trigger) (blueprint.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return blueprint.TimeOf(at), nil
	}
	zone := zoneOf(trigger)
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		at, err := time.ParseInLocation(layout, text, zone)
		switch {
		case err != nil:
		case at.Format(layout) != text:
			return 0, &blueprint.Error{Code: blueprint.CodeBadRequest, Message: text + " does not exist in " + zone.String() + ": the clocks are set forward over it", Hint: "write the time as RFC 3339, such as " + at.UTC().Format(time.RFC3339)}
		default:
			return blueprint.TimeOf(at), nil
		}
	}
	return 0, &blueprint.Error{Code: blueprint.CodeBadRequest, Message: strconv.Quote(text) + " is not a time", Hint: `write it as RFC 3339, such as 2026-03-01T12:00:00Z, or as the time in the trigger's zone, such as "2026-03-01 12:00"`}
}

// At describes what happened to a trigger at an instant. The question's rows are those of
// TickRows for a schedule, otherwise those within Around of the instant.
func (q *Question) At(at blueprint.Time) *Answer {
	w, words := q.answer()
	w.At = at
	q.then(w, words, at)
	if q.Story.Trigger.Type == blueprint.TriggerScheduled {
		q.tick(w, words, at)
		return w
	}
	if len(q.Rows) == 0 {
		w.say("Nothing arrived within %s of %s.", minutes(Around), words.time(at))
		if at >= q.Story.CreatedAt && q.Story.Trigger.IsActive {
			w.Next = triggers.KindOf(q.Story.Trigger.Type).NeverFired
		}
		return w
	}
	w.say("Within %s of %s the ledger recorded %s.", minutes(Around), words.time(at), counted(len(q.Rows), "row"))
	w.Next = q.cure(at)
	w.list(words, q.Rows)
	return w
}

// then says whether the trigger existed and was active at an instant, as far as known.
func (q *Question) then(w *Answer, words phrase, at blueprint.Time) {
	story := q.Story
	now, _ := q.present()
	q.clock(w, words)
	switch {
	case at < story.CreatedAt:
		w.say("At %s it did not exist yet.", words.time(at))
	case at.Time().After(now):
		w.say("%s has not come yet.", words.time(at))
	case story.Tripped != nil:
		w.say("The server has paused it: %s", sentence(story.Tripped.String()))
		w.sayInactive(words)
	case !story.Trigger.IsActive:
		w.say("It is paused now.")
		w.sayInactive(words)
	case !story.CanManage:
		w.say("It is active, but its creator can no longer manage the blueprint, so every firing is refused.")
	default:
		w.say("It is active now.")
	}
	if story.Oldest != 0 && at < story.Oldest && at >= story.CreatedAt {
		w.say("The oldest row of its ledger is of %s; those before it may have been pruned (--keep-firings).", words.time(story.Oldest))
	}
}

// tick describes the decision about the tick of an instant.
func (q *Question) tick(w *Answer, words phrase, at blueprint.Time) {
	timing, issues := triggers.ReadSchedule(q.Story.Trigger.Config)
	minute := at - at%60_000
	about := q.about(minute)
	if len(issues) > 0 {
		w.say("Its config cannot be read, so it does not fire: %s", sentence(blueprint.InvalidInput(issues).Message))
		w.Next = "fix its config with blueprintTriggers.update"
		w.list(words, about)
		return
	}
	if due := timing.Schedule.Due(minute.Time(), timing.Zone); !due {
		w.say("No tick is due at %s by its current schedule, %q in the time zone %s.", words.time(minute), timing.Expression, words.zone)
		if before, _ := timing.Schedule.Between(minute.Time().Add(-searched), minute.Time(), timing.Zone, 1); len(before) > 0 {
			w.say("The one before was due %s.", words.time(blueprint.TimeOf(before[0])))
		}
		if after, ok := timing.Schedule.Next(minute.Time(), timing.Zone); ok {
			w.say("The one after is due %s.", words.time(blueprint.TimeOf(after)))
		}
		about = slices.DeleteFunc(about, func(row blueprint.LedgerRow) bool { return row.DueAt != minute })
		if len(about) > 0 {
			w.say("The ledger has one anyway: the schedule was different then.")
			w.list(words, about)
		}
		return
	}
	w.say("A tick is due at %s by its current schedule, %q in the time zone %s.", words.time(minute), timing.Expression, words.zone)
	story := q.Story
	now, _ := q.present()
	switch {
	case len(about) > 0:
		w.list(words, about)
		w.Next = q.cure(at)
	case minute < story.CreatedAt:
		w.say("The trigger was created later, so it was never due.")
	case minute.Time().After(now):
	case minute > story.Cursor && !story.Trigger.IsActive:
		w.say("It is not decided and will not be: the trigger is paused, and ticks before it is activated again are not due.")
		w.Next = "activate it: blueprintTriggers.update {isActive: true}; blueprintTriggers.fire runs it now"
	case minute > story.Cursor && q.Unserved:
		w.say("It is not decided yet: no server is running on this database.")
		w.Next = startServer
	case minute > story.Cursor:
		w.say("It is not decided yet: no server has come to it.")
		w.Next = "check that a server is running on this database; when it starts, it catches up according to config.catchUp"
	default:
		w.say("The ledger has no row for it. It was not due then: the trigger was switched on, or its schedule changed, after it; or the row has been pruned (--keep-firings).")
	}
}

// about returns the rows of a tick: its own, and those of ranges that include it.
func (q *Question) about(tick blueprint.Time) (rows []blueprint.LedgerRow) {
	for _, row := range q.Rows {
		first, last := row.DueAt, row.DueAt
		if from := row.Why.At("first"); from != 0 {
			first, last = from, row.Why.At("last")
		}
		if first <= tick && tick <= last {
			rows = append(rows, row)
		}
	}
	return rows
}

func numberOf(n int) string { return strconv.Itoa(n) }

// counted formats a number of things.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return numberOf(n) + " " + thing
}

func minutes(d time.Duration) string { return counted(int(d/time.Minute), "minute") }

// longAgo is the minimum age of an active schedule's newest entry at which it is assumed to
// follow another clock.
const longAgo = 2 * 365 * Day

// present returns the current time of the database: the caller's clock or, if the data
// seems to follow another one, such as a virtual clock, the newest stored time.
func (q *Question) present() (now time.Time, foreign bool) {
	story := q.Story
	newest := max(story.CreatedAt, story.Cursor)
	for i := range q.Rows {
		newest = max(newest, q.Rows[i].ReceivedAt)
	}
	for i := range q.Counts {
		newest = max(newest, q.Counts[i].Last)
	}
	ahead := newest.Time().Sub(q.Now)
	if ahead > triggers.OverdueAfter || ahead < -longAgo && story.Trigger.Type == blueprint.TriggerScheduled && story.Trigger.IsActive {
		return newest.Time(), true
	}
	return q.Now, false
}

// clock says whether the database seems to follow another clock.
func (q *Question) clock(w *Answer, words phrase) {
	if newest, foreign := q.present(); foreign {
		w.say("The database seems to follow another clock, such as that of a server with --clock virtual, or this clock was changed: it says %s, and the newest entry about the trigger is from %s.",
			words.time(blueprint.TimeOf(q.Now)), words.time(blueprint.TimeOf(newest)))
	}
}

// Present describes a trigger: whether it works, its latest firings, and what to do.
func (q *Question) Present() *Answer {
	w, words := q.answer()
	story := q.Story
	switch {
	case story.Tripped != nil:
		w.say("The server paused it: %s", sentence(story.Tripped.String()))
		w.sayInactive(words)
		w.Next = whenTripped(&story.Trigger, story.Tripped.ExecutionID)
	case !story.Trigger.IsActive:
		w.say("It is paused: nothing starts it.")
		w.sayInactive(words)
		w.Next = "activate it: blueprintTriggers.update {isActive: true}"
	case !story.CanManage:
		w.say("It is active, but every firing is refused: its creator can no longer manage the blueprint.")
		w.Next = "give its creator access again, or create the trigger again as a user who can manage the blueprint"
	default:
		w.say("It is active.")
	}
	q.clock(w, words)
	switch story.Failures {
	case 0:
	case 1:
		w.say("Its last run failed.")
	default:
		w.say("Its last %d runs failed.", story.Failures)
	}
	if story.Trigger.Type == blueprint.TriggerScheduled {
		q.schedule(w, words)
	}
	q.sums(w, words)
	if text, next := words.occupied(&story.Trigger, story.Unfinished); text != "" {
		w.say("Its limit is reached: %s", stopped(text))
		w.Next = cmp.Or(w.Next, next)
	}
	switch {
	case story.Firings == 0 && w.Next == "" && len(w.Ticks) > 0:
		w.say("The ledger has no firing of it.")
		w.Next = "nothing yet: first due " + words.time(w.Ticks[0])
		if q.Unserved {
			w.Next += "; a server must be running on this database then, and none is"
		}
	case story.Firings == 0:
		w.say("The ledger has no firing of it.")
		if w.Next == "" {
			w.Next = triggers.KindOf(story.Trigger.Type).NeverFired
		}
	case w.Next == "":
		w.Next = q.cure(0)
	}
	w.list(words, q.Rows)
	return w
}

// schedule says when a schedule is due, and whether it is late.
func (q *Question) schedule(w *Answer, words phrase) {
	config := q.Story.Trigger.Config
	timing, issues := triggers.ReadSchedule(config)
	if len(issues) > 0 {
		w.say("Its config cannot be read, so it does not fire: %s", sentence(blueprint.InvalidInput(issues).Message))
		w.Next = "fix its config with blueprintTriggers.update"
		return
	}
	w.say("It is due at %q in the time zone %s; missed ticks: %q.", timing.Expression, words.zone, timing.CatchUp)
	if !q.Story.Trigger.IsActive {
		return
	}
	cursor := q.Story.Cursor.Time()
	now, foreign := q.present()
	first, ok := timing.Schedule.Next(cursor, timing.Zone)
	if late := q.Now.Sub(first); ok && !foreign && (late > triggers.OverdueAfter || late > 0 && q.Unserved) {
		others := "is"
		if _, total := timing.Schedule.Between(cursor, q.Now, timing.Zone, 0); total > 1 {
			others = fmt.Sprintf("and %d after it are", total-1)
		}
		w.say("It is overdue: the tick of %s %s undecided.", words.time(blueprint.TimeOf(first)), others)
		if q.Unserved {
			w.say("No server is running on this database.")
			w.Next = startServer
		} else {
			w.Next = "check that a server is running on this database; when it starts, it catches up according to config.catchUp"
		}
	} else if ahead := cursor.Sub(q.Now); ahead > triggers.OverdueAfter {
		w.say("All ticks up to %s are decided. That is ahead of the clock, so none fires until then.", words.time(q.Story.Cursor))
	}
	after := now
	if cursor.After(after) {
		after = cursor
	}
	var later []string
	for len(w.Ticks) < ticksAhead {
		tick, ok := timing.Schedule.Next(after, timing.Zone)
		if !ok {
			break
		}
		w.Ticks = append(w.Ticks, blueprint.TimeOf(tick))
		later = append(later, words.time(blueprint.TimeOf(tick)))
		after = tick
	}
	if len(later) > 0 {
		w.say("The next tick is due %s.", later[0])
	}
	if len(later) > 1 {
		w.say("After that: %s.", strings.Join(later[1:], ", "))
	}
}

// sums summarizes the firings of the last 24 hours.
func (q *Question) sums(w *Answer, words phrase) {
	if q.Story.Firings == 0 {
		return
	}
	total := 0
	for _, c := range q.Counts {
		total += c.Count
	}
	if total == 0 {
		w.say("Nothing fired it in the last 24 hours.")
		return
	}
	w.say("In the last 24 hours the ledger recorded %s:", counted(total, "row"))
	for _, c := range q.Counts {
		text := "  " + numberOf(c.Count) + " " + string(c.Decision)
		if c.Redelivery {
			text = fmt.Sprintf("  %d %s %s", c.Count, map[bool]string{true: "redelivery", false: "redeliveries"}[c.Count == 1], c.Decision)
		} else if reason := c.Why.String(); reason != "" {
			text += ": " + reason
		}
		w.say("%s (last %s)", text, words.time(c.Last))
	}
}

// Day is the period covered by Question.Counts.
const Day = 24 * time.Hour

// UnclearRow returns the id of the row that needs advice, "" for none: the newest
// relevant one if it was refused or its run failed or is unfinished, or if it was skipped
// and no other row started a run. At is the instant of the question, zero for the
// present.
func (q *Question) UnclearRow(at blueprint.Time) string {
	if row := q.unclear(at); row != nil {
		return row.ID
	}
	return ""
}

func (q *Question) unclear(at blueprint.Time) *blueprint.LedgerRow {
	rows := q.Rows
	if at != 0 && q.Story.Trigger.Type == blueprint.TriggerScheduled {
		if rows = q.about(at - at%60_000); len(rows) > 1 {
			rows = rows[len(rows)-1:]
		}
	}
	started := false
	for i := range rows {
		row := &rows[i]
		switch {
		case row.Decision == blueprint.DecisionRefused && (at != 0 || i == 0):
			return row
		case row.Decision == blueprint.DecisionStarted && row.Run != nil && row.Run.Status != blueprint.StatusCompleted && row.Run.Status != blueprint.StatusNotFound && (at != 0 || i == 0):
			return row
		}
		started = started || row.Decision == blueprint.DecisionStarted || row.Decision == blueprint.DecisionDuplicate
	}
	if !started && len(rows) > 0 && rows[0].Decision == blueprint.DecisionSkipped {
		return &rows[0]
	}
	return nil
}

// cure returns the advice of Firing about the unclear row; "" without one.
func (q *Question) cure(at blueprint.Time) string {
	row := q.unclear(at)
	if row == nil {
		return ""
	}
	story := q.Unclear
	if story == nil || story.Firing.ID != row.ID {
		story = &blueprint.FiringStory{Firing: row.Firing, Trigger: q.Story.Trigger, Tripped: q.Story.Tripped, Unfinished: q.Story.Unfinished}
	}
	if row.Run != nil {
		known := *story // the row has the error of the run
		known.Run = row.Run
		story = &known
	}
	return Firing(story, q.Now).Next
}

const startServer = "start a server on this database: it then catches up as config.catchUp says"
