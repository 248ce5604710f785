package blueprint

// Scope says which blueprints a list holds.
type Scope string

// The scopes of a list. They do not overlap in what the caller created: only
// ScopeOwn holds that.
const (
	ScopeOwn    Scope = "own"    // created by the caller
	ScopeShared Scope = "shared" // the caller collaborates on it, or is a member of its organization
	ScopePublic Scope = "public" // visible to everybody
)

// BlueprintFilter chooses one page of blueprints. Page counts from 1; both
// Page and Limit must be at least 1.
type BlueprintFilter struct {
	Scope  Scope  // "" = ScopeOwn
	Status string // "" = any
	Search string // a part of title or description, whatever its letter case; "" = any
	Source string // how the source begins; "" = any, and none
	Page   int
	Limit  int
}

// NewBlueprint is what a blueprint is made from. Map and Variables are plain
// JSON values.
type NewBlueprint struct {
	Title       string
	Description string
	Status      string // "" = StatusDraft
	Tags        []string
	Map         any // nil = none
	Variables   []any
	Budget      *Budget // of each run; nil = none
	// OrganizationID is where it belongs; "" = the caller's personal workspace.
	OrganizationID string
	// Source is where it is kept outside; no other blueprint of the organization
	// may have the same: CodeConflict. "" = nowhere.
	Source string
}

// BlueprintPatch changes a blueprint; nil leaves a member as it is.
type BlueprintPatch struct {
	Title       *string
	Description *string
	Status      *string
	Visibility  *string // needs AccessAdmin
	Tags        *[]string
	Map         *any
	Variables   *[]any  // secrets as KeepSecrets takes them
	Budget      *Budget // without limits = none
	Version     *string // a higher one than the present
	// Source says that the blueprint is now as it is there; "" = it is kept nowhere.
	// By itself it makes no version.
	Source *string
}

// Ratings is what users think of a blueprint, and the caller's own part in it.
type Ratings struct {
	AverageRating float64  `json:"average_rating"`
	RatingCount   int      `json:"rating_count"`
	UserRating    *float64 `json:"user_rating,omitempty"`
	IsFavorited   bool     `json:"is_favorited"`
}

// Binding is all that is needed to fire a trigger. It may be shared and is
// never changed.
type Binding struct {
	Trigger    Trigger     // with its secrets
	Definition *Definition // the newest version
	Principal  Principal   // the trigger's creator
	CanManage  bool        // the creator can still manage the blueprint; else firings are refused
	Member     bool        // the creator is a member of the blueprint's organization; else it hears of no other blueprint
	// Tripped is why the server switched the trigger off by itself, nil when it did
	// not.
	Tripped *Trip
	// RetryAt is when a delivery may switch the trigger on again; 0 = only
	// somebody can, or it is not off.
	RetryAt Time
}

// Schedule is an active scheduled trigger. Every tick up to and including
// Cursor has been decided.
type Schedule struct {
	Trigger        Trigger
	Cursor         Time
	OrganizationID string // of its blueprint; only where schedules are read page by page
}
