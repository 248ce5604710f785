package blueprint

import (
	"time"
)

// Trigger starts runs of a blueprint. Secrets in Config are null for clients who may not
// manage the blueprint.
type Trigger struct {
	ID          string         `json:"id"`
	BlueprintID string         `json:"blueprint_id"`
	Type        TriggerType    `json:"trigger_type"`
	Config      map[string]any `json:"config"`
	IsActive    bool           `json:"is_active"`
	CreatedBy   string         `json:"created_by"`
	// Edited are the keys of Config that changed since the last sync of the blueprint;
	// only in lists for users who may manage it.
	Edited []string `json:"edited,omitempty"`
	// Warnings describe what has no effect or keeps the trigger from firing; only in the
	// answers of create and update.
	Warnings []string `json:"warnings,omitempty"`
}

// BreakerPause is how long the breaker switches off a trigger that unauthenticated
// senders can reach.
const BreakerPause = 15 * time.Minute

// Decision is the result of a firing.
type Decision string

// The decisions of the firing ledger.
const (
	DecisionStarted   Decision = "started"   // started a run
	DecisionDuplicate Decision = "duplicate" // its key had started a run
	DecisionSkipped   Decision = "skipped"   // excluded by a filter or by catchUp
	DecisionRefused   Decision = "refused"   // not allowed or not valid
	DecisionCoalesced Decision = "coalesced" // replaced by a later tick
)

// Firing is a row of the ledger. Key is unique among a trigger's started firings.
type Firing struct {
	ID          string   `json:"id"` // ULID
	TriggerID   string   `json:"triggerId"`
	Source      Source   `json:"source"`
	Key         string   `json:"key"`
	DueAt       Time     `json:"dueAt"`
	ReceivedAt  Time     `json:"receivedAt"`
	Decision    Decision `json:"decision"`
	Reason      string   `json:"reason"` // the sentence of Why
	ExecutionID *string  `json:"executionId"`
	// BodyHash identifies the body where a repeated key requires the same body; else "".
	// It is never shown.
	BodyHash string `json:"-"`
	// Why is the stored reason.
	Why Reason `json:"-"`
	// SealedWhy holds its encrypted parameters; the store sets it.
	SealedWhy []byte `json:"-"`
	// Delivery is nil without a request, and in lists.
	Delivery *Delivery `json:"-"`
	// Files are the attachments.
	Files []File `json:"-"`
}

func (f *Firing) SetReason(why Reason) { f.Why, f.Reason, f.SealedWhy = why, why.String(), nil }

// ListedTrigger is a trigger in a list over several blueprints, for a user who may
// manage them.
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
	PausedReason   *string        `json:"paused_reason"` // why the breaker switched it off
	RetryAt        Time           `json:"retry_at"`      // when the next delivery switches it on again
	CanManage      bool           `json:"can_manage"`
	URL            *string        `json:"url"`     // nil without an address
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

// TriggerFilter selects triggers. Empty fields match all.
type TriggerFilter struct {
	OrganizationID string
	Type           TriggerType
	Active         *bool
	Search         string // part of the blueprint's title, of the label or of the mailbox
	Page, Limit    int    // pages count from 1
}
