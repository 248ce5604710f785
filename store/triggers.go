package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"blueprintd/blueprint"
)

const triggerColumns = "t.id, t.blueprint_id, t.type, t.config, t.sealed_config, t.is_active, t.created_by, coalesce(t.address, '')"

// scanTrigger reads a trigger with its secrets.
func (s *Store) scanTrigger(scan scanner) (trigger blueprint.Trigger, err error) {
	var plain, sealed []byte
	var address string
	err = scan(&trigger.ID, &trigger.BlueprintID, &trigger.Type, &plain, &sealed, &trigger.IsActive, &trigger.CreatedBy, &address)
	if err != nil {
		return trigger, err
	}
	value, err := s.unseal(plain, sealed, configPlace(trigger.ID))
	if err != nil {
		return trigger, err
	}
	config, ok := value.(map[string]any)
	if !ok {
		return trigger, fmt.Errorf("config of trigger %s is not an object", trigger.ID)
	}
	trigger.Config = s.withAddress(config, address)
	return trigger, nil
}

// ListTriggers returns the triggers of a blueprint, oldest first. It needs
// AccessManage, because the id of a webhook trigger is its address: CodeNotFound,
// or CodeForbidden.
func (s *Store) ListTriggers(ctx context.Context, principal blueprint.Principal, blueprintID string) (list []blueprint.Trigger, err error) {
	defer wrap(&err, "triggers of blueprint %s for user %s", blueprintID, principal.UserID)
	list = []blueprint.Trigger{}
	err = s.read(ctx, func(q *session) error {
		if _, err := accessTo(q, principal.UserID, blueprintID, blueprint.AccessManage); err != nil {
			return err
		}
		query := "SELECT " + triggerColumns + ", coalesce(t.edited, 'null') FROM triggers t WHERE t.blueprint_id = ? AND t.deleted_at IS NULL ORDER BY t.seq"
		return q.each(query, []any{blueprintID}, func(scan scanner) error {
			var edited []byte
			trigger, err := s.scanTrigger(also(scan, &edited))
			if err != nil {
				return err
			}
			if err := json.Unmarshal(edited, &trigger.Edited); err != nil {
				return fmt.Errorf("what was edited of trigger %s: %w", trigger.ID, err)
			}
			list = append(list, trigger)
			return nil
		})
	})
	return list, err
}

// GetTrigger returns a trigger with its secrets. It needs AccessManage on its
// blueprint: CodeNotFound, or CodeForbidden.
func (s *Store) GetTrigger(ctx context.Context, principal blueprint.Principal, id string) (trigger blueprint.Trigger, err error) {
	defer wrap(&err, "trigger %s for user %s", id, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		trigger, err = s.managedTrigger(q, principal, id)
		return err
	})
	return trigger, err
}

// managedTrigger returns a trigger whose blueprint the principal can manage.
func (s *Store) managedTrigger(q *session, principal blueprint.Principal, id string) (blueprint.Trigger, error) {
	var access blueprint.Access
	const query = "SELECT " + triggerColumns + ", " + accessLevel + ` FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
		WHERE t.id = ?2 AND t.deleted_at IS NULL AND b.deleted_at IS NULL`
	trigger, err := s.scanTrigger(also(q.first(query, principal.UserID, id), &access))
	if errors.Is(err, sql.ErrNoRows) {
		return trigger, notFound("trigger", id)
	}
	if err == nil {
		err = needs(access, blueprint.AccessManage)
	}
	if err != nil {
		return blueprint.Trigger{}, err
	}
	return trigger, nil
}

// CreateTrigger is AddTrigger for an active trigger.
func (s *Store) CreateTrigger(ctx context.Context, principal blueprint.Principal, blueprintID string, kind blueprint.TriggerType, config map[string]any) (blueprint.Trigger, error) {
	return s.AddTrigger(ctx, principal, blueprintID, kind, config, true)
}

