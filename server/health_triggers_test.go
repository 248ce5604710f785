package server_test

import (
	"context"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// TestTrippedTriggerIsSeen checks that a trigger that the breaker paused is reported
// in every operator view until a user switches it on again.
func TestTrippedTriggerIsSeen(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	id := s.Root.Blueprint(t, "fails", object{"id": "x", "type": "set", "title": "x", "config": object{"values": object{"v": "{{inputData.missing.deeper}}"}}})
	trigger := at(s.Root.OK(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{}}), "id").(string)
	shows := func(count string, ok bool) {
		t.Helper()
		metrics := s.Root.Send(t, "GET", "/metrics", "").Text
		if !strings.Contains(metrics, "\nblueprintd_triggers_tripped "+count+"\n") {
			t.Errorf("/metrics does not say %s, want %q in it", count, "\nblueprintd_triggers_tripped "+count+"\n")
		}
		c := s.CheckTriggers(context.Background())
		if c.OK != ok || !ok && !strings.Contains(c.Detail, "1 trigger was paused by the server: "+trigger+" (20 runs in a row failed, the last of them exec_") {
			t.Errorf("%+v", c)
		}
	}
	shows("0", true)
	for range 20 {
		run := at(servertest.Decoded(t, servertest.Caller{Server: s}.Send(t, "POST", "/webhooks/blueprint/"+trigger, "{}").Text), "executionId").(string)
		s.Root.Await(t, run, blueprint.StatusFailed)
	}
	shows("1", false)
	s.Root.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "isActive": true})
	shows("0", true)
}
