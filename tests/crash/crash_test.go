package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// first returns the invariant of the first violation, "" if there is none.
func first(b *history) string {
	if len(b.violations) == 0 {
		return ""
	}
	return b.violations[0].Invariant
}

// recordOf returns the record of a run of the nodes a and b.
func recordOf(status string, progress string, a, b string) string {
	step := func(id, status, start, end string) string {
		return `{"nodeId":"` + id + `","status":"` + status + `","startTime":"` + start + `","endTime":"` + end + `"}`
	}
	return fmt.Sprintf(`{"id":"exec_1","status":%q,"progress":%s,"completedSteps":%d,"failedSteps":%d,"startTime":"1","endTime":"9","steps":[%s,%s]}`,
		status, progress, strings.Count(a+b, "completed"), strings.Count(a+b, "failed"), step("a", a, "2", "3"), step("b", b, "4", "5"))
}

// TestReadStream reads streams of a run whose status may have been observed before.
func TestReadStream(t *testing.T) {
	begun, half, done := recordOf("running", "0", "running", "pending"), recordOf("running", "50", "completed", "running"), recordOf("completed", "100", "completed", "completed")
	failed := recordOf("failed", "50", "completed", "skipped")
	event := func(records ...string) string {
		text := "event: connected\ndata: {}\n\n"
		for _, r := range records {
			text += "data: {\"json\":" + r + "}\n\nevent: ping\ndata: \n\n"
		}
		return text
	}
	const end = "event: return\ndata: \n\n"
	cases := []struct {
		name, seen, stream, want string
		over                     bool
	}{
		{"to the end", "", event(begun, half, done) + end, "", true},
		{"cut off", "", event(begun, half), "", false},
		{"cut off in a line", "", event(begun) + "data: {\"js", "", false},
		{"the server ends", "", event(begun) + "event: serialized-error\ndata: {\"json\":{\"data\":{\"httpStatus\":503}}}\n\n", "", false},
		{"older than the status", half, event(begun, half), "", false},
		{"older than the end", done, event(half, done) + end, "", true},
		{"falls", "", event(half, begun), "I12", false},
		{"continues after the end", "", event(done, half), "I12", false},
		{"returns before the end", "", event(half) + end, "I12", true},
		{"another end than the status", done, event(failed) + end, "I12", true},
		{"a step that the status denies", recordOf("failed", "0", "failed", "skipped"), event(half), "I12", false},
		{"a step that changes", half, event(strings.Replace(half, `"endTime":"3"`, `"endTime":"4"`, 1)), "I4", false},
		{"another run", "", event(strings.Replace(half, "exec_1", "exec_2", 1)), "I12", false},
		{"no JSON", "", "data: {\n\n", "I12", false},
		{"refused", "", "event: serialized-error\ndata: {\"json\":{\"data\":{\"httpStatus\":500}}}\n\n", "I12", false},
		{"out of order", "", event(recordOf("running", "50", "running", "completed")), "I3", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newHistory("test", io.Discard)
			r := b.addRun("exec_1", "", &shape{follows: map[string][]string{"b": {"a"}}})
			if c.seen != "" {
				b.observe(r, read(t, c.seen))
			}
			over := b.readStream(r, strings.NewReader(c.stream))
			if got := first(b); got != c.want || over != c.over {
				t.Errorf("over %v, violations %v, want %v and %q", over, b.violations, c.over, c.want)
			}
		})
	}
}

func read(t *testing.T, text string) (a answer) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &a.Value); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestStreamBindsTheStatus reads the status after a stream has shown a later one.
func TestStreamBindsTheStatus(t *testing.T) {
	half, done := recordOf("running", "50", "completed", "running"), recordOf("completed", "100", "completed", "completed")
	cases := []struct{ name, stream, status, want string }{
		{"continues", half, done, ""},
		{"forgets a step", half, recordOf("running", "50", "running", "pending"), "I4"},
		{"falls", half, recordOf("running", "0", "completed", "running"), "I6"},
		{"takes the end back", done, half, "I5"},
		{"has another end", done, recordOf("failed", "50", "completed", "failed"), "I5"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newHistory("test", io.Discard)
			r := b.addRun("exec_1", "", &shape{})
			b.readStream(r, strings.NewReader("data: {\"json\":"+c.stream+"}\n\n"))
			b.observe(r, read(t, c.status))
			if got := first(b); got != c.want {
				t.Errorf("violations %v, want %q", b.violations, c.want)
			}
		})
	}
}

