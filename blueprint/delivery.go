package blueprint

import (
	"fmt"
)

// Delivery is what came with a firing, as it came. It is stored in the same
// transaction as the decision about it, before anybody is told of that, and so
// that the same can be decided anew.
type Delivery struct {
	// From is the network address of the sender, "" when there is none.
	From string `json:"from,omitempty"`
	// Header has the headers, names in lower case, without what could let
	// somebody else in: authorization and cookies.
	Header map[string][]string `json:"header,omitempty"`
	// Proof has the headers that show who the sender is, such as signatures:
	// they are needed to decide anew, and nobody is shown them.
	Proof map[string][]string `json:"proof,omitempty"`
	// Hidden are secrets that the body may hold; they are never shown.
	Hidden []string `json:"hidden,omitempty"`
	// Size is how many bytes the body had, as far as it was read.
	Size int64 `json:"size"`
	// Facts are what was found out on the way to the decision: plain JSON
	// values under names, never a secret. They are shown.
	Facts map[string]any `json:"facts,omitempty"`
	// Body is the body, byte for byte; nil although Size is not 0 when it was
	// not kept.
	Body []byte `json:"-"`
	// Sealed is all of it as the store keeps it, encrypted; the store fills it in.
	Sealed []byte `json:"-"`
}

// IsComplete reports whether the whole body is there.
func (d *Delivery) IsComplete() bool { return int64(len(d.Body)) == d.Size }

// AddFact keeps something that was found out.
func (d *Delivery) AddFact(name string, value any) {
	if d.Facts == nil {
		d.Facts = map[string]any{}
	}
	d.Facts[name] = value
}

// File is something that came with a firing and that its run may name, such as
// an attachment of a mail. Its bytes are part of the firing's delivery.
type File struct {
	ID          string // opaque and not to be guessed
	Part        int    // which part of the delivery's body it is, counted from 0 as the body is read
	Name        string
	ContentType string
	Size        int64 // bytes, decoded
}

// OnLimit says what becomes of a firing while as many runs of its trigger as
// its limit allows have not ended.
type OnLimit string

// The rules of OnLimit.
const (
	LimitQueue  OnLimit = "queue"          // the run waits until another has ended
	LimitSkip   OnLimit = "skip"           // none is started
	LimitCancel OnLimit = "cancel-running" // the oldest are cancelled to make room
)

// ConcurrencyGroup limits how many runs of one trigger are unfinished at once,
// waiting and paused ones included.
type ConcurrencyGroup struct {
	Key     string  `json:"key"` // the trigger
	Limit   int     `json:"limit"`
	OnLimit OnLimit `json:"onLimit"`
}

// ConcurrencyLimitError is returned when no run was started because the concurrency
// group is full and its rule is LimitSkip.
type ConcurrencyLimitError struct {
	Limit   int
	Running int    // how many of its runs have not ended
	Oldest  string // the oldest of these; "" = not known
}

// Error says so, without the run.
func (e *ConcurrencyLimitError) Error() string {
	short := *e
	short.Oldest = ""
	return short.sentence()
}

func (e *ConcurrencyLimitError) sentence() string {
	runs := "runs have"
	if e.Running == 1 {
		runs = "run has"
	}
	text := fmt.Sprintf("config.concurrency.limit is %d, and %d %s not ended", e.Limit, e.Running, runs)
	if e.Oldest != "" {
		text += ": " + e.Oldest
	}
	return text
}

// Reason says so with the run, for a reader who may know of it.
func (e *ConcurrencyLimitError) Reason() Reason {
	return NewReason(ReasonLimit, "limit", e.Limit, "running", e.Running, "executionId", e.Oldest)
}

// Displaced is the reason for cancelling a run in favour of a newer one of its
// concurrency group.
const Displaced = "a newer run of its trigger took its place"

// RedeliverRequest asks for firings of one trigger to be run again: all that
// the filter lets through, the oldest first, but for redeliveries themselves
// and those that were run again already without failing.
type RedeliverRequest struct {
	TriggerID string
	Filter    FiringFilter
	// After is the Next of an earlier result, from where to go on; "" = from the
	// first row.
	After  string
	Limit  int  // the most to run
	Again  bool // also those that were run again already
	DryRun bool // only tell what would be run
}

// FirstCursor is the place before every row of a ledger, for Next and After.
const FirstCursor = "00000000000000000000000000"

// RedeliveryCandidate is a firing that a RedeliverRequest is about.
type RedeliveryCandidate struct {
	Firing
	Failed int // of the times it was run again, those whose run failed
}

// RedeliverResult is what became of a RedeliverRequest.
type RedeliverResult struct {
	Matched     int                 // rows that the request is about, those beyond its limit too, but for those up to After
	Redelivered int                 // runs that were started
	Refused     []RefusedRedelivery // at most MaxRefusedAgain
	Firings     []RedeliveredFiring
	// Next is from where to go on, After in the next request, when not every row
	// was looked at, because of the limit or because the server takes no more
	// work now; "" = every row was. Rows behind it may have been run when the
	// server takes no more work: without Again, none of them is run twice.
	Next string
	// Stopped says why it ended early; "" = it did not.
	Stopped string
}

// MaxRefusedAgain is how many refusals a RedeliverResult tells.
const MaxRefusedRedeliveries = 100

// RefusedRedelivery is a firing that was not run again, and why.
type RefusedRedelivery struct {
	FiringID string `json:"firingId"`
	Reason   string `json:"reason"`
}

// RedeliveredFiring is a firing that was run again. FiringID and ExecutionID are nil when
// the request only asked what would be run.
type RedeliveredFiring struct {
	FiringID    *string `json:"firingId"`
	Of          string  `json:"of"`
	ExecutionID *string `json:"executionId"`
}
