package blueprint

// ListedTrigger is a trigger in a list over several blueprints, for a user who can
// manage them: CanManage is true.
type ListedTrigger struct {
	ID             string         `json:"id"`
	BlueprintID    string         `json:"blueprint_id"`
	BlueprintTitle string         `json:"blueprint_title"`
	Type           TriggerType    `json:"trigger_type"`
	Config         map[string]any `json:"config"`
	IsActive       bool           `json:"is_active"`
	CreatedBy      string         `json:"created_by"`
	CreatorName    string         `json:"creator_name"`
	CreatedAt      Time           `json:"created_at"`
	PausedReason   *string        `json:"paused_reason"` // why the server switched it off by itself
	RetryAt        Time           `json:"retry_at"`      // when the next delivery switches it on again
	CanManage      bool           `json:"can_manage"`
	URL            *string        `json:"url"`     // where it is fired; nil when it has no address
	NextAt         Time           `json:"next_at"` // of an active schedule
	LastFiring     *LastFiring    `json:"last_firing"`
}

// LastFiring is the newest row of a trigger's ledger.
type LastFiring struct {
	ID          string   `json:"id"`
	ReceivedAt  Time     `json:"receivedAt"`
	Decision    Decision `json:"decision" words:"started|duplicate|skipped|refused|coalesced"`
	Reason      string   `json:"reason"`
	ExecutionID *string  `json:"executionId"`
}

// TriggerFilter chooses triggers for a list. Empty fields choose all.
type TriggerFilter struct {
	OrganizationID string
	Type           TriggerType
	Active         *bool
	Search         string // part of the blueprint's title, of the label or of the mailbox
	Page, Limit    int    // pages count from 1
}
