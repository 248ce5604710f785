package store

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"blueprintd/blueprint"
	"blueprintd/ids"
)

const (
	// mostDetail is how many bytes of JSON the detail of a line takes, and
	// mostNames and longestName are for the names in it.
	mostDetail  = 16 << 10
	mostNames   = 50
	longestName = 100
)

// audits is what a store knows of the audit log.
type audits struct {
	waiting atomic.Int64 // lines that are noted and not yet written

	mu     sync.Mutex
	late   []lateLine               // nobody waits for them; see audit_late.go
	pruned int64                    // how many times lines were removed
	counts map[string]auditCount    // by scope, since then
	failed map[string]wrongPassword // by action and user
}

// subject is what a change was made to.
type subject struct {
	kind, id     string
	organization string // whose admins may read of it; "" = only the actor
	detail       map[string]any
}

const (
	intoAudit   = "INSERT INTO audit_log (id, at, actor_id, organization_id, action, target_type, target_id, via, detail) VALUES "
	auditValues = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"
	insertAudit = intoAudit + auditValues
)

// drawn gives what the id of something new is drawn from; the names tell it from
// whatever others make at the same instant.
func (s *Store) drawn(names ...string) *ids.Source {
	return s.options.IDs.At(s.options.Clock.Now(), names...)
}

// audit writes the line of a change into the transaction that makes it, for who
// makes it; what happens by itself has none.
func (s *Store) audit(ctx context.Context, t *transaction, about subject) error {
	actor := blueprint.ActorOf(ctx)
	if actor == nil {
		return nil
	}
	actor.Note()
	now := s.options.Clock.Now()
	_, err := t.exec(insertAudit, s.drawn("line", actor.UserID, actor.Action, about.id).ULID(now), int64(blueprint.TimeOf(now)), actor.UserID, about.organization,
		actor.Action, about.kind, about.id, actor.Via, encodeDetail(about.detail))
	return err
}

// auditOfUser is audit for what is a user's own: the line is one of their
// personal workspace, so that they see what others did to it.
func (s *Store) auditOfUser(ctx context.Context, t *transaction, userID string, about subject) error {
	if blueprint.ActorOf(ctx) == nil {
		return nil
	}
	if err := t.row(scopeOf["user"], []any{userID}, &about.organization); err != nil {
		return err
	}
	return s.audit(ctx, t, about)
}

// unchanged says that a change turned out to be none: it has no line.
func (t *transaction) unchanged(ctx context.Context) {
	if actor := blueprint.ActorOf(ctx); actor != nil {
		actor.Note()
	}
}

// encodeDetail writes a detail as JSON, within its bounds.
func encodeDetail(detail map[string]any) string {
	if detail == nil {
		return "{}"
	}
	data, err := blueprint.Encode(detail)
	if err != nil || len(data) > mostDetail {
		return `{"omitted":true}`
	}
	return string(data)
}

// named gives names of what was changed, sorted and bounded.
func named(names []string) []string {
	slices.Sort(names)
	bounded := []string{}
	for _, name := range names {
		if len(bounded) == mostNames {
			return append(bounded, "...")
		}
		if runes := []rune(name); len(runes) > longestName {
			name = string(runes[:longestName]) + "..."
		}
		bounded = append(bounded, name)
	}
	return bounded
}
