package blueprint

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

// FirstPlace is the place before every row of a ledger, for Next and After.
const FirstPlace = "00000000000000000000000000"

// ToRedeliver is a firing that a RedeliverRequest is about.
type ToRedeliver struct {
	Firing
	Failed int // of the times it was run again, those whose run failed
}

// RedeliverResult is what became of a RedeliverRequest.
type RedeliverResult struct {
	Matched     int            // rows that the request is about, those beyond its limit too, but for those up to After
	Redelivered int            // runs that were started
	Refused     []RefusedAgain // at most MaxRefusedAgain
	Firings     []RanAgain
	// Next is from where to go on, After in the next request, when not every row
	// was looked at, because of the limit or because the server takes no more
	// work now; "" = every row was. Rows behind it may have been run when the
	// server takes no more work: without Again, none of them is run twice.
	Next string
	// Stopped says why it ended early; "" = it did not.
	Stopped string
}

// MaxRefusedAgain is how many refusals a RedeliverResult tells.
const MaxRefusedAgain = 100

// RefusedAgain is a firing that was not run again, and why.
type RefusedAgain struct {
	FiringID string `json:"firingId"`
	Reason   string `json:"reason"`
}

// RanAgain is a firing that was run again. FiringID and ExecutionID are nil when
// the request only asked what would be run.
type RanAgain struct {
	FiringID    *string `json:"firingId"`
	Of          string  `json:"of"`
	ExecutionID *string `json:"executionId"`
}
