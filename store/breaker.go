package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"blueprintd/blueprint"
)

// maxFailures is the number of consecutive failed runs after which the breaker pauses a
// trigger, unless its config says "breaker": false.
const maxFailures = 20

// weighEnd counts the end of a run of a trigger. A completed run needs no statement unless
// the previous run failed. Runs that were cancelled, fired manually, redelivered or retried do
// not count as failures, nor do runs created before the trigger was last turned on.
func (s *Store) weighEnd(t *transaction, c *blueprint.JournalCommit) error {
	id := c.Row.TriggerID
	if id == "" || !c.Row.Status.Terminal() || c.Cancelled {
		return nil
	}
	failing, err := s.failing(t)
	if err != nil {
		return err
	}
	if c.Row.Status == blueprint.StatusCompleted {
		if !failing[id] {
			return nil
		}
		mended, err := t.exec("UPDATE triggers SET failures = 0 WHERE id = ? AND on_since <= ?", id, int64(c.Row.CreatedAt))
		if mended > 0 {
			delete(failing, id)
			t.mended = true
		}
		return err
	}
	if own, err := ownFiringOf(t, c); err != nil || !own {
		return err
	}
	failing[id] = true
	var failures int
	const count = `UPDATE triggers SET failures = failures + 1
		WHERE id = ? AND is_active = 1 AND on_since <= ? AND deleted_at IS NULL RETURNING failures`
	err = t.row(count, []any{id, int64(c.Row.CreatedAt)}, &failures)
	switch {
	case errors.Is(err, sql.ErrNoRows): // it is off or gone, or was switched on since the run began
		return nil
	case err == nil && failures == 1 && s.nodes.id != 0:
		return t.changeNodes() // so that others read the failing triggers again
	case err != nil || failures < maxFailures:
		return err
	}
	return s.trip(t, c, failures)
}

// failing returns the triggers whose last run failed. The result may contain others.
func (s *Store) failing(t *transaction) (map[string]bool, error) {
	w := s.writer
	if w.failing != nil {
		return w.failing, nil
	}
	var ids []string
	if err := collect(t.session, &ids, "SELECT id FROM triggers WHERE failures > 0", nil, column); err != nil {
		return nil, err
	}
	w.failing = map[string]bool{}
	for _, id := range ids {
		w.failing[id] = true
	}
	return w.failing, nil
}

// ownFiringOf reports whether a run was started by a regular firing of its trigger.
func ownFiringOf(t *transaction, c *blueprint.JournalCommit) (bool, error) {
	if c.Row.FiringID == "" { // a retry
		return false, nil
	}
	var source blueprint.Source
	if c.Firing != nil {
		source = c.Firing.Source
	} else if err := t.row("SELECT source FROM firings WHERE id = ?", []any{c.Row.FiringID}, &source); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	return source != blueprint.SourceManual && source != blueprint.SourceRedelivery, nil
}

// tripColumns selects the reason why the breaker paused trigger t, for storedTrip.
const tripColumns = "coalesce(t.paused_failures, 0), coalesce(t.paused_run, ''), t.paused_at IS NOT NULL"

type storedTrip struct {
	failures int
	run      string
	retries  bool
}

// trip returns nil if the breaker has not paused the trigger.
func (s *storedTrip) trip() *blueprint.Trip {
	if s.failures == 0 {
		return nil
	}
	return &blueprint.Trip{Failures: s.failures, ExecutionID: s.run, Retries: s.retries}
}

