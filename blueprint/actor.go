package blueprint

import (
	"context"
	"sync/atomic"
)

// The ways by which somebody changes something.
const (
	ViaAPI       = "api"       // with an API key
	ViaDashboard = "dashboard" // with a session
	ViaCLI       = "cli"       // on the command line, beside the database
)

// Actor is who is changing something, carried in the context of the change, so
// that the store can write the line of the audit log in the transaction that
// makes the change. What happens by itself has none.
type Actor struct {
	UserID string // "" on the command line
	Via    string
	Action string // the procedure, or what stands for one: "user.add"

	noted atomic.Bool
}

type actorKey struct{}

// WithActor gives a context whose changes are this actor's.
func WithActor(ctx context.Context, actor *Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// ActorOf gives the actor of a context, nil when there is none.
func ActorOf(ctx context.Context) *Actor {
	actor, _ := ctx.Value(actorKey{}).(*Actor)
	return actor
}

// Note says that the audit log has its line. It is safe for concurrent use.
func (a *Actor) Note() { a.noted.Store(true) }

// Noted tells whether the audit log has a line of the change. It is safe for
// concurrent use.
func (a *Actor) Noted() bool { return a.noted.Load() }

// AuditEntry is one line of the audit log: who did what, to what, when and by
// which way. Detail says more, never a secret.
type AuditEntry struct {
	ID             string         `json:"id"` // ULID
	At             Time           `json:"at"`
	ActorID        string         `json:"actorId"`   // "" on the command line
	ActorName      string         `json:"actorName"` // as they are called now
	Action         string         `json:"action"`
	TargetType     string         `json:"targetType"` // blueprint, trigger, execution, connection, organization, user, key, category, session, ...
	TargetID       string         `json:"targetId"`
	Via            string         `json:"via"`
	Detail         map[string]any `json:"detail"`
	OrganizationID string         `json:"-"` // whose admins may read it; "" = only the actor
}
