package api

import (
	"context"
	"errors"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/store"
)

func TestTriggersCheck(t *testing.T) {
	t.Parallel()
	named := []store.PausedTrigger{{ID: "a", Trip: blueprint.Trip{Failures: 20, ExecutionID: "exec_1"}}, {ID: "b", Trip: blueprint.Trip{Failures: 20, ExecutionID: "exec_2", Retries: true}}}
	for _, test := range []struct {
		first []store.PausedTrigger
		total int
		err   error
		says  string
		hint  string
	}{
		{nil, 0, nil, "the server keeps none switched off", ""},
		{named[:1], 1, nil, "1 trigger was switched off by the server: a (20 runs in a row failed, the last of them exec_1)", "isActive: true"},
		{named, 5, nil, "5 triggers were switched off by the server: a (20 runs in a row failed, the last of them exec_1), b (20 runs in a row failed, the last of them exec_2), and 3 more", "why ID"},
		{nil, 0, errors.New("the disk is gone"), "which ones the server keeps switched off could not be looked at: the disk is gone", "disk"},
	} {
		got := server.TriggersCheck(test.first, test.total, test.err)
		if got.Name != "triggers" || got.Detail != test.says || !strings.Contains(got.Hint, test.hint) || got.OK != (test.hint == "") || got.OK != (got.Hint == "") {
			t.Errorf("%+v: %+v", test, got)
		}
	}
}

// TestTrippedTriggerIsSeen: what the breaker did shows wherever an operator
// looks, until somebody switches the trigger on again.
func TestTrippedTriggerIsSeen(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon)
	id := s.root.blueprint(t, "fails", object{"id": "x", "type": "set", "title": "x", "config": object{"values": object{"v": "{{inputData.missing.deeper}}"}}})
	trigger := at(s.root.ok(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{}}), "id").(string)
	shows := func(count string, ok bool) {
		t.Helper()
		metrics := s.root.send(t, "GET", "/metrics", "").text
		if !strings.Contains(metrics, "\nblueprintd_triggers_tripped "+count+"\n") {
			t.Errorf("/metrics does not say %s", count)
		}
		c := s.CheckTriggers(context.Background())
		if c.OK != ok || !ok && !strings.Contains(c.Detail, "1 trigger was switched off by the server: "+trigger+" (20 runs in a row failed, the last of them exec_") {
			t.Errorf("%+v", c)
		}
	}
	shows("0", true)
	for range 20 {
		run := at(decoded(t, person{service: s}.send(t, "POST", "/webhooks/blueprint/"+trigger, "{}").text), "executionId").(string)
		s.root.until(t, run, blueprint.StatusFailed)
	}
	shows("1", false)
	s.root.ok(t, "blueprintTriggers.update", object{"triggerId": trigger, "isActive": true})
	shows("0", true)
}
