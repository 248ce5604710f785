package blueprint

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
)

// VersionRef identifies a version that takes part in a run, and its author.
type VersionRef struct {
	BlueprintID string `json:"blueprintId"`
	// Version is the one that last changed the meaning of the map or the variables,
	// for which grants are given. It is empty for nodes that were passed with a call,
	// which cannot be granted.
	Version string `json:"version,omitempty"`
	Author  string `json:"author"` // user id
}

// Authority holds the rights of a run. It may use a resource if the principal may,
// and if for each version the author may or the principal has granted the version.
type Authority struct {
	PrincipalID string
	// Versions are those of the run, last, and of its parents: a sub-run must not use
	// what the author of a parent may not.
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

// ResourceKind is the kind of a Resource.
type ResourceKind string

// The kinds of resources that authority is checked for.
const (
	ResourceConnection ResourceKind = "connection"
	ResourceSignIn     ResourceKind = "sign-in"   // the principal's token of a connection; its ID is the connection's
	ResourceSecret     ResourceKind = "secret"    // a secret variable; its ID is the blueprint's, its name the variable's
	ResourceBlueprint  ResourceKind = "blueprint" // a blueprint that a node starts
	ResourceFile       ResourceKind = "file"      // an attachment of the delivery that started the run
	ResourceEvents     ResourceKind = "events"    // the publication of events of a blueprint; its ID is the blueprint's
)

// Resource is something that a run uses. Name is shown only to users who may use it.
type Resource struct {
	Kind ResourceKind `json:"kind"`
	ID   string       `json:"id"`
	Name string       `json:"name,omitempty"`
}

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

// CodeNeedsGrant is the code of a failed step: the author of a version may not use the
// resource, and the principal has not granted the version.
const CodeNeedsGrant = "needs_grant"

// MissingGrant is the grant that a step with CodeNeedsGrant needs.
type MissingGrant struct {
	BlueprintID string   `json:"blueprintId"`
	Version     string   `json:"version,omitempty"` // empty if it cannot be granted
	Author      Author   `json:"author"`
	Resource    Resource `json:"resource"`
}

// Author is the author of a version. Email is set only for managers of the blueprint.
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

// Message returns what is missing.
func (g *MissingGrant) Message() string {
	if g.Version == "" {
		return fmt.Sprintf("nodes passed by %s may not use %s on behalf of another user", g.Author.text(), g.Resource.text())
	}
	return fmt.Sprintf("version %s by %s may not use %s: it has not been granted by the user the run acts for", g.Version, g.Author.text(), g.Resource.text())
}

// Hint returns what to do.
func (g *MissingGrant) Hint() string {
	if g.Version == "" {
		return "save the nodes as a version of the blueprint, which can be granted"
	}
	return fmt.Sprintf("review version %s, then grant it in the dashboard or with blueprint.grant {\"id\": %q, \"version\": %q}, and retry", g.Version, g.BlueprintID, g.Version)
}

// Failure returns the failure of the node. It is stored without the name of the
// resource and the author's email, which not every reader may see; see
// ReplaceMessage.
func (g *MissingGrant) Failure() *Failure {
	bare := *g
	bare.Author.Email = ""
	if g.Resource.Kind != ResourceSecret { // which every reader of the blueprint can see
		bare.Resource.Name = ""
	}
	return &Failure{Code: CodeNeedsGrant, Message: bare.Message(), Hint: bare.Hint(), Grant: &bare, Permanent: true, NotSent: true}
}

// ReplaceMessage replaces the message of the missing grant in text by that of shown,
// the same grant as a reader may see it.
func (g *MissingGrant) ReplaceMessage(shown *MissingGrant, text string) string {
	return strings.ReplaceAll(text, g.Message(), shown.Message())
}

func (g *MissingGrant) Error() string { return g.Message() }

// Granted is a version that a user has granted.
type Granted struct {
	BlueprintID string `json:"blueprintId"`
	Title       string `json:"title"`
	Version     string `json:"version"`
	Author      Author `json:"author"`
	GrantedAt   Time   `json:"grantedAt"`
}

// AuthorityView is the authority of the current version of a blueprint as one user sees it.
type AuthorityView struct {
	Version string `json:"version"`
	Author  Author `json:"author"`
	Mine    bool   `json:"mine"`    // the user is the author
	Granted bool   `json:"granted"` // the user has granted it
	// Basis is the newest earlier version that the user wrote or granted; nil = none.
	Basis *string `json:"basis"`
	// Triggers is only set for users who may manage the blueprint.
	Triggers []TriggerAuthority `json:"triggers"`
}

// TriggerAuthority is a trigger's principal, and whether they wrote or granted the version.
type TriggerAuthority struct {
	TriggerID string      `json:"triggerId"`
	Type      TriggerType `json:"triggerType"`
	Principal Author      `json:"principal"`
	Mine      bool        `json:"mine"`
	Granted   bool        `json:"granted"`
}

// The ways to make a change.
const (
	ViaAPI       = "api"       // with an API key
	ViaDashboard = "dashboard" // with a session
	ViaCLI       = "cli"       // on the command line, beside the database
	ViaLink      = "link"      // with an approval link, by a person who is not known
)

// Actor is the user who makes a change. The context of the change carries it, so that
// the store can write the audit log with the change. Automatic changes have none.
type Actor struct {
	UserID string // "" on the command line
	Via    string
	Action string         // the procedure, or an equivalent such as "user.add"
	Detail map[string]any // added to the detail of each entry, such as the tool that made the call

	noted atomic.Bool
}

type actorKey struct{}

// WithActor returns a context whose changes are made by actor.
func WithActor(ctx context.Context, actor *Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// ActorOf returns the actor of a context, nil without one.
func ActorOf(ctx context.Context) *Actor {
	actor, _ := ctx.Value(actorKey{}).(*Actor)
	return actor
}

// MarkAudited records that the audit log has an entry. It is safe for concurrent use.
func (a *Actor) MarkAudited() { a.noted.Store(true) }

// WithDetail returns detail together with that of the actor. Members of detail take precedence.
func (a *Actor) WithDetail(detail map[string]any) map[string]any {
	if len(a.Detail) == 0 {
		return detail
	}
	all := maps.Clone(a.Detail)
	maps.Copy(all, detail)
	return all
}

// Audited reports whether MarkAudited was called. It is safe for concurrent use.
func (a *Actor) Audited() bool { return a.noted.Load() }

// AuditEntry is one entry of the audit log. Detail never holds a secret.
type AuditEntry struct {
	ID             string         `json:"id"` // ULID
	At             Time           `json:"at"`
	ActorID        string         `json:"actorId"`   // "" on the command line
	ActorName      string         `json:"actorName"` // the current name
	Action         string         `json:"action"`
	TargetType     string         `json:"targetType"` // blueprint, trigger, execution, connection, organization, user, key, category, session, ...
	TargetID       string         `json:"targetId"`
	Via            string         `json:"via"`
	Detail         map[string]any `json:"detail"`
	OrganizationID string         `json:"-"` // its admins may read the entry; "" = only the actor
}
