package blueprint

// FiringFilter chooses rows of a trigger's ledger. What is zero leaves out
// nothing.
type FiringFilter struct {
	Decisions []Decision
	Sources   []Source
	// From and To bound when the firing was received: From is within, To is not.
	From, To Time
	// Status is that of the run that the firing started. Rows that started
	// none, or whose run has been pruned, have no such run.
	Status Status
	Key    string // the whole key
}

// IsZero reports whether the filter leaves out nothing.
func (f *FiringFilter) IsZero() bool {
	return len(f.Decisions) == 0 && len(f.Sources) == 0 && f.From == 0 && f.To == 0 && f.Status == "" && f.Key == ""
}

// FiringRun is what became of the run that a row of the ledger names. Status
// is StatusNotFound once the run has been pruned.
type FiringRun struct {
	ExecutionID string `json:"executionId"`
	Status      Status `json:"status"`
	Error       string `json:"error,omitempty"` // why it failed, where that was looked up
	Displaced   bool   `json:"-"`               // it was cancelled to make room for a newer one
}

// LedgerRow is a row of the ledger with what became of its run; Run is nil when
// it names none.
type LedgerRow struct {
	Firing
	Run *FiringRun
}

// Redelivery is a firing that ran an earlier one again.
type Redelivery struct {
	FiringID    string   `json:"firingId"`
	ExecutionID *string  `json:"executionId"`
	ReceivedAt  Time     `json:"receivedAt"`
	Decision    Decision `json:"decision"`
	Reason      string   `json:"reason"`
	Status      Status   `json:"-"` // of its run; "" when it started none
}

// UnfinishedRun is a run of a trigger that has not ended.
type UnfinishedRun struct {
	ExecutionID string
	Status      Status
	CreatedAt   Time
	UpdatedAt   Time // of one that is paused: since when
}

// MaxUnfinished is how many unfinished runs of a trigger are told of: more than
// its limit and those that wait can be.
const MaxUnfinished = 2100

// FactRedeliveryOf is the fact of a redelivery's Delivery that holds the id of
// the firing that it ran again: the first one, never another redelivery.
const FactRedeliveryOf = "of"

// RedeliveryOf returns the id of the firing that f ran again, "" when it did not.
func (f *Firing) RedeliveryOf() string {
	if f.Source != SourceRedelivery || f.Delivery == nil {
		return ""
	}
	first, _ := f.Delivery.Facts[FactRedeliveryOf].(string)
	return first
}

// FiringStory is all that is stored about a firing.
type FiringStory struct {
	Firing  Firing  // with its Delivery
	Trigger Trigger // as it is now, with its secrets
	// Tripped is why the server switched the trigger off; nil = it did not.
	Tripped      *Trip
	Run          *FiringRun   // nil = the row names none
	Redeliveries []Redelivery // the newest first, at most MaxRedeliveries
	// Unfinished are the runs of the trigger that have not ended, the oldest
	// first, when the run is one of them and the trigger has a limit.
	Unfinished []UnfinishedRun
}

// MaxRedeliveries is how many redeliveries of one firing are told of.
const MaxRedeliveries = 50

// Explanation tells in words and in facts what became of a firing. It holds no
// secret and nothing that proves who a sender is.
type Explanation struct {
	Firing       Firing         `json:"firing"`
	Summary      string         `json:"summary"` // one sentence
	Details      []Detail       `json:"details"`
	Delivery     *ShownDelivery `json:"delivery"` // nil = nothing came, or it is too old
	Facts        map[string]any `json:"facts"`    // what was found out at the decision
	Run          *FiringRun     `json:"run"`
	Redeliveries []Redelivery   `json:"redeliveries"`
	Next         string         `json:"next"` // what to do; "" = nothing
}

// Detail is one thing to know about a firing.
type Detail struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// ShownDelivery is what may be shown of a Delivery.
type ShownDelivery struct {
	From    string            `json:"from"`
	Size    int64             `json:"size"` // bytes of the body, as it came
	Kept    bool              `json:"kept"` // the whole body is stored
	Headers map[string]string `json:"headers"`
	// Body is the beginning of the body when it is text, nil when it is not or
	// was not kept.
	Body          *string `json:"body"`
	BodyTruncated bool    `json:"bodyTruncated"`
}

// TriggerStory is what is stored about a trigger, but for its ledger.
type TriggerStory struct {
	Trigger         Trigger // with its secrets
	BlueprintTitle  string
	BlueprintStatus string
	Owner           Principal // the blueprint's creator
	CanManage       bool      // the trigger's creator can still manage the blueprint
	Tripped         *Trip     // why the server switched it off; nil = it did not
	Failures        int       // of its runs in a row
	CreatedAt       Time
	Cursor          Time // of a schedule: every tick up to here has been decided
	Firings         int  // rows in the ledger
	Oldest          Time // when the oldest of these was received; zero = there is none
	// Unfinished are its runs that have not ended, the oldest first, when it has
	// a limit.
	Unfinished []UnfinishedRun
}

// ReasonCount is how many rows of the ledger there are with a decision and, but
// for those that started a run and redeliveries, a reason.
type ReasonCount struct {
	Decision   Decision
	Redelivery bool
	Why        Reason
	Count      int
	Last       Time // when the newest of them was received
}
