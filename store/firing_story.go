package store

import (
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// FiringStory returns all that is stored about a firing to a user who can manage its
// trigger's blueprint; for any other user it is CodeNotFound. The error of a run
// is not included.
func (s *Store) FiringStory(ctx context.Context, principal blueprint.Principal, id string) (story *blueprint.FiringStory, err error) {
	defer wrap(&err, "story of firing %s for user %s", id, principal.UserID)
	return readValue(ctx, s, func(q *session) (*blueprint.FiringStory, error) {
		story := &blueprint.FiringStory{}
		var sealed []byte
		var err error
		story.Firing, story.Trigger, err = s.ownFiring(q, principal, id, ", f.sealed_delivery", &sealed)
		if err == nil {
			story.Firing.Delivery, err = s.openDelivery(id, sealed)
		}
		if err == nil {
			story.Redeliveries, err = s.redeliveries(q, id)
		}
		if err == nil {
			var tripped storedTrip
			err = q.row("SELECT "+tripColumns+" FROM triggers t WHERE t.id = ?", []any{story.Trigger.ID}, &tripped.failures, &tripped.run, &tripped.retries)
			story.Tripped = tripped.trip()
		}
		if err != nil || story.Firing.ExecutionID == nil {
			return story, err
		}
		story.Run = &blueprint.FiringRun{ExecutionID: *story.Firing.ExecutionID, Status: blueprint.StatusNotFound}
		err = q.row("SELECT status FROM executions WHERE id = ?", []any{story.Run.ExecutionID}, &story.Run.Status)
		if err == nil && !story.Run.Status.Terminal() {
			story.Unfinished, err = unfinished(q, &story.Trigger)
		}
		return story, optional(err)
	})
}

// TriggerStory returns what is stored about a trigger, except its ledger;
// CodeNotFound when it is unknown or deleted. It takes no principal: it is
// for the command line, which acts for the owner.
func (s *Store) TriggerStory(ctx context.Context, id string) (story *blueprint.TriggerStory, err error) {
	defer wrap(&err, "story of trigger %s", id)
	const query = "SELECT " + triggerColumns + `, t.created_at, t.cursor_at, t.failures, ` + tripColumns + `, b.title, b.status, b.created_by,
		coalesce((SELECT firings FROM firing_counts WHERE trigger_id = t.id), 0),
		coalesce((SELECT f.received_at FROM firings f INDEXED BY firings_trigger WHERE f.trigger_id = t.id ORDER BY f.seq LIMIT 1), 0)
		FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id WHERE t.id = ? AND t.deleted_at IS NULL AND b.deleted_at IS NULL`
	return readValue(ctx, s, func(q *session) (*blueprint.TriggerStory, error) {
		story := &blueprint.TriggerStory{}
		var tripped storedTrip
		var err error
		story.Trigger, err = s.scanTrigger(also(q.first(query, id),
			&story.CreatedAt, &story.Cursor, &story.Failures, &tripped.failures, &tripped.run, &tripped.retries, &story.BlueprintTitle, &story.BlueprintStatus, &story.Owner.UserID, &story.Firings, &story.Oldest))
		if err != nil {
			return nil, orNotFound(err, "trigger", id)
		}
		story.Tripped = tripped.trip()
		var access blueprint.Access
		err = q.row("SELECT "+accessLevel+" FROM blueprints b WHERE b.id = ?2", []any{story.Trigger.CreatedBy, story.Trigger.BlueprintID}, &access)
		story.CanManage = access >= blueprint.AccessManage
		if err == nil {
			story.Unfinished, err = unfinished(q, &story.Trigger)
		}
		return story, err
	})
}

// ownFiring reads a row of the ledger, with more columns of f, for a user who can manage
// its trigger: CodeForbidden for the creator of its blueprint who has left the
// organization. For any other user it is CodeNotFound.
func (s *Store) ownFiring(q *session, principal blueprint.Principal, id, columns string, more ...any) (firing blueprint.Firing, trigger blueprint.Trigger, err error) {
	firing, err = s.scanFiring(also(q.first("SELECT "+firingColumns+columns+" FROM firings f WHERE f.id = ?", id), more...))
	if errors.Is(err, sql.ErrNoRows) {
		return firing, trigger, notFound("firing", id)
	}
	if err == nil {
		trigger, err = s.managedTrigger(q, principal, firing.TriggerID)
	}
	switch refused := err; blueprint.CodeOf(refused) {
	case blueprint.CodeNotFound:
		err = notFound("firing", id)
	case blueprint.CodeForbidden:
		var creator bool
		const query = "SELECT b.created_by = ? FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id WHERE t.id = ?"
		if err = q.row(query, []any{principal.UserID, firing.TriggerID}, &creator); err != nil {
			break
		}
		if err = notFound("firing", id); creator {
			err = refused
		}
	}
	return firing, trigger, err
}
