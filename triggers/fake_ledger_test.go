package triggers

import (
	"context"
	"slices"

	"blueprintd/blueprint"
)

// FiringWithDelivery gives a row to everybody but the stranger.
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

// FiringsToRedeliver knows the decisions of a filter, its times, and again.
func (m *memory) FiringsToRedeliver(_ context.Context, _ blueprint.Principal, triggerID string, filter blueprint.FiringFilter, again bool, limit int) (list []blueprint.Firing, matched int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	done := map[any]bool{}
	for _, row := range m.rows {
		if row.Source == blueprint.SourceRedelivery && row.Decision == blueprint.DecisionStarted {
			done[row.Delivery.Facts[blueprint.RedeliveredFrom]] = true
		}
	}
	for _, row := range m.rows {
		if row.TriggerID != triggerID || row.Source == blueprint.SourceRedelivery || !slices.Contains(filter.Decisions, row.Decision) || row.ReceivedAt < filter.From || done[row.ID] && !again {
			continue
		}
		if matched++; matched <= limit {
			row.Delivery = nil
			list = append(list, row)
		}
	}
	return list, matched, nil
}
