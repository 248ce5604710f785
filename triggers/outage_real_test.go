package triggers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// TestOutagesOverTheStore stops the server and starts it again over the same
// file: what the ledger says of a schedule in UTC can be worked out by hand.
func TestOutagesOverTheStore(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	path := file(t)
	at := noon
	s := serve(t, path, at)
	rules := []string{"latest", "all", "none"}
	dense, sparse := map[string]blueprint.Trigger{}, map[string]blueprint.Trigger{}
	for _, catchUp := range rules {
		dense[catchUp] = s.trigger(blueprint.TriggerScheduled, map[string]any{"cron": "*/5 * * * *", "catchUp": catchUp}, "pass")
		sparse[catchUp] = s.trigger(blueprint.TriggerScheduled, map[string]any{"cron": "0 0 * * *", "catchUp": catchUp}, "pass")
	}
	before := map[string]int{}
	fresh := func(trigger blueprint.Trigger) string { // what is new in a ledger, summed up
		rows := s.ledger(trigger)
		text, runs := "", 0
		for _, row := range rows[before[trigger.ID]:] {
			if row.Decision == blueprint.DecisionStarted {
				runs++
				continue
			}
			many, _, _ := strings.Cut(row.Reason, " tick")
			text += fmt.Sprintf("%s %s, ", row.Decision, strings.Replace(many, "the", "1", 1))
		}
		before[trigger.ID] = len(rows)
		return fmt.Sprintf("%s%d runs", text, runs)
	}
	for _, step := range []struct {
		length        time.Duration
		ticks, nights int // that were missed
	}{{time.Minute, 0, 0}, {10 * time.Minute, 2, 0}, {time.Hour, 12, 0}, {day, 288, 1}, {7 * day, 7 * 288, 7}, {31 * day, 31 * 288, 31}} {
		s.stop()
		at = at.Add(step.length)
		s = serve(t, path, at.Add(30*time.Second))
		want := func(catchUp string, ticks int) string {
			switch {
			case ticks == 0:
				return "0 runs"
			case catchUp == "none":
				return fmt.Sprintf("skipped %d, 0 runs", ticks)
			case catchUp == "all" && ticks <= 100:
				return fmt.Sprintf("%d runs", ticks)
			case catchUp == "all":
				return fmt.Sprintf("coalesced %d, 100 runs", ticks-100)
			case ticks == 1:
				return "1 runs"
			default:
				return fmt.Sprintf("coalesced %d, 1 runs", ticks-1)
			}
		}
		for _, catchUp := range rules {
			if got := fresh(dense[catchUp]); got != want(catchUp, step.ticks) {
				t.Errorf("down for %v, %s: %s, want %s", step.length, catchUp, got, want(catchUp, step.ticks))
			}
			if got := fresh(sparse[catchUp]); got != want(catchUp, step.nights) {
				t.Errorf("down for %v, %s at night: %s, want %s", step.length, catchUp, got, want(catchUp, step.nights))
			}
		}
		missed := int64(3 * (step.ticks + step.nights))
		if stats := s.triggers.Stats(); stats.Missed != missed || stats.Overdue != 0 {
			t.Errorf("down for %v: %d missed, want %d; %d overdue", step.length, stats.Missed, missed, stats.Overdue)
		}
		// Half an hour of service, in which all are on time.
		half := at.Add(30 * time.Minute)
		s.advance(half)
		ticks := int(half.Unix()/300 - at.Unix()/300)
		for _, catchUp := range rules {
			if got := fresh(dense[catchUp]); got != fmt.Sprintf("%d runs", ticks) {
				t.Errorf("after %v, %s: %s, want %d runs", step.length, catchUp, got, ticks)
			}
		}
		at = half
	}
}
