package store

import (
	"context"
	"time"

	"blueprintd/blueprint"
)

// retryAt gives when a delivery may switch a trigger on again that was switched
// off at a time, 0 = never. Who knows the address of an open trigger can make its
// runs fail, so that must not keep others out for ever.
func retryAt(trigger *blueprint.Trigger, pausedAt blueprint.Time) blueprint.Time {
	if pausedAt == 0 || trigger.IsActive || !trigger.IsOpen() {
		return 0
	}
	return pausedAt + blueprint.Time(blueprint.BreakerPause/time.Millisecond)
}

// LetIn switches on a trigger that the server switched off, for the delivery that
// comes when it may be tried again; whether it did is what it gives. One more
// failure switches it off again, and a run that completes makes the count begin
// anew. It asks for no principal: it is for what fires triggers.
func (s *Store) LetIn(ctx context.Context, triggerID string) (done bool, err error) {
	defer wrap(&err, "let in by trigger %s", triggerID)
	err = s.write(ctx, func(t *transaction) error {
		failing, err := s.failing(t)
		if err != nil {
			return err
		}
		now := blueprint.TimeOf(s.options.Clock.Now())
		// A time to come is of a clock that was set back since. The run of this
		// delivery may be created in this very millisecond.
		const update = `UPDATE triggers SET is_active = 1, paused_failures = NULL, paused_run = NULL, paused_at = NULL, failures = ?, on_since = ?, changed = ` + nextGeneration + `
			WHERE id = ? AND is_active = 0 AND deleted_at IS NULL AND (paused_at <= ? OR paused_at > ?)`
		changed, err := t.exec(update, maxFailures-1, int64(now)-1, triggerID, int64(now)-blueprint.BreakerPause.Milliseconds(), int64(now))
		if done = changed > 0; !done || err != nil {
			return err
		}
		t.changed()
		failing[triggerID] = true
		return nil
	})
	return done && err == nil, err
}