// AddTrigger creates a trigger, active or not. Its cursor is now: ticks before its
// creation were never due. It needs AccessManage on the
// blueprint: CodeNotFound, or CodeForbidden.
func (s *Store) AddTrigger(ctx context.Context, principal blueprint.Principal, blueprintID string, kind blueprint.TriggerType, config map[string]any, active bool) (trigger blueprint.Trigger, err error) {
	defer wrap(&err, "create trigger of blueprint %s for user %s", blueprintID, principal.UserID)
	now := blueprint.TimeOf(s.options.Clock.Now())
	config, address := s.addressed(kind, config)
	trigger = blueprint.Trigger{ID: s.drawn("trigger", blueprintID).UUID(), BlueprintID: blueprintID, Type: kind, Config: config, IsActive: active, CreatedBy: principal.UserID}
	const insert = `INSERT INTO triggers (id, blueprint_id, type, config, sealed_config, is_active, created_by, created_at, cursor_at, event, address, changed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ` + nextGeneration + ")"
	plain, sealed, err := s.sealConfig(&trigger, config)
	if err != nil {
		return trigger, err
	}
	trigger.Config = s.withAddress(config, address)
	err = s.write(ctx, func(t *transaction) error {
		if _, err := accessTo(t.session, principal.UserID, blueprintID, blueprint.AccessManage); err != nil {
			return err
		}
		t.changed()
		if _, err := t.exec(insert, trigger.ID, blueprintID, string(kind), plain, sealed, active, principal.UserID, now, now, textOrNull(trigger.ListensTo()), textOrNull(address)); err != nil {
			return err
		}
		if kind == blueprint.TriggerAPI {
			title, err := titleOf(t, blueprintID)
			if err != nil {
				return err
			}
			if _, err := addTool(t, principal.UserID, trigger.ID, toolName(&trigger, title, principal.UserID)); err != nil {
				return err
			}
		}
		return s.auditOfBlueprint(ctx, t, blueprintID, subject{kind: "trigger", id: trigger.ID, detail: map[string]any{"blueprintId": blueprintID, "type": kind}})
	})
	return trigger, err
}

// UpdateTrigger changes a trigger. merge, unless nil, gets the current trigger and
// returns its next config; it must not change its argument, and its error is returned
// and changes nothing. isActive, unless nil, turns the trigger on or off. Turning it
// on, or changing a schedule, moves its cursor to now; turning it on also resets the
// count of failures, and runs that are under way then do not count. It needs AccessManage on its blueprint: CodeNotFound, or
// CodeForbidden.
func (s *Store) UpdateTrigger(ctx context.Context, principal blueprint.Principal, id string, merge func(present blueprint.Trigger) (map[string]any, error), isActive *bool) (trigger blueprint.Trigger, err error) {
	defer wrap(&err, "update trigger %s for user %s", id, principal.UserID)
	now := blueprint.TimeOf(s.options.Clock.Now())
	err = s.write(ctx, func(t *transaction) error {
		trigger, err = s.managedTrigger(t.session, principal, id)
		if err != nil {
			return err
		}
		before := trigger
		var cursor blueprint.Time
		if merge != nil {
			config, err := merge(trigger)
			if err != nil {
				return err
			}
			if !blueprint.Equal(trigger.Config["cron"], config["cron"]) || !blueprint.Equal(trigger.Config["timezone"], config["timezone"]) {
				cursor = now
			}
			if err := mayPutConnection(t.session, principal, &trigger, config); err != nil {
				return err
			}
			trigger.Config = sameAddress(&trigger, config)
			if err := noteEdits(t, &before, &trigger); err != nil {
				return err
			}
		}
		if isActive != nil {
			if *isActive && !trigger.IsActive {
				cursor = now
			}
			trigger.IsActive = *isActive
		}
		if isActive != nil && *isActive {
			if _, err := t.exec("UPDATE triggers SET failures = 0, paused_failures = NULL, paused_run = NULL, paused_at = NULL, on_since = ? WHERE id = ?", int64(now), id); err != nil {
				return err
			}
		}
		if isActive != nil && !*isActive { // a user has turned it off
			if _, err := t.exec("UPDATE triggers SET paused_at = NULL WHERE id = ?", id); err != nil {
				return err
			}
		}
		plain, sealed, err := s.sealConfig(&trigger, withoutAddress(trigger.Type, trigger.Config))
		if err != nil {
			return err
		}
		t.changed()
		const update = `UPDATE triggers SET config = ?, sealed_config = ?, is_active = ?, event = ?, changed = ` + nextGeneration + ` WHERE id = ?`
		if _, err := t.exec(update, plain, sealed, trigger.IsActive, textOrNull(trigger.ListensTo()), id); err != nil {
			return err
		}
		if trigger.CreatedBy == principal.UserID && trigger.Type == blueprint.TriggerAPI {
			title, err := titleOf(t, trigger.BlueprintID)
			if err != nil {
				return err
			}
			if err := renameOwnTool(t, principal, id, toolName(&before, title, principal.UserID), toolName(&trigger, title, principal.UserID)); err != nil {
				return err
			}
		}
		if err := s.auditOfBlueprint(ctx, t, trigger.BlueprintID, subject{kind: "trigger", id: id, detail: changesOfTrigger(&before, &trigger)}); err != nil {
			return err
		}
		return moveCursor(t, id, cursor)
	})
	return trigger, err
}

