package store

import (
	"context"
	"errors"

	"blueprintd/blueprint"
)

// auditCount is the number of lines of a scope up to a row.
type auditCount struct {
	lines, upTo int64
}

// mostScopes limits the number of scopes whose count is cached.
const mostScopes = 1_000

// auditScope holds the queries for the lines of a user, or of an organization. Each
// names its index.
type auditScope struct{ count, page string }

const auditLines = `SELECT a.id, a.at, a.actor_id, coalesce(u.name, ''), a.action, a.target_type, a.target_id, a.via, a.detail, a.organization_id
			FROM audit_log a LEFT JOIN users u ON u.id = a.actor_id`

func auditBy(column string) auditScope {
	where := " FROM audit_log WHERE " + column + " = ?1 AND " + column + " <> ''"
	return auditScope{
		count: "SELECT count(*), coalesce(max(seq), ?2)" + where + " AND seq > ?2",
		page: auditLines + `
			WHERE a.seq IN (SELECT seq` + where + ` ORDER BY seq DESC LIMIT ?2 OFFSET ?3) ORDER BY a.seq DESC`,
	}
}

var (
	ofActor      = auditBy("actor_id")
	ofTheirAdmin = auditBy("organization_id")
)

// AuditLog lists the lines of an organization, for its admins and owners, or, for the
// organization "", those of the principal's own actions, newest first, and returns the
// number of all lines: CodeForbidden.
func (s *Store) AuditLog(ctx context.Context, principal blueprint.Principal, organizationID string, limit, offset int) (list []blueprint.AuditEntry, total int, err error) {
	defer wrap(&err, "audit log for user %s", principal.UserID)
	if err := s.settle(ctx); err != nil {
		return nil, 0, err
	}
	scope, of := ofActor, principal.UserID
	if organizationID != "" {
		scope, of = ofTheirAdmin, organizationID
	}
	known, pruned := s.audits.counted(organizationID != "", of)
	err = s.read(ctx, func(q *session) error {
		if organizationID != "" {
			if _, err := administers(q, principal, organizationID); err != nil {
				return err
			}
		}
		var more int64
		if err := q.row(scope.count, []any{of, known.upTo}, &more, &known.upTo); err != nil {
			return err
		}
		known.lines += more
		err := collect(q, &list, scope.page, []any{of, limit, offset}, scanAudit)
		if err == nil && organizationID == "" {
			err = hideAddresses(q, principal.UserID, list)
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	s.audits.remember(organizationID != "", of, known, pruned)
	return list, int(known.lines), nil
}

// hideAddresses removes the ids of webhooks that a user may no longer manage from
// what that user did: the id of a webhook is its address.
func hideAddresses(q *session, userID string, list []blueprint.AuditEntry) error {
	const query = "SELECT EXISTS (SELECT 1 FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id WHERE t.id = ?2 AND t.type = 'webhook' AND NOT " + mayManage + ")"
	for i := range list {
		if list[i].TargetType != "trigger" {
			continue
		}
		var hidden bool
		if err := q.row(query, []any{userID, list[i].TargetID}, &hidden); err != nil {
			return err
		}
		if hidden {
			list[i].TargetID = ""
		}
	}
	return nil
}

// WholeAuditLog lists the newest lines of all users and organizations. It is for the
// operator.
func (s *Store) WholeAuditLog(ctx context.Context, limit int) (list []blueprint.AuditEntry, err error) {
	defer wrap(&err, "audit log")
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	err = readRows(ctx, s, &list, auditLines+" ORDER BY a.seq DESC LIMIT ?", []any{limit}, scanAudit)
	return list, err
}

func scanAudit(scan scanner) (e blueprint.AuditEntry, err error) {
	var detail []byte
	if err := scan(&e.ID, &e.At, &e.ActorID, &e.ActorName, &e.Action, &e.TargetType, &e.TargetID, &e.Via, &detail, &e.OrganizationID); err != nil {
		return e, err
	}
	value, err := blueprint.Decode(detail)
	if err != nil {
		return e, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return e, errors.New("the detail of a line of the audit log is not an object")
	}
	e.Detail = object
	return e, nil
}

// counted returns the cached number of lines of a scope, so that only newer ones need
// to be counted, and how many times lines had been removed then.
func (a *audits) counted(organization bool, of string) (auditCount, int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts[scopeKey(organization, of)], a.pruned
}

// remember caches a count, unless lines were removed since it began.
func (a *audits) remember(organization bool, of string, count auditCount, pruned int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pruned != pruned {
		return
	}
	if a.counts == nil || len(a.counts) >= mostScopes {
		a.counts = map[string]auditCount{}
	}
	a.counts[scopeKey(organization, of)] = count
}

// removed drops the counts after lines were removed.
func (a *audits) removed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pruned++
	a.counts = nil
}

func scopeKey(organization bool, of string) string {
	if organization {
		return "organization " + of
	}
	return "user " + of
}
