package store

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// mostTools is the maximum number of tools in one list.
const mostTools = 10_000

// Tools returns the tools of a user, oldest trigger first: their own api triggers, those of
// other users that they enabled, and those that they could enable because they can manage
// the blueprint.
func (s *Store) Tools(ctx context.Context, principal blueprint.Principal) (list []blueprint.Tool, err error) {
	defer wrap(&err, "tools of user %s", principal.UserID)
	query := "SELECT " + triggerColumns + ", b.title, coalesce(m.name, ''), coalesce(m.enabled, 0) FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id" + `
		LEFT JOIN mcp_tools m ON m.user_id = ?1 AND m.trigger_id = t.id
		WHERE t.type = 'api' AND t.deleted_at IS NULL AND b.deleted_at IS NULL AND (
			t.id IN (SELECT trigger_id FROM mcp_tools WHERE user_id = ?1) AND ` + mayStart + `
			OR ` + summarized[blueprint.ScopeAll] + " AND " + mayManage + ") ORDER BY t.seq LIMIT ?2"
	list = []blueprint.Tool{}
	err = s.read(ctx, func(q *session) error {
		var wanted []string // the names that they would have
		err := q.each(query, []any{principal.UserID, mostTools}, func(scan scanner) error {
			var one blueprint.Tool
			var title string
			trigger, err := s.scanTrigger(also(scan, &title, &one.Name, &one.Enabled))
			one.TriggerID, one.OwnerID = trigger.ID, trigger.CreatedBy
			list, wanted = append(list, one), append(wanted, toolName(&trigger, title, principal.UserID))
			return err
		})
		for i := range list {
			if one := &list[i]; err == nil && one.Name == "" {
				one.Name, err = freeToolName(q, principal.UserID, wanted[i])
			}
		}
		return err
	})
	return list, err
}

// EnableTool offers an api trigger to the principal on /mcp, permanently under the name
// that it has now; enabling it again changes nothing. It needs AccessView on the blueprint:
// CodeNotFound, or CodeForbidden. CodeBadRequest for a trigger of another type.
func (s *Store) EnableTool(ctx context.Context, principal blueprint.Principal, triggerID string) (err error) {
	defer wrap(&err, "enable tool %s for user %s", triggerID, principal.UserID)
	return s.write(ctx, func(t *transaction) error {
		trigger, title, err := s.startable(t.session, principal, triggerID)
		if err != nil {
			return err
		}
		name, enabled, err := toolOf(t.session, principal.UserID, triggerID)
		if err != nil {
			return err
		}
		if enabled {
			return t.unchanged(ctx)
		}
		if name == "" {
			if name, err = addTool(t, principal.UserID, triggerID, toolName(&trigger, title, principal.UserID)); err != nil {
				return err
			}
		} else if err := setTool(t, principal.UserID, triggerID, true); err != nil {
			return err
		}
		return s.auditOfUser(ctx, t, principal.UserID, subject{kind: "trigger", id: triggerID, detail: map[string]any{"name": name}})
	})
}

// DisableTool stops offering an api trigger to the principal on /mcp; a trigger that is not
// offered stays unchanged. The principal's own trigger keeps its name. Errors are those of
// EnableTool, except that an enabled tool can be disabled after the principal lost access.
func (s *Store) DisableTool(ctx context.Context, principal blueprint.Principal, triggerID string) (err error) {
	defer wrap(&err, "disable tool %s for user %s", triggerID, principal.UserID)
	return s.write(ctx, func(t *transaction) error {
		name, enabled, err := toolOf(t.session, principal.UserID, triggerID)
		if err != nil {
			return err
		}
		if name == "" {
			if _, _, err := s.startable(t.session, principal, triggerID); err != nil {
				return err
			}
		}
		if !enabled {
			return t.unchanged(ctx)
		}
		if err := setTool(t, principal.UserID, triggerID, false); err != nil {
			return err
		}
		return s.auditOfUser(ctx, t, principal.UserID, subject{kind: "trigger", id: triggerID, detail: map[string]any{"name": name}})
	})
}

// startable returns an api trigger that the principal can start, and the title.
func (s *Store) startable(q *session, principal blueprint.Principal, id string) (trigger blueprint.Trigger, title string, err error) {
	var access blueprint.Access
	const query = "SELECT " + triggerColumns + ", b.title, " + accessLevel + ` FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
		WHERE t.id = ?2 AND t.deleted_at IS NULL AND b.deleted_at IS NULL`
	trigger, err = s.scanTrigger(also(q.first(query, principal.UserID, id), &title, &access))
	if errors.Is(err, sql.ErrNoRows) {
		return trigger, "", notFound("trigger", id)
	}
	if err == nil {
		err = needs(access, blueprint.AccessView)
	}
	switch {
	case err != nil || trigger.Type == blueprint.TriggerAPI:
	case access < blueprint.AccessManage:
		err = notFound("trigger", id)
	default:
		err = blueprint.FieldErrorf("triggerId", "only api triggers are tools")
	}
	return trigger, title, err
}

// toolName returns blueprint.ToolName of a trigger as a user sees it.
func toolName(trigger *blueprint.Trigger, title, userID string) string {
	label, _ := trigger.Config["label"].(string)
	owner := trigger.CreatedBy
	if owner == userID {
		owner = ""
	}
	return blueprint.ToolName(label, title, owner)
}

