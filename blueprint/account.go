package blueprint

import "time"

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

// OwnedKey is an API key with its owner.
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

// Category groups the blueprints of an organization.
type Category struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	Slug           string `json:"slug"`
	OrganizationID string `json:"organizationId"`
}

// A session ends after SessionIdle without use and after SessionLifetime in any case;
// a user has at most MaxSessions.
const (
	SessionIdle     = 30 * 24 * time.Hour
	SessionLifetime = 90 * 24 * time.Hour
	MaxSessions     = 100
)

// DeviceLifetime is how long a browser is recognized after a sign-in.
const DeviceLifetime = 365 * 24 * time.Hour

// SetupLifetime is how long a setup link is valid.
const SetupLifetime = 24 * time.Hour

// SessionEnd returns when a session ends unless it is used again.
func SessionEnd(made, used Time) Time {
	return min(TimeOf(used.Time().Add(SessionIdle)), TimeOf(made.Time().Add(SessionLifetime)))
}

// Session is a sign-in to the dashboard.
type Session struct {
	ID         string // ULID
	UserID     string
	Agent      string // User-Agent header
	CreatedAt  Time
	LastUsedAt Time
	ExpiresAt  Time // unless it is used again
}

// SetupLink is a link by which a user sets a password.
type SetupLink struct {
	UserID string
	Email  string
	Name   string
	// Initial reports that the link is for the first password of the server's owner,
	// who may also choose the email.
	Initial bool
}

// SignInClient identifies the client of a sign-in attempt for throttling.
type SignInClient struct {
	Address string // of one person: an IPv4 address or an IPv6 prefix
	Network string // the wider network of the address
	Agent   string // User-Agent header
	Device  string // device cookie of an earlier sign-in; "" = none
}
