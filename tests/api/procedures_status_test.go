package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/tests/servertest"
)

// TestServerStatus checks what the owner of a server with some history sees, which counts
// the runs of others too.
func TestServerStatus(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ann := s.NewUser(t, "ann")
	ann.OK(t, "blueprint.execute", object{"id": ann.Blueprint(t, "failing", node("a", "stop", object{"failed": true, "message": "it is over"}))})
	asking := s.Root.Blueprint(t, "asking", node("a", "approval-gate", object{"prompt": "?"}))
	s.Root.OK(t, "blueprint.execute", object{"id": asking})
	s.Root.OK(t, "blueprintTriggers.create", object{"blueprintId": asking, "triggerType": "scheduled", "config": object{"cron": "@daily"}})
	s.Advance(t, "0s") // waits until the schedule has been read

	if got := at(ann.OK(t, "server.getInfo", nil), "mayOperate"); got != false {
		t.Errorf("mayOperate is %v for another user, want false", got)
	}
	if got := at(s.Root.OK(t, "server.getInfo", nil), "mayOperate"); got != true {
		t.Errorf("mayOperate is %v for the owner, want true", got)
	}
	status := s.Root.OK(t, "server.getStatus", nil)
	hours, _ := at(status, "hours").([]any)
	if len(hours) != 24 {
		t.Fatalf("%d hours, want 24", len(hours))
	}
	got := map[string]any{}
	for _, path := range []string{"ready", "now", "version", "runs.paused", "runs.queued", "schedules.active", "schedules.overdue", "totals.failed", "totals.completed"} {
		got[path] = at(status, path)
	}
	got["failed in the last hour"], got["start of the first hour"] = at(hours[23], "failed"), at(hours[0], "start")
	for key, value := range got {
		if number, ok := value.(interface{ Int64() (int64, error) }); ok {
			got[key], _ = number.Int64()
		}
	}
	want := map[string]any{
		"ready": true, "now": "2030-05-01T12:00:00.000Z", "version": "0.1.0-dev", "runs.paused": int64(1), "runs.queued": int64(0), "schedules.active": int64(1), "schedules.overdue": int64(0),
		"totals.failed": int64(1), "totals.completed": int64(0), "failed in the last hour": int64(1), "start of the first hour": "2030-04-30T13:00:00.000Z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the status (-want +got):\n%s", diff)
	}
	checks, _ := at(status, "checks").([]any)
	if len(checks) < 8 || at(checks[0], "name") != "database" || at(checks[0], "ok") != true {
		t.Errorf("the checks are %v, want at least 8, the first of them the database", checks)
	}
}
