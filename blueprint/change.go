package blueprint

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
	Scope  Scope  // "" = ScopeOwn
	Status string // "" = any
	Search string // part of title or description, ignoring case; "" = any
	Source string // prefix of the source; "" = any
	Page   int
	Limit  int
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
	// only here.
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
	// Source marks the blueprint as synced with it; "" removes it. It alone creates no
	// version.
	Source *string
}

// Ratings are the ratings of a blueprint, with the caller's own.
type Ratings struct {
	AverageRating float64  `json:"average_rating"`
	RatingCount   int      `json:"rating_count"`
	UserRating    *float64 `json:"user_rating,omitempty"`
	IsFavorited   bool     `json:"is_favorited"`
}

// Binding is what is needed to fire a trigger. It is immutable and may be shared.
type Binding struct {
	Trigger    Trigger     // with its secrets
	Definition *Definition // the newest version
	Principal  Principal   // the trigger's creator
	CanManage  bool        // the creator may still manage the blueprint; else firings are refused
	Member     bool        // the creator is a member of the organization; else events of other blueprints are not delivered
	// Tripped is why the breaker switched the trigger off; nil = it did not.
	Tripped *Trip
	// RetryAt is when a delivery switches it on again; 0 = never, or it is on.
	RetryAt Time
}

// Schedule is an active scheduled trigger. All ticks up to and including Cursor have
// been decided.
type Schedule struct {
	Trigger        Trigger
	Cursor         Time
	OrganizationID string // of its blueprint; only set in pages of schedules
}
