package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// judge compares the ledger of calls, the log of the server and the database with the book,
// after the server has stopped.
func (s *scene) judge(calls string) error {
	made, err := readLedger(calls)
	if err != nil {
		return err
	}
	letters := map[string]string{} // Message-ID -> key
	for what, entries := range made {
		s.judgeEffect(what, entries, letters)
	}
	s.judgeGroups(made)
	if err := s.judgeLog(); err != nil {
		return err
	}
	if err := s.judgeDatabase(); err != nil {
		return err
	}
	if err := s.judgeAccounts(); err != nil {
		return err
	}
	s.judgeWork()
	return nil
}

// judgeEffect checks the entries of one kind and key.
func (s *scene) judgeEffect(what effect, entries []entry, letters map[string]string) {
	for _, e := range entries {
		if e.Wrong != "" {
			s.book.violated("I13", "", "the ledger saw: %s", e.Wrong)
		}
	}
	if count := map[string]*int{"guarded": &s.book.counts.Guarded, "landed": &s.book.counts.Landed, "metered": &s.book.counts.Metered, "token": &s.book.counts.Tokens, "question 1": &s.book.counts.Questions,
		"question 2": &s.book.counts.Questions, "tool": &s.book.counts.Tools, "mail": &s.book.counts.Mails, "post": &s.book.counts.Posts}[what.kind]; count != nil {
		*count += len(entries)
	}
	if what.key == "" && slices.Contains(aside, what.kind) {
		return
	}
	for _, e := range entries {
		if e.Letter != entries[0].Letter {
			s.book.violated("I4", "", "the letter of %s was sent as %s and as %s", what.key, entries[0].Letter, e.Letter)
		}
		if other := letters[e.Letter]; e.Letter != "" && other != "" && other != what.key {
			s.book.violated("I4", "", "the letters of %s and of %s are both %s", what.key, other, e.Letter)
		}
		letters[e.Letter] = what.key
	}
	s.judgeCalls(what.key, entries)
}

// aside are the kinds of entries that are only counted.
var aside = []string{"token", "probe"}

// judgeCalls checks the calls of one kind under one idempotency key.
func (s *scene) judgeCalls(key string, calls []entry) {
	id, node, _ := strings.Cut(key, "/")
	r := s.book.runs[id]
	if r == nil {
		s.book.violated("I1", id, "node %s of it called the ledger, and it does not exist", calls[0].Node)
		return
	}
	s.calls += len(calls)
	s.repeated += len(calls) - 1
	if pattern(node) != calls[0].Node {
		s.book.violated("I4", id, "the call of node %s came under the key %q", calls[0].Node, key)
	}
	if r.shape != nil && r.shape.once[pattern(node)] {
		taken := 0
		for _, c := range calls {
			if c.Status != tooMuch {
				taken++
			}
		}
		if most := 1 + r.retries[node]; taken > most {
			s.book.violated("I4", id, "the once node %s made %d calls, at most %d were asked for: %s", node, taken, most, s.timeline(calls))
		}
	} else {
		excused := map[int]bool{}
		for i := 1; i < len(calls); i++ {
			if calls[i-1].Status == 200 && !s.outageBetween(calls[i-1].At, calls[i].At, excused) {
				s.book.violated("I4", id, "node %s called again without a kill or a failure since: %s", node, s.timeline(calls))
				break
			}
		}
	}
	if done, known := r.done[node]; known {
		if last := calls[len(calls)-1]; last.At > done.at.UnixNano() {
			s.book.violated("I4", id, "node %s called at %d, after it was seen to have ended at %d", node, last.At, done.at.UnixNano())
		}
	}
}

// tooMuch is the status of a refused call, which has no effect.
const tooMuch = 429

// nearby is how long before and after the calls a timeline includes kills.
const nearby = time.Second