func TestCheckEdition(t *testing.T) {
	cases := []struct {
		text  string
		least int
		tried int
		want  string
	}{
		{"edition 3 of 3", 0, 5, ""},
		{"edition 3 of 3", 3, 3, ""},
		{"edition 3 of 4", 0, 5, "I11"},
		{"edition 3 of 3", 4, 5, "I11"},
		{"edition 6 of 6", 0, 5, "I11"},
		{"", 0, 5, "I11"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.text, " ", c.least), func(t *testing.T) {
			b := newHistory("test", io.Discard)
			r := b.addRun("exec_1", "fired", &shape{name: edited})
			r.minEdition = c.least
			b.checkEdition(r, c.text, c.tried)
			if got := first(b); got != c.want {
				t.Errorf("%+v: violations %v, want %v", c, b.violations, c.want)
			}
		})
	}
}

// TestEndedReadsTheEdition checks that the last record of a run is checked.
func TestEndedReadsTheEdition(t *testing.T) {
	record := `{"id":"exec_1","status":"completed","progress":100,"completedSteps":2,"startTime":"1","endTime":"9","steps":[
		{"nodeId":"edition","status":"completed","output":{"text":"edition 1 of 2"}},{"nodeId":"after","status":"completed","output":{"text":"exec_1 done"}}]}`
	b := newHistory("test", io.Discard)
	b.observe(b.addRun("exec_1", "fired", &shape{name: edited, last: "after", sent: 2}), read(t, record))
	if first(b) != "I11" {
		t.Errorf("violations %v, want I11", b.violations)
	}
}

func TestCheckStored(t *testing.T) {
	cases := []struct {
		stored, published, tried int
		want                     string
	}{{3, 3, 3, ""}, {4, 3, 4, ""}, {2, 3, 4, "I1"}, {5, 3, 4, "I1"}}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.stored), func(t *testing.T) {
			b := newHistory("test", io.Discard)
			a := read(t, `[{"config":{"values":{"edition":`+string(rune('0'+c.stored))+`}}}]`)
			b.checkStored(a.Value.([]any), c.published, c.tried)
			if got := first(b); got != c.want {
				t.Errorf("%+v: violations %v, want %v", c, b.violations, c.want)
			}
		})
	}
	b := newHistory("test", io.Discard)
	if b.checkStored(nil, 1, 1); first(b) != "I1" {
		t.Error("a blueprint without nodes passes")
	}
}

func TestCheckSecondServer(t *testing.T) {
	const refusal = "error: a server has this database already: process 7 holds /x/blueprintd.db.lock\nhint: stop that server\n"
	cases := []struct {
		name string
		code int
		text string
		want string
	}{
		{"refused", 1, refusal, ""},
		{"served", 0, "blueprintd is ready on http://127.0.0.1:1\n", "up"},
		{"had to be killed", -1, refusal, "up"},
		{"without a hint", 1, "a server has /x/blueprintd.db\n", "up"},
		{"ready, then refused", 1, "is ready on http://127.0.0.1:1\n" + refusal, "up"},
		{"another complaint", 1, "error: port in use\nhint: choose another\n", "up"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newHistory("test", io.Discard)
			b.checkSecondServer("/x/blueprintd.db", c.code, c.text)
			if got := first(b); got != c.want {
				t.Errorf("violations %v, want %v", b.violations, c.want)
			}
		})
	}
}

