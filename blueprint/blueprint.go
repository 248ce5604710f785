package blueprint

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// Principal is whose authority a call or a run has.
type Principal struct {
	UserID    string
	KeyID     string // "" when no API key was used
	SessionID string // "" when nobody signed in to the dashboard for it
}

// Who may see a blueprint besides those who work on it: nobody, or everybody.
const (
	VisibilityPrivate = "private"
	VisibilityPublic  = "public"
)

// What a blueprint is for its authors. It gates neither runs nor triggers.
const (
	StatusDraft     = "draft"
	StatusPublished = "published"
)

// InitialVersion is the version of a newly created blueprint.
const InitialVersion = "1.0.0"

// Access is what a principal may do with a blueprint, from nothing to all.
type Access uint8

// The levels of access; each holds all below it.
const (
	AccessNone   Access = iota // 403, or 404 for what is unknown
	AccessSee                  // its creator, who has left its organization: read it, nothing else
	AccessView                 // it is public: see it, run it without its secrets
	AccessManage               // editor, or member of its organization
	AccessAdmin                // collaborator admin, organization admin or owner
	AccessOwner                // its creator, who is a member of its organization
)

// Blueprint is the record that clients see in lists. EnvironmentVariables and
// BlueprintMap are plain JSON values, returned as they were given.
type Blueprint struct {
	ID                   string   `json:"id"`
	Title                string   `json:"title"`
	Description          string   `json:"description"`
	Status               string   `json:"status"`
	Visibility           string   `json:"visibility"`
	Version              string   `json:"version"`
	Tags                 []string `json:"tags"`
	CreatedBy            string   `json:"created_by"`
	OrganizationID       string   `json:"organization_id"`
	CreatedAt            Time     `json:"created_at"`
	UpdatedAt            Time     `json:"updated_at"`
	EnvironmentVariables []any    `json:"environment_variables"`
	BlueprintMap         any      `json:"blueprint_map"`
	Budget               *Budget  `json:"budget,omitempty"`
	// Source is where it is kept outside, such as a file of a folder; "" = nowhere,
	// and to who may not manage it. SyncedVersion was last made from there.
	Source        string   `json:"source,omitempty"`
	SyncedVersion string   `json:"synced_version,omitempty"`
	AverageRating float64  `json:"average_rating"`
	RatingCount   int      `json:"rating_count"`
	UserRating    *float64 `json:"user_rating,omitempty"`
	// Access is what the reader may do with it.
	Access Access `json:"-"`
}

// Label is a category or an organization as a blueprint shows it.
type Label struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}

// BlueprintDetails is the record that clients see of one blueprint.
type BlueprintDetails struct {
	Blueprint
	CanManage     bool    `json:"can_manage"`
	IsOwner       bool    `json:"is_owner"`
	IsFavorited   bool    `json:"is_favorited"`
	Categories    []Label `json:"categories"`
	Organizations []Label `json:"organizations"`
}

// BlueprintVersion is one kept version of a blueprint.
type BlueprintVersion struct {
	Version              string `json:"version"`
	CreatedAt            Time   `json:"createdAt"`
	CreatedBy            string `json:"createdBy"`
	BlueprintMap         any    `json:"blueprint_map"`
	EnvironmentVariables []any  `json:"environment_variables"`
}

// APIKey is the record of a key. The key itself is never stored.
type APIKey struct {
	ID         string    `json:"id"` // ULID
	Name       string    `json:"name"`
	Last4      string    `json:"last4"`
	Scopes     KeyScopes `json:"scopes"`
	CreatedAt  Time      `json:"createdAt"`
	ExpiresAt  Time      `json:"expiresAt"`
	LastUsedAt Time      `json:"lastUsedAt"`
	RevokedAt  Time      `json:"revokedAt"`
}

// NewAPIKey is an API key to be stored.
type NewAPIKey struct {
	UserID    string
	Name      string
	Key       string // is not stored itself
	Scopes    KeyScopes
	ExpiresAt Time // 0 = never
}

// User is an account.
type User struct {
	ID        string `json:"id"`
	Email     string `json:"email"`
	Name      string `json:"name"`
	CreatedAt Time   `json:"createdAt"`
	// WorkspaceID is the user's personal workspace organization.
	WorkspaceID string `json:"workspaceId"`
}

// Definition is one version of a blueprint, all that a run needs of it. It is
// never changed.
type Definition struct {
	BlueprintID    string
	OrganizationID string
	Title          string
	Version        string
	Map            *Map // nil when the blueprint has none
	Variables      []Variable
	Budget         *Budget // of each run; nil = none
	// Ref names the version that last changed the map or the variables in meaning,
	// and its author.
	Ref VersionRef
}

// Deletion deletes blueprints together with what they have set going.
type Deletion struct {
	// Store deletes a blueprint and its triggers, and returns the runs that have not
	// ended.
	Store interface {
		DeleteBlueprint(ctx context.Context, p Principal, id string) (unfinished []string, err error)
	}
	// CancelRuns cancels those runs.
	CancelRuns func(ctx context.Context, executions []string, reason string) error
	// TriggersChanged tells the scheduler that triggers are gone; nil = there is none.
	TriggersChanged func()
}

// Delete deletes a blueprint, cancels its unfinished runs and stops its triggers.
// Once the blueprint is deleted, the rest happens even when ctx ends.
func (d Deletion) Delete(ctx context.Context, p Principal, id string) error {
	unfinished, err := d.Store.DeleteBlueprint(ctx, p, id)
	if err != nil {
		return err
	}
	if d.TriggersChanged != nil {
		defer d.TriggersChanged() // last: it would let blocked runs begin that are to be cancelled
	}
	return d.CancelRuns(context.WithoutCancel(ctx), unfinished, "the blueprint was deleted")
}

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// IsUUID reports whether text is eight-four-four-four-twelve hexadecimal digits,
// of any version and letter case.
func IsUUID(text string) bool { return uuidForm.MatchString(text) }

// PathText writes a path as people do: blueprint_map.nodes[2].config.
func PathText(path []any) string {
	var text strings.Builder
	for _, part := range path {
		switch p := part.(type) {
		case int:
			fmt.Fprintf(&text, "[%d]", p)
		default:
			if text.Len() > 0 {
				text.WriteByte('.')
			}
			fmt.Fprint(&text, p)
		}
	}
	return text.String()
}

// InvalidInput is the CodeBadRequest error for these issues; its message names
// each by its path.
func InvalidInput(issues []Issue) *Error {
	parts := make([]string, len(issues))
	for i, issue := range issues {
		parts[i] = issue.Message
		if path := PathText(issue.Path); path != "" {
			parts[i] = path + ": " + issue.Message
		}
	}
	return &Error{Code: CodeBadRequest, Message: strings.Join(parts, "; "), Issues: issues}
}