// timeline lists the calls under a key and the kills around them, in milliseconds
// since the first call.
func (s *scene) timeline(calls []entry) string {
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
	for _, o := range s.book.outages {
		if o.to.UnixNano() > calls[0].At-int64(nearby) && o.from.UnixNano() < calls[len(calls)-1].At+int64(nearby) {
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

// slack is how late a call of a killed server may still arrive: on a busy machine the
// ledger reads it after the next server has started.
const slack = 250 * time.Millisecond

// outageBetween reports whether the server was killed between two calls. A kill excuses one
// repetition; used ones are in excused.
func (s *scene) outageBetween(first, second int64, excused map[int]bool) bool {
	for i, o := range s.book.outages {
		if !excused[i] && o.from.UnixNano() <= second && o.to.Add(slack).UnixNano() >= first {
			excused[i] = true
			return true
		}
	}
	return false
}

// judgeLog searches the log for lines that a healthy server never writes.
func (s *scene) judgeLog() error {
	data, err := os.ReadFile(s.serverLog())
	if err != nil {
		return err
	}
	told := 0
	for line := range strings.Lines(string(data)) {
		s.book.keepsSecrets("", "the log of the server", line)
		s.book.keepsWhispers("the log of the server", line)
		if strings.Contains(line, "level=ERROR") || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			if told++; told <= 5 {
				s.book.violated("up", "", "the server logged: %s", strings.TrimSpace(line))
			}
		}
	}
	return nil
}

// The minimums of I10. About one run in six is made to fail; about one request in fifty
// meets a kill, and about one in a hundred a requested stop.
const (
	fewestBegun      = 4  // for each start that became ready
	fewestCompleted  = 2  // for each start that became ready
	leastServed      = 50 // percent of the requests
	leastSuccessRate = 50 // percent of the runs that ended
)

// served returns the percentage of requests that were served.
func (c *counts) served() int { return 100 * (c.Requests - c.Lost - c.Refused) / max(1, c.Requests) }

func (c *counts) successRate() int { return 100 * c.Completed / max(1, c.Completed+c.Failed) }

func (s *scene) judgeWork() {
	c, starts := s.book.counts, len(s.ready)
	if begun := c.Acknowledged + c.Ticks; begun < starts*fewestBegun || c.Completed < starts*fewestCompleted {
		s.book.violated("I10", "", "in %d lives of the server only %d runs were acknowledged or begun by a tick, and %d completed", starts, begun, c.Completed)
	}
	if c.served() < leastServed || c.successRate() < leastSuccessRate {
		s.book.violated("I10", "", "of %d requests %d %% were served, at least %d %% are wanted; of %d runs that ended %d %% completed, at least %d %% are wanted",
			c.Requests, c.served(), leastServed, c.Completed+c.Failed, c.successRate(), leastSuccessRate)
	}
	if starts < enoughForAll {
		return
	}
	for _, part := range s.parts() {
		if part.times == 0 {
			s.book.violated("I10", "", "in %d lives of the server there was not one of these: %s", starts, part.name)
		}
	}
}

// enoughForAll is the number of starts after which every part of the load must have run.
const enoughForAll = 20

type part struct {
	name  string
	times int
}

// parts returns the parts of the load, so that a missing one is noticed.
func (s *scene) parts() []part {
	c := &s.book.counts
	always := []part{{"completed run", c.Completed}, {"subscription", c.Streams}, {"event of a subscription", c.Events}, {"refused second server", c.Intruders}}
	always = append(always, part{"change with a line in the audit log", c.Deeds}, part{"run that was counted by the hour", c.HourEnds})
	if s.ticking != nil {
		return append(always, part{"tick", c.Ticks})
	}
	return append(append(always, s.outsideParts()...), []part{
		{"change from the dashboard", c.DeedsSignedIn}, {"sign-in", c.SignIns}, {"session that worked", c.Sessions}, {"ended session", c.SignOuts}, {"refused session", c.Turned}, {"changed password", c.Passwords}, {"refused password", c.OldPasswords}, {"used link", c.SetUps}, {"refused link", c.UsedLinks},
		{"logged run", c.Logged}, {"synchronous run", c.Executed}, {"fired run", c.Fired}, {"accepted delivery", c.Delivered}, {"delivery answered at the end", c.Waited},
		{"duplicate delivery", c.Duplicates}, {"key with another body", c.Conflicts}, {"firing delivered again", c.Redelivered}, {"firing explained", c.Explained}, {"answer of a person", c.Answers}, {"decision on an unknown outcome", c.UnknownOutcome},
		{"cancelled run", c.Cancelled}, {"retried run", c.Retried}, {"failed run", c.Failed}, {"changed blueprint", c.Updates},
		{"item", c.Items}, {"script", c.Scripts}, {"sub-run", c.SubRuns}, {"delivered event", c.Heard},
		{"call with a token", c.Guarded}, {"redirected call", c.Landed}, {"call with OAuth", c.Metered}, {"OAuth token", c.Tokens}, {"question to a model", c.Questions}, {"tool call", c.Tools}, {"mail", c.Mails}, {"post", c.Posts},
		{"listing of connections", c.LinkLooks}, {"test of a connection", c.LinkTests}, {"changed connection", c.LinkChanges},
	}...)
}
