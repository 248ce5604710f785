package server

import (
	"net/http"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/rpc/trpc"
)

// Virtual returns the virtual clock; nil if the clock is real.
func (o *Options) Virtual() *clock.Virtual {
	virtual, _ := o.Clock.(*clock.Virtual)
	return virtual
}

func (s *Server) isOwner(caller *trpc.Caller) bool { return caller.UserID == s.Bootstrap.Account.ID }

// requireOwner refuses a caller who may not read or change data that affects the runs of
// all users: the answers of the sandbox and the virtual clock. On an ephemeral server every
// caller may; on others, only the owner.
func (s *Server) requireOwner(caller *trpc.Caller) error {
	if s.Options.Ephemeral || s.isOwner(caller) {
		return nil
	}
	return blueprint.Errorf(blueprint.CodeForbidden, "only the owner of this server may do this: it affects the runs of all users")
}

// noteOwnerAction writes an audit entry of such a change.
func (s *Server) noteOwnerAction(r *http.Request, caller *trpc.Caller, action string, detail map[string]any) {
	s.Store.NoteAction(r.Context(), &blueprint.AuditEntry{ActorID: caller.UserID, Action: action, TargetType: "server", Via: caller.Via, Detail: detail})
}
