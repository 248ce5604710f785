package blueprint

// BlueprintSummary is a blueprint in a list, without its map and its variables,
// as one user sees it.
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
	// LastRun is the newest of those that the user may see; nil = none.
	LastRun *LastRun `json:"last_run"`
}

// TriggerCounts are how many triggers a blueprint has.
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

// SummaryFilter chooses blueprints for a list of summaries. Empty fields choose
// all.
type SummaryFilter struct {
	Scope          Scope // also ScopeAll and ScopeFavorites
	Status         string
	Search         string
	Tag            string
	CategoryID     string
	OrganizationID string
	Sort           string // "created", "updated" or "title"
	Page, Limit    int    // pages count from 1
}

// The scopes that only lists of summaries have.
const (
	ScopeAll       Scope = "all"       // own and shared
	ScopeFavorites Scope = "favorites" // marked by the user, who may still see them
)

// TagCount is how many blueprints have a tag.
type TagCount struct {
	Tag   string `json:"tag"`
	Count int    `json:"count"`
}
