package blueprint

// FiringFilter selects rows of a trigger's ledger. Zero fields match all.
type FiringFilter struct {
	Decisions []Decision
	Sources   []Source
	// From (inclusive) and To (exclusive) bound when the firing was received.
	From, To Time
	// Status is that of the run. Rows without a run, or whose run was pruned, never
	// match.
	Status Status
	Key    string // the whole key
}

// IsZero reports whether the filter matches all rows.
func (f *FiringFilter) IsZero() bool {
	return len(f.Decisions) == 0 && len(f.Sources) == 0 && f.From == 0 && f.To == 0 && f.Status == "" && f.Key == ""
}

// FiringRun is the run of a row of the ledger. Status is StatusNotFound for a pruned run.
type FiringRun struct {
	ExecutionID string `json:"executionId"`
	Status      Status `json:"status"`
	Error       string `json:"error,omitempty"` // of a failed run; not always set
	Displaced   bool   `json:"-"`               // cancelled for a newer run
}

// LedgerRow is a row of the ledger with its run; nil = none.
type LedgerRow struct {
	Firing
	Run *FiringRun
}

// Redelivery is a firing that repeated an earlier one.
type Redelivery struct {
	FiringID    string   `json:"firingId"`
	ExecutionID *string  `json:"executionId"`
	ReceivedAt  Time     `json:"receivedAt"`
	Decision    Decision `json:"decision"`
	Reason      string   `json:"reason"`
	Status      Status   `json:"-"` // of its run; "" = none
}

// UnfinishedRun is an unfinished run of a trigger.
type UnfinishedRun struct {
	ExecutionID string
	Status      Status
	CreatedAt   Time
	UpdatedAt   Time // of one that is paused: since when
}

// MaxUnfinished is the maximum of listed unfinished runs of a trigger: more than its
// limit and its queue together.
const MaxUnfinished = 2100

// FactRedeliveryOf is the fact with the id of the firing that a redelivery repeats,
// which is never a redelivery itself.
const FactRedeliveryOf = "of"

// RedeliveryOf returns the id of the firing that f repeats, "" if it is no redelivery.
func (f *Firing) RedeliveryOf() string {
	if f.Source != SourceRedelivery || f.Delivery == nil {
		return ""
	}
	first, _ := f.Delivery.Facts[FactRedeliveryOf].(string)
	return first
}

// FiringStory is everything that is stored about a firing.
type FiringStory struct {
	Firing  Firing  // with its Delivery
	Trigger Trigger // current, with its secrets
	// Tripped is why the breaker paused the trigger; nil = it did not.
	Tripped      *Trip
	Run          *FiringRun   // nil = none
	Redeliveries []Redelivery // newest first, at most MaxRedeliveries
	// Unfinished are the unfinished runs of the trigger, oldest first, if the run is one
	// of them and the trigger has a limit.
	Unfinished []UnfinishedRun
}

// MaxRedeliveries is the maximum of listed redeliveries of a firing.
const MaxRedeliveries = 50

// Explanation explains the result of a firing, without secrets and credentials.
type Explanation struct {
	Firing       Firing         `json:"firing"`
	Summary      string         `json:"summary"` // one sentence
	Details      []Detail       `json:"details"`
	Delivery     *ShownDelivery `json:"delivery"` // nil = none, or pruned
	Facts        map[string]any `json:"facts"`    // of the delivery
	Run          *FiringRun     `json:"run"`
	Redeliveries []Redelivery   `json:"redeliveries"`
	Next         string         `json:"next"` // what to do; "" = nothing
}

// Detail is a labelled fact about a firing.
type Detail struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// ShownDelivery is the public part of a Delivery.
type ShownDelivery struct {
	From    string            `json:"from"`
	Size    int64             `json:"size"` // bytes of the body
	Kept    bool              `json:"kept"` // the whole body is stored
	Headers map[string]string `json:"headers"`
	// Body is the beginning of the body, nil if it is not text or not stored.
	Body          *string `json:"body"`
	BodyTruncated bool    `json:"bodyTruncated"`
}

// TriggerStory is everything that is stored about a trigger, except its ledger.
type TriggerStory struct {
	Trigger         Trigger // with its secrets
	BlueprintTitle  string
	BlueprintStatus string
	Owner           Principal // the blueprint's creator
	CanManage       bool      // the trigger's creator can still manage the blueprint
	Tripped         *Trip     // why the breaker paused it; nil = it did not
	TrippedAt       Time      // when; zero if it did not, or the row has been pruned
	Failures        int       // consecutive failed runs
	// Deactivated is the entry of the audit log for the change that left it inactive; nil if
	// it is active, the breaker switched it off, or there is no such entry.
	Deactivated *AuditEntry
	CreatedAt   Time
	Cursor      Time // see Schedule
	Firings     int  // rows in the ledger
	Oldest      Time // when the oldest of these was received; zero = none
	// Unfinished are its unfinished runs, oldest first, if it has a limit.
	Unfinished []UnfinishedRun
}

// ReasonCount counts the rows of the ledger with a decision and, except for started
// runs and redeliveries, a reason.
type ReasonCount struct {
	Decision   Decision
	Redelivery bool
	Why        Reason
	Count      int
	Last       Time // when the newest was received
}
