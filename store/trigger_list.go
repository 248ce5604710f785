package store

import (
	"context"
	"strings"

	"blueprintd/blueprint"
)

// listedTrigger selects trigger t of blueprint b as user ?1 sees it.
const listedTrigger = "SELECT " + triggerColumns + `, b.title, coalesce(u.name, ''), t.created_at, ` + tripColumns + `, coalesce(t.paused_at, 0),
	coalesce(f.id, ''), coalesce(f.received_at, 0), coalesce(f.decision, ''), coalesce(f.reason_code, ''), f.sealed_reason, f.execution_id, ` + accessLevel

// listedTables joins what listedTrigger selects from.
const listedTables = ` JOIN blueprints b ON b.id = t.blueprint_id LEFT JOIN users u ON u.id = t.created_by
	LEFT JOIN firings f ON f.seq = (SELECT max(l.seq) FROM firings l WHERE l.trigger_id = t.id) `

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

// ListAllTriggers returns one page of the triggers of the blueprints that the
// principal can manage, newest first, with their secrets, and the number of all of
// them. Blueprints that the principal can only see are left out: the id of a webhook
// trigger is its address. CodeForbidden for an organization of which the principal is
// not a member, whether it exists or not.
func (s *Store) ListAllTriggers(ctx context.Context, principal blueprint.Principal, filter blueprint.TriggerFilter) (list []blueprint.ListedTrigger, total int, err error) {
	defer wrap(&err, "triggers for user %s", principal.UserID)
	within := ` FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id WHERE t.deleted_at IS NULL AND b.deleted_at IS NULL AND ` + summarized[blueprint.ScopeAll] + " AND " + mayManage + `
		AND (?2 = '' OR b.organization_id = ?2) AND (?3 = '' OR t.type = ?3) AND (?4 IS NULL OR t.is_active = ?4)`
	found := within + ` AND (?5 = '' OR instr(b.title_fold, ?5) > 0 OR instr(upper(coalesce(t.address, '')), ?5) > 0 OR t.seq IN (SELECT value FROM json_each(?6)))`
	query := listedTrigger + " FROM (SELECT t.seq" + found + " ORDER BY t.created_at DESC, t.seq DESC LIMIT ?7 OFFSET ?8) p CROSS JOIN triggers t ON t.seq = p.seq" +
		listedTables + "ORDER BY t.created_at DESC, t.seq DESC"
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

// labelled returns a JSON list of the api triggers whose label contains search, by
// their position. The database can neither ignore letter case nor read sealed
// configs.
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

// TriggerDetails returns a trigger. It needs AccessManage on its blueprint:
// CodeNotFound, or CodeForbidden.
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
