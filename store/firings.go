package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"blueprintd/blueprint"
	"blueprintd/store/postgres"
)

const firingColumns = "f.id, (SELECT id FROM triggers WHERE seq = f.trigger_seq), f.source, coalesce(f.key, f.id), coalesce(f.due_at, 0), f.received_at, f.decision, f.reason_code, f.sealed_reason, f.execution_id, f.sealed_body_hash"

func (s *Store) scanFiring(scan scanner) (f blueprint.Firing, err error) {
	var code string
	var sealed, bodyHash []byte
	err = scan(&f.ID, &f.TriggerID, &f.Source, &f.Key, &f.DueAt, &f.ReceivedAt, &f.Decision, &code, &sealed, &f.ExecutionID, &bodyHash)
	if err == nil {
		f.BodyHash = s.openBodyHash(f.ID, bodyHash)
		f.SetReason(s.openReason(f.ID, code, sealed))
	}
	return f, err
}

// RecordFirings writes rows of the ledger for firings of one trigger that start no run
// (Commit writes those that do), moves the trigger's cursor unless it is zero or would move
// backwards, and publishes events. CodeUnavailable if the disk is nearly full or the
// database is at its size limit. It takes no principal: it is for the trigger service.
func (s *Store) RecordFirings(ctx context.Context, triggerID string, firings []blueprint.Firing, cursor blueprint.Time, events ...blueprint.Event) (err error) {
	defer wrap(&err, "record %d firings of trigger %s", len(firings), triggerID)
	if err := s.roomForFirings(); err != nil {
		return err
	}
	return s.record(ctx, firings, func(t *transaction) error {
		if err := s.publish(t, events); err != nil {
			return err
		}
		return moveCursor(t, triggerID, cursor)
	})
}

func (s *Store) roomForFirings() error {
	if s.watched.lowSpace.Load() {
		return errLowSpace // records of refusals must not fill the remaining space
	}
	if s.full.Load() {
		return errDiskLimit
	}
	return nil
}

// record writes rows of firings that start no run and calls more, in one transaction.
func (s *Store) record(ctx context.Context, firings []blueprint.Firing, more func(*transaction) error) error {
	size := 512
	for i := range firings {
		if err := s.sealFiring(&firings[i]); err != nil {
			return err
		}
		size += deliverySize(&firings[i])
	}
	return s.submit(ctx, &job{size: size, run: func(t *transaction) error {
		for i := range firings {
			if err := s.insertFiring(t, &firings[i]); err != nil {
				return err
			}
		}
		return more(t)
	}})
}

// thisTrigger is the seq of the trigger with the id ?1.
const thisTrigger = "(SELECT seq FROM triggers WHERE id = ?1)"

// startedWithKey is the seq of the firing of trigger ?1 that started a run for the key
// ?2, which may be the firing's own id.
const startedWithKey = `coalesce(
	(SELECT seq FROM firings INDEXED BY firings_started WHERE trigger_seq = ` + thisTrigger + ` AND key = ?2 AND decision = 'started'),
	(SELECT seq FROM firings WHERE id = ?2 AND key IS NULL AND trigger_seq = ` + thisTrigger + ` AND decision = 'started'))`

// insertFiring writes a row of the ledger. If the key of a started firing has started a
// run before, it returns a *blueprint.DuplicateFiringError.
func (s *Store) insertFiring(t *transaction, f *blueprint.Firing) error {
	const insert = `INSERT INTO firings (id, trigger_seq, source, key, due_at, received_at, decision, reason_code, sealed_reason, execution_id, sealed_body_hash, redelivery_of, sealed_delivery)
		VALUES (?1, coalesce(?14, (SELECT seq FROM triggers WHERE id = ?2)), ?3, nullif(?4, ?1), ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT DO NOTHING`
	args, err := s.firingArguments(f)
	if err != nil {
		return err
	}
	seq, err := t.insert(insert, args...)
	if err != nil {
		return err
	}
	if seq == 0 {
		return duplicateFiring(t, f)
	}
	t.firings = append(t.firings, f.TriggerID)
	for i := range f.Files {
		file := &f.Files[i]
		head, err := s.sealHead(file)
		if err != nil {
			return err
		}
		if _, err := t.exec("INSERT INTO files (id, firing, part, sealed_head, size) VALUES (?, ?, ?, ?, ?)", file.ID, seq, file.Part, head, file.Size); err != nil {
			return err
		}
	}
	return nil
}

