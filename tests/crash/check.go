package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// check compares the ledger of calls, the log of the server and the database with the history,
// after the server has stopped.
func (s *scenario) check(calls string) error {
	made, err := readLedger(calls)
	if err != nil {
		return err
	}
	emails := map[string]string{} // Message-ID -> key
	for what, entries := range made {
		s.checkEffect(what, entries, emails)
	}
	s.checkGroups(made)
	if err := s.checkLog(); err != nil {
		return err
	}
	if err := s.checkDatabase(); err != nil {
		return err
	}
	if err := s.checkAccounts(); err != nil {
		return err
	}
	s.checkWork()
	return nil
}

// checkEffect checks the entries of one kind and key.
func (s *scenario) checkEffect(what effect, entries []entry, emails map[string]string) {
	for _, e := range entries {
		if e.Wrong != "" {
			s.history.violated("I13", "", "the ledger reports: %s", e.Wrong)
		}
	}
	if count := map[string]*int{"guarded": &s.history.counts.TokenCalls, "landed": &s.history.counts.Redirected, "metered": &s.history.counts.OAuthCalls, "token": &s.history.counts.Tokens, "question 1": &s.history.counts.Questions,
		"question 2": &s.history.counts.Questions, "tool": &s.history.counts.Tools, "mail": &s.history.counts.Mails, "post": &s.history.counts.Posts}[what.kind]; count != nil {
		*count += len(entries)
	}
	if what.key == "" && slices.Contains(countedOnly, what.kind) {
		return
	}
	for _, e := range entries {
		if e.MessageID != entries[0].MessageID {
			s.history.violated("I4", "", "the email of %s was sent as %s and as %s", what.key, entries[0].MessageID, e.MessageID)
		}
		if other := emails[e.MessageID]; e.MessageID != "" && other != "" && other != what.key {
			s.history.violated("I4", "", "the emails of %s and of %s are both %s", what.key, other, e.MessageID)
		}
		emails[e.MessageID] = what.key
	}
	s.checkCalls(what.key, entries)
}

// countedOnly are the kinds of entries that are only counted.
var countedOnly = []string{"token", "probe"}

// checkCalls checks the calls of one kind under one idempotency key.
func (s *scenario) checkCalls(key string, calls []entry) {
	id, node, _ := strings.Cut(key, "/")
	r := s.history.runs[id]
	if r == nil {
		s.history.violated("I1", id, "its node %s called the ledger, but the run does not exist", calls[0].Node)
		return
	}
	s.calls += len(calls)
	s.repeatedCalls += len(calls) - 1
	if pattern(node) != calls[0].Node {
		s.history.violated("I4", id, "the call of node %s arrived with the key %q", calls[0].Node, key)
	}
	if r.shape != nil && r.shape.once[pattern(node)] {
		accepted := 0
		for _, c := range calls {
			if c.Status != tooManyRequests {
				accepted++
			}
		}
		if most := 1 + r.retries[node]; accepted > most {
			s.history.violated("I4", id, "the once node %s made %d calls, at most %d were requested: %s", node, accepted, most, s.timeline(calls))
		}
	} else {
		excused := map[int]bool{}
		for i := 1; i < len(calls); i++ {
			if calls[i-1].Status == 200 && !s.outageBetween(calls[i-1].At, calls[i].At, excused) {
				s.history.violated("I4", id, "node %s called again without a kill or a failure in between: %s", node, s.timeline(calls))
				break
			}
		}
	}
	if done, known := r.done[node]; known {
		if last := calls[len(calls)-1]; last.At > done.at.UnixNano() {
			s.history.violated("I4", id, "node %s called at %d, after it was observed as ended at %d", node, last.At, done.at.UnixNano())
		}
	}
}

// tooManyRequests is the status of a refused call, which has no effect.
const tooManyRequests = 429

// timelineMargin is how long before and after the calls a timeline includes kills.
const timelineMargin = time.Second

