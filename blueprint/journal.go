package blueprint

import "strings"

// StartRequest starts a run.
type StartRequest struct {
	Definition *Definition
	// AdHoc reports that the definition's map is not stored; it is stored with the run.
	AdHoc     bool
	Principal Principal
	// CanManage allows the use of the blueprint's secret variables.
	CanManage bool
	Variables map[string]any
	InputData any
	Hidden    []string        // secrets in InputData, masked where the run is shown
	Budget    *Budget         // in addition to that of the definition
	Trigger   *TriggerContext // nil without a trigger
	// Firing is the ledger row, stored in the transaction of the run; its ExecutionID
	// and Decision are set.
	Firing *Firing
	// Coalesced and Cursor are stored with the firing of a schedule; see
	// JournalCommit.
	Coalesced *Firing
	Cursor    Time
	// Events are published with the firing.
	Events []Event
	// Concurrency limits the runs of the trigger; nil = unlimited.
	Concurrency *ConcurrencyGroup
	// Record records the exchanges of the run and its sub-runs.
	Record bool
	// Generation is that of trigger, definition and rights; see JournalCommit. 0 = any.
	Generation int64
}

// TriggerContext is the trigger as its run sees it.
type TriggerContext struct {
	ID      string         `json:"id"`
	Type    TriggerType    `json:"type"`
	Headers map[string]any `json:"headers,omitempty"` // lower-case names -> text
	// Depth counts the events that led to the run.
	Depth int `json:"depth,omitempty"`
	// Root is the key of the first of these events; "" = none.
	Root string `json:"root,omitempty"`
}

// LogID returns the log id of a new run: the ULID that its id ends with, in upper case.
func LogID(executionID string) string {
	return strings.ToUpper(executionID[max(0, len(executionID)-26):])
}

// ExecutionRow is a run without its journal and record.
type ExecutionRow struct {
	ID                string
	LogID             string
	BlueprintID       string
	BlueprintVersion  string
	OrganizationID    string
	UserID            string
	TriggerID         string
	FiringID          string
	ParentExecutionID string
	RetryOf           string // set for new and listed runs only
	Status            Status
	CreatedAt         Time
	UpdatedAt         Time
	StartTime         Time
	EndTime           Time
	// BlueprintDeleted is only set for unfinished runs.
	BlueprintDeleted bool
}

// JournalCommit is an update of a run in one transaction.
type JournalCommit struct {
	Row ExecutionRow
	// New inserts the row; otherwise its status and times are updated, with CodeConflict
	// for a terminal row.
	New bool
	// Firing is inserted with a new row. If its key has started a run before, the
	// commit fails with *DuplicateFiringError.
	Firing *Firing
	// Coalesced is a further ledger row for the ticks that Firing replaces; may be nil.
	Coalesced *Firing
	// Cursor is the new Schedule.Cursor of the trigger; zero leaves it. It never
	// decreases.
	Cursor Time
	// Events with subscribers are added to the outbox; Data is only evaluated for those.
	Events []Event
	// Generation, unless it is 0, must be the store's for a new row: after any change to
	// keys, members, blueprints or triggers the commit fails with *StaleError.
	Generation int64
	// Cancelled marks a failed run as cancelled.
	Cancelled bool
	// Entries are appended to the journal. They are opaque.
	Entries [][]byte
	// Record replaces the journal when the status is terminal.
	Record []byte
	// State is for a retry of an ended run and is never shown. It is opaque and may be
	// nil.
	State []byte
	// Group is the concurrency group of a new run, if several processes share the journal.
	// A group belongs to the process that has its unfinished runs. If that is another one,
	// the commit stores the run for that process and sets Handed.
	Group  *ConcurrencyGroup
	Handed bool
	// Response is that of a run of a concurrency group, for the process that accepted it if
	// that was another one. It is opaque.
	Response []byte
}

// StoredExecution is a stored run.
type StoredExecution struct {
	Row     ExecutionRow
	Entries [][]byte // of an unfinished run
	Record  []byte   // of a finished run
	State   []byte
	// Elsewhere reports that another process of the server has the run.
	Elsewhere bool
}

// RunCommand is a command for a run that another process of the server has. Data is opaque.
type RunCommand struct {
	Seq         int64
	ExecutionID string
	Data        []byte
}

// StaleError is returned when the trigger, definition or rights of a new run have
// changed; the caller builds the run again.
type StaleError struct{}

// Error implements error.
func (*StaleError) Error() string {
	return "the trigger, the blueprint or the rights of the run have changed"
}

// DuplicateFiringError is returned when the key of a firing has started a run before.
type DuplicateFiringError struct {
	FiringID    string // the first firing
	ExecutionID string // its run
}

func (e *DuplicateFiringError) Error() string {
	return "this delivery has started " + e.ExecutionID + " already"
}
