package blueprint

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