// timeline lists the calls under a key and the kills around them, in milliseconds
// since the first call.
func (s *scenario) timeline(calls []entry) string {
	type event struct {
		at   int64
		what string
	}
	var events []event
	for _, c := range calls {
		what := fmt.Sprintf("call, answered %d after %d ms", c.Status, c.Delay)
		if c.Status == 0 {
			what = fmt.Sprintf("call, cut off after %d ms", c.Delay)
		}
		events = append(events, event{c.At, what})
	}
	for _, o := range s.history.outages {
		if o.to.UnixNano() > calls[0].At-int64(timelineMargin) && o.from.UnixNano() < calls[len(calls)-1].At+int64(timelineMargin) {
			events = append(events, event{o.from.UnixNano(), "kill"}, event{o.to.UnixNano(), "ready"})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	var b strings.Builder
	for i, e := range events {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%+d ms: %s", (e.at-calls[0].At)/int64(time.Millisecond), e.what)
	}
	return b.String()
}

// lateCalls is how late a call of a killed server may still arrive: on a busy machine the
// ledger reads it after the next server has started.
const lateCalls = 250 * time.Millisecond

// outageBetween reports whether the server was killed between two calls. A kill excuses one
// repetition; used ones are in excused.
func (s *scenario) outageBetween(first, second int64, excused map[int]bool) bool {
	for i, o := range s.history.outages {
		if !excused[i] && o.from.UnixNano() <= second && o.to.Add(lateCalls).UnixNano() >= first {
			excused[i] = true
			return true
		}
	}
	return false
}

// checkLog searches the log for lines that a healthy server never writes.
func (s *scenario) checkLog() error {
	data, err := os.ReadFile(s.serverLog())
	if err != nil {
		return err
	}
	errors := 0
	for line := range strings.Lines(string(data)) {
		s.history.checkSecrets("", "the log of the server", line)
		s.history.checkTriggerSecrets("the log of the server", line)
		if strings.Contains(line, "level=ERROR") || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			if errors++; errors <= 5 {
				s.history.violated("up", "", "the server logged: %s", strings.TrimSpace(line))
			}
		}
	}
	return nil
}

// The minimums of I10. About one run in six is made to fail; about one request in fifty
// meets a kill, and about one in a hundred a requested stop.
const (
	minBegun       = 4  // for each start that became ready
	minCompleted   = 2  // for each start that became ready
	minServed      = 50 // percent of the requests
	minSuccessRate = 50 // percent of the runs that ended
)

// served returns the percentage of requests that were served.
func (c *counts) served() int { return 100 * (c.Requests - c.Lost - c.Refused) / max(1, c.Requests) }

func (c *counts) successRate() int { return 100 * c.Completed / max(1, c.Completed+c.Failed) }

func (s *scenario) checkWork() {
	c, starts := s.history.counts, len(s.ready)
	if begun := c.Acknowledged + c.Ticks; begun < starts*minBegun || c.Completed < starts*minCompleted {
		s.history.violated("I10", "", "after %d starts of the server only %d runs were acknowledged or started by a tick, and %d completed", starts, begun, c.Completed)
	}
	if c.served() < minServed || c.successRate() < minSuccessRate {
		s.history.violated("I10", "", "of %d requests %d %% were served, want at least %d %%; of %d runs that ended %d %% completed, want at least %d %%",
			c.Requests, c.served(), minServed, c.Completed+c.Failed, c.successRate(), minSuccessRate)
	}
	if starts < startsForAllParts {
		return
	}
	for _, part := range s.parts() {
		if part.times == 0 {
			s.history.violated("I10", "", "after %d starts of the server there was no %s", starts, part.name)
		}
	}
}

// startsForAllParts is the number of starts after which every part of the load must have run.
const startsForAllParts = 20

type part struct {
	name  string
	times int
}

// parts returns the parts of the load, so that a missing one is noticed.
func (s *scenario) parts() []part {
	c := &s.history.counts
	always := []part{{"completed run", c.Completed}, {"subscription", c.Streams}, {"event of a subscription", c.Events}, {"refused second server", c.SecondServers}}
	always = append(always, part{"change with a line in the audit log", c.AuditedChanges}, part{"run in the hourly counts", c.HourEnds})
	if s.clock != nil {
		return append(always, part{"tick", c.Ticks})
	}
	return append(append(always, s.sourceParts()...), []part{
		{"change from the dashboard", c.DashboardChanges}, {"sign-in", c.SignIns}, {"session that worked", c.Sessions}, {"ended session", c.SignOuts}, {"refused session", c.SessionsRefused}, {"changed password", c.Passwords}, {"refused password", c.OldPasswords}, {"used link", c.SetUps}, {"refused link", c.UsedLinks},
		{"logged run", c.Logged}, {"synchronous run", c.Executed}, {"fired run", c.Fired}, {"accepted delivery", c.Delivered}, {"delivery answered at the end", c.AnsweredAtEnd},
		{"duplicate delivery", c.Duplicates}, {"key with another body", c.Conflicts}, {"redelivered firing", c.Redelivered}, {"firing explained", c.Explained}, {"answer of a user", c.Answers}, {"decision on an unknown outcome", c.UnknownOutcome},
		{"cancelled run", c.Cancelled}, {"retried run", c.Retried}, {"failed run", c.Failed}, {"changed blueprint", c.Updates},
		{"item", c.Items}, {"script", c.Scripts}, {"sub-run", c.SubRuns}, {"delivered event", c.CustomEvents},
		{"call with a token", c.TokenCalls}, {"redirected call", c.Redirected}, {"call with OAuth", c.OAuthCalls}, {"OAuth token", c.Tokens}, {"question to a model", c.Questions}, {"tool call", c.Tools}, {"mail", c.Mails}, {"post", c.Posts},
		{"listing of connections", c.ConnectionLists}, {"test of a connection", c.ConnectionTests}, {"changed connection", c.ConnectionChanges},
	}...)
}
