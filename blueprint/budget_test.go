package blueprint_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func budgetOf(tokens, calls int64, onBreach blueprint.OnBreach) *blueprint.Budget {
	b := &blueprint.Budget{OnBreach: onBreach}
	if tokens >= 0 {
		b.Tokens = &tokens
	}
	if calls >= 0 {
		b.Calls = &calls
	}
	return b
}

func TestParseBudget(t *testing.T) {
	const most, more = "1125899906842624", "1125899906842625"
	for text, test := range map[string]struct {
		want         *blueprint.Budget
		issues       string
		raise        *blueprint.Budget
		raisesIssues string
	}{
		`null`: {nil, "", nil, `: must be an object with the "tokens" or "calls" to add`},
		`5`:    {nil, `: must be an object with "tokens", "calls" and "onBreach"`, nil, `: must be an object with the "tokens" or "calls" to add`},
		`{}`:   {budgetOf(-1, -1, ""), "", nil, `: must name the "tokens" or "calls" to add`},
		`{"tokens":0,"calls":0}`: {budgetOf(0, 0, ""), "", nil,
			"tokens: must be a whole number from 1 to " + most + "\ncalls: must be a whole number from 1 to " + most},
		`{"tokens":1}`:                            {budgetOf(1, -1, ""), "", budgetOf(1, -1, ""), ""},
		`{"calls":7,"tokens":null}`:               {budgetOf(-1, 7, ""), "", budgetOf(-1, 7, ""), ""},
		`{"tokens":5,"calls":7}`:                  {budgetOf(5, 7, ""), "", budgetOf(5, 7, ""), ""},
		`{"tokens":` + most + `}`:                 {budgetOf(1<<50, -1, ""), "", budgetOf(1<<50, -1, ""), ""},
		`{"tokens":` + more + `}`:                 {nil, "tokens: must be a whole number from 0 to " + most, nil, "tokens: must be a whole number from 1 to " + most},
		`{"calls":-1}`:                            {nil, "calls: must be a whole number from 0 to " + most, nil, "calls: must be a whole number from 1 to " + most},
		`{"calls":1.5}`:                           {nil, "calls: must be a whole number from 0 to " + most, nil, "calls: must be a whole number from 1 to " + most},
		`{"calls":"1"}`:                           {nil, "calls: must be a whole number from 0 to " + most, nil, "calls: must be a whole number from 1 to " + most},
		`{"tokens":1,"onBreach":"pause"}`:         {budgetOf(1, -1, "pause"), "", budgetOf(1, -1, ""), ""},
		`{"tokens":1,"onBreach":"fail"}`:          {budgetOf(1, -1, "fail"), "", budgetOf(1, -1, ""), ""},
		`{"tokens":1,"onBreach":null}`:            {budgetOf(1, -1, ""), "", budgetOf(1, -1, ""), ""},
		`{"tokens":1,"onBreach":"stop"}`:          {nil, `onBreach: must be "fail" or "pause"`, budgetOf(1, -1, ""), ""},
		`{"tokens":1,"onBreach":{"x":["pause"]}}`: {nil, `onBreach: must be "fail" or "pause"`, budgetOf(1, -1, ""), ""},
	} {
		t.Run(text, func(t *testing.T) {
			got, issues := blueprint.ParseBudget(decode(t, text))
			if diff := cmp.Diff(test.want, got); diff != "" || issueTexts(issues) != test.issues {
				t.Errorf("issues %q, want %q; budget (-want +got):\n%s", issueTexts(issues), test.issues, diff)
			}
			got, issues = blueprint.ParseRaise(decode(t, text))
			if diff := cmp.Diff(test.raise, got); diff != "" || issueTexts(issues) != test.raisesIssues {
				t.Errorf("as a raise: issues %q, want %q; budget (-want +got):\n%s", issueTexts(issues), test.raisesIssues, diff)
			}
		})
	}
}

// A run with two budgets must keep both.
func TestStricterBudget(t *testing.T) {
	for name, test := range map[string]struct{ one, other, want *blueprint.Budget }{
		"none":            {nil, nil, nil},
		"one":             {budgetOf(1, 2, "fail"), nil, budgetOf(1, 2, "fail")},
		"other":           {nil, budgetOf(1, 2, "fail"), budgetOf(1, 2, "fail")},
		"smaller of each": {budgetOf(1, 9, ""), budgetOf(5, 2, ""), budgetOf(1, 2, "")},
		"same":            {budgetOf(5, 5, ""), budgetOf(5, 5, ""), budgetOf(5, 5, "")},
		"unlimited":       {budgetOf(-1, 9, ""), budgetOf(5, -1, ""), budgetOf(5, 9, "")},
		"neither limited": {budgetOf(-1, -1, ""), budgetOf(-1, -1, ""), budgetOf(-1, -1, "")},
		"reaction":        {budgetOf(1, 1, "pause"), budgetOf(1, 1, ""), budgetOf(1, 1, "pause")},
		"other reaction":  {budgetOf(1, 1, "pause"), budgetOf(1, 1, "fail"), budgetOf(1, 1, "fail")},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.one.Stricter(test.other)); diff != "" {
				t.Errorf("budget (-want +got):\n%s", diff)
			}
		})
	}
	for limits, budgets := range map[bool][]*blueprint.Budget{true: {budgetOf(0, -1, ""), budgetOf(-1, 0, ""), budgetOf(1, 1, "")}, false: {nil, {}, budgetOf(-1, -1, "pause")}} {
		t.Run(fmt.Sprint(limits), func(t *testing.T) {
			for _, b := range budgets {
				if b.Limits() != limits {
					encoded, _ := blueprint.Encode(b)
					t.Errorf("%s limits: got %v, want %v", encoded, !limits, limits)
				}
			}
		})
	}
}

