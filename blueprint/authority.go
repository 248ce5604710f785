package blueprint

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
)

// VersionRef names a version that takes part in a run, and who wrote it.
type VersionRef struct {
	BlueprintID string `json:"blueprintId"`
	// Version is the one that last changed the map or the variables in meaning,
	// which is what grants are for. It is empty for a graph that its author passed
	// with the call: nothing stored can be granted.
	Version string `json:"version,omitempty"`
	Author  string `json:"author"` // user id
}

// Authority is under whose rights a run uses resources. A resource is usable when
// the principal may use it, and for each version the author may as well or the
// principal has granted the version.
type Authority struct {
	PrincipalID string
	// Versions are those of the run itself, last, and of the runs that led to it:
	// a sub-run must not reach what the author of its caller may not.
	Versions []VersionRef
}

// Others returns the versions by authors other than the principal.
func (a Authority) Others() []VersionRef {
	var others []VersionRef
	for _, v := range a.Versions {
		if v.Author != a.PrincipalID {
			others = append(others, v)
		}
	}
	return others
}

// ResourceKind says what a run uses.
type ResourceKind string

// The kinds of resources that authority is checked for.
const (
	ResourceConnection ResourceKind = "connection"
	ResourceSignIn     ResourceKind = "sign-in"   // the principal's token of a connection; its ID is the connection's
	ResourceSecret     ResourceKind = "secret"    // a secret variable; its ID is the blueprint's, its name the variable's
	ResourceBlueprint  ResourceKind = "blueprint" // started by a node
	ResourceFile       ResourceKind = "file"      // an attachment of the delivery that started the run
)

// Resource is one thing that a run uses. Name is shown only to users who may use
// it themselves.
type Resource struct {
	Kind ResourceKind `json:"kind"`
	ID   string       `json:"id"`
	Name string       `json:"name,omitempty"`
}

// text names the resource in a sentence.
func (r Resource) text() string {
	switch {
	case r.Name != "" && r.Kind == ResourceSecret:
		return fmt.Sprintf("the secret variable %q", r.Name)
	case r.Name != "" && r.Kind == ResourceSignIn:
		return fmt.Sprintf("the sign-in of connection %q", r.Name)
	case r.Name != "":
		return fmt.Sprintf("%s %q", r.Kind, r.Name)
	case r.Kind == ResourceSecret:
		return "a secret variable"
	case r.Kind == ResourceSignIn:
		return "the sign-in of a connection (" + r.ID + ")"
	}
	return fmt.Sprintf("a %s (%s)", r.Kind, r.ID)
}

// CodeNeedsGrant is the code of a step that may not use a resource because the
// author of a version may not and the run's principal has not granted the version.
const CodeNeedsGrant = "needs_grant"

// MissingGrant is what a step with CodeNeedsGrant lacks.
type MissingGrant struct {
	BlueprintID string   `json:"blueprintId"`
	Version     string   `json:"version,omitempty"` // empty when it is not stored and cannot be granted
	Author      Author   `json:"author"`
	Resource    Resource `json:"resource"`
}

// Author is who wrote a version. Email is set only for readers who may manage the
// blueprint.
type Author struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email,omitempty"`
}

func (a Author) text() string {
	switch {
	case a.Name != "" && a.Email != "":
		return a.Name + " (" + a.Email + ")"
	case a.Name != "":
		return a.Name
	case a.Email != "":
		return a.Email
	}
	return "another user"
}

// Message says what is missing.
func (g *MissingGrant) Message() string {
	if g.Version == "" {
		return fmt.Sprintf("nodes passed by %s may not use %s on behalf of another user", g.Author.text(), g.Resource.text())
	}
	return fmt.Sprintf("version %s by %s may not use %s: it has not been granted by the user the run acts for", g.Version, g.Author.text(), g.Resource.text())
}

// Hint says what to do about it.
func (g *MissingGrant) Hint() string {
	if g.Version == "" {
		return "save the nodes as a version of the blueprint, which can be granted"
	}
	return fmt.Sprintf("review version %s, then grant it in the dashboard or with blueprint.grant {\"id\": %q, \"version\": %q}, and retry", g.Version, g.BlueprintID, g.Version)
}

// Failure returns the failure of the node. What is stored of it names neither the
// resource nor the author's e-mail address: not all who read it may know them. See
// ReplaceMessage.
func (g *MissingGrant) Failure() *Failure {
	bare := *g
	bare.Author.Email = ""
	if g.Resource.Kind != ResourceSecret { // its name is in the blueprint for all to see
		bare.Resource.Name = ""
	}
	return &Failure{Code: CodeNeedsGrant, Message: bare.Message(), Hint: bare.Hint(), Grant: &bare, Permanent: true, NotSent: true}
}

// ReplaceMessage returns text, which holds the message of the missing grant, with that of
// the same one as a reader may see it.
func (g *MissingGrant) ReplaceMessage(shown *MissingGrant, text string) string {
	return strings.ReplaceAll(text, g.Message(), shown.Message())
}

// Error implements error, so that checks can return a missing grant as it is.
func (g *MissingGrant) Error() string { return g.Message() }

// Granted is a version that a user has granted.
type Granted struct {
	BlueprintID string `json:"blueprintId"`
	Title       string `json:"title"`
	Version     string `json:"version"`
	Author      Author `json:"author"`
	GrantedAt   Time   `json:"grantedAt"`
}

// AuthorityView shows a user under whose authority the current version of a
// blueprint runs.
type AuthorityView struct {
	Version string `json:"version"`
	Author  Author `json:"author"`
	Mine    bool   `json:"mine"`    // the user is the author
	Granted bool   `json:"granted"` // the user has granted it
	// Basis is the newest earlier version that the user wrote or granted, with which
	// the current one can be compared; nil when there is none.
	Basis *string `json:"basis"`
	// Triggers are those of the blueprint, for users who may manage it.
	Triggers []TriggerAuthority `json:"triggers"`
}

// TriggerAuthority shows as whom a trigger runs, and whether that user wrote or
// granted the current version.
type TriggerAuthority struct {
	TriggerID string      `json:"triggerId"`
	Type      TriggerType `json:"triggerType"`
	Principal Author      `json:"principal"`
	Mine      bool        `json:"mine"`
	Granted   bool        `json:"granted"`
}

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

// WithActor returns a context whose changes are this actor's.
func WithActor(ctx context.Context, actor *Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// ActorOf returns the actor of a context, nil when there is none.
func ActorOf(ctx context.Context) *Actor {
	actor, _ := ctx.Value(actorKey{}).(*Actor)
	return actor
}

// MarkAudited says that the audit log has its line. It is safe for concurrent use.
func (a *Actor) MarkAudited() { a.noted.Store(true) }

// Audited reports whether the audit log has a line of the change. It is safe for
// concurrent use.
func (a *Actor) Audited() bool { return a.noted.Load() }

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
