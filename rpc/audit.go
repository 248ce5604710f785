package rpc

import (
	"context"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

type auditStore interface {
	AuditLog(ctx context.Context, p blueprint.Principal, organizationID string, limit, offset int) ([]blueprint.AuditEntry, int, error)
}

type actionStore interface {
	// NoteAction writes an audit entry without waiting for the disk.
	NoteAction(ctx context.Context, entry *blueprint.AuditEntry)
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

// auditList returns the caller's actions, or for an organization's admins all in it.
func (s *Service) auditList(ctx context.Context, caller *trpc.Caller, in auditList) (auditPage, error) {
	entries, total, err := s.Store.AuditLog(ctx, caller.Principal, in.OrganizationID, in.Limit, in.Offset)
	entries, err = listed(entries, err)
	return auditPage{entries, total}, err
}

// audited returns table with mutations that write one audit entry each when they have
// succeeded, or have failed after Note. The entry is part of the transaction of the change
// if the database writes it; else it follows, and the response does not wait for it.
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
		if caller.Tool != "" {
			actor.Detail = toolDetail(ctx, store, caller)
		}
		out, err := call(blueprint.WithActor(ctx, actor))
		note := caller.Noted
		if err != nil && !note.Always || actor.Audited() || note.Nothing {
			return out, err
		}
		// A sign-in sets the user during the call.
		store.NoteAction(ctx, &blueprint.AuditEntry{
			ActorID: caller.UserID, OrganizationID: note.Organization, Action: name, TargetType: note.Kind, TargetID: note.ID, Via: caller.Via, Detail: actor.WithDetail(note.Detail),
		})
		return out, err
	}
}

// toolDetail names the tool of /mcp and the API key of a call. A key whose name cannot be
// read is named by its id alone, so that the call is not lost for it.
func toolDetail(ctx context.Context, store actionStore, caller *trpc.Caller) map[string]any {
	detail := map[string]any{"tool": caller.Tool, "keyId": caller.KeyID}
	named, ok := store.(interface {
		Keys(ctx context.Context, p blueprint.Principal) ([]blueprint.APIKey, error)
	})
	if !ok {
		return detail
	}
	keys, err := named.Keys(ctx, caller.Principal)
	if i := slices.IndexFunc(keys, func(k blueprint.APIKey) bool { return k.ID == caller.KeyID }); err == nil && i >= 0 {
		detail["key"] = keys[i].Name
	}
	return detail
}
