package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

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
				return fmt.Errorf("edited keys of trigger %s: %w", trigger.ID, err)
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

// AddTrigger creates a trigger, active or not. Its cursor is the current time: ticks before
// its creation were never due. It needs AccessManage on the blueprint: CodeNotFound, or
// CodeForbidden.
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
		detail := map[string]any{"blueprintId": blueprintID, "type": kind}
		if !active {
			detail["isActive"] = false
		}
		return s.auditOfBlueprint(ctx, t, blueprintID, subject{kind: "trigger", id: trigger.ID, detail: detail})
	})
	return trigger, err
}

// UpdateTrigger changes a trigger. merge, unless nil, receives the current trigger and
// returns its next config; it must not change its argument. An error of merge is returned,
// and nothing is changed. isActive, unless nil, turns the trigger on or off. Turning it on,
// or changing a schedule, moves its cursor to the current time; turning it on also resets
// the count of failures, to which runs in progress are then not added. It needs AccessManage
// on its blueprint: CodeNotFound, or CodeForbidden.
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

// mayPutConnection returns an error if the config of another user's trigger would contain a
// connection that the principal may not use: the trigger uses it under the authority of its
// creator.
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

// DeleteTrigger deletes a trigger: it is unknown from now on, but its ledger stays. It
// needs AccessManage on its blueprint: CodeNotFound, or CodeForbidden.
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

// configPlace returns the name that a sealed config is bound to.
func configPlace(triggerID string) string { return "triggers/" + triggerID + "/config" }

// DefaultMailDomain is the default domain of mail addresses.
const DefaultMailDomain = "localhost"

// addressKey is the key under which a config contains the address of an email trigger. It
// is not stored with the config and cannot be set.
const addressKey = "address"

// Mailbox returns the id of the email trigger, active or not, whose current address has a
// local part; CodeNotFound if there is none. It takes no principal: it is for receiving
// mail.
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

// addressed prepares the config of a new trigger and creates its address, if it has one.
func (s *Store) addressed(kind blueprint.TriggerType, config map[string]any) (_ map[string]any, address string) {
	if config == nil {
		config = map[string]any{}
	}
	if kind == blueprint.TriggerEmail {
		address = s.drawn("mail address").Address()
	}
	return withoutAddress(kind, config), address
}

// withAddress returns a config that contains an address.
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

// listedTrigger selects trigger t of blueprint b as user ?1 sees it.
const listedTrigger = "SELECT " + triggerColumns + `, b.title, coalesce(u.name, ''), t.created_at, ` + tripColumns + `, coalesce(t.paused_at, 0),
	coalesce(f.id, ''), coalesce(f.received_at, 0), coalesce(f.decision, ''), coalesce(f.reason_code, ''), f.sealed_reason, f.execution_id, ` + accessLevel

// listedTables joins what listedTrigger selects from.
const listedTables = ` JOIN blueprints b ON b.id = t.blueprint_id LEFT JOIN users u ON u.id = t.created_by
	LEFT JOIN firings f ON f.seq = (SELECT max(l.seq) FROM firings l WHERE l.trigger_seq = t.seq) `

func (s *Store) scanListedTrigger(scan scanner) (one blueprint.ListedTrigger, access blueprint.Access, err error) {
	var (
		pausedAt blueprint.Time
		last     blueprint.LastFiring
		code     string
		sealed   []byte
		tripped  storedTrip
	)
	trigger, err := s.scanTrigger(also(scan, &one.BlueprintTitle, &one.CreatorName, &one.CreatedAt, &tripped.failures, &tripped.run, &tripped.retries, &pausedAt,
		&last.ID, &last.ReceivedAt, &last.Decision, &code, &sealed, &last.ExecutionID, &access))
	if err != nil {
		return one, access, err
	}
	one.ID, one.BlueprintID, one.Type, one.Config, one.IsActive, one.CreatedBy = trigger.ID, trigger.BlueprintID, trigger.Type, trigger.Config, trigger.IsActive, trigger.CreatedBy
	one.CanManage = access >= blueprint.AccessManage
	one.RetryAt = retryAt(&trigger, pausedAt)
	if trip := tripped.trip(); trip != nil {
		text := trip.String()
		one.PausedReason = &text
	}
	if last.ID != "" {
		last.Reason = s.openReason(last.ID, code, sealed).String()
		one.LastFiring = &last
	}
	return one, access, err
}