// mayPutConnection refuses a connection that the user may not use in the config of
// another user's trigger: the trigger uses it under the authority of its creator.
func mayPutConnection(q *session, principal blueprint.Principal, before *blueprint.Trigger, config map[string]any) error {
	id, _ := config["connectionId"].(string)
	if id == "" || before.CreatedBy == principal.UserID || blueprint.Equal(before.Config["connectionId"], config["connectionId"]) {
		return nil
	}
	err := mayUse(q, principal.UserID, id)
	if blueprint.CodeOf(err) == blueprint.CodeNotFound {
		return blueprint.InvalidInput([]blueprint.Issue{{Path: []any{"config", "connectionId"}, Message: "must be a connection that you may use: the trigger belongs to another user"}})
	}
	return err
}

// DeleteTrigger deletes a trigger. It is unknown from now on, but its ledger stays. It needs AccessManage on its blueprint: CodeNotFound, or
// CodeForbidden.
func (s *Store) DeleteTrigger(ctx context.Context, principal blueprint.Principal, id string) (err error) {
	defer wrap(&err, "delete trigger %s for user %s", id, principal.UserID)
	now := blueprint.TimeOf(s.options.Clock.Now())
	return s.write(ctx, func(t *transaction) error {
		trigger, err := s.managedTrigger(t.session, principal, id)
		if err != nil {
			return err
		}
		t.changed()
		if _, err := t.exec("UPDATE triggers SET deleted_at = ?, changed = "+nextGeneration+" WHERE id = ?", now, id); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM mcp_tools WHERE trigger_id = ?", id); err != nil {
			return err
		}
		return s.auditOfBlueprint(ctx, t, trigger.BlueprintID, subject{kind: "trigger", id: id, detail: map[string]any{"blueprintId": trigger.BlueprintID, "type": trigger.Type}})
	})
}

func (s *Store) sealConfig(trigger *blueprint.Trigger, config map[string]any) (plain, sealed any, err error) {
	if config == nil {
		config = map[string]any{}
	}
	return s.sealable(config, trigger.HoldsSecrets(), configPlace(trigger.ID))
}

// configPlace returns what a sealed config is bound to.
func configPlace(triggerID string) string { return "triggers/" + triggerID + "/config" }

// DefaultMailDomain is the domain of addresses by default.
const DefaultMailDomain = "localhost"

// addressKey is the key under which a config shows the address of an email trigger. It
// is not stored with the config and cannot be set.
const addressKey = "address"

// Mailbox returns the id of the email trigger, active or not, whose address has a
// local part, as of now: CodeNotFound when there is none. It asks for no
// principal: it is for what receives mail.
func (s *Store) Mailbox(ctx context.Context, local string) (triggerID string, err error) {
	defer wrap(&err, "mailbox")
	return remember(ctx, s, s.mailboxes, local, func(q *session) (id string, err error) {
		const query = `SELECT t.id FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
			WHERE t.address = ? AND t.type = 'email' AND t.deleted_at IS NULL AND b.deleted_at IS NULL`
		err = q.row(query, []any{local}, &id)
		if errors.Is(err, sql.ErrNoRows) {
			err = notFound("mailbox", local)
		}
		return id, err
	})
}

// addressed prepares the config of a new trigger and creates its address, "" for a
// trigger that has none.
func (s *Store) addressed(kind blueprint.TriggerType, config map[string]any) (_ map[string]any, address string) {
	if config == nil {
		config = map[string]any{}
	}
	if kind == blueprint.TriggerEmail {
		address = s.drawn("mail address").Address()
	}
	return withoutAddress(kind, config), address
}

// withAddress returns a config that shows an address.
func (s *Store) withAddress(config map[string]any, address string) map[string]any {
	if address == "" {
		return config
	}
	domain := s.options.MailDomain
	domain = cmp.Or(domain, DefaultMailDomain)
	config = maps.Clone(config)
	config[addressKey] = address + "@" + domain
	return config
}

// withoutAddress returns the part of a config that is stored.
func withoutAddress(kind blueprint.TriggerType, config map[string]any) map[string]any {
	if _, there := config[addressKey]; !there || kind != blueprint.TriggerEmail {
		return config
	}
	config = maps.Clone(config)
	delete(config, addressKey)
	return config
}

// sameAddress returns the next config of a trigger with its current address.
func sameAddress(present *blueprint.Trigger, config map[string]any) map[string]any {
	config = withoutAddress(present.Type, config)
	if address := present.Config[addressKey]; address != nil && present.Type == blueprint.TriggerEmail {
		config = maps.Clone(config)
		config[addressKey] = address
	}
	return config
}
