package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// auditStore is what these procedures ask of the database.
type auditStore interface {
	AuditLog(ctx context.Context, p blueprint.Principal, organizationID string, limit, offset int) ([]blueprint.AuditEntry, int, error)
}

// actionStore writes lines of the audit log.
type actionStore interface {
	// NoteAction writes a line of what the database did not note itself, and does not wait for the disk.
	NoteAction(ctx context.Context, entry *blueprint.AuditEntry)
}

func (s *Service) audit() []trpc.Procedure {
	return []trpc.Procedure{trpc.Query("auditLog.list", blueprint.ScopeAdmin, s.auditList)}
}

type auditList struct {
	OrganizationID string `json:"organizationId" check:"uuid"`
	Limit          int    `json:"limit" check:"min=1,max=100,default=20"`
	Offset         int    `json:"offset" check:"min=0,default=0"`
}

type auditPage struct {
	Entries []blueprint.AuditEntry `json:"entries"`
	Total   int                    `json:"total"`
}

// auditList returns what the caller did, or to the admins of an organization what
// anybody did there.
func (s *Service) auditList(ctx context.Context, caller *trpc.Caller, in auditList) (auditPage, error) {
	entries, total, err := s.Store.AuditLog(ctx, caller.Principal, in.OrganizationID, in.Limit, in.Offset)
	if entries == nil {
		entries = []blueprint.AuditEntry{}
	}
	return auditPage{entries, total}, err
}

// audited returns a table whose mutations each leave one line in the audit log
// when they have succeeded, or failed after they noted what they had done: in the transaction of the change where the database
// does it, or else right behind it, which no answer waits for.
func audited(store actionStore, table []trpc.Procedure) []trpc.Procedure {
	for i := range table {
		if p := &table[i]; p.Kind == trpc.KindMutation {
			p.Around(noting(store, p.Name))
		}
	}
	return table
}

func noting(store actionStore, name string) func(context.Context, *trpc.Caller, func(context.Context) (any, error)) (any, error) {
	return func(ctx context.Context, caller *trpc.Caller, call func(context.Context) (any, error)) (any, error) {
		actor := &blueprint.Actor{UserID: caller.UserID, Via: caller.Via, Action: name}
		out, err := call(blueprint.WithActor(ctx, actor))
		note := caller.Noted
		if err != nil && !note.Told || actor.Audited() || note.Nothing {
			return out, err
		}
		// Who signed in with the call is known only now.
		store.NoteAction(ctx, &blueprint.AuditEntry{
			ActorID: caller.UserID, OrganizationID: note.Organization, Action: name, TargetType: note.Kind, TargetID: note.ID, Via: caller.Via, Detail: note.Detail,
		})
		return out, err
	}
}