// ListAllTriggers returns one page of the triggers of the blueprints that the principal can
// manage, newest first, with their secrets, and their total number. Blueprints that the
// principal can only see are left out: the id of a webhook trigger is its address.
// CodeForbidden for an organization of which the principal is not a member, whether it
// exists or not.
func (s *Store) ListAllTriggers(ctx context.Context, principal blueprint.Principal, filter blueprint.TriggerFilter) (list []blueprint.ListedTrigger, total int, err error) {
	defer wrap(&err, "triggers for user %s", principal.UserID)
	within := ` FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id WHERE t.deleted_at IS NULL AND b.deleted_at IS NULL AND ` + summarized[blueprint.ScopeAll] + " AND " + mayManage + `
		AND (?2 = '' OR b.organization_id = ?2) AND (?3 = '' OR t.type = ?3) AND (t.is_active = ?4 OR ?4 IS NULL)`
	found := within + ` AND (?5 = '' OR instr(b.title_fold, ?5) > 0 OR instr(upper(coalesce(t.address, '')), ?5) > 0 OR t.seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?6) numbers))`
	query := listedTrigger + " FROM (SELECT t.seq" + found + " ORDER BY t.created_at DESC, t.seq DESC LIMIT ?7 OFFSET ?8) p CROSS JOIN triggers t" +
		listedTables + "WHERE t.seq = p.seq ORDER BY t.created_at DESC, t.seq DESC"
	args := []any{principal.UserID, filter.OrganizationID, string(filter.Type), filter.Active}
	list = []blueprint.ListedTrigger{}
	err = s.read(ctx, func(q *session) error {
		if filter.OrganizationID != "" {
			if err := memberOf(q, principal, filter.OrganizationID); err != nil {
				return err
			}
		}
		search := fold(filter.Search)
		labelled, err := s.labelled(q, within, args, search)
		if err != nil {
			return err
		}
		args := append(args, search, labelled)
		if err := q.row("SELECT count(*)"+found, args, &total); err != nil {
			return err
		}
		return collect(q, &list, query, append(args, filter.Limit, (filter.Page-1)*filter.Limit), func(scan scanner) (blueprint.ListedTrigger, error) {
			one, _, err := s.scanListedTrigger(scan)
			return one, err
		})
	})
	return list, total, err
}

// labelled returns a JSON list of the positions of the api triggers whose label contains
// search. The database can neither ignore letter case nor read sealed configs.
func (s *Store) labelled(q *session, within string, args []any, search string) (string, error) {
	if search == "" {
		return "[]", nil
	}
	var places []string
	err := q.each("SELECT "+triggerColumns+", CAST(t.seq AS TEXT)"+within+" AND t.type = 'api'", args, func(scan scanner) error {
		var place string
		trigger, err := s.scanTrigger(also(scan, &place))
		if text, _ := trigger.Config["label"].(string); strings.Contains(fold(text), search) {
			places = append(places, place)
		}
		return err
	})
	return "[" + strings.Join(places, ",") + "]", err
}

// TriggerDetails returns a trigger. It needs AccessManage: CodeNotFound or CodeForbidden.
func (s *Store) TriggerDetails(ctx context.Context, principal blueprint.Principal, id string) (one blueprint.ListedTrigger, err error) {
	defer wrap(&err, "details of trigger %s for user %s", id, principal.UserID)
	const query = listedTrigger + " FROM triggers t" + listedTables + "WHERE t.id = ?2 AND t.deleted_at IS NULL AND b.deleted_at IS NULL"
	return readValue(ctx, s, func(q *session) (blueprint.ListedTrigger, error) {
		one, access, err := s.scanListedTrigger(q.first(query, principal.UserID, id))
		if err != nil {
			return one, orNotFound(err, "trigger", id)
		}
		return one, needs(access, blueprint.AccessManage)
	})
}

// Binding returns what is needed to fire a trigger, active or not. It includes every
// earlier change by any process. CodeNotFound if the trigger or its blueprint is unknown or
// deleted. It takes no principal: it is for the trigger service, and reports whether the
// creator of the trigger still has access. The binding is shared: do not change it.
func (s *Store) Binding(ctx context.Context, triggerID string) (_ *blueprint.Binding, err error) {
	defer wrap(&err, "binding of trigger %s", triggerID)
	return remember(ctx, s, s.bindings, triggerID, func(q *session) (*blueprint.Binding, error) {
		const creator = "SELECT created_by FROM triggers WHERE id = ? AND deleted_at IS NULL"
		const member = "EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = b.organization_id AND m.user_id = ?1)"
		const query = "SELECT " + triggerColumns + ", " + tripColumns + ", coalesce(t.paused_at, 0), b.version, " + member + ", " + accessLevel + ` FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
			WHERE t.id = ?2 AND b.deleted_at IS NULL`
		binding := &blueprint.Binding{}
		err := q.row(creator, []any{triggerID}, &binding.Principal.UserID)
		var version string
		var access blueprint.Access
		var tripped storedTrip
		if err == nil {
			binding.Trigger, err = s.scanTrigger(also(q.first(query, binding.Principal.UserID, triggerID), &tripped.failures, &tripped.run, &tripped.retries, &binding.RetryAt, &version, &binding.Member, &access))
		}
		if err != nil {
			return nil, orNotFound(err, "trigger", triggerID)
		}
		binding.Tripped = tripped.trip()
		binding.RetryAt = retryAt(&binding.Trigger, binding.RetryAt)
		binding.CanManage = access >= blueprint.AccessManage
		binding.Definition, err = s.readDefinition(q, binding.Trigger.BlueprintID, version)
		return binding, err
	})
}