// firingArguments returns the columns of a row of the ledger as insertFiring numbers them.
func (s *Store) firingArguments(f *blueprint.Firing) (args []any, err error) {
	var origin string
	var sealed, bodyHash []byte
	err = s.sealReason(f)
	if err == nil && f.BodyHash != "" {
		bodyHash, err = s.seal([]byte(f.BodyHash), bodyHashPlace(f.ID))
	}
	if err != nil {
		return nil, err
	}
	if d := f.Delivery; d != nil {
		sealed = d.Sealed
		if f.Source == blueprint.SourceRedelivery {
			origin, _ = d.Facts[blueprint.FactRedeliveryOf].(string)
		}
	}
	triggerSeq, trigger := s.triggers.arguments(f.TriggerID)
	return []any{
		f.ID, trigger, string(f.Source), f.Key, timeOrNull(f.DueAt), int64(f.ReceivedAt), string(f.Decision),
		string(f.Why.Code), blobOrNull(f.SealedWhy), f.ExecutionID, blobOrNull(bodyHash), textOrNull(origin), blobOrNull(sealed), triggerSeq,
	}, nil
}

// duplicateFiring returns the error for a firing that was not inserted because its key has
// started a run, or because there is a firing with its id.
func duplicateFiring(t *transaction, f *blueprint.Firing) error {
	if f.Decision == blueprint.DecisionStarted {
		first := &blueprint.DuplicateFiringError{}
		const earlier = "SELECT f.id, f.execution_id FROM firings f WHERE f.seq = " + startedWithKey
		err := t.row(earlier, []any{f.TriggerID, f.Key}, &first.FiringID, &first.ExecutionID)
		if err == nil {
			return first
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return blueprint.Errorf(blueprint.CodeConflict, "there is a firing %s already", f.ID)
}

// firingCounts counts the rows of the ledger that are inserted in one transaction of the
// writer, so that the total of each trigger is written once however many rows share
// the transaction. A job that is undone alone is not counted.
type firingCounts struct {
	rows  map[string]int
	order []string // of arrival, so that the writes do not depend on the order of the map
}

func (c *firingCounts) forget() {
	clear(c.rows)
	c.order = c.order[:0]
}

// add counts one row for each of the triggers.
func (c *firingCounts) add(triggers []string) {
	for _, id := range triggers {
		if c.rows == nil {
			c.rows = map[string]int{}
		}
		if c.rows[id]++; c.rows[id] == 1 {
			c.order = append(c.order, id)
		}
	}
}

const addFirings = `INSERT INTO firing_counts (trigger_seq, firings) VALUES ((SELECT seq FROM triggers WHERE id = ?1), ?2)
	ON CONFLICT (trigger_seq) DO UPDATE SET firings = firing_counts.firings + excluded.firings`

// appendTo appends the statements that add the counts to firing_counts.
func (c *firingCounts) appendTo(list []postgres.Query) []postgres.Query {
	for _, id := range c.order {
		list = append(list, postgres.Query{Text: addFirings, Arguments: []any{id, c.rows[id]}})
	}
	return list
}

// moveCursor moves a trigger's cursor forward; zero leaves it unchanged.
func moveCursor(t *transaction, triggerID string, to blueprint.Time) error {
	if to == 0 {
		return nil
	}
	_, err := t.exec("UPDATE triggers SET cursor_at = ?1 WHERE id = ?2 AND cursor_at < ?1", int64(to), triggerID)
	return err
}

// StartedFiring returns the firing of a trigger with a key that started a run,
// CodeNotFound if there is none. It takes no principal: it is for the
// trigger service.
func (s *Store) StartedFiring(ctx context.Context, triggerID, key string) (_ *blueprint.Firing, err error) {
	defer wrap(&err, "started firing of trigger %s", triggerID)
	const query = "SELECT " + firingColumns + " FROM firings f WHERE f.seq = " + startedWithKey
	return readValue(ctx, s, func(q *session) (*blueprint.Firing, error) {
		firing, err := s.scanFiring(q.first(query, triggerID, key))
		return &firing, orNotFound(err, "started firing with key", key)
	})
}

// Firing returns a row of the ledger to a user who can manage its trigger's blueprint;
// for any other user it is CodeNotFound.
func (s *Store) Firing(ctx context.Context, principal blueprint.Principal, id string) (firing blueprint.Firing, err error) {
	defer wrap(&err, "firing %s for user %s", id, principal.UserID)
	return readValue(ctx, s, func(q *session) (blueprint.Firing, error) {
		firing, _, err := s.ownFiring(q, principal, id, "")
		return firing, err
	})
}

// Firings lists the ledger of a trigger, newest first, and returns the total number of
// rows. It needs AccessManage: CodeNotFound, or CodeForbidden.
func (s *Store) Firings(ctx context.Context, principal blueprint.Principal, triggerID string, limit, offset int) (list []blueprint.Firing, total int, err error) {
	defer wrap(&err, "firings of trigger %s for user %s", triggerID, principal.UserID)
	list = []blueprint.Firing{}
	err = s.read(ctx, func(q *session) error {
		if _, err := s.managedTrigger(q, principal, triggerID); err != nil {
			return err
		}
		if err := q.row("SELECT coalesce((SELECT firings FROM firing_counts WHERE trigger_seq = (SELECT seq FROM triggers WHERE id = ?)), 0)", []any{triggerID}, &total); err != nil {
			return err
		}
		query := "SELECT " + firingColumns + " FROM firings f WHERE f.trigger_seq = (SELECT seq FROM triggers WHERE id = ?) ORDER BY f.seq DESC LIMIT ? OFFSET ?"
		return collect(q, &list, query, []any{triggerID, limit, offset}, s.scanFiring)
	})
	return list, total, err
}

// FiringWithDelivery returns a row of the ledger with its delivery to a user who can
// manage its trigger's blueprint; for any other user it is CodeNotFound. Delivery is
// nil if the firing has none.
func (s *Store) FiringWithDelivery(ctx context.Context, principal blueprint.Principal, id string) (firing blueprint.Firing, err error) {
	defer wrap(&err, "delivery of firing %s for user %s", id, principal.UserID)
	return readValue(ctx, s, func(q *session) (blueprint.Firing, error) {
		var sealed []byte
		firing, _, err := s.ownFiring(q, principal, id, ", f.sealed_delivery", &sealed)
		if err == nil {
			firing.Delivery, err = s.openDelivery(id, sealed)
		}
		return firing, err
	})
}

// sealFiring encrypts the parts of a firing that may reveal the input of a run: its
// delivery and the parameters of its reason. It runs before the job is queued, so that the
// writer does not wait for it.
func (s *Store) sealFiring(f *blueprint.Firing) error {
	if err := s.sealReason(f); err != nil {
		return err
	}
	return s.sealDelivery(f)
}

// sealReason encrypts the parameters of a firing's reason, once. A reason that consists
// only of a sentence is stored as a message.
func (s *Store) sealReason(f *blueprint.Firing) error {
	if f.Why.Code == "" && len(f.Why.Params) == 0 && f.Reason != "" {
		f.Why = blueprint.MessageReason(blueprint.ReasonMessage, f.Reason)
	}
	if len(f.Why.Params) == 0 || f.SealedWhy != nil {
		return nil
	}
	plain, err := blueprint.Encode(f.Why.Params)
	if err == nil {
		f.SealedWhy, err = s.seal(plain, reasonPlace(f.ID))
	}
	return err
}

// openReason returns the reason of a firing. Parameters that cannot be read, because the
// key is missing or the data damaged, are left out; the row is still listed.
func (s *Store) openReason(firingID string, code string, sealed []byte) blueprint.Reason {
	why := blueprint.Reason{Code: blueprint.ReasonCode(code)}
	if len(sealed) > 0 {
		value, err := s.unseal(nil, sealed, reasonPlace(firingID))
		if why.Params, _ = value.(map[string]any); err != nil {
			why.Params = map[string]any{"message": "the details cannot be read"}
		}
	}
	return why
}

// openBodyHash returns the hash of the body of a firing, "unreadable" if it cannot be
// decrypted; the row is still listed.
func (s *Store) openBodyHash(firingID string, sealed []byte) string {
	if len(sealed) == 0 {
		return ""
	}
	hash, err := s.unsealed(sealed, bodyHashPlace(firingID))
	if err != nil {
		return "unreadable"
	}
	return string(hash)
}

// bodyHashPlace returns the name that the sealed hash of a body is bound to.
func bodyHashPlace(firingID string) string { return "firings/" + firingID + "/body_hash" }

// reasonPlace returns the name that the sealed parameters of a reason are bound to.
func reasonPlace(firingID string) string { return "firings/" + firingID + "/reason" }

// sealDelivery encrypts the delivery of a firing: the head as JSON and, after a line break,
// the body if it was kept. It runs before the job is queued: the writer must not wait.
func (s *Store) sealDelivery(f *blueprint.Firing) error {
	d := f.Delivery
	if d == nil {
		return nil
	}
	plain, err := d.AppendHead(make([]byte, 0, 512+len(d.Body)))
	if err != nil {
		return err
	}
	if d.IsComplete() {
		plain = append(append(plain, '\n'), d.Body...)
	}
	d.Sealed, err = s.seal(plain, deliveryPlace(f.ID))
	return err
}

// openDelivery decrypts what sealDelivery encrypted.
func (s *Store) openDelivery(firingID string, sealed []byte) (*blueprint.Delivery, error) {
	if sealed == nil {
		return nil, nil
	}
	plain, err := s.unsealed(sealed, deliveryPlace(firingID))
	if err != nil {
		return nil, err
	}
	head, body, kept := bytes.Cut(plain, []byte("\n"))
	d := &blueprint.Delivery{}
	if err := blueprint.DecodeInto(head, d); err != nil {
		return nil, fmt.Errorf("a delivery is unreadable: %w", err)
	}
	if kept {
		d.Body = body
	}
	return d, nil
}

// deliveryPlace returns the name that a sealed delivery is bound to.
func deliveryPlace(firingID string) string { return "firings/" + firingID + "/delivery" }

// deliverySize returns the approximate size of the delivery of a firing in bytes.
func deliverySize(f *blueprint.Firing) int {
	if f.Delivery == nil {
		return 0
	}
	return len(f.Delivery.Sealed)
}

// File returns a file of a delivery, and the body of the delivery, which contains it. The
// user must be able to see the run that the firing started or, if it started none or the
// run was removed, to manage the blueprint of the trigger. For any other user, and for an
// unknown file, it is CodeNotFound. The body of a redelivery is stored with the first
// delivery.
func (s *Store) File(ctx context.Context, principal blueprint.Principal, id string) (file blueprint.File, body []byte, err error) {
	defer wrap(&err, "file for user %s", principal.UserID)
	const query = `SELECT p.part, p.sealed_head, p.size, coalesce(e.user_seq = (SELECT seq FROM users WHERE id = ?1), false), b.deleted_at IS NULL AND ` + mayManage + `, f.id, f.redelivery_of
		FROM files p JOIN firings f ON f.seq = p.firing JOIN triggers t ON t.seq = f.trigger_seq JOIN blueprints b ON b.id = t.blueprint_id
		LEFT JOIN executions e ON e.id = f.execution_id WHERE p.id = ?2`
	return s.readFile(ctx, id, func(q *session) (stored storedFile, err error) {
		var ran, manages bool
		err = q.row(query, []any{principal.UserID, id}, &stored.part, &stored.head, &stored.size, &ran, &manages, &stored.firing, &stored.first)
		if err == nil && !ran && !manages {
			err = sql.ErrNoRows
		}
		return stored, err
	})
}

// FileOfRun returns a file of the delivery that started a run, and the body of the
// delivery, which contains it: CodeNotFound if that delivery has no such file, or a
// *blueprint.MissingGrant; see Authorize. The principal is that of the run.
func (s *Store) FileOfRun(ctx context.Context, authority blueprint.Authority, executionID, id string) (file blueprint.File, body []byte, err error) {
	defer wrap(&err, "file of execution %s", executionID)
	const query = `SELECT p.part, p.sealed_head, p.size, f.id, f.redelivery_of
		FROM files p JOIN firings f ON f.seq = p.firing WHERE p.id = ?1 AND f.execution_id = ?2 AND f.decision = 'started'`
	return s.readFile(ctx, id, func(q *session) (stored storedFile, err error) {
		err = q.row(query, []any{id, executionID}, &stored.part, &stored.head, &stored.size, &stored.firing, &stored.first)
		if err == nil {
			err = authorize(q, authority, blueprint.Resource{Kind: blueprint.ResourceFile, ID: id})
		}
		return stored, err
	})
}

type storedFile struct {
	part   int
	head   []byte // sealed
	size   int64
	firing string
	first  sql.NullString // the first delivery of a redelivery
}

// readFile returns the file that look finds, and the body of its delivery.
func (s *Store) readFile(ctx context.Context, id string, look func(*session) (storedFile, error)) (file blueprint.File, body []byte, err error) {
	err = s.read(ctx, func(q *session) error {
		stored, err := look(q)
		file = blueprint.File{ID: id, Part: stored.part, Size: stored.size}
		if err == nil {
			err = s.openHead(&file, stored.head)
		}
		if err == nil {
			body, err = s.bodyOf(q, stored.firing, stored.first)
		}
		return orNotFound(err, "file", id)
	})
	if err != nil {
		return blueprint.File{}, nil, err
	}
	return file, body, nil
}

// bodyOf returns the body of a firing's delivery, or of the first one.
func (s *Store) bodyOf(q *session, firingID string, first sql.NullString) ([]byte, error) {
	if first.Valid {
		firingID = first.String
	}
	var sealed []byte
	if err := q.row("SELECT sealed_delivery FROM firings WHERE id = ?", []any{firingID}, &sealed); err != nil {
		return nil, err
	}
	delivery, err := s.openDelivery(firingID, sealed)
	if err == nil && (delivery == nil || delivery.Body == nil) {
		err = sql.ErrNoRows // it was not kept
	}
	if err != nil {
		return nil, err
	}
	return delivery.Body, nil
}

// fileHead is the sender's description of a file.
type fileHead struct {
	Name        string `json:"name"`
	ContentType string `json:"contentType"`
}

func (s *Store) sealHead(file *blueprint.File) ([]byte, error) {
	head, err := blueprint.Encode(fileHead{file.Name, file.ContentType})
	if err != nil {
		return nil, err
	}
	return s.seal(head, filePlace(file.ID))
}

func (s *Store) openHead(file *blueprint.File, sealed []byte) error {
	plain, err := s.unsealed(sealed, filePlace(file.ID))
	if err != nil {
		return err
	}
	var head fileHead
	err = json.Unmarshal(plain, &head)
	file.Name, file.ContentType = head.Name, head.ContentType
	return err
}

// filePlace returns the name that the sealed head of a file is bound to.
func filePlace(id string) string { return "files/" + id + "/head" }

// FiringStory returns everything stored about a firing to a user who can manage its
// trigger's blueprint; for others it is CodeNotFound. The error of a run is left out.
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

// TriggerStory returns everything stored about a trigger except its ledger; CodeNotFound if
// it is unknown or deleted. It takes no principal: it is for the command line, which acts
// for the server's owner.
func (s *Store) TriggerStory(ctx context.Context, id string) (story *blueprint.TriggerStory, err error) {
	defer wrap(&err, "story of trigger %s", id)
	const query = "SELECT " + triggerColumns + `, t.created_at, t.cursor_at, t.failures, ` + tripColumns + `, b.title, b.status, b.created_by,
		coalesce((SELECT firings FROM firing_counts WHERE trigger_seq = t.seq), 0),
		coalesce((SELECT f.received_at FROM firings f INDEXED BY firings_trigger WHERE f.trigger_seq = t.seq ORDER BY f.seq LIMIT 1), 0)
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
		switch {
		case story.Tripped != nil:
			const query = `SELECT f.received_at FROM firings f INDEXED BY firings_unstarted WHERE f.trigger_seq = (SELECT seq FROM triggers WHERE id = ?)
				AND f.decision = 'refused' AND f.decision <> 'started' AND f.reason_code = ? ORDER BY f.seq DESC LIMIT 1`
			err = optional(q.row(query, []any{id, blueprint.ReasonBreaker}, &story.TrippedAt))
		case !story.Trigger.IsActive:
			story.Deactivated, err = deactivation(q, id)
		}
		if err != nil {
			return nil, err
		}
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
// its trigger. CodeForbidden for the creator of the blueprint if they have left the
// organization, CodeNotFound for any other user.
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
