package blueprint

import (
	"time"
)

// OrganizationRole is the role of a member of an organization.
type OrganizationRole string

// The roles in an organization. Each has the rights of those before it.
const (
	OrganizationMember OrganizationRole = "member"
	OrganizationAdmin  OrganizationRole = "admin"
	OrganizationOwner  OrganizationRole = "owner"
)

// CollaboratorRole is the role of a collaborator of a blueprint.
type CollaboratorRole string

// The roles of collaborators. An admin has the rights of an editor.
const (
	CollaboratorEditor CollaboratorRole = "editor"
	CollaboratorAdmin  CollaboratorRole = "admin"
)

// Organization is an organization as one of its members sees it.
type Organization struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Slug     string           `json:"slug"`
	Role     OrganizationRole `json:"role"` // of the member
	Personal bool             `json:"personal"`
}

// OwnedKey is the record of a key together with its owner.
type OwnedKey struct {
	APIKey
	UserID    string `json:"userId"`
	UserEmail string `json:"userEmail"`
}

// Member is a member of an organization.
type Member struct {
	UserID string           `json:"userId"`
	Email  string           `json:"email"`
	Name   string           `json:"name"`
	Role   OrganizationRole `json:"role"`
}

// Collaborator is a user with whom a blueprint is shared.
type Collaborator struct {
	UserID string           `json:"userId"`
	Email  string           `json:"email"`
	Name   string           `json:"name"`
	Role   CollaboratorRole `json:"role"`
}

// Category is what the blueprints of an organization are sorted by.
type Category struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	Slug           string `json:"slug"`
	OrganizationID string `json:"organizationId"`
}

// How long somebody stays signed in: until they have not come back for
// SessionIdle, at most SessionLifetime, and in at most MaxSessions browsers.
const (
	SessionIdle     = 30 * 24 * time.Hour
	SessionLifetime = 90 * 24 * time.Hour
	MaxSessions     = 100
)

// DeviceLifetime is how long a browser is known after somebody has signed in there.
const DeviceLifetime = 365 * 24 * time.Hour

// SetupLifetime is how long a link works with which a person sets a password.
const SetupLifetime = 24 * time.Hour

// SessionEnd is when a session ends that was made and last used at these
// instants, unless it is used again.
func SessionEnd(made, used Time) Time {
	return min(TimeOf(used.Time().Add(SessionIdle)), TimeOf(made.Time().Add(SessionLifetime)))
}

// Session is a browser in which somebody is signed in to the dashboard.
type Session struct {
	ID         string // ULID
	UserID     string
	Agent      string // what the browser says it is
	CreatedAt  Time
	LastUsedAt Time
	ExpiresAt  Time // unless it is used again
}

// SetupLink is whose password a link sets.
type SetupLink struct {
	UserID string
	Email  string
	Name   string
	// Fresh says that the link is for the server's owner before the first password: they
	// may choose their email.
	Initial bool
}

// SignInClient is where somebody comes from who is about to sign in.
type SignInClient struct {
	Address string // such that one person has one of them
	Network string // the wider network of the address; a provider has many
	Agent   string // what the browser says it is
	Device  string // what the browser kept when somebody signed in there; "" = nothing
}
