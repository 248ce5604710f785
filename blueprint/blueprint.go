package blueprint

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// Principal is the user with whose rights a call or a run acts.
type Principal struct {
	UserID    string
	KeyID     string // "" without an API key
	SessionID string // "" without a dashboard session
}

// The visibilities of a blueprint for users who may not manage it.
const (
	VisibilityPrivate = "private"
	VisibilityPublic  = "public"
)

// The statuses of a blueprint. They affect neither runs nor triggers.
const (
	StatusDraft     = "draft"
	StatusPublished = "published"
)

// InitialVersion is the version of a newly created blueprint.
const InitialVersion = "1.0.0"

// Access is what a principal may do with a blueprint.
type Access uint8

// The levels of access; each includes all before it.
const (
	AccessNone   Access = iota // 403, or 404 if the blueprint is unknown
	AccessSee                  // its creator, after leaving its organization: may only read it
	AccessView                 // it is public: may read it, and run it without its secrets
	AccessManage               // editor, or member of its organization
	AccessAdmin                // collaborator admin, organization admin or owner
	AccessOwner                // its creator, who is a member of its organization
)

// Blueprint is the record of a blueprint in lists. EnvironmentVariables and
// BlueprintMap are plain JSON values as clients sent them.
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
	// Source is where it is maintained, such as a file of a project; "" = only on this
	// server, or not shown to this reader.
	Source        string   `json:"source,omitempty"`
	SyncedVersion string   `json:"synced_version,omitempty"` // the last version made from the source
	AverageRating float64  `json:"average_rating"`
	RatingCount   int      `json:"rating_count"`
	UserRating    *float64 `json:"user_rating,omitempty"`
	// Access is that of the reader.
	Access Access `json:"-"`
}

// Label is a category or an organization of a blueprint.
type Label struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}

// BlueprintDetails is the record of a single blueprint.
type BlueprintDetails struct {
	Blueprint
	CanManage     bool    `json:"can_manage"`
	IsOwner       bool    `json:"is_owner"`
	IsFavorited   bool    `json:"is_favorited"`
	Categories    []Label `json:"categories"`
	Organizations []Label `json:"organizations"`
}

// BlueprintVersion is a stored version of a blueprint.
type BlueprintVersion struct {
	Version              string `json:"version"`
	CreatedAt            Time   `json:"createdAt"`
	CreatedBy            string `json:"createdBy"`
	BlueprintMap         any    `json:"blueprint_map"`
	EnvironmentVariables []any  `json:"environment_variables"`
	Title                string `json:"-"`
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
	Key       string // only its hash is stored
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

// Definition is what a run needs of one version of a blueprint. It is immutable.
type Definition struct {
	BlueprintID    string
	OrganizationID string
	Title          string
	Version        string
	Map            *Map // nil when the blueprint has none
	Variables      []Variable
	Budget         *Budget // of each run; nil = none
	// Ref is the version that last changed the meaning of the map or the variables.
	Ref VersionRef
}

// Deletion deletes blueprints with their runs and triggers.
type Deletion struct {
	// Store deletes a blueprint and its triggers, and returns the runs that have not
	// ended.
	Store interface {
		DeleteBlueprint(ctx context.Context, p Principal, id string) (unfinished []string, err error)
	}
	CancelRuns func(ctx context.Context, executions []string, reason string) error
	// TriggersChanged notifies the scheduler; may be nil.
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
		defer d.TriggersChanged() // last, because it may start queued runs, which are to be cancelled
	}
	return d.CancelRuns(context.WithoutCancel(ctx), unfinished, "the blueprint was deleted")
}

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// IsUUID reports whether text has the form of a UUID, of any version and letter case.
func IsUUID(text string) bool { return uuidForm.MatchString(text) }

// PathText formats a path, as in blueprint_map.nodes[2].config.
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

// InvalidInput returns a CodeBadRequest error whose message lists the issues.
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

// FieldErrorf returns a CodeBadRequest error with one issue, about a field of the input.
func FieldErrorf(field, format string, args ...any) *Error {
	return InvalidInput([]Issue{{Path: []any{field}, Message: fmt.Sprintf(format, args...)}})
}

// BlueprintSummary is a listed blueprint as a user sees it, without map and variables.
type BlueprintSummary struct {
	ID               string   `json:"id"`
	Title            string   `json:"title"`
	Description      string   `json:"description"`
	Status           string   `json:"status" words:"draft|published"`
	Visibility       string   `json:"visibility" words:"private|public"`
	Version          string   `json:"version"`
	Tags             []string `json:"tags"`
	CreatedBy        string   `json:"created_by"`
	CreatorName      string   `json:"creator_name"`
	OrganizationID   string   `json:"organization_id"`
	OrganizationName string   `json:"organization_name"`
	CreatedAt        Time     `json:"created_at"`
	UpdatedAt        Time     `json:"updated_at"`
	AverageRating    float64  `json:"average_rating"`
	RatingCount      int      `json:"rating_count"`
	IsFavorited      bool     `json:"is_favorited"`
	CanManage        bool     `json:"can_manage"`
	IsOwner          bool     `json:"is_owner"`
	Categories       []Label  `json:"categories"`
	// NodeCount is nil for a map that is too large to be counted for a list.
	NodeCount *int          `json:"node_count"`
	Triggers  TriggerCounts `json:"triggers"`
	// RecentRuns are the newest of those that the user may see, newest first, at most
	// ten. LastRun is the first of them; nil = none.
	RecentRuns []LastRun `json:"recent_runs"`
	LastRun    *LastRun  `json:"last_run"`
}