// RecentBinding returns the last result of Binding, or calls it, with the generation of the
// result. It includes the changes of this process and those of others that it knows of, but
// another process may have made more: a run that is started with it must name the
// generation (see blueprint.StartRequest), and any other use has to be confirmed by
// Binding, which returns the same pointer if nothing has changed. Generation 0 means that
// the binding is current.
func (s *Store) RecentBinding(ctx context.Context, triggerID string) (*blueprint.Binding, int64, error) {
	if s.writer.enclosing == nil && !s.options.Ephemeral {
		if binding, generation, ok := s.bindings.last(triggerID); ok && generation >= s.newest.Load() {
			return binding, generation, s.usable()
		}
	}
	binding, err := s.Binding(ctx, triggerID)
	return binding, 0, err
}

// Schedules lists the active schedules, oldest first, with their cursors and the current
// generation. Given an earlier generation, it lists only those that have changed since,
// including those that are no longer active, whose IsActive is false. A schedule whose
// config cannot be read has a nil config, and the error is logged. It takes no principal:
// it is for the trigger service.
func (s *Store) Schedules(ctx context.Context, since int64) (list []blueprint.Schedule, generation int64, err error) {
	defer wrap(&err, "schedules since generation %d", since)
	const all = "SELECT " + triggerColumns + `, t.cursor_at, 0 FROM triggers t
		WHERE t.type = 'scheduled' AND t.is_active = 1 AND t.deleted_at IS NULL ORDER BY t.seq`
	const changed = "SELECT " + triggerColumns + `, t.cursor_at, t.deleted_at IS NOT NULL FROM triggers t
		WHERE t.type = 'scheduled' AND t.changed > ? ORDER BY t.seq`
	err = s.read(ctx, func(q *session) error {
		if generation, err = readGeneration(q); err != nil {
			return err
		}
		query, args := changed, []any{since}
		if since == 0 {
			query, args = all, nil
		}
		return q.each(query, args, func(scan scanner) error {
			var deleted bool
			one, unread, err := s.scanSchedule(also(scan, &deleted))
			if err != nil {
				return err
			}
			one.Trigger.IsActive = one.Trigger.IsActive && !deleted
			if unread != nil && one.Trigger.IsActive {
				s.options.Logger.Error("schedule config cannot be read", "trigger", one.Trigger.ID, "error", unread)
			}
			list = append(list, one)
			return nil
		})
	})
	return list, generation, err
}

// SchedulesAfter returns a page of at most limit active schedules, oldest first: those
// after last, 0 for the first page. An empty page is the end. A schedule whose config
// cannot be read has a nil config. It takes no principal: it is for the trigger service.
func (s *Store) SchedulesAfter(ctx context.Context, last int64, limit int) (page []blueprint.Schedule, next int64, err error) {
	defer wrap(&err, "schedules after %d", last)
	const query = "SELECT " + triggerColumns + `, t.cursor_at, t.seq, b.organization_id FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
		WHERE t.type = 'scheduled' AND t.is_active = 1 AND t.deleted_at IS NULL AND t.seq > ? ORDER BY t.seq LIMIT ?`
	err = s.read(ctx, func(q *session) error {
		next = last
		page = make([]blueprint.Schedule, 0, limit)
		return q.each(query, []any{last, limit}, func(scan scanner) error {
			var organization string
			one, _, err := s.scanSchedule(also(scan, &next, &organization))
			if err == nil {
				one.OrganizationID = organization
				page = append(page, one)
			}
			return err
		})
	})
	return page, next, err
}

// scanSchedule reads a schedule and its cursor, the column after those of a trigger. If its
// config cannot be read, the config is nil and unread is the reason: the other schedules
// still have to fire.
func (s *Store) scanSchedule(scan scanner) (one blueprint.Schedule, unread, err error) {
	one.Trigger, unread = s.scanTrigger(func(into ...any) error {
		err = scan(append(into, &one.Cursor)...)
		return err
	})
	if err != nil {
		return blueprint.Schedule{}, nil, err
	}
	return one, unread, nil
}
