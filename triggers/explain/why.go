package explain

import (
	"fmt"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers"
)

// Answer tells what happened to a trigger and why. Nothing secret is in it.
type Answer struct {
	Trigger About `json:"trigger"`
	// At is the instant that was asked about, zero for the present.
	At blueprint.Time `json:"at"`
	// Words say it all, one thing each.
	Words []string `json:"words"`
	// Rows are those of the ledger that the words are about, each with its own.
	Rows []Row `json:"rows"`
	// Ticks are the next of an active schedule.
	Ticks []blueprint.Time `json:"ticks,omitempty"`
	// Next is what to do or to check, "" for nothing.
	Next string `json:"next"`
}

// About is what a trigger is.
type About struct {
	ID             string                `json:"id"`
	Type           blueprint.TriggerType `json:"triggerType"`
	BlueprintID    string                `json:"blueprintId"`
	BlueprintTitle string                `json:"blueprintTitle"`
	IsActive       bool                  `json:"isActive"`
	Paused         string                `json:"pausedReason,omitempty"`
	CreatedAt      blueprint.Time        `json:"createdAt"`
	Zone           string                `json:"timezone"`
}

// Row is a row of the ledger in words.
type Row struct {
	blueprint.Firing
	Status blueprint.Status `json:"executionStatus,omitempty"`
	When   string           `json:"when"` // it was received, in the trigger's zone and in UTC
	Words  string           `json:"words"`
}

// Question is what an Answer is made from: a trigger and rows of its ledger.
type Question struct {
	Story *blueprint.TriggerStory
	Rows  []blueprint.LedgerRow // the newest first
	// Unclear is all that is known of the row that UnclearRow names, nil without one.
	Unclear *blueprint.FiringStory
	// Unserved says that no server runs on the database; false when that is not
	// known.
	Unserved bool
	// Counts are those of the last 24 hours.
	Counts []blueprint.ReasonCount
	Now    time.Time // on the clock of who asks
}

// ticksAhead is how many of the next ticks are told.
const ticksAhead = 3

// zoneOf gives the time zone of a trigger: that of a schedule, else UTC.
func zoneOf(trigger *blueprint.Trigger) *time.Location {
	if trigger.Type == blueprint.TriggerScheduled {
		if timing, _ := triggers.ReadSchedule(trigger.Config); timing.Zone != nil {
			return timing.Zone
		}
	}
	return time.UTC
}

// answer begins an answer with what the trigger is.
func (q *Question) answer() (*Answer, phrase) {
	trigger := &q.Story.Trigger
	words := phrase{zone: zoneOf(trigger)}
	w := &Answer{Rows: []Row{}, Trigger: About{
		ID: trigger.ID, Type: trigger.Type, BlueprintID: trigger.BlueprintID, BlueprintTitle: q.Story.BlueprintTitle,
		IsActive: trigger.IsActive, Paused: q.Story.Tripped.String(), CreatedAt: q.Story.CreatedAt, Zone: words.zone.String(),
	}}
	w.say("It is %s trigger of the blueprint %q (%s), made %s.", blueprint.WithArticle(string(trigger.Type)), q.Story.BlueprintTitle, trigger.BlueprintID, words.time(q.Story.CreatedAt))
	return w, words
}

func (w *Answer) say(format string, args ...any) {
	w.Words = append(w.Words, fmt.Sprintf(format, args...))
}

// list adds rows of the ledger.
func (w *Answer) list(words phrase, rows []blueprint.LedgerRow) {
	for i := range rows {
		row := Row{Firing: rows[i].Firing, When: words.time(rows[i].ReceivedAt), Words: words.row(&rows[i])}
		if rows[i].Run != nil {
			row.Status = rows[i].Run.Status
		}
		w.Rows = append(w.Rows, row)
	}
}
