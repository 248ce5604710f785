package main

import (
	"fmt"
	"time"

	"blueprintd/tests/process"
)

// line is one of the audit log.
type line struct {
	id, actor, action, kind, target, via string
	detail                               any
}

// said is the part of an entry by which lines and deeds are compared.
type said struct {
	by
	action, kind, target, run string
}

// lines reads an audit log page by page through list.
func (b *book) lines(list func(input object) answer, organization string) (all []line) {
	seen := map[string]bool{}
	for {
		input := object{"limit": 100, "offset": len(all)}
		if organization != "" {
			input["organizationId"] = organization
		}
		a := list(input)
		entries, _ := process.At(a.Value, "entries").([]any)
		total, _ := process.At(a.Value, "total").(float64)
		if !a.OK() {
			b.violated("I17", "", "the audit log cannot be read: %s", a)
			return all
		}
		for _, e := range entries {
			text := func(key string) string { s, _ := process.At(e, key).(string); return s }
			one := line{text("id"), text("actorId"), text("action"), text("targetType"), text("targetId"), text("via"), process.At(e, "detail")}
			if one.kind == ofServer {
				one.target = ofServer
			}
			if seen[one.id] {
				b.violated("I17", "", "the line %s of the audit log came on two pages", one.id)
			}
			seen[one.id] = true
			all = append(all, one)
		}
		if len(entries) < 100 {
			if int(total) != len(all) {
				b.violated("I17", "", "the audit log says that it has %v lines, and has %d", total, len(all))
			}
			return all
		}
	}
}

// lateRest bounds the wait of an entry that is written after its change when there are no
// other writes: 10 ms in the queue, then a commit.
const lateRest = time.Second

// judgeLines compares the lines of the audit log with the deeds: each acknowledged deed has
// one line, and there is none without a deed. users maps ids to actors.
func (b *book) judgeLines(m *minutes, lines []line, users map[string]string) {
	there := map[said]int{}
	failed := 0
	for _, l := range lines {
		who, known := users[l.actor]
		run, _ := process.At(l.detail, "executionId").(string)
		switch {
		case l.action == "session.create" && process.At(l.detail, "outcome") == "failed":
			failed++
			continue
		case !known && l.actor != "":
			b.violated("I17", "", "the line %s of the audit log (%s) is of user %q, who does not exist", l.id, l.action, l.actor)
		}
		there[said{by{who, l.via}, l.action, l.kind, l.target, run}]++
	}
	if failed > m.wrong {
		b.violated("I17", "", "%d sign-ins were refused, and %d lines say so", m.wrong, failed)
	}
	for _, action := range m.unknown {
		b.violated("I17", "", "the load calls %s, whose audit line is not described here", action)
	}
	acknowledged, unsure := map[said][]*deed{}, map[said]int{}
	for _, d := range m.all {
		if key := (said{d.by, d.action, traces[d.action].kind, d.target, d.run}); d.sure && d.target != "" {
			acknowledged[key] = append(acknowledged[key], d)
		} else {
			unsure[key]++
		}
	}
	made, missed := 0, 0
	for key, n := range there {
		for range n - len(acknowledged[key]) { // unacknowledged ones
			may := []said{key, {key.by, key.action, key.kind, key.target, ""}, {key.by, key.action, key.kind, "", ""}}
			found := false
			for _, one := range may {
				if found = unsure[one] > 0; found {
					unsure[one]--
					made++
					break
				}
			}
			if !found {
				b.violated("I17", key.run, "the audit log has %d lines of %s (%s) of %s %s, and %d were acknowledged", n, key.action, key.via, key.kind, key.target, len(acknowledged[key]))
			}
		}
	}
	for key, deeds := range acknowledged {
		missing := len(deeds) - there[key]
		for _, d := range deeds {
			if missing > 0 && traces[d.action].late && b.justBeforeKill(m, d) {
				missing--
				missed++
			}
		}
		if missing > 0 {
			b.violated("I17", key.run, "%s (%s) of %s %s was acknowledged %d times, the audit log has %d lines of it; %s", key.action, key.via, key.kind, key.target, len(deeds), there[key], b.nearest(m, deeds))
		}
	}
	b.judgeNameless(m, unsure)
	b.counts.Lines, b.counts.LinesMade, b.counts.LinesMissed = len(lines), made, missed
	for _, d := range m.all {
		if !d.sure {
			continue
		}
		if b.counts.Deeds++; d.by == bySession {
			b.counts.DeedsSignedIn++
		}
		if d.target == "" {
			b.counts.LinesMade--
		}
	}
}

// judgeNameless checks the acknowledged deeds whose target is unknown: at most as many may
// lack a line as were not acknowledged.
func (b *book) judgeNameless(m *minutes, left map[said]int) {
	sent := map[said]int{}
	for _, d := range m.all {
		if key := (said{d.by, d.action, traces[d.action].kind, d.target, d.run}); d.target == "" && !d.sure {
			sent[key]++
		}
	}
	for key, n := range left {
		if key.target == "" && n > sent[key] {
			b.violated("I17", "", "of %s (%s) %d were acknowledged that have no line in the audit log", key.action, key.via, n-sent[key])
		}
	}
}

// justBeforeKill reports whether a process was killed so soon after a response that its
// audit line may be missing: before any later request was acknowledged. The line is queued
// ahead of all later writes.
func (b *book) justBeforeKill(m *minutes, d *deed) bool {
	for _, o := range b.outages {
		if !o.asked && !d.at.Before(o.from.Add(-lateRest)) && !d.at.After(o.to) && m.acknowledgedBetween(d.at, o.from) == 0 {
			return true
		}
	}
	return false
}

// acknowledgedBetween counts the changes that were sent after one instant and acknowledged
// before another.
func (m *minutes) acknowledgedBetween(after, before time.Time) (n int) {
	for _, d := range m.all {
		if d.sure && !traces[d.action].alone && d.sent.After(after) && d.at.Before(before) {
			n++
		}
	}
	return n
}

// nearest describes the response that came closest before the end of a process, and the
// number of changes acknowledged in between.
func (b *book) nearest(m *minutes, deeds []*deed) string {
	var last *deed
	var end outage
	for _, o := range b.outages {
		for _, d := range deeds {
			if !d.at.After(o.from) && (last == nil || o.from.Sub(d.at) < end.from.Sub(last.at)) {
				last, end = d, o
			}
		}
	}
	if last == nil {
		return "no process ended since"
	}
	later := m.acknowledgedBetween(last.at, end.from)
	what := "a kill"
	if end.asked {
		what = "an end that was asked for"
	}
	return fmt.Sprintf("of their answers one came %v before %s, and %d changes were sent and acknowledged between", end.from.Sub(last.at).Round(100*time.Microsecond), what, later)
}
