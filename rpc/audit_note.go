package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// audited gives a table whose mutations each leave one line in the audit log
// when they have succeeded, or failed after they noted what they had done: in the transaction of the change where the database
// does it, or else right behind it, which no answer waits for.
func (s *Service) audited(table []trpc.Procedure) []trpc.Procedure {
	for i := range table {
		if p := &table[i]; p.Kind == trpc.KindMutation {
			p.Around(s.noting(p.Name))
		}
	}
	return table
}

func (s *Service) noting(name string) func(context.Context, *trpc.Caller, func(context.Context) (any, error)) (any, error) {
	return func(ctx context.Context, caller *trpc.Caller, call func(context.Context) (any, error)) (any, error) {
		actor := &blueprint.Actor{UserID: caller.UserID, Via: caller.Via, Action: name}
		out, err := call(blueprint.WithActor(ctx, actor))
		note := caller.Noted
		if err != nil && !note.Told || actor.Noted() || note.Nothing {
			return out, err
		}
		// Who signed in with the call is known only now.
		s.Store.NoteAction(ctx, &blueprint.AuditEntry{
			ActorID: caller.UserID, OrganizationID: note.Organization, Action: name, TargetType: note.Kind, TargetID: note.ID, Via: caller.Via, Detail: note.Detail,
		})
		return out, err
	}
}
