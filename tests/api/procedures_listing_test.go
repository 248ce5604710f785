package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestListings checks the listings of the dashboard on a server with some history.
func TestListings(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.MaxBlueprints, o.MaxDisk = 50, 1<<30 })
	item := func(value any, path string, i int) any {
		list, _ := at(value, path).([]any)
		if i >= len(list) {
			return nil
		}
		return list[i]
	}
	failing := s.Root.Blueprint(t, "failing", node("a", "stop", object{"failed": true, "message": "it is over"}))
	asking := s.Root.Blueprint(t, "asking", node("a", "approval-gate", object{"prompt": "?"}))
	var failed, paused string
	failed = at(s.Root.OK(t, "blueprint.execute", object{"id": failing}), "executionId").(string)
	s.Advance(t, "1s")
	paused = at(s.Root.OK(t, "blueprint.execute", object{"id": asking}), "executionId").(string)

	runs := s.Root.OK(t, "execution.listRuns", object{"limit": 1})
	one := item(runs, "runs", 0)
	got := []any{at(one, "executionId"), at(one, "awaiting"), at(one, "error"), at(one, "durationMs"), at(one, "blueprintTitle")}
	if diff := cmp.Diff([]any{paused, "approval", nil, nil, "asking"}, got); diff != "" {
		t.Errorf("first page: run, awaiting, error, duration and title (-want +got):\n%s", diff)
	}
	runs = s.Root.OK(t, "execution.listRuns", object{"limit": 1, "cursor": at(runs, "next")})
	one = item(runs, "runs", 0)
	got = []any{at(one, "executionId"), at(one, "awaiting"), at(one, "error"), at(runs, "next"), at(runs, "searchedUntil")}
	if diff := cmp.Diff([]any{failed, nil, "a: it is over", nil, nil}, got); diff != "" {
		t.Errorf("second page: run, awaiting, error, next and searched until (-want +got):\n%s", diff)
	}
	s.Root.Refused(t, blueprint.CodeBadRequest, "execution.listRuns", object{"cursor": "x", "from": "y"})

	picture := s.Root.OK(t, "execution.getStatistics", object{"blueprintId": failing})
	buckets, _ := at(picture, "buckets").([]any)
	if len(buckets) != 24 || fmt.Sprintf("%v %v %v", at(picture, "totals.failed"), at(buckets[23], "failed"), at(picture, "paused")) != "1 1 0" || at(buckets[0], "meanMs") != nil {
		t.Errorf("the statistics are %v, want length 24, 1 1 0 and meanMs nil", picture)
	}
	if paused := at(s.Root.OK(t, "execution.getStatistics", object{}), "paused"); fmt.Sprint(paused) != "1" {
		t.Errorf("%v are paused, want 1", paused)
	}

	schedule := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": asking, "triggerType": "scheduled", "config": object{"cron": "30 14 * * *", "timezone": "Europe/Berlin"}})
	hook := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": asking, "triggerType": "webhook", "config": object{}})
	for id, want := range map[string]string{
		schedule: "<nil> 2030-05-01T12:30:00.000Z",
		hook:     s.APIHost() + "/webhooks/blueprint/" + hook + " <nil>",
	} {
		t.Run(caseName(strings.TrimPrefix(want, s.APIHost())), func(t *testing.T) {
			details := s.Root.OK(t, "blueprintTriggers.getDetails", object{"triggerId": id})
			if got := fmt.Sprintf("%v %v", at(details, "url"), at(details, "next_at")); got != want || at(details, "last_firing") != nil || at(details, "creator_name") == "" {
				t.Errorf("%v, want %s", details, want)
			}
		})
	}
	s.Root.OK(t, "blueprintTriggers.fire", object{"triggerId": hook})
	s.Root.OK(t, "blueprintTriggers.update", object{"triggerId": schedule, "isActive": false})
	list, _ := at(s.Root.OK(t, "blueprintTriggers.listAll", object{}), "data").([]any)
	if len(list) != 2 || at(list[0], "last_firing.decision") != "started" || at(list[1], "next_at") != nil {
		t.Errorf("the triggers are %v, want length 2, last_firing.decision started and next_at nil", list)
	}

	kinds, _ := s.Root.OK(t, "node.types", nil).([]any)
	var names []string
	for _, kind := range kinds {
		names = append(names, at(kind, "type").(string))
		for _, key := range []string{"category", "configSchema.properties", "example", "handles", "expressions"} {
			if value := at(kind, key); value == nil || value == "" {
				t.Errorf("%v: %s is %v, want a value", at(kind, "type"), key, value)
			}
		}
	}
	if got := strings.Join(names[:4], " "); got != "conditional switch for-each merge" {
		t.Errorf("the types begin with %s, want conditional switch for-each merge", got)
	}
	info := s.Root.OK(t, "server.getInfo", nil)
	if got := fmt.Sprintln(at(info, "nodeTypes"), at(info, "limits.blueprints"), at(info, "limits.maxBlueprints"), at(info, "limits.maxDisk"), at(info, "clock"), at(info, "apiHost") == s.APIHost(), at(info, "mailDomain"), at(info, "startedAt"), item(info, "events", 0)); got != fmt.Sprintln(len(names), "2 50 1073741824 virtual true <nil> 2030-05-01T12:00:00.000Z execution.completed") {
		t.Errorf("the server says %s: %v", got, info)
	}
	summaries := s.Root.OK(t, "blueprint.listSummaries", object{"sort": "title"})
	if at(item(summaries, "data", 0), "title") != "asking" || fmt.Sprintf("%v %v", at(item(summaries, "data", 0), "triggers.active"), at(item(summaries, "data", 0), "node_count")) != "1 1" || at(item(summaries, "data", 1), "last_run.status") != "failed" {
		t.Errorf("the summaries are %v, want title asking, 1 1 and last_run.status failed", summaries)
	}
}

