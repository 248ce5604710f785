package blueprint_test

import (
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// A reason has the same sentence before and after it is stored.
func TestReasonSentences(t *testing.T) {
	trip := &blueprint.Trip{Failures: 20, ExecutionID: "exec_1_a"}
	open := &blueprint.Trip{Failures: 20, ExecutionID: "exec_1_a", Retries: true}
	missed := blueprint.NewReason(blueprint.ReasonMissed, "count", 3, "first", "A", "last", "B")
	for _, c := range []struct {
		why  blueprint.Reason
		want string
	}{
		{blueprint.Reason{}, ""},
		{blueprint.NewReason(blueprint.ReasonOnTime), "on time"},
		{blueprint.NewReason(blueprint.ReasonCaughtUp, "lateMs", 90*60*1000), "caught up 1 h 30 min after it was due"},
		{blueprint.NewReason(blueprint.ReasonSigned).With("letIn", true), "accepted after a pause of 15 minutes: the signature is valid"},
		{blueprint.NewReason(blueprint.ReasonManual).With("again", "F"), "firing F again: fired manually"},
		{blueprint.Reason{}.With("again", "F"), "firing F again"},
		{blueprint.NewReason(blueprint.ReasonEvent, "event", "custom.x"), "received event custom.x"},
		{blueprint.NewReason(blueprint.ReasonDuplicate, "executionId", "E", "firingId", "F"), "this key started E before, with firing F"},
		{(&blueprint.ConcurrencyLimitError{Limit: 2, Running: 1, Oldest: "E"}).Reason(), "config.concurrency.limit is 2, and 1 run has not ended: E"},
		{missed, `3 ticks from A to B were missed; catchUp is "none"`},
		{blueprint.NewReason(blueprint.ReasonCoalesced, "count", 1, "first", "A", "last", "A", "tick", "C"), "the tick of A was missed; the tick of C runs instead"},
		{blueprint.NewReason(blueprint.ReasonCoalescedLost, "count", 1, "first", "A", "last", "A", "tick", "C", "decision", "refused").WithInner(blueprint.NewReason(blueprint.ReasonLostAccess)),
			"the tick of A was missed; the tick of C that should run instead was refused: the trigger's creator can no longer manage the blueprint"},
		{blueprint.NewReason(blueprint.ReasonMany, "count", 7).WithInner(blueprint.MessageReason(blueprint.ReasonSignature, "no")), "7 more deliveries started no run and have no rows of their own; the last: no"},
		{trip.Because(blueprint.ReasonTripped), "the server paused the trigger: 20 runs in a row failed, the last of them exec_1_a"},
		{trip.Because(blueprint.ReasonBreaker), "the server paused the trigger: 20 runs in a row failed, the last of them exec_1_a; fix the cause, then activate it with isActive: true (config.breaker: false disables the breaker)"},
		{open.Because(blueprint.ReasonBreaker), "the server paused the trigger: 20 runs in a row failed, the last of them exec_1_a; a delivery after 15 minutes tries again (to prevent such pauses, set a secret, requireAuth with allowFrom, or breaker: false); fix the cause; isActive: true activates it at once"},
		{blueprint.NewReason(blueprint.ReasonOtherAddress, "type", "slack", "triggerId", "T"), "the trigger is of type slack; its address is /webhooks/slack/T"},
		{blueprint.NewReason(blueprint.ReasonOtherAddress, "type", "api", "triggerId", "T"), "the trigger is of type api and has no such address"},
		{blueprint.NewReason(blueprint.ReasonChannel, "got", "C1", "name", "", "wanted", "x"), `the event is from channel "C1", named ""; the trigger listens to "x"`},
		{blueprint.NewReason(blueprint.ReasonChannel, "got", "", "wanted", "x"), `the event has no channel; the trigger listens to "x"`},
		{blueprint.MessageReason(blueprint.ReasonInput, "inputData.n: must be a number"), "inputData.n: must be a number"},
	} {
		t.Run(c.want, func(t *testing.T) {
			stored := blueprint.Reason{Code: c.why.Code}
			if len(c.why.Params) > 0 {
				data, err := blueprint.Encode(c.why.Params)
				if err != nil {
					t.Fatal(err)
				}
				value, err := blueprint.Decode(data)
				if err != nil {
					t.Fatal(err)
				}
				stored.Params = value.(map[string]any)
			}
			if got := c.why.String(); got != c.want || stored.String() != c.want {
				t.Errorf("%s: %q, stored %q; want %q", c.why.Code, got, stored.String(), c.want)
			}
		})
	}
	if got := blueprint.MessageReason(blueprint.ReasonMessage, strings.Repeat("é", 200)).String(); len(got) > 300 || !strings.HasSuffix(got, "é…") {
		t.Errorf("a long sentence is %q, want length at most 300 and \"é…\" at the end", got)
	}
}

func TestInWords(t *testing.T) {
	for text, want := range map[string]string{"1m": "1 minute", "6m40s": "6 min 40 s", "40s": "40 seconds", "1h": "1 hour", "1h5m": "1 h 5 min", "48h": "2 days", "49h": "2 days 1 h", "-5m": "5 minutes"} {
		t.Run(text, func(t *testing.T) {
			d, err := time.ParseDuration(text)
			if got := blueprint.InWords(d); err != nil || got != want {
				t.Errorf("%q, want %v", got, want)
			}
		})
	}
}