// A filter that restricts anything is not the zero one, which selects all rows.
func TestFiringFilterIsZero(t *testing.T) {
	for i, f := range []blueprint.FiringFilter{
		{Decisions: []blueprint.Decision{blueprint.DecisionStarted}}, {Sources: []blueprint.Source{blueprint.SourceAPI}}, {From: 1}, {To: 1}, {Status: blueprint.StatusFailed}, {Key: "k"},
	} {
		if f.IsZero() {
			t.Errorf("filter %d, %+v, counts as zero", i, f)
		}
	}
	if f := (blueprint.FiringFilter{}); !f.IsZero() {
		t.Error("the zero filter does not count as zero")
	}
}

func TestRedeliveryOf(t *testing.T) {
	delivery := func(facts map[string]any) *blueprint.Delivery { return &blueprint.Delivery{Facts: facts} }
	of := map[string]any{blueprint.FactRedeliveryOf: "F"}
	for name, test := range map[string]struct {
		firing blueprint.Firing
		want   string
	}{
		"redelivery":       {blueprint.Firing{Source: blueprint.SourceRedelivery, Delivery: delivery(of)}, "F"},
		"other source":     {blueprint.Firing{Source: blueprint.SourceWebhook, Delivery: delivery(of)}, ""},
		"without delivery": {blueprint.Firing{Source: blueprint.SourceRedelivery}, ""},
		"without the fact": {blueprint.Firing{Source: blueprint.SourceRedelivery, Delivery: delivery(nil)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.firing.RedeliveryOf(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestDelivery(t *testing.T) {
	d := blueprint.Delivery{Body: []byte("abc"), Size: 3}
	if !d.IsComplete() {
		t.Error("a delivery with its whole body is not complete")
	}
	if d.Body = nil; d.IsComplete() {
		t.Error("a delivery without its body is complete")
	}
	d.AddFact("a", 1)
	d.AddFact("b", 2)
	if diff := cmp.Diff(map[string]any{"a": 1, "b": 2}, d.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestConcurrencyLimitError(t *testing.T) {
	for running, want := range map[int]string{1: "config.concurrency.limit is 3, and 1 run has not ended", 2: "config.concurrency.limit is 3, and 2 runs have not ended"} {
		t.Run(fmt.Sprint(running), func(t *testing.T) {
			err := &blueprint.ConcurrencyLimitError{Limit: 3, Running: running, Oldest: "E"}
			if got := err.Error(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if got := err.Reason().String(); got != want+": E" {
				t.Errorf("with the oldest run: got %q, want %q", got, want+": E")
			}
		})
	}
}

// Positions order all runs, by creation and then by insertion, and survive a URL.
func TestRunPosition(t *testing.T) {
	positions := []blueprint.RunPosition{{At: 1, Seq: 2}, {At: 1, Seq: 3}, {At: 2, Seq: 1}, {At: 1 << 40, Seq: 1 << 40}}
	for i, one := range positions {
		for j, other := range positions {
			if got := one.Before(other); got != (i < j) {
				t.Errorf("%+v before %+v: got %v, want %v", one, other, got, i < j)
			}
		}
		if got, ok := blueprint.ParseRunPosition(one.String()); !ok || got != one {
			t.Errorf("%+v became %+v, %v by way of %q", one, got, ok, one)
		}
	}
	if text := (blueprint.RunPosition{}).String(); text != "" {
		t.Errorf("the zero position is %q, want none", text)
	}
	for _, text := range []string{"", ".", "1", "1.", ".1", "1.!", "!.1", "1.2.3", "01.2", "1.02", "A.1", "0.0", "zzzzzzzzzzzzzzzz.1", "1.zzzzzzzzzzzzzzzz"} {
		if got, ok := blueprint.ParseRunPosition(text); ok {
			t.Errorf("%q is read as %+v, want an error", text, got)
		}
	}
}

func TestStatus(t *testing.T) {
	for status, want := range map[blueprint.Status]bool{
		blueprint.StatusCompleted: true, blueprint.StatusFailed: true, blueprint.StatusRunning: false, blueprint.StatusPaused: false, blueprint.StatusNotFound: false,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			if got := status.Terminal(); got != want {
				t.Errorf("%s is terminal: got %v, want %v", status, got, want)
			}
		})
	}
	for want, x := range map[string]blueprint.Execution{
		"completed":     {ExecutionStatus: blueprint.ExecutionStatus{Status: blueprint.StatusCompleted}},
		"cancelled":     {Failure: &blueprint.RunError{Message: "cancelled"}},
		`node "a": bad`: {Failure: &blueprint.RunError{NodeID: "a", Message: "bad"}},
	} {
		t.Run(want, func(t *testing.T) {
			if got := x.FailureText(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestEventsOfTriggers(t *testing.T) {
	for name, test := range map[string]struct {
		kind   blueprint.TriggerType
		config string
		to     string
		heard  string // of execution.failed and custom.a
	}{
		"one event":         {"event", `{"event":"execution.failed"}`, "execution.failed", "true false"},
		"custom event":      {"event", `{"event":"custom.a"}`, "custom.a", "false true"},
		"all but custom":    {"event", `{}`, "*", "true false"},
		"null":              {"event", `{"event":null}`, "*", "true false"},
		"no text":           {"event", `{"event":5}`, "", "false false"},
		"the name of all":   {"event", `{"event":"*"}`, "*", "true false"},
		"another type":      {"webhook", `{"event":"execution.failed"}`, "", "false false"},
		"another type, all": {"webhook", `{}`, "", "false false"},
	} {
		t.Run(name, func(t *testing.T) {
			trigger := blueprint.Trigger{Type: test.kind, Config: object(t, test.config)}
			if got := trigger.ListensTo(); got != test.to {
				t.Errorf("it listens to %q, want %q", got, test.to)
			}
			if got := fmt.Sprint(trigger.MatchesEvent("execution.failed"), trigger.MatchesEvent("custom.a")); got != test.heard {
				t.Errorf("it matches execution.failed and custom.a: got %s, want %s", got, test.heard)
			}
		})
	}
}

func TestAddressOfTrigger(t *testing.T) {
	for name, test := range map[string]struct {
		kind   blueprint.TriggerType
		config string
		want   string
	}{
		"webhook":  {"webhook", `{}`, "https://host/webhooks/blueprint/t1"},
		"api":      {"api", `{"address":"a@b"}`, "https://host/v1/triggers/t1/fire"},
		"mailbox":  {"email", `{"address":"a@b"}`, "a@b"},
		"no mail":  {"email", `{}`, ""},
		"schedule": {"scheduled", `{"address":"a@b"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			trigger := blueprint.Trigger{ID: "t1", Type: test.kind, Config: object(t, test.config)}
			if got := trigger.Address("https://host"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestTriggerConfigSpelling(t *testing.T) {
	for name, test := range map[string]struct{ config, want, renamed, issues string }{
		"as it is":       {`{"catchUp":"all","other":1}`, `{"catchUp":"all","other":1}`, `{}`, ""},
		"snake case":     {`{"catch_up":"all"}`, `{"catchUp":"all"}`, `{"catchUp":"catch_up"}`, ""},
		"alias":          {`{"tz":"UTC"}`, `{"timezone":"UTC"}`, `{"timezone":"tz"}`, ""},
		"alias in snake": {`{"time_zone":"UTC"}`, `{"timezone":"UTC"}`, `{"timezone":"time_zone"}`, ""},
		"both":           {`{"catch_up":"all","catchUp":"none"}`, `{"catchUp":"none","catch_up":"all"}`, `{}`, "catch_up: is another spelling of catchUp, which is also given; leave one out"},
		"two aliases":    {`{"tz":"a","time_zone":"b"}`, `{"timezone":"b","tz":"a"}`, `{"timezone":"time_zone"}`, "tz: is another spelling of time_zone, which is also given; leave one out"},
		"unknown":        {`{"catch__up":"all","_catch":1,"catchup_":2}`, `{"_catch":1,"catchUp":"all","catchup_":2}`, `{"catchUp":"catch__up"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := object(t, test.config)
			out, renamed, issues := blueprint.TriggerConfigSpelling(blueprint.TriggerScheduled, config)
			if got, _ := blueprint.Encode(out); string(got) != test.want {
				t.Errorf("config: got %s, want %s", got, test.want)
			}
			if renamed == nil {
				renamed = map[string]string{}
			}
			if got, _ := blueprint.Encode(renamed); string(got) != test.renamed {
				t.Errorf("renamed: got %s, want %s", got, test.renamed)
			}
			if got := issueTexts(issues); got != test.issues {
				t.Errorf("issues: got %q, want %q", got, test.issues)
			}
			if diff := cmp.Diff(object(t, test.config), config); diff != "" {
				t.Errorf("the given config was changed (-want +got):\n%s", diff)
			}
		})
	}
	for key, want := range map[string][]string{
		"timezone": {"timezone", "timeZone", "time_zone", "tz"}, "catchUp": {"catchUp", "catch_up"}, "previousSecretUntil": {"previousSecretUntil", "previous_secret_until"}, "cron": {"cron"}, "Ab": {"Ab"}, "aZxA": {"aZxA", "a_zx_a"},
	} {
		t.Run(key, func(t *testing.T) {
			if diff := cmp.Diff(want, blueprint.TriggerKeySpellings(key)); diff != "" {
				t.Errorf("spellings of %s (-want +got):\n%s", key, diff)
			}
		})
	}
}
