package rpc

import (
	"context"

	"blueprintd/blueprint"
)

// noted is what a call that changed something tells the audit log, unless the
// database has written the line together with the change.
type noted struct {
	kind, id     string
	organization string // "" = it is found by the target
	detail       map[string]any
	told         bool // there is something to tell, whatever the call answers
	nothing      bool // it turned out to change nothing
}

// note says what a call has done, for its line in the audit log, as soon as it is
// done: the line is written also when the call fails afterwards, as it does when
// the caller has hung up. detail holds no secret.
func (c *Caller) note(kind, id string, detail map[string]any) {
	c.noted = noted{kind: kind, id: id, detail: detail, told: true}
}

// noteNothing says that a call has changed nothing: it has no line.
func (c *Caller) noteNothing() { c.noted.nothing = true }

// audited gives a table whose mutations each leave one line in the audit log
// when they have succeeded, or failed after they noted what they had done: in the transaction of the change where the database
// does it, or else right behind it, which no answer waits for.
func (s *Service) audited(table []Procedure) []Procedure {
	for i := range table {
		if p := &table[i]; p.Kind == Mutation {
			p.call = s.noting(p.Name, p.call)
		}
	}
	return table
}

func (s *Service) noting(name string, call func(context.Context, *Caller, rawInput) (any, error)) func(context.Context, *Caller, rawInput) (any, error) {
	return func(ctx context.Context, caller *Caller, in rawInput) (any, error) {
		actor := &blueprint.Actor{UserID: caller.UserID, Via: caller.Via, Action: name}
		out, err := call(blueprint.WithActor(ctx, actor), caller, in)
		if err != nil && !caller.noted.told || actor.Noted() || caller.noted.nothing {
			return out, err
		}
		// Who signed in with the call is known only now.
		s.Store.NoteAction(ctx, &blueprint.AuditEntry{
			ActorID: caller.UserID, OrganizationID: caller.noted.organization, Action: name, TargetType: caller.noted.kind, TargetID: caller.noted.id, Via: caller.Via, Detail: caller.noted.detail,
		})
		return out, err
	}
}
