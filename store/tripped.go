package store

import (
	"context"
	"encoding/json"

	"blueprintd/blueprint"
)

// PausedTrigger is one that the server switched off, and why.
type PausedTrigger struct {
	ID string
	blueprint.Trip
}

// PausedTriggers tells how many triggers are off because the server switched
// them off, and of at most limit of them why, those of the lowest ids first. The
// work grows with them alone. It asks for no principal: it is for whoever runs
// the server.
func (s *Store) PausedTriggers(ctx context.Context, limit int) (list []PausedTrigger, total int, err error) {
	defer wrap(&err, "paused triggers")
	const chosen = ` FROM triggers t INDEXED BY triggers_paused JOIN blueprints b ON b.id = t.blueprint_id
		WHERE t.paused_failures IS NOT NULL AND t.deleted_at IS NULL AND b.deleted_at IS NULL`
	err = s.read(ctx, func(q *session) error {
		if err := q.row("SELECT count(*)"+chosen, nil, &total); err != nil || total == 0 || limit == 0 {
			return err
		}
		return q.each("SELECT t.id, "+tripColumns+chosen+" ORDER BY t.id LIMIT ?", []any{limit}, func(scan func(...any) error) error {
			var one PausedTrigger
			err := scan(&one.ID, &one.Failures, &one.ExecutionID, &one.Retries)
			list = append(list, one)
			return err
		})
	})
	return list, total, err
}

// missPaused raises what is raised of a schedule that the server switches off:
// from now on its ticks are missed, and nothing else would tell of it.
func (s *Store) missPaused(t *transaction, trigger *blueprint.Trigger, at blueprint.Time, reason string) error {
	if trigger.Type != blueprint.TriggerScheduled {
		return nil
	}
	event := blueprint.Event{Name: blueprint.EventTriggerMissed, BlueprintID: trigger.BlueprintID, At: at, Data: map[string]any{
		"triggerId": trigger.ID, "missed": json.Number("0"), "firstDueAt": nil, "lastDueAt": nil, "decision": "paused", "reason": reason,
	}}
	if err := t.row("SELECT organization_id FROM blueprints WHERE id = ?", []any{trigger.BlueprintID}, &event.OrganizationID); err != nil {
		return err
	}
	return s.raise(t, []blueprint.Event{event})
}