// TriggerCounts counts the triggers of a blueprint.
type TriggerCounts struct {
	Active int `json:"active"`
	Total  int `json:"total"`
}

// LastRun is the newest run of a blueprint.
type LastRun struct {
	ExecutionID string `json:"executionId"`
	Status      Status `json:"status"`
	StartTime   Time   `json:"startTime"`
	EndTime     Time   `json:"endTime"`
}

// SummaryFilter selects blueprints for a list of summaries. Empty fields match all.
type SummaryFilter struct {
	Page           int    `json:"page" check:"min=1,default=1"`
	Limit          int    `json:"limit" check:"min=1,max=100,default=20"`
	Scope          Scope  `json:"scope" check:"enum=all|own|shared|public|favorites,default=all"`
	Status         string `json:"status" check:"enum=draft|published"`
	Search         string `json:"search" check:"max=500"`
	Tag            string `json:"tag" check:"max=200"`
	CategoryID     string `json:"categoryId" check:"uuid"`
	OrganizationID string `json:"organizationId" check:"uuid"`
	Sort           string `json:"sort" check:"enum=created|updated|title,default=updated"`
}

// The scopes that only lists of summaries have.
const (
	ScopeAll       Scope = "all"       // own and shared
	ScopeFavorites Scope = "favorites" // marked by the user, who may still see them
)

// TagCount counts the blueprints with a tag.
type TagCount struct {
	Tag   string `json:"tag"`
	Count int    `json:"count"`
}

// Scope selects the blueprints of a list.
type Scope string

// The scopes of a list. Only ScopeOwn includes blueprints that the caller created.
const (
	ScopeOwn    Scope = "own"    // created by the caller
	ScopeShared Scope = "shared" // the caller collaborates on it, or is a member of its organization
	ScopePublic Scope = "public" // visible to all users
)

// BlueprintFilter selects a page of blueprints. Page and Limit must be at least 1.
type BlueprintFilter struct {
	Page   int    `json:"page" check:"min=1,default=1"`
	Limit  int    `json:"limit" check:"min=1,max=100,default=20"`
	Status string `json:"status" check:"enum=draft|published"`              // "" = any
	Search string `json:"search" check:"max=500"`                           // part of title or description, ignoring case; "" = any
	Scope  Scope  `json:"scope" check:"enum=own|shared|public,default=own"` // "" = ScopeOwn
	Source string `json:"source" check:"max=1000"`                          // prefix of the source; "" = any
}

// NewBlueprint is a blueprint to create. Map and Variables are plain JSON values.
type NewBlueprint struct {
	Title       string
	Description string
	Status      string // "" = StatusDraft
	Tags        []string
	Map         any // nil = none
	Variables   []any
	Budget      *Budget // of each run; nil = none
	// OrganizationID is the owner; "" = the caller's personal workspace.
	OrganizationID string
	// Source is where it is maintained, unique in the organization (CodeConflict); "" =
	// only on this server.
	Source string
}

// BlueprintPatch changes the fields of a blueprint that are not nil.
type BlueprintPatch struct {
	Title       *string
	Description *string
	Status      *string
	Visibility  *string // needs AccessAdmin
	Tags        *[]string
	Map         *any
	Variables   *[]any  // see KeepSecrets
	Budget      *Budget // without limits = none
	Version     *string // higher than the current one
	// Source marks the blueprint as synced with it; "" ends that. It creates no version.
	Source *string
}

// Ratings are the ratings of a blueprint, with the caller's own.
type Ratings struct {
	AverageRating float64  `json:"average_rating"`
	RatingCount   int      `json:"rating_count"`
	UserRating    *float64 `json:"user_rating,omitempty"`
	IsFavorited   bool     `json:"is_favorited"`
}

// Binding is everything needed to fire a trigger. It is immutable and may be shared.
type Binding struct {
	Trigger    Trigger     // with its secrets
	Definition *Definition // the newest version
	Principal  Principal   // the trigger's creator
	CanManage  bool        // the creator may still manage the blueprint; else firings are refused
	Member     bool        // the creator is a member of the organization; else events of other blueprints are not delivered
	// Tripped is why the breaker paused the trigger; nil = it did not.
	Tripped *Trip
	// RetryAt is when a delivery activates it again; 0 = never, or it is active.
	RetryAt Time
}

// Schedule is an active scheduled trigger. All ticks up to Cursor, included, are decided.
type Schedule struct {
	Trigger        Trigger
	Cursor         Time
	OrganizationID string // of its blueprint; only set in pages of schedules
}
