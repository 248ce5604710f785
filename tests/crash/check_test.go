package main

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestCheckCalls compares calls with kills. Times are hundredths of a second.
func TestCheckCalls(t *testing.T) {
	type call struct{ at, status int }
	cases := []struct {
		name    string
		once    bool
		calls   []call
		kill    [2]int // from, until the next start; 0 = none
		retries int
		done    int // when it was observed as ended; 0 = never
		want    string
	}{
		{name: "one call", calls: []call{{10, 200}}},
		{name: "again after a kill", calls: []call{{10, 200}, {30, 200}}, kill: [2]int{20, 25}},
		{name: "again after a failure", calls: []call{{10, 500}, {30, 200}}},
		{name: "again after it was cut off", calls: []call{{10, 0}, {30, 200}}},
		{name: "again for no reason", calls: []call{{10, 200}, {30, 200}}, want: "without a kill"},
		{name: "a kill excuses one repetition", calls: []call{{10, 200}, {30, 200}, {40, 200}}, kill: [2]int{20, 25}, want: "without a kill"},
		{name: "a kill long before both", calls: []call{{110, 200}, {130, 200}}, kill: [2]int{20, 25}, want: "without a kill"},
		{name: "a kill after both", calls: []call{{10, 200}, {30, 200}}, kill: [2]int{50, 55}, want: "without a kill"},
		{name: "after it had ended", calls: []call{{10, 200}, {30, 200}}, kill: [2]int{20, 25}, done: 15, want: "observed as ended"},
		{name: "once", once: true, calls: []call{{10, 200}}},
		{name: "once, twice after a kill", once: true, calls: []call{{10, 200}, {30, 200}}, kill: [2]int{20, 25}, want: "at most 1"},
		{name: "once, twice after a failure", once: true, calls: []call{{10, 500}, {30, 200}}, want: "at most 1"},
		{name: "once, retried by a user", once: true, calls: []call{{10, 200}, {30, 200}}, kill: [2]int{20, 25}, retries: 1},
		{name: "once, more often than requested", once: true, calls: []call{{10, 200}, {30, 200}, {40, 200}}, kill: [2]int{20, 25}, retries: 1, want: "at most 2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Unix(1_900_000_000, 0)
			after := func(ms int) time.Time { return begin.Add(time.Duration(ms) * 10 * time.Millisecond) }
			s := newScenario(options{}, "test", t.TempDir(), newDisplay(io.Discard, 0))
			r := s.history.addRun("exec_1", "logged", &shape{once: map[string]bool{"call": c.once}})
			r.retries["call"] = c.retries
			if c.done > 0 {
				r.done["call"] = finished{at: after(c.done)}
			}
			if c.kill[0] > 0 {
				s.history.outages = []outage{{from: after(c.kill[0]), to: after(c.kill[1])}}
			}
			var calls []entry
			for _, one := range c.calls {
				calls = append(calls, entry{At: after(one.at).UnixNano(), Key: "exec_1/call", Node: "call", Status: one.status})
			}
			s.checkCalls("exec_1/call", calls)
			switch got := s.history.violations; {
			case c.want == "" && len(got) != 0, c.want != "" && len(got) == 0:
				t.Errorf("violations %v, want %q", got, c.want)
			case c.want != "" && !strings.Contains(got[0].Text, c.want):
				t.Errorf("violation %q does not say %q", got[0].Text, c.want)
			}
		})
	}
}

// TestObserve observes two records of a run, of which the second may break a rule.
func TestObserve(t *testing.T) {
	const done, open = `{"nodeId":"a","status":"completed","startTime":"2","endTime":"3"}`, `{"nodeId":"b","status":"pending"}`
	at := func(status string, progress, completed int, steps ...string) string {
		return `{"status":"` + status + `","progress":` + strconv.Itoa(progress) + `,"completedSteps":` + strconv.Itoa(completed) + `,"startTime":"1","endTime":"9","steps":[` + strings.Join(steps, ",") + `]}`
	}
	finish := strings.Replace(open, "pending", "completed", 1)
	cases := []struct{ name, first, second, want string }{
		{"continues", at("running", 50, 1, done, open), at("failed", 50, 1, done, open), ""},
		{"vanishes", at("running", 50, 1, done, open), at("not_found", 0, 0), "I1"},
		{"out of order", at("running", 0, 0), at("running", 50, 1, strings.Replace(done, "completed", "pending", 1), finish), "I3"},
		{"too early", at("running", 0, 0), at("running", 50, 1, done, `{"nodeId":"b","status":"running","startTime":"2"}`), "I3"},
		{"a step changes", at("running", 50, 1, done, open), at("running", 50, 1, strings.Replace(done, "3", "4", 1), open), "I4"},
		{"a run changes", at("failed", 50, 1, done, open), at("failed", 50, 1, done, finish), "I5"},
		{"falls", at("running", 50, 0), at("running", 49, 0), "I6"},
		{"is done too early", at("running", 50, 0), at("running", 100, 0), "I6"},
		{"items beside it", at("running", 0, 0), at("running", 50, 1, done, `{"nodeId":"e","status":"running","startTime":"3"}`, `{"nodeId":"e[1]/x","status":"completed","startTime":"3","endTime":"4"}`, `{"nodeId":"e[1]/y","status":"running","startTime":"4"}`), ""},
		{"an item out of order", at("running", 0, 0), at("running", 50, 1, done, `{"nodeId":"e","status":"running","startTime":"3"}`, `{"nodeId":"e[1]/x","status":"running","startTime":"3"}`, `{"nodeId":"e[1]/y","status":"running","startTime":"4"}`), "I3"},
		{"an item of nothing", at("running", 0, 0), at("running", 50, 1, done, `{"nodeId":"e","status":"pending"}`, `{"nodeId":"e[1]/x","status":"running","startTime":"3"}`), "I3"},
		{"an item runs again", at("running", 0, 0, `{"nodeId":"e","status":"running","startTime":"3"}`, `{"nodeId":"e[0]/x","status":"completed","startTime":"3","endTime":"4"}`), at("running", 0, 0, `{"nodeId":"e","status":"running","startTime":"3"}`, `{"nodeId":"e[0]/x","status":"running","startTime":"5"}`), "I4"},
		{"a connection is gone", at("running", 0, 0), at("failed", 0, 0, `{"nodeId":"e[0]/x","status":"pending","error":{"code":"connection_unavailable"}}`), "I13"},
		{"miscounts", at("running", 50, 0), at("running", 50, 1), "I8"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newHistory("test", io.Discard)
			r := b.addRun("exec_1", "logged", &shape{follows: map[string][]string{"b": {"a"}, "e/y": {"e/x"}}})
			for _, text := range []string{c.first, c.second} {
				var a answer
				if err := json.Unmarshal([]byte(text), &a.Value); err != nil {
					t.Fatal(err)
				}
				b.observe(r, a)
			}
			got := ""
			if len(b.violations) > 0 {
				got = b.violations[0].Invariant
			}
			if got != c.want {
				t.Errorf("violations %v, want %q", b.violations, c.want)
			}
		})
	}
}