// Runs are listed in the order in which they were started, also while the clock stands still.
func TestListingOfOneMillisecond(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]func(*server.Options){"random": func(*server.Options) {}, "seeded": func(o *server.Options) { o.SeedIDs = new(int64) }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servertest.New(t, servertest.AtNoon, options)
			blueprint := s.Root.Blueprint(t, "works", node("a", "set", object{"values": object{"n": 1}}))
			var started []string
			for range 10 {
				started = append([]string{at(s.Root.OK(t, "blueprint.execute", object{"id": blueprint}), "executionId").(string)}, started...)
			}
			for _, names := range [][3]string{{"execution.listRecentExecutions", "logs", "executionData.executionId"}, {"execution.listRuns", "runs", "executionId"}} {
				procedure := names[0]
				var listed []string
				for _, run := range at(s.Root.OK(t, procedure, nil), names[1]).([]any) {
					listed = append(listed, at(run, names[2]).(string))
				}
				if diff := cmp.Diff(started, listed); diff != "" {
					t.Errorf("%s, newest first (-want +got):\n%s", procedure, diff)
				}
			}
		})
	}
}

// Schedules that are due at once, and the listeners of their events, start runs with the same
// ids on every server with the same seed.
func TestSeededTriggers(t *testing.T) {
	t.Parallel()
	list := func() (list []string) {
		s := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.SeedIDs = new(int64) })
		defer s.Stop()
		for i := range 6 {
			source := s.Root.Blueprint(t, fmt.Sprint("source", i), node("a", "code", object{"language": "javascript", "source": "return 1"}), node("e", "emit-event", object{"event": "custom.x"}))
			s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": source, "triggerType": "scheduled", "config": object{"cron": "* * * * *"}})
			listener := s.Root.Blueprint(t, fmt.Sprint("listener", i), node("a", "set", object{"values": object{"n": 1}}))
			s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": listener, "triggerType": "event", "config": object{"event": "custom.x"}})
		}
		s.Advance(t, "2m")
		for _, run := range at(s.Root.OK(t, "execution.listRuns", object{"limit": 100}), "runs").([]any) {
			list = append(list, fmt.Sprint(at(run, "executionId"), " ", at(run, "blueprintTitle")))
		}
		return list
	}
	first := list()
	if len(first) != 84 {
		t.Errorf("%d runs, want 84", len(first))
	}
	for range 3 {
		if diff := cmp.Diff(first, list()); diff != "" {
			t.Fatalf("another server with the same seed (-first +other):\n%s", diff)
		}
	}
}