// freeToolName appends a number to a name if another tool of the user has it.
func freeToolName(q *session, userID, name string) (free string, err error) {
	var taken bool
	var numbered int
	const query = `SELECT EXISTS (SELECT 1 FROM mcp_tools WHERE user_id = ?1 AND name = ?2),
		(SELECT count(*) FROM mcp_tools WHERE user_id = ?1 AND name > ?2 || '-' AND name < ?2 || '.')`
	if err := q.row(query, []any{userID, name}, &taken, &numbered); err != nil || !taken {
		return name, err
	}
	for number := numbered + 2; ; number++ {
		suffix := "-" + strconv.Itoa(number)
		free = name[:min(len(name), blueprint.MaxToolName-len(suffix))] + suffix
		if err := q.row("SELECT EXISTS (SELECT 1 FROM mcp_tools WHERE user_id = ? AND name = ?)", []any{userID, free}, &taken); err != nil || !taken {
			return free, err
		}
	}
}

func toolOf(q *session, userID, triggerID string) (name string, enabled bool, err error) {
	err = q.row("SELECT name, enabled FROM mcp_tools WHERE user_id = ? AND trigger_id = ?", []any{userID, triggerID}, &name, &enabled)
	return name, enabled, optional(err)
}

func addTool(t *transaction, userID, triggerID, wanted string) (name string, err error) {
	if name, err = freeToolName(t.session, userID, wanted); err != nil {
		return "", err
	}
	_, err = t.exec("INSERT INTO mcp_tools (user_id, trigger_id, name, enabled) VALUES (?, ?, ?, 1)", userID, triggerID, name)
	return name, err
}

// setTool switches a tool on or off. Switching another user's off releases its name.
func setTool(t *transaction, userID, triggerID string, enabled bool) error {
	_, err := t.exec("UPDATE mcp_tools SET enabled = ? WHERE user_id = ? AND trigger_id = ?", enabled, userID, triggerID)
	if err == nil && !enabled {
		_, err = t.exec(`DELETE FROM mcp_tools WHERE user_id = ?1 AND trigger_id = ?2
			AND (SELECT created_by FROM triggers WHERE id = ?2) <> ?1`, userID, triggerID)
	}
	return err
}

// renameOwnTools is renameOwnTool for the triggers without a label of a blueprint whose
// title the principal has changed.
func (s *Store) renameOwnTools(t *transaction, principal blueprint.Principal, blueprintID, before, after string) error {
	if before == after {
		return nil
	}
	var own []blueprint.Trigger
	const query = "SELECT " + triggerColumns + ` FROM triggers t WHERE t.blueprint_id = ? AND t.deleted_at IS NULL AND t.type = 'api' AND t.created_by = ? ORDER BY t.seq`
	err := collect(t.session, &own, query, []any{blueprintID, principal.UserID}, s.scanTrigger)
	for i := 0; err == nil && i < len(own); i++ {
		err = renameOwnTool(t, principal, own[i].ID, toolName(&own[i], before, principal.UserID), toolName(&own[i], after, principal.UserID))
	}
	return err
}

// renameOwnTool changes the tool name of a changed trigger of the principal if its slug has
// changed. Changes by other users do not change the name.
func renameOwnTool(t *transaction, principal blueprint.Principal, triggerID, before, after string) error {
	if before == after {
		return nil
	}
	name, enabled, err := toolOf(t.session, principal.UserID, triggerID)
	if err != nil || name == "" {
		return err
	}
	if _, err := t.exec("DELETE FROM mcp_tools WHERE user_id = ? AND trigger_id = ?", principal.UserID, triggerID); err != nil {
		return err
	}
	if _, err := addTool(t, principal.UserID, triggerID, after); err != nil || enabled {
		return err
	}
	return setTool(t, principal.UserID, triggerID, false)
}

// Callable is an active api trigger of a published blueprint, offered as a tool.
type Callable struct {
	Trigger     blueprint.Trigger
	Name        string
	Title       string // of the blueprint
	Description string
	CanManage   bool // the user can manage the blueprint, and a call fires the trigger
}

// creatorManages is mayManage for the creator of trigger t.
var creatorManages = strings.ReplaceAll(mayManage, "?1", "t.created_by")

// Callables returns at most limit tools of the principal, oldest trigger first: the active
// api triggers of published blueprints that are the principal's own or that the principal
// enabled. The principal must still be able to start the blueprint, and the trigger's
// creator to manage it.
func (s *Store) Callables(ctx context.Context, principal blueprint.Principal, limit int) (list []Callable, err error) {
	defer wrap(&err, "callable triggers for user %s", principal.UserID)
	query := "SELECT " + triggerColumns + ", m.name, b.title, b.description, " + mayManage + `
		FROM mcp_tools m JOIN triggers t ON t.id = m.trigger_id JOIN blueprints b ON b.id = t.blueprint_id
		WHERE m.user_id = ?1 AND m.enabled = 1 AND t.is_active = 1 AND t.deleted_at IS NULL AND b.deleted_at IS NULL AND b.status = 'published'
		AND ` + mayStart + " AND " + creatorManages + " ORDER BY t.seq LIMIT ?2"
	err = s.read(ctx, func(q *session) error {
		return collect(q, &list, query, []any{principal.UserID, limit}, func(scan scanner) (c Callable, err error) {
			c.Trigger, err = s.scanTrigger(also(scan, &c.Name, &c.Title, &c.Description, &c.CanManage))
			return c, err
		})
	})
	return list, err
}