// trip pauses the trigger of a failed run and records that in the trigger's ledger.
func (s *Store) trip(t *transaction, c *blueprint.JournalCommit, failures int) error {
	id := c.Row.TriggerID
	trigger, err := s.scanTrigger(t.first("SELECT "+triggerColumns+" FROM triggers t WHERE t.id = ?", id))
	if severityOf(err) != ofJob {
		return err
	}
	if err != nil { // a config that cannot be read must not prevent a run from ending
		s.options.Logger.Error("pausing a trigger whose runs keep failing failed", "trigger", id, "error", err)
		return nil
	}
	if trigger.Config["breaker"] == false {
		return nil
	}
	trip := blueprint.Trip{Failures: failures, ExecutionID: c.Row.ID, Retries: trigger.IsOpen()}
	var pausedAt any
	if trip.Retries {
		pausedAt = int64(blueprint.TimeOf(s.options.Clock.Now()))
	}
	t.changed()
	t.tripped = append(t.tripped, id)
	if _, err := t.exec("UPDATE triggers SET is_active = 0, paused_failures = ?, paused_run = ?, paused_at = ?, changed = "+nextGeneration+" WHERE id = ?", failures, c.Row.ID, pausedAt, id); err != nil {
		return err
	}
	now := s.options.Clock.Now()
	if err := s.publishMissed(t, &trigger, blueprint.TimeOf(now), trip.String()); err != nil {
		return err
	}
	row := s.drawn("breaker", id).ULID(now)
	return s.insertFiring(t, &blueprint.Firing{
		ID: row, TriggerID: id, Source: blueprint.KindOf(trigger.Type).Source, Key: row, ReceivedAt: blueprint.TimeOf(now), Decision: blueprint.DecisionRefused,
		Why: trip.Because(blueprint.ReasonBreaker),
	})
}

// retryAt returns when a delivery may turn a paused trigger on again, given the time of the
// pause; 0 = never. A sender that knows the address of an open trigger can make its runs
// fail, and must not lock out others permanently.
func retryAt(trigger *blueprint.Trigger, pausedAt blueprint.Time) blueprint.Time {
	if pausedAt == 0 || trigger.IsActive || !trigger.IsOpen() {
		return 0
	}
	return pausedAt + blueprint.Time(blueprint.BreakerPause/time.Millisecond)
}

// Reactivate turns a paused trigger on for a delivery that arrives once the trigger may be
// tried again, and reports whether it did. One more failure pauses it again; a completed
// run resets the count. It takes no principal: it is for the trigger service.
func (s *Store) Reactivate(ctx context.Context, triggerID string) (done bool, err error) {
	defer wrap(&err, "reactivate trigger %s", triggerID)
	err = s.write(ctx, func(t *transaction) error {
		failing, err := s.failing(t)
		if err != nil {
			return err
		}
		now := blueprint.TimeOf(s.options.Clock.Now())
		// A time in the future means that the clock was set back later. The run of this
		// delivery may be created within this millisecond.
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

// PausedTrigger is a trigger that the breaker paused, with the reason.
type PausedTrigger struct {
	ID string
	blueprint.Trip
}

// PausedTriggers returns the number of triggers that the breaker has paused, and at most
// limit of them with the reason, by id. The cost depends only on the number of paused
// triggers. It takes no principal: it is for the operator.
func (s *Store) PausedTriggers(ctx context.Context, limit int) (list []PausedTrigger, total int, err error) {
	defer wrap(&err, "paused triggers")
	const chosen = ` FROM triggers t INDEXED BY triggers_paused JOIN blueprints b ON b.id = t.blueprint_id
		WHERE t.paused_failures IS NOT NULL AND t.deleted_at IS NULL AND b.deleted_at IS NULL`
	err = s.read(ctx, func(q *session) error {
		if err := q.row("SELECT count(*)"+chosen, nil, &total); err != nil || total == 0 || limit == 0 {
			return err
		}
		return collect(q, &list, "SELECT t.id, "+tripColumns+chosen+" ORDER BY t.id LIMIT ?", []any{limit}, fields(func(one *PausedTrigger) []any {
			return []any{&one.ID, &one.Failures, &one.ExecutionID, &one.Retries}
		}))
	})
	return list, total, err
}

// publishMissed publishes EventTriggerMissed for a schedule that the breaker pauses: its
// ticks are missed from now on, and no other event reports that.
func (s *Store) publishMissed(t *transaction, trigger *blueprint.Trigger, at blueprint.Time, reason string) error {
	if trigger.Type != blueprint.TriggerScheduled {
		return nil
	}
	event := blueprint.Event{Name: blueprint.EventTriggerMissed, BlueprintID: trigger.BlueprintID, At: at, Data: map[string]any{
		"triggerId": trigger.ID, "missed": json.Number("0"), "firstDueAt": nil, "lastDueAt": nil, "decision": "paused", "reason": reason,
	}}
	if err := t.row("SELECT organization_id FROM blueprints WHERE id = ?", []any{trigger.BlueprintID}, &event.OrganizationID); err != nil {
		return err
	}
	return s.publish(t, []blueprint.Event{event})
}
