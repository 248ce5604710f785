package main

import (
	"net/http"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/rpc"
)

// virtual gives the clock of a server whose time is moved by hand; nil for any
// other.
func (o *options) virtual() *clock.Virtual {
	virtual, _ := o.clock.(*clock.Virtual)
	return virtual
}

// isFirst tells whether a caller is the first user, whose server it is.
func (s *server) isFirst(caller *rpc.Caller) bool { return caller.UserID == s.welcome.account.ID }

// mayTurn refuses who may not change, or look at, the world in which everybody's
// runs live: what answers them and what time it is. On a server that keeps nothing
// anybody with a key may, else the first user alone.
func (s *server) mayTurn(caller *rpc.Caller) error {
	if s.options.ephemeral || s.isFirst(caller) {
		return nil
	}
	return blueprint.Errorf(blueprint.CodeForbidden, "only the first user of this server may do this: it concerns the runs of all")
}

// turned notes in the audit log what somebody did to that world.
func (s *server) turned(r *http.Request, caller *rpc.Caller, action string, detail map[string]any) {
	s.store.NoteAction(r.Context(), &blueprint.AuditEntry{ActorID: caller.UserID, Action: action, TargetType: "server", Via: caller.Via, Detail: detail})
}
