package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"blueprintd/blueprint"
)

// File gives what came with a firing, and the body of the delivery that it is a
// part of: to who may see the run that the firing started, or, when it started
// none or the run is gone, manage the trigger's blueprint. For anybody else, and
// for a file that does not exist, it is CodeNotFound. The body of what was
// delivered again is with the firing that it came with first.
func (s *Store) File(ctx context.Context, principal blueprint.Principal, id string) (file blueprint.File, body []byte, err error) {
	defer wrap(&err, "file for user %s", principal.UserID)
	const query = `SELECT p.part, p.sealed_head, p.size, coalesce(e.user_id = ?1, 0), b.deleted_at IS NULL AND ` + mayManage + `, f.id, f.redelivery_of
		FROM files p JOIN firings f ON f.seq = p.firing JOIN triggers t ON t.id = f.trigger_id JOIN blueprints b ON b.id = t.blueprint_id
		LEFT JOIN executions e ON e.id = f.execution_id WHERE p.id = ?2`
	err = s.read(ctx, func(q *session) error {
		file.ID = id
		var ran, manages bool
		var firing string
		var head []byte
		var first sql.NullString
		err := q.row(query, []any{principal.UserID, id}, &file.Part, &head, &file.Size, &ran, &manages, &firing, &first)
		if err == nil && !ran && !manages {
			return notFound("file", id)
		}
		if err == nil {
			err = s.openHead(&file, head)
		}
		if err == nil {
			body, err = s.bodyOf(q, firing, first)
		}
		return missing(err, id)
	})
	if err != nil {
		return blueprint.File{}, nil, err
	}
	return file, body, nil
}

// FileOfRun returns what came with the firing that started a run, with the body
// that it is a part of: CodeNotFound when no file of that firing has the id, and a
// *blueprint.MissingGrant as Authorize says. The principal is the run's own.
func (s *Store) FileOfRun(ctx context.Context, authority blueprint.Authority, executionID, id string) (file blueprint.File, body []byte, err error) {
	defer wrap(&err, "file of execution %s", executionID)
	const query = `SELECT p.part, p.sealed_head, p.size, f.id, f.redelivery_of
		FROM files p JOIN firings f ON f.seq = p.firing WHERE p.id = ?1 AND f.execution_id = ?2 AND f.decision = 'started'`
	err = s.read(ctx, func(q *session) error {
		file.ID = id
		var firing string
		var head []byte
		var first sql.NullString
		err := q.row(query, []any{id, executionID}, &file.Part, &head, &file.Size, &firing, &first)
		if err == nil {
			err = authorize(q, authority, blueprint.Resource{Kind: blueprint.ResourceFile, ID: id})
		}
		if err == nil {
			err = s.openHead(&file, head)
		}
		if err == nil {
			body, err = s.bodyOf(q, firing, first)
		}
		return missing(err, id)
	})
	if err != nil {
		return blueprint.File{}, nil, err
	}
	return file, body, nil
}

// filePlace names what the sealed head of a file is bound to.
func filePlace(id string) string { return "files/" + id + "/head" }

// fileHead is what the sender says of a file.
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

// bodyOf gives the body of a firing's delivery, for a redelivery that of the
// first one.
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

func missing(err error, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return notFound("file", id)
	}
	return err
}
