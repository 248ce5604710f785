package triggers

import (
	"encoding/json"
	"strconv"

	"blueprintd/blueprint"
)

// What a trigger.missed event says of its ticks besides blueprint.Decision.
const (
	missedCoalesced = string(blueprint.DecisionCoalesced) // a run stands for them
	missedSkipped   = string(blueprint.DecisionSkipped)   // none does
	missedLate      = "late"                              // the run is started too late
	missedOverdue   = "overdue"                           // nothing is decided yet
)

// unmet gives the ticks of a step for which no run is started when they are due,
// nil for none; runs says whether the step starts one.
func (st *step) unmet(runs bool) *lot {
	var l lot
	if st.left != nil {
		l = *st.left
	}
	if !st.at.IsZero() && (st.late || !runs) {
		if l.count == 0 {
			l.first = st.at
		}
		l.count, l.last = l.count+1, st.at
	}
	if l.count == 0 {
		return nil
	}
	return &l
}

// untold gives what the event of a step tells of its ticks that were not run when
// they were due: all that were missed by then, those of the steps behind it as
// well, so that an outage is told once. Nil when they were told of already. A
// server that is stopped within these steps tells of the rest again.
func (one *scheduled) untold(st *step, unmet *lot) *lot {
	if unmet == nil || !unmet.last.After(one.told) {
		return nil
	}
	return unmet.and(st.behind)
}

// tellsOf gives what is raised with a step.
func (s *scheduler) tellsOf(one *scheduled, st *step, unmet *lot, of *blueprint.Binding, decision, reason string) []blueprint.Event {
	if st.behind != nil {
		reason += "; behind it " + st.behind.String() + ", and the ledger tells of each"
	}
	return one.untold(st, unmet).events(s.Service, of, decision, reason)
}

// lateEvents gives what is raised with the run of a step.
func (s *scheduler) lateEvents(one *scheduled, st *step, a *activation) []blueprint.Event {
	if a.coalesced != nil {
		return s.tellsOf(one, st, st.unmet(true), a.binding, missedCoalesced, a.coalesced.Reason)
	}
	return s.tellsOf(one, st, st.unmet(true), a.binding, missedLate, a.firing.Reason)
}

// events gives the one event that tells of some ticks for which no run was
// started when they were due, or none when there are no such ticks.
func (l *lot) events(t *Service, of *blueprint.Binding, decision, reason string) []blueprint.Event {
	if l == nil {
		return nil
	}
	place := &blueprint.Schedule{Trigger: blueprint.Trigger{ID: of.Trigger.ID, BlueprintID: of.Definition.BlueprintID}, OrganizationID: of.Definition.OrganizationID}
	return []blueprint.Event{t.missedEvent(place, l, decision, reason)}
}

// missedEvent tells of the ticks of a lot; nil when which they were is not known.
func (t *Service) missedEvent(of *blueprint.Schedule, l *lot, decision, reason string) blueprint.Event {
	data := map[string]any{
		"triggerId": of.Trigger.ID, "missed": json.Number("0"), "firstDueAt": nil, "lastDueAt": nil, "decision": decision, "reason": reason,
	}
	if l != nil {
		data["missed"], data["firstDueAt"], data["lastDueAt"] = json.Number(strconv.Itoa(l.count)), instant(l.first), instant(l.last)
	}
	return blueprint.Event{
		Name: blueprint.EventTriggerMissed, OrganizationID: of.OrganizationID, BlueprintID: of.Trigger.BlueprintID,
		At: blueprint.TimeOf(t.Clock.Now()), Data: data,
	}
}

// met takes note that the ticks of a step are decided, and counts those that were
// not run when they were due; nil is none. A tick that the watchdog counted is not counted
// again.
func (t *Service) met(triggerID string, st *step, unmet *lot) {
	counted := t.overdue.decided(triggerID, st.end())
	if unmet != nil {
		t.counts.missed.Add(int64(unmet.count - counted))
	}
}
