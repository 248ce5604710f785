package explain

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// asked is a question about an active schedule, every hour in Zurich, all of
// whose ticks up to asOf (09:00 UTC) are decided.
func asked(change func(q *Question)) *Question {
	q := &Question{Now: asOf.Add(10 * time.Minute), Story: &blueprint.TriggerStory{
		Trigger: blueprint.Trigger{
			ID: "t", BlueprintID: "b", Type: blueprint.TriggerScheduled, IsActive: true, CreatedBy: "11111111-1111-4111-8111-111111111111",
			Config: map[string]any{"cron": "0 * * * *", "timezone": "Europe/Zurich", "secret": explainedSecret},
		},
		BlueprintTitle: "Title", CanManage: true, CreatedAt: blueprint.TimeOf(asOf.Add(-240 * time.Hour)), Cursor: blueprint.TimeOf(asOf),
		Firings: 1, Oldest: blueprint.TimeOf(asOf.Add(-240 * time.Hour)),
	}}
	if change != nil {
		change(q)
	}
	return q
}

// tickRow is a row about a tick so many hours before asOf.
func tickRow(hours int, decision blueprint.Decision, why blueprint.Reason) blueprint.LedgerRow {
	at := blueprint.TimeOf(asOf.Add(-time.Duration(hours) * time.Hour))
	row := blueprint.LedgerRow{Firing: blueprint.Firing{ID: "F", Source: blueprint.SourceSchedule, Key: at.String(), DueAt: at, ReceivedAt: at, Decision: decision}}
	row.SetReason(why)
	if decision == blueprint.DecisionStarted {
		id := "exec_1_a"
		row.ExecutionID, row.Run = &id, &blueprint.FiringRun{ExecutionID: id, Status: blueprint.StatusCompleted}
	}
	return row
}

