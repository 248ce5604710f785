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

// auditKey is the part of an entry by which lines and changes are compared.
type auditKey struct {
	origin
	action, kind, target, run string
}

// lines reads an audit log page by page through list.
func (h *history) lines(list func(input object) answer, organization string) (all []line) {
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
			h.violated("I17", "", "the audit log cannot be read: %s", a)
			return all
		}
		for _, e := range entries {
			text := func(key string) string { s, _ := process.At(e, key).(string); return s }
			one := line{text("id"), text("actorId"), text("action"), text("targetType"), text("targetId"), text("via"), process.At(e, "detail")}
			if one.kind == ofServer {
				one.target = ofServer
			}
			if seen[one.id] {
				h.violated("I17", "", "the audit log returned line %s on two pages", one.id)
			}
			seen[one.id] = true
			all = append(all, one)
		}
		if len(entries) < 100 {
			if int(total) != len(all) {
				h.violated("I17", "", "the audit log reports a total of %v lines, but has %d", total, len(all))
			}
			return all
		}
	}
}

// maxAuditDelay bounds the wait of an entry that is written after its change when there are no
// other writes: 10 ms in the queue, then a commit.
const maxAuditDelay = time.Second

// checkLines compares the lines of the audit log with the changes: each acknowledged change has
// one line, and there is none without a change. users maps ids to actors.
func (h *history) checkLines(m *changeLog, lines []line, users map[string]string) {
	there := map[auditKey]int{}
	failed := 0
	for _, l := range lines {
		who, known := users[l.actor]
		run, _ := process.At(l.detail, "executionId").(string)
		switch {
		case l.action == "session.create" && process.At(l.detail, "outcome") == "failed":
			failed++
			continue
		case !known && l.actor != "":
			h.violated("I17", "", "the line %s of the audit log (%s) is of user %q, who does not exist", l.id, l.action, l.actor)
		}
		there[auditKey{origin{who, l.via}, l.action, l.kind, l.target, run}]++
	}
	if failed > m.refusedSignIns {
		h.violated("I17", "", "%d sign-ins were refused, but %d audit lines report that", m.refusedSignIns, failed)
	}
	for _, action := range m.unknown {
		h.violated("I17", "", "the load calls %s, which auditLines does not describe", action)
	}
	acknowledged, unacknowledged := map[auditKey][]*change{}, map[auditKey]int{}
	for _, d := range m.all {
		if key := (auditKey{d.origin, d.action, auditLines[d.action].kind, d.target, d.run}); d.acknowledged && d.target != "" {
			acknowledged[key] = append(acknowledged[key], d)
		} else {
			unacknowledged[key]++
		}
	}
	made, missed := 0, 0
	for key, n := range there {
		for range n - len(acknowledged[key]) { // unacknowledged ones
			may := []auditKey{key, {key.origin, key.action, key.kind, key.target, ""}, {key.origin, key.action, key.kind, "", ""}}
			found := false
			for _, one := range may {
				if found = unacknowledged[one] > 0; found {
					unacknowledged[one]--
					made++
					break
				}
			}
			if !found {
				h.violated("I17", key.run, "the audit log has %d lines for %s (%s) of %s %s, but %d were acknowledged", n, key.action, key.via, key.kind, key.target, len(acknowledged[key]))
			}
		}
	}
	for key, changes := range acknowledged {
		missing := len(changes) - there[key]
		for _, d := range changes {
			if missing > 0 && auditLines[d.action].late && h.justBeforeKill(m, d) {
				missing--
				missed++
			}
		}
		if missing > 0 {
			h.violated("I17", key.run, "%s (%s) of %s %s was acknowledged %d times, but the audit log has %d lines for it; %s", key.action, key.via, key.kind, key.target, len(changes), there[key], h.nearest(m, changes))
		}
	}
	h.checkUnknownTargets(m, unacknowledged)
	h.counts.Lines, h.counts.LinesMade, h.counts.LinesMissed = len(lines), made, missed
	for _, d := range m.all {
		if !d.acknowledged {
			continue
		}
		if h.counts.AuditedChanges++; d.origin == bySession {
			h.counts.DashboardChanges++
		}
		if d.target == "" {
			h.counts.LinesMade--
		}
	}
}

// checkUnknownTargets checks the acknowledged changes whose target is unknown: at most as many may
// lack a line as were not acknowledged.
func (h *history) checkUnknownTargets(m *changeLog, left map[auditKey]int) {
	sent := map[auditKey]int{}
	for _, d := range m.all {
		if key := (auditKey{d.origin, d.action, auditLines[d.action].kind, d.target, d.run}); d.target == "" && !d.acknowledged {
			sent[key]++
		}
	}
	for key, n := range left {
		if key.target == "" && n > sent[key] {
			h.violated("I17", "", "%[3]d acknowledged %[1]s (%[2]s) have no line in the audit log", key.action, key.via, n-sent[key])
		}
	}
}

// justBeforeKill reports whether a process was killed so soon after a response that its
// audit line may be missing: before any later request was acknowledged. The line is queued
// ahead of all later writes.
func (h *history) justBeforeKill(m *changeLog, d *change) bool {
	for _, o := range h.outages {
		if !o.asked && !d.at.Before(o.from.Add(-maxAuditDelay)) && !d.at.After(o.to) && m.acknowledgedBetween(d.at, o.from) == 0 {
			return true
		}
	}
	return false
}

// acknowledgedBetween counts the changes that were sent after one instant and acknowledged
// before another.
func (m *changeLog) acknowledgedBetween(after, before time.Time) (n int) {
	for _, d := range m.all {
		if d.acknowledged && !auditLines[d.action].alone && d.sent.After(after) && d.at.Before(before) {
			n++
		}
	}
	return n
}

// nearest describes the response that came closest before the end of a process, and the
// number of changes acknowledged in between.
func (h *history) nearest(m *changeLog, changes []*change) string {
	var last *change
	var end outage
	for _, o := range h.outages {
		for _, d := range changes {
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
		what = "a requested stop"
	}
	return fmt.Sprintf("of their answers one came %v before %s, and %d changes were sent and acknowledged between", end.from.Sub(last.at).Round(100*time.Microsecond), what, later)
}