// TestCheckWork removes the parts of the load one by one.
func TestCheckWork(t *testing.T) {
	full := counts{Requests: 100, Acknowledged: 1000, Completed: 500, Failed: 1, Duplicates: 1, Answers: 1, UnknownOutcome: 1, Cancelled: 1, Retried: 1,
		Logged: 1, Executed: 1, Fired: 1, Delivered: 1, AnsweredAtEnd: 1, Updates: 1, Streams: 1, Events: 1, SecondServers: 1, Ticks: 1,
		Items: 1, Scripts: 1, SubRuns: 1, CustomEvents: 1, TokenCalls: 1, Redirected: 1, OAuthCalls: 1, Tokens: 1, Questions: 1, Tools: 1, Mails: 1, Posts: 1, ConnectionLists: 1, ConnectionTests: 1, ConnectionChanges: 1,
		Signed: 1, PreviousSecrets: 1, WrongSignatures: 1, Rotations: 1, Slack: 1, Filtered: 1, Emails: 1, EmailsCutOff: 1, Attachments: 1, EndEvents: 1, ChangeEvents: 1, Redelivered: 1, Limited: 1, LimitReached: 1, Displaced: 1, Explained: 1, Conflicts: 1,
		AuditedChanges: 1, DashboardChanges: 1, HourEnds: 1, SignIns: 1, Sessions: 1, SignOuts: 1, SessionsRefused: 1, Passwords: 1, OldPasswords: 1, SetUps: 1, UsedLinks: 1}
	check := func(starts int, virtual bool, change func(*counts)) string {
		s := newScenario(options{}, "test", t.TempDir(), newDisplay(io.Discard, 0))
		if virtual {
			s.clock = &virtualClock{}
		}
		s.shapes = listenerShapes("")
		for i, one := range sources("") {
			s.sources, s.shapes = append(s.sources, one), append(s.shapes, one.shape)
			s.history.runs[fmt.Sprint(i)] = &run{shape: one.shape}
		}
		s.history.counts = full
		change(&s.history.counts)
		for range starts {
			s.ready = append(s.ready, 1)
		}
		s.checkWork()
		return first(s.history)
	}
	cases := []struct {
		name   string
		change func(*counts)
		want   string
		later  string // with a virtual clock
	}{
		{"all", func(*counts) {}, "", ""},
		{"nothing begun", func(c *counts) { c.Acknowledged, c.Ticks = 0, 0 }, "I10", "I10"},
		{"little begun", func(c *counts) { c.Acknowledged, c.Ticks = startsForAllParts*minBegun-1, 0 }, "I10", "I10"},
		{"nothing completed", func(c *counts) { c.Completed = 0 }, "I10", "I10"},
		{"nothing answered", func(c *counts) { c.Requests = 0 }, "I10", "I10"},
		{"many answers lost", func(c *counts) { c.Lost = 51 }, "I10", "I10"},
		{"many refused", func(c *counts) { c.Refused = 51 }, "I10", "I10"},
		{"some lost and refused", func(c *counts) { c.Lost, c.Refused = 10, 10 }, "", ""},
		{"many fail", func(c *counts) { c.Failed = 600 }, "I10", "I10"},
		{"no logged runs", func(c *counts) { c.Logged = 0 }, "I10", ""},
		{"no synchronous runs", func(c *counts) { c.Executed = 0 }, "I10", ""},
		{"nothing fired", func(c *counts) { c.Fired = 0 }, "I10", ""},
		{"no deliveries", func(c *counts) { c.Delivered = 0 }, "I10", ""},
		{"no waiting deliveries", func(c *counts) { c.AnsweredAtEnd = 0 }, "I10", ""},
		{"no duplicates", func(c *counts) { c.Duplicates = 0 }, "I10", ""},
		{"no answers", func(c *counts) { c.Answers = 0 }, "I10", ""},
		{"nothing in doubt", func(c *counts) { c.UnknownOutcome = 0 }, "I10", ""},
		{"nothing cancelled", func(c *counts) { c.Cancelled = 0 }, "I10", ""},
		{"nothing retried", func(c *counts) { c.Retried = 0 }, "I10", ""},
		{"nothing fails", func(c *counts) { c.Failed = 0 }, "I10", ""},
		{"nothing changes", func(c *counts) { c.Updates = 0 }, "I10", ""},
		{"no items", func(c *counts) { c.Items = 0 }, "I10", ""},
		{"no scripts", func(c *counts) { c.Scripts = 0 }, "I10", ""},
		{"no sub-runs", func(c *counts) { c.SubRuns = 0 }, "I10", ""},
		{"no events", func(c *counts) { c.CustomEvents = 0 }, "I10", ""},
		{"nothing signed", func(c *counts) { c.Signed = 0 }, "I10", ""},
		{"no secret replaced", func(c *counts) { c.Rotations = 0 }, "I10", ""},
		{"nothing signed wrongly", func(c *counts) { c.WrongSignatures = 0 }, "I10", ""},
		{"nothing left out", func(c *counts) { c.Filtered = 0 }, "I10", ""},
		{"no emails", func(c *counts) { c.Emails = 0 }, "I10", ""},
		{"no attachments", func(c *counts) { c.Attachments = 0 }, "I10", ""},
		{"no end received", func(c *counts) { c.EndEvents = 0 }, "I10", ""},
		{"no change received", func(c *counts) { c.ChangeEvents = 0 }, "I10", ""},
		{"nothing delivered again", func(c *counts) { c.Redelivered = 0 }, "I10", ""},
		{"no limit met", func(c *counts) { c.LimitReached = 0 }, "I10", ""},
		{"no run is displaced", func(c *counts) { c.Displaced = 0 }, "I10", ""},
		{"no redirects", func(c *counts) { c.Redirected = 0 }, "I10", ""},
		{"no OAuth", func(c *counts) { c.OAuthCalls = 0 }, "I10", ""},
		{"no mail", func(c *counts) { c.Mails = 0 }, "I10", ""},
		{"no tool calls", func(c *counts) { c.Tools = 0 }, "I10", ""},
		{"no connection tests", func(c *counts) { c.ConnectionTests = 0 }, "I10", ""},
		{"no subscriptions", func(c *counts) { c.Streams = 0 }, "I10", "I10"},
		{"silent subscriptions", func(c *counts) { c.Events = 0 }, "I10", "I10"},
		{"no second server", func(c *counts) { c.SecondServers = 0 }, "I10", "I10"},
		{"no change in the audit log", func(c *counts) { c.AuditedChanges = 0 }, "I10", "I10"},
		{"nothing counted by the hour", func(c *counts) { c.HourEnds = 0 }, "I10", "I10"},
		{"no signed-in user changes anything", func(c *counts) { c.DashboardChanges = 0 }, "I10", ""},
		{"no session ends", func(c *counts) { c.SignOuts = 0 }, "I10", ""},
		{"no used link is tried", func(c *counts) { c.UsedLinks = 0 }, "I10", ""},
		{"no ticks", func(c *counts) { c.Ticks = 0 }, "", "I10"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := check(startsForAllParts, false, c.change); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if got := check(startsForAllParts, true, c.change); got != c.later {
				t.Errorf("%s, under a virtual clock: %q, want %q", c.name, got, c.later)
			}
		})
	}
	if got := check(startsForAllParts-1, false, func(c *counts) { c.Updates = 0 }); got != "" {
		t.Errorf("a short run is held to every part of the load: %s, want nothing", got)
	}
}