func TestWhyPresent(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(q *Question)
		says   []string
		never  string
	}{
		{"well", nil, []string{"It is active.", `"0 * * * *" in the time zone Europe/Zurich`, "The next tick is due 2026-03-02 11:00 CET (10:00 UTC).", "After that: 2026-03-02 12:00 CET (11:00 UTC), 2026-03-02 13:00 CET (12:00 UTC).", "Nothing fired it in the last 24 hours."}, "overdue"},
		{"overdue", func(q *Question) { q.Now = asOf.Add(3*time.Hour + 3*time.Minute) },
			[]string{"It is overdue: the tick of 2026-03-02 11:00 CET (10:00 UTC) and 2 after it are undecided.", "a server is running"}, ""},
		{"past due, no server", func(q *Question) { q.Now = asOf.Add(time.Hour + time.Minute); q.Unserved = true },
			[]string{"It is overdue: the tick of 2026-03-02 11:00 CET (10:00 UTC) is undecided.", "No server is running on this database.", "next: start a server"}, ""},
		{"past due, a server", func(q *Question) { q.Now = asOf.Add(time.Hour + time.Minute) }, nil, "overdue"},
		{"only skipped", func(q *Question) {
			q.Rows = []blueprint.LedgerRow{tickRow(0, "skipped", (&blueprint.ConcurrencyLimitError{Limit: 1, Running: 1, Oldest: "exec_2_b"}).Reason())}
		}, []string{"The tick of 2026-03-02 10:00 CET (09:00 UTC) was skipped: config.concurrency.limit is 1 and exec_2_b was still running.", `next: blueprintTriggers.redeliver {firingId: "F"} runs this one when exec_2_b has ended`}, "catchUp"},
		{"others started", func(q *Question) {
			q.Rows = []blueprint.LedgerRow{tickRow(0, "skipped", blueprint.MessageReason(blueprint.ReasonMessage, "x")), tickRow(1, "started", blueprint.NewReason(blueprint.ReasonOnTime))}
		}, nil, "redeliver"},
		{"one that is paused holds others back", func(q *Question) {
			q.Story.Trigger.Config["concurrency"] = map[string]any{"limit": json.Number("1")}
			for _, id := range []string{"exec_1_a", "exec_2_b", "exec_3_c"} {
				q.Story.Unfinished = append(q.Story.Unfinished, blueprint.UnfinishedRun{ExecutionID: id, Status: blueprint.StatusRunning, CreatedAt: blueprint.TimeOf(asOf), UpdatedAt: blueprint.TimeOf(asOf)})
			}
			q.Story.Unfinished[0].Status = blueprint.StatusPaused
		}, []string{"config.concurrency allows 1 run at a time; exec_1_a has been paused since 2026-03-02 10:00 CET (09:00 UTC) and 2 wait behind it.", "next: answer exec_1_a (execution.resume) or cancel it"}, ""},
		{"redeliveries", func(q *Question) {
			q.Counts = []blueprint.ReasonCount{{Decision: "refused", Redelivery: true, Count: 2, Last: blueprint.TimeOf(asOf)}}
		}, []string{"  2 redeliveries refused (last"}, ""},
		{"never, and none runs", func(q *Question) { q.Story.Firings, q.Unserved = 0, true }, []string{"first due 2026-03-02 11:00 CET (10:00 UTC); a server must be running"}, ""},
		{"an api trigger", func(q *Question) { q.Story.Trigger.Type = blueprint.TriggerAPI }, []string{"It is an api trigger"}, ""},
		{"ahead", func(q *Question) { q.Story.Cursor = blueprint.TimeOf(asOf.Add(48 * time.Hour)) }, []string{"none fires until then", "2026-03-04 11:00 CET"}, "overdue"},
		{"of a clock that is ahead", func(q *Question) {
			q.Story.Cursor = blueprint.TimeOf(asOf.Add(-time.Hour))
			q.Now = asOf.AddDate(-4, 0, 0)
			q.Rows = []blueprint.LedgerRow{tickRow(0, "refused", blueprint.MessageReason(blueprint.ReasonMessage, "no"))}
		}, []string{"seems to follow another clock", "it says 2022-03-02 10:00 CET", "newest entry about the trigger is from 2026-03-02 10:00 CET", "The next tick is due 2026-03-02 11:00 CET"}, "It is overdue"},
		{"of a clock that is behind", func(q *Question) { q.Now = asOf.AddDate(4, 0, 0) },
			[]string{"seems to follow another clock", "The next tick is due 2026-03-02 11:00 CET"}, "It is overdue"},
		{"off for years", func(q *Question) { q.Now = asOf.AddDate(4, 0, 0); q.Story.Trigger.IsActive = false }, nil, "another clock"},
		{"off", func(q *Question) { q.Story.Trigger.IsActive = false; q.Now = asOf.Add(9 * time.Hour) }, []string{"It is paused: nothing starts it.", "The audit log does not say since when.", "isActive: true"}, "overdue"},
		{"off by a user", func(q *Question) {
			q.Story.Trigger.IsActive = false
			q.Story.Deactivated = &blueprint.AuditEntry{At: blueprint.TimeOf(asOf), ActorID: "u", ActorName: "Ann", Action: "blueprintTriggers.update"}
		}, []string{"It has been paused since 2026-03-02 10:00 CET (09:00 UTC): blueprintTriggers.update by Ann."}, "audit log"},
		{"off by the operator", func(q *Question) {
			q.Story.Trigger.IsActive = false
			q.Story.Deactivated = &blueprint.AuditEntry{At: blueprint.TimeOf(asOf), Action: "sync"}
		}, []string{"It has been paused since 2026-03-02 10:00 CET (09:00 UTC): sync on the command line."}, "audit log"},
		{"paused", func(q *Question) {
			q.Story.Trigger.IsActive = false
			q.Story.Tripped, q.Story.Failures = &blueprint.Trip{Failures: 20, ExecutionID: "exec_1_a"}, 20
			q.Story.TrippedAt = blueprint.TimeOf(asOf)
		}, []string{"The server paused it: 20 runs in a row failed, the last of them exec_1_a.", "It has been paused since 2026-03-02 10:00 CET (09:00 UTC).", "Its last 20 runs failed."}, "nothing starts it"},
		{"access lost", func(q *Question) { q.Story.CanManage = false }, []string{"can no longer manage the blueprint", "access again"}, ""},
		{"unreadable", func(q *Question) { q.Story.Trigger.Config["cron"] = "* * *" }, []string{"cannot be read", "fix its config"}, "next tick is due"},
		{"never", func(q *Question) { q.Story.Firings = 0 }, []string{"The ledger has no firing of it", "next: nothing yet: first due 2026-03-02 11:00 CET (10:00 UTC)"}, "Nothing fired"},
		{"sums", func(q *Question) {
			q.Counts = []blueprint.ReasonCount{{Decision: "started", Count: 3, Last: blueprint.TimeOf(asOf)}, {Decision: "refused", Why: blueprint.MessageReason(blueprint.ReasonMessage, "no"), Count: 1, Last: blueprint.TimeOf(asOf)}}
		}, []string{"the ledger recorded 4 rows:", "  3 started (last 2026-03-02 10:00 CET (09:00 UTC))", "  1 refused: no (last"}, ""},
		{"refused", func(q *Question) {
			q.Rows = []blueprint.LedgerRow{tickRow(0, "refused", blueprint.MessageReason(blueprint.ReasonMessage, "no"))}
		},
			[]string{"The tick of 2026-03-02 10:00 CET (09:00 UTC) was refused, and nothing ran: no.", `once the cause is fixed, blueprintTriggers.redeliver {firingId: "F"} runs this tick`}, ""},
	} {
		w := asked(c.change).Present()
		told(t, c.name, w, c.says, c.never)
	}
}

