package blueprint

import (
	"strconv"
	"strings"
)

// ListedRun is a run in a list, without what its nodes did.
type ListedRun struct {
	ExecutionID       string       `json:"executionId"`
	LogID             string       `json:"logId"`
	BlueprintID       string       `json:"blueprintId"`
	BlueprintTitle    string       `json:"blueprintTitle"`
	BlueprintVersion  string       `json:"blueprintVersion"`
	OrganizationID    string       `json:"organizationId"`
	UserID            string       `json:"userId"`
	UserName          string       `json:"userName"`
	TriggerID         *string      `json:"triggerId"`
	TriggerType       *TriggerType `json:"triggerType"`
	ParentExecutionID *string      `json:"parentExecutionId"`
	Status            Status       `json:"status"`
	StartTime         Time         `json:"startTime"`
	EndTime           Time         `json:"endTime"`
	DurationMs        *int64       `json:"durationMs"` // nil until it has ended
	CreatedAt         Time         `json:"createdAt"`
	Error             *string      `json:"error"`    // the errorSummary of its log record
	Awaiting          *AwaitKind   `json:"awaiting"` // what a paused one waits for first
	// Stored is what Error and Awaiting are made from; its record is nil when
	// that is too large for a list.
	Stored *StoredExecution `json:"-"`
}

// RunFilter chooses runs for a list. Empty fields choose all.
type RunFilter struct {
	BlueprintID    string
	OrganizationID string
	TriggerID      string
	// ParentExecutionID chooses the runs that this one started.
	ParentExecutionID string
	Status            Status
	From, To          Time   // of their creation; To is not included
	Search            string // an id or its beginning
	Limit             int
	After             RunPosition // where the page before ended
}

// RunPage is one page of a list of runs, newest first.
type RunPage struct {
	Runs []ListedRun
	Next RunPosition // where to go on; zero = there is no more
	// SearchedUntil is how far back a page was looked for that is not full
	// though there may be more; zero when that is not so.
	SearchedUntil Time
}

// RunPosition is a place in the order of all runs: by creation, then by the
// order in which they were written. Zero is before the newest.
type RunPosition struct {
	At  Time
	Seq int64
}

// String writes a position for ParseRunPosition; "" for zero.
func (p RunPosition) String() string {
	if p == (RunPosition{}) {
		return ""
	}
	return strconv.FormatInt(int64(p.At), 36) + "." + strconv.FormatInt(p.Seq, 36)
}

// Before reports whether a position is further back than another, neither of them
// zero.
func (p RunPosition) Before(other RunPosition) bool {
	return p.At < other.At || p.At == other.At && p.Seq < other.Seq
}

// ParseRunPosition reads what String writes.
func ParseRunPosition(text string) (p RunPosition, ok bool) {
	at, seq, found := strings.Cut(text, ".")
	when, err := strconv.ParseInt(at, 36, 64)
	place, failed := strconv.ParseInt(seq, 36, 64)
	p = RunPosition{Time(when), place}
	return p, found && err == nil && failed == nil && p.String() == text
}
