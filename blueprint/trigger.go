package blueprint

import (
	"time"
)

// Trigger starts runs of a blueprint. In JSON it is what clients see; who may
// not manage the blueprint gets Config with its secrets as null.
type Trigger struct {
	ID          string         `json:"id"`
	BlueprintID string         `json:"blueprint_id"`
	Type        TriggerType    `json:"trigger_type"`
	Config      map[string]any `json:"config"`
	IsActive    bool           `json:"is_active"`
	CreatedBy   string         `json:"created_by"`
	// Edited names the keys of Config that were changed since the blueprint was
	// last made from its source; only lists for those who manage it have it.
	Edited []string `json:"edited,omitempty"`
	// Warnings say what in Config has no effect, and what keeps the trigger from
	// firing; only the answers of create and update have them.
	Warnings []string `json:"warnings,omitempty"`
}

// BreakerPause is how long a trigger that strangers can reach stays off once the
// server switched it off because its runs kept failing.
const BreakerPause = 15 * time.Minute

// Decision is what became of a firing.
type Decision string

// The decisions of the firing ledger.
const (
	DecisionStarted   Decision = "started"   // a run was started
	DecisionDuplicate Decision = "duplicate" // its key had started one already
	DecisionSkipped   Decision = "skipped"   // a filter or the catch-up rule left it out
	DecisionRefused   Decision = "refused"   // it was not allowed or not valid
	DecisionCoalesced Decision = "coalesced" // a later tick stands for it
)

// Firing is one row of the firing ledger. Key is unique among a trigger's
// started firings.
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
	// BodyHash tells the body of this delivery from others, where a key that
	// comes again must come with the same body; "" elsewhere. It is stored and
	// never shown.
	BodyHash string `json:"-"`
	// Why is the reason as it is stored; see NewReason.
	Why Reason `json:"-"`
	// SealedWhy is its parameters as the store keeps them; the store fills it in.
	SealedWhy []byte `json:"-"`
	// Delivery is what came; nil when nothing did, and where rows are listed.
	Delivery *Delivery `json:"-"`
	// Files came with it.
	Files []File `json:"-"`
}

// SetReason sets why the firing was decided so, and its sentence.
func (f *Firing) SetReason(why Reason) { f.Why, f.Reason, f.SealedWhy = why, why.String(), nil }

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