func TestWhyAt(t *testing.T) {
	const tick = "2026-03-02 09:00" // in Zurich: an hour before asOf
	lots := blueprint.NewReason(blueprint.ReasonCoalesced, "count", 5, "first", "2026-03-02T04:00:00.000Z", "last", "2026-03-02T08:00:00.000Z", "tick", "2026-03-02T09:00:00.000Z")
	for _, c := range []struct {
		name, at string
		change   func(q *Question)
		says     []string
		never    string
	}{
		{"started", tick, func(q *Question) {
			q.Rows = []blueprint.LedgerRow{tickRow(1, "started", blueprint.NewReason(blueprint.ReasonOnTime))}
		},
			[]string{"A tick is due at 2026-03-02 09:00 CET (08:00 UTC)", "The tick of 2026-03-02 09:00 CET (08:00 UTC) started exec_1_a, which completed."}, "no row"},
		{"coalesced", "2026-03-02 07:00", func(q *Question) { q.Rows = []blueprint.LedgerRow{tickRow(1, "coalesced", lots)} }, []string{"the tick of 2026-03-02T09:00:00.000Z runs instead"}, "no row"},
		{"of another lot", "2026-03-02 04:00", func(q *Question) { q.Rows = []blueprint.LedgerRow{tickRow(1, "coalesced", lots)} }, []string{"The ledger has no row for it"}, "runs instead"},
		{"skipped", tick, func(q *Question) {
			q.Rows = []blueprint.LedgerRow{tickRow(1, "skipped", blueprint.NewReason(blueprint.ReasonMissed, "count", 1, "first", "2026-03-02T08:00:00.000Z", "last", "2026-03-02T08:00:00.000Z"))}
		}, []string{`The tick of 2026-03-02T08:00:00.000Z was missed; catchUp is "none".`}, "no row"},
		{"refused", tick, func(q *Question) {
			q.Rows = []blueprint.LedgerRow{tickRow(1, "refused", blueprint.MessageReason(blueprint.ReasonMessage, "no nodes"))}
		}, []string{"refused, and nothing ran: no nodes.", `redeliver {firingId: "F"} runs this tick`}, ""},
		{"no row", tick, nil, []string{"The ledger has no row for it", "--keep-firings"}, "runs instead"},
		{"not due", "2026-03-02T08:30:10Z", nil, []string{"No tick is due at 2026-03-02 09:30 CET (08:30 UTC)", "The one before was due 2026-03-02 09:00 CET", "The one after is due 2026-03-02 10:00 CET"}, "no row"},
		{"not due, in a lot", "2026-03-02T07:30:00Z", func(q *Question) { q.Rows = []blueprint.LedgerRow{tickRow(1, "coalesced", lots)} }, []string{"No tick is due"}, "all the same"},
		{"due by an older schedule", tick, func(q *Question) {
			q.Story.Trigger.Config["cron"] = "30 12 * * *"
			q.Rows = []blueprint.LedgerRow{tickRow(1, "started", blueprint.NewReason(blueprint.ReasonOnTime))}
		}, []string{"No tick is due", "the schedule was different then", "started exec_1_a"}, ""},
		{"undecided", "2026-03-02 11:00", func(q *Question) { q.Now = asOf.Add(2 * time.Hour) }, []string{"It is not decided yet", "a server is running"}, ""},
		{"undecided and off", "2026-03-02 11:00", func(q *Question) { q.Now = asOf.Add(2 * time.Hour); q.Story.Trigger.IsActive = false }, []string{"not decided and will not be", "It is paused now.", "The audit log does not say since when."}, ""},
		{"paused, pruned", tick, func(q *Question) {
			q.Story.Trigger.IsActive, q.Story.Tripped = false, &blueprint.Trip{Failures: 20, ExecutionID: "exec_1_a"}
		}, []string{"The server has paused it: 20 runs", "The ledger no longer has the row that says since when."}, "inactive since"},
		{"to come", "2026-03-02 13:00", nil, []string{"has not come yet"}, "no row"},
		{"to come, of a clock that is ahead", "2026-03-02 09:00", func(q *Question) { q.Now = asOf.AddDate(-4, 0, 0) }, []string{"seems to follow another clock"}, "has not come yet"},
		{"before it was made", "2026-01-01 13:00", nil, []string{"it did not exist yet", "was never due"}, "no row"},
		{"pruned", "2026-02-20 13:00", func(q *Question) { q.Story.Oldest = blueprint.TimeOf(asOf) }, []string{"The oldest row of its ledger is of", "The ledger has no row for it"}, ""},
		{"another type, nothing", "2026-03-02T08:00:00Z", func(q *Question) { q.Story.Trigger.Type = blueprint.TriggerWebhook }, []string{"Nothing arrived within 10 minutes", "getWebhookUrl"}, "tick"},
		{"another type", "2026-03-02T08:00:00Z", func(q *Question) {
			q.Story.Trigger.Type = blueprint.TriggerWebhook
			row := tickRow(1, "refused", blueprint.MessageReason(blueprint.ReasonMessage, "not JSON"))
			row.Source, row.DueAt = blueprint.SourceWebhook, 0
			q.Rows = []blueprint.LedgerRow{row}
		}, []string{"the ledger recorded 1 row.", "A delivery with the id", "refused, and nothing ran: not JSON."}, "CET"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := asked(c.change)
			at, err := ReadInstant(c.at, &q.Story.Trigger)
			if err != nil {
				t.Error(err)
				return
			}
			told(t, c.name, q.At(at), c.says, c.never)
		})
	}
}