// TestFirst stops at the first violation, which is the only one recorded.
func TestFirst(t *testing.T) {
	b := newHistory("test", io.Discard)
	stops := 0
	b.stop = func() { stops++ }
	b.violated("I1", "exec_1", "one")
	b.violated("I2", "exec_1", "two")
	if stops != 1 || len(b.violations) != 1 || first(b) != "I1" {
		t.Errorf("%d stops, violations %v; want 1, length 1 and I1", stops, b.violations)
	}

	b = newHistory("test", io.Discard)
	b.stop, b.expectedInvariants = func() { stops++ }, []string{"I2"}
	b.violated("I1", "exec_1", "one")
	b.violated("I2", "exec_1", "two")
	b.violated("I3", "exec_1", "three")
	if stops != 2 || len(b.violations) != 2 || b.violations[1].Invariant != "I2" {
		t.Errorf("with a sign: %d stops, violations %v; want 2, length 2 and Invariant I2", stops, b.violations)
	}
}

// TestVerdicts distinguishes a mutant that was found, one that was not, and an unrelated
// finding.
func TestVerdicts(t *testing.T) {
	v := &verdict{Bug: "no-recovery"}
	if v.expected() {
		t.Error("a bug that was not found is good")
	}
	if err := v.found("I9", "I9 test: text"); err == nil || v.Caught {
		t.Error("any invariant is a sign of any bug")
	}
	if err := v.found("I2", "I2 test: text"); err != nil || !v.expected() {
		t.Errorf("found: %v, %+v", err, v)
	}
	none := &verdict{}
	if !none.expected() {
		t.Error("nothing found in a good server is not good")
	}
	if err := none.found("I2", "text"); err != nil || none.expected() {
		t.Error("a violation of a good server is good")
	}
	power := &verdict{Bug: "synchronous-off"}
	if err := power.readSweep([]byte(`{"cases":{},"violations":[]}`)); err == nil {
		t.Error("a sweep without a power cut is enough, want an error")
	}
	if err := power.readSweep([]byte(`{"cases":{"cut":2,"uncut":1},"violations":[]}`)); err != nil || power.expected() || power.Faults != 3 {
		t.Errorf("nothing found: %v, %+v", err, power)
	}
	power = &verdict{Bug: "synchronous-off"}
	if err := power.readSweep([]byte(`{"cases":{"cut":3},"violations":[{"mode":"cut","where":"cut 3","text":"a run is lost"}]}`)); err != nil || !power.expected() {
		t.Errorf("found: %v, %+v", err, power)
	}
	if text := table([]*verdict{v, none}); strings.Count(text, "WRONG") != 1 {
		t.Errorf("%v, want 1", text)
	}
}
