package blueprint

// StartRequest asks for a run.
type StartRequest struct {
	Definition *Definition
	// AdHoc says that the definition's map is not the stored one; it is then
	// kept with the run.
	AdHoc     bool
	Principal Principal
	// CanManage lets the run use the blueprint's secret variables.
	CanManage bool
	Variables map[string]any
	InputData any
	Hidden    []string        // secrets that InputData may hold, masked where the run is shown
	Budget    *Budget         // besides that of the definition
	Trigger   *TriggerContext // nil when no trigger started the run
	// Firing is the ledger row that is stored in the same transaction as the
	// run; its ExecutionID and Decision are filled in.
	Firing *Firing
	// Coalesced and Cursor are stored with the firing of a schedule; see
	// JournalCommit.
	Coalesced *Firing
	Cursor    Time
	// Events became true with the firing and are raised with it.
	Events []Event
	// Concurrency bounds the runs of the trigger; nil = it does not.
	Concurrency *ConcurrencyGroup
	// Record keeps what the run, and those that it starts, exchange with other
	// services; see Exchange.
	Record bool
	// Generation is that of which the trigger, the definition and the rights are;
	// see JournalCommit. 0 = nobody minds.
	Generation int64
}

// TriggerContext is what a run knows of its trigger.
type TriggerContext struct {
	ID      string         `json:"id"`
	Type    TriggerType    `json:"type"`
	Headers map[string]any `json:"headers,omitempty"` // lower-case names -> text
	// Depth counts the events that led here, one caused by the other.
	Depth int `json:"depth,omitempty"`
	// Root is the key of the first of these events; "" when there is none.
	Root string `json:"root,omitempty"`
}

// ExecutionRow is what the store knows of a run without reading its journal
// or record.
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
	Status            Status
	CreatedAt         Time
	UpdatedAt         Time
	StartTime         Time
	EndTime           Time
	// BlueprintDeleted says that nobody can start the blueprint any more; it
	// is only filled in for unfinished runs.
	BlueprintDeleted bool
}

// JournalCommit is one step of a run's way onto the disk: all of it becomes
// durable in one transaction, or none.
type JournalCommit struct {
	Row ExecutionRow
	// New inserts the row; otherwise its status and times are updated, which
	// a terminal row refuses with CodeConflict.
	New bool
	// Firing is inserted with a new row. When its key has started a run
	// already the commit fails with *DuplicateFiringError and changes nothing.
	Firing *Firing
	// Coalesced is one more row of the ledger that is inserted with Firing: for
	// the ticks that it stands for. Nil when there are none.
	Coalesced *Firing
	// Cursor is where the firing's trigger stands afterwards, as in Schedule;
	// zero leaves it. It never goes back.
	Cursor Time
	// Events become true with this step: those that somebody listens to are in
	// the outbox afterwards. Their Data is read only then.
	Events []Event
	// Generation, unless it is 0, is what the store's number of changes must be
	// for a new row: after any change to keys, members, blueprints or triggers the
	// commit fails with *StaleError and changes nothing.
	Generation int64
	// Cancelled comes with the status failed: somebody wanted the run to end.
	Cancelled bool
	// Entries are appended to the run's journal, in order. They are opaque.
	Entries [][]byte
	// Record comes with a terminal status: it is kept, and the journal dropped.
	Record []byte
	// State also comes with a terminal status: what a retry needs and no
	// reader may see. It is opaque and may be nil.
	State []byte
}

// StoredExecution is a run as the store has it.
type StoredExecution struct {
	Row     ExecutionRow
	Entries [][]byte // of an unfinished run
	Record  []byte   // of a finished run
	State   []byte
}

// StaleError says that something a new run was made of has changed meanwhile. It
// is to be made again.
type StaleError struct{}

// Error says so.
func (*StaleError) Error() string { return "what the run was made of has changed meanwhile" }

// DuplicateFiringError says that a firing's key had started a run before.
type DuplicateFiringError struct {
	FiringID    string // the first firing
	ExecutionID string // its run
}

// Error names the first run.
func (e *DuplicateFiringError) Error() string {
	return "this delivery has started " + e.ExecutionID + " already"
}