// told looks for words in an answer.
func told(t *testing.T, name string, w *Answer, says []string, never string) {
	t.Helper()
	text := strings.Join(w.Words, "\n") + "\nnext: " + w.Next
	for _, row := range w.Rows {
		text += "\nrow: " + row.When + ": " + row.Words
	}
	for _, words := range says {
		if !strings.Contains(text, words) {
			t.Errorf("%s: it does not say %q:\n%s", name, words, text)
		}
	}
	if never != "" && strings.Contains(text, never) {
		t.Errorf("%s: it says %q:\n%s", name, never, text)
	}
	if data, err := json.Marshal(w); err != nil || strings.Contains(string(data)+text, explainedSecret) {
		t.Errorf("%s: %v %s, want no %q", name, err, data, explainedSecret)
	}
}

func TestReadInstant(t *testing.T) {
	zurich := &asked(nil).Story.Trigger
	manual := &blueprint.Trigger{Type: blueprint.TriggerManual, Config: map[string]any{"timezone": "Europe/Zurich"}}
	for _, c := range []struct {
		text    string
		trigger *blueprint.Trigger
		want    string // "" = 400
	}{
		{"2026-03-01T12:00:00Z", zurich, "2026-03-01T12:00:00.000Z"},
		{"2026-03-01T12:00:00+05:00", zurich, "2026-03-01T07:00:00.000Z"},
		{"2026-03-01 12:00", zurich, "2026-03-01T11:00:00.000Z"},
		{"2026-07-01 12:00:30", zurich, "2026-07-01T10:00:30.000Z"},
		{"2026-03-01T12:00", zurich, "2026-03-01T11:00:00.000Z"},
		{"2026-03-01 12:00", manual, "2026-03-01T12:00:00.000Z"},
		{"2026-03-29 02:30", zurich, ""},
		{"2026-02-30 02:30", zurich, ""},
		{"12:00", zurich, ""},
		{"", zurich, ""},
	} {
		t.Run(c.text+" is "+c.want, func(t *testing.T) {
			at, err := ReadInstant(c.text, c.trigger)
			if at.String() != c.want || (blueprint.CodeOf(err) == blueprint.CodeBadRequest) != (c.want == "") {
				t.Errorf("%q: %s, %v; want %v", c.text, at, err, c.want)
			}
		})
	}
}
