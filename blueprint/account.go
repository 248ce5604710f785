package blueprint

// The roles in an organization. Each holds the rights of those before it.
const (
	RoleMember = "member"
	RoleAdmin  = "admin" // also a role of collaborators
	RoleOwner  = "owner"
)

// RoleEditor is the lower role of a collaborator; RoleAdmin is the higher.
const RoleEditor = "editor"

// Organization is an organization as one of its members sees it.
type Organization struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Slug     string `json:"slug"`
	Role     string `json:"role"` // the member's own
	Personal bool   `json:"personal"`
}

// OwnedKey is the record of a key together with its owner.
type OwnedKey struct {
	APIKey
	UserID    string `json:"userId"`
	UserEmail string `json:"userEmail"`
}

// Member is a person with a role: in an organization, or as a collaborator of a
// blueprint.
type Member struct {
	UserID string `json:"userId"`
	Email  string `json:"email"`
	Name   string `json:"name"`
	Role   string `json:"role"`
}

// Category is what the blueprints of an organization are sorted by.
type Category struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	Slug           string `json:"slug"`
	OrganizationID string `json:"organizationId"`
}
