package triggers

import (
	"context"
	"slices"

	"blueprintd/blueprint"
)

// FiringWithDelivery returns a row to every principal except the stranger.
func (m *memory) FiringWithDelivery(_ context.Context, principal blueprint.Principal, id string) (blueprint.Firing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, row := range m.rows {
		if row.ID == id && principal.UserID != stranger {
			return row, nil
		}
	}
	return blueprint.Firing{}, blueprint.Errorf(blueprint.CodeNotFound, "firing %s not found", id)
}

// FiringsToRedeliver knows the decisions of a filter, its times, after and again.
func (m *memory) FiringsToRedeliver(_ context.Context, _ blueprint.Principal, request *blueprint.RedeliverRequest) (list []blueprint.RedeliveryCandidate, matched int, err error) {
	filter, first := request.Filter, 0
	m.mu.Lock()
	defer m.mu.Unlock()
	done := map[any]bool{}
	for _, row := range m.rows {
		if row.Source == blueprint.SourceRedelivery && row.Decision == blueprint.DecisionStarted {
			done[row.Delivery.Facts[blueprint.FactRedeliveryOf]] = true
		}
	}
	if request.After != "" && request.After != blueprint.FirstCursor {
		first = 1 + slices.IndexFunc(m.rows, func(row blueprint.Firing) bool { return row.ID == request.After })
	}
	for _, row := range m.rows[first:] {
		if row.TriggerID != request.TriggerID || row.Source == blueprint.SourceRedelivery || done[row.ID] && !request.Again {
			continue
		}
		if !slices.Contains(filter.Decisions, row.Decision) || row.ReceivedAt < filter.From {
			continue
		}
		if matched++; matched <= request.Limit {
			row.Delivery = nil
			list = append(list, blueprint.RedeliveryCandidate{Firing: row})
		}
	}
	return list, matched, nil
}
