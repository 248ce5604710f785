package engine

import (
	"blueprintd/blueprint"
)

// Kinds of journal entries. They are stored: never change their meaning.
const (
	entryBegin   = "begin"  // the run was accepted
	entryStart   = "start"  // an attempt of a node began
	entryEnd     = "end"    // a node settled: completed, or failed when Error is set
	entryRetry   = "retry"  // an attempt failed; the next begins at Due
	entryWait    = "wait"   // the node waits until Due
	entryAwait   = "await"  // the node asks for input
	entryAgain   = "again"  // the node starts again immediately
	entryLog     = "log"    // a line of the run's log
	entryLoop    = "loop"   // the node iterates over the items in Output
	entryCall    = "call"   // the node waits for the run Child, started or about to be
	entryHide    = "hide"   // secrets entered the run
	entryCancel  = "cancel" // the run was cancelled, for Reason
	entryAsk     = "ask"    // the run Child, or this one, makes call Number to a language model, of about Tokens
	entrySpent   = "spent"  // that call has ended; it used Tokens
	entryRaise   = "raise"  // the budgets of Runs were raised by Raise
	entryStarted = "led"    // a descendant started another run
)

// entry is one event of a run. Most entries have no details: a run holds its entries in
// memory until they are durable, and a loop can have 400,000.
type entry struct {
	Kind    string         `json:"t"`
	At      blueprint.Time `json:"at"`
	Node    string         `json:"n,omitempty"`
	Attempt int            `json:"a,omitempty"`

	Output    any                  `json:"o,omitempty"`
	Error     *blueprint.StepError `json:"err,omitempty"`
	Handle    string               `json:"h,omitempty"`
	Pass      bool                 `json:"pass,omitempty"`   // the output is the input
	Variables bool                 `json:"v,omitempty"`      // the output's members are run variables
	Masked    bool                 `json:"masked,omitempty"` // a credential was replaced in the output or error
	Stop      bool                 `json:"stop,omitempty"`   // the run ends here
	Item      bool                 `json:"item,omitempty"`   // only the node's item ends

	*details // nil for none; encoded as members of the entry

	size int // of Output; 0 = unknown
}

// details are the members that few entries have.
type details struct {
	Begin *begin `json:"begin,omitempty"`

	Calls   []blueprint.Call    `json:"calls,omitempty"`
	Tokens  int64               `json:"tok,omitempty"`
	Models  int64               `json:"models,omitempty"` // calls to language models
	Clean   bool                `json:"clean,omitempty"`  // it failed before anything was sent
	Acted   bool                `json:"acted,omitempty"`  // the child run had an effect that must not be repeated
	Expired bool                `json:"late,omitempty"`   // no answer came in time
	Servers []usedServer        `json:"mcp,omitempty"`    // MCP servers used
	Uses    []usedConnection    `json:"uses,omitempty"`   // connections opened
	Respond *blueprint.Response `json:"respond,omitempty"`

	Due     blueprint.Time      `json:"due,omitempty"`
	Await   *await              `json:"await,omitempty"`
	Log     *blueprint.LogEntry `json:"log,omitempty"`
	Reason  string              `json:"reason,omitempty"`
	Secrets []string            `json:"secrets,omitempty"`
	Child   string              `json:"child,omitempty"`
	Call    *blueprint.SubRun   `json:"call,omitempty"`
	Most    int                 `json:"most,omitempty"` // concurrency of the items

	// Of budgets; see budgetUsage. Asker is the node of Child that makes the call.
	Raise  *blueprint.Budget `json:"raise,omitempty"`
	Runs   []string          `json:"runs,omitempty"`
	Number int64             `json:"number,omitempty"`
	Asker  string            `json:"asker,omitempty"`

	Exchanges []blueprint.Exchange `json:"x,omitempty"`     // of a recorded run
	Dropped   bool                 `json:"xfull,omitempty"` // some did not fit, and no more are kept
}

// noDetails is never changed.
var noDetails details

// read returns the details to read, which are empty if the entry has none.
func (e *entry) read() *details {
	if e.details == nil {
		return &noDetails
	}
	return e.details
}

// change returns the details to change, which it creates if there are none.
func (e *entry) change() *details {
	if e.details == nil {
		e.details = &details{}
	}
	return e.details
}

// begin holds everything that a run starts with.
type begin struct {
	UserID    string `json:"user"`
	CanManage bool   `json:"manage,omitempty"`
	// DataOf is the user whose data the run of another user processes, such as a retry of a
	// run by a user who could only start the blueprint.
	DataOf    string                    `json:"dataOf,omitempty"`
	Given     map[string]any            `json:"given,omitempty"` // as the caller passed them
	InputData any                       `json:"input"`
	Trigger   *blueprint.TriggerContext `json:"trigger,omitempty"`
	// Map is set if it differs from the stored map, with MapAuthor, who passed it.
	Map       any    `json:"map,omitempty"`
	MapAuthor string `json:"mapAuthor,omitempty"`
	// Lineage are the versions of the ancestor runs.
	Lineage []blueprint.VersionRef `json:"lineage,omitempty"`
	RetryOf string                 `json:"retryOf,omitempty"`
	Reuse   []step                 `json:"reuse,omitempty"` // finished nodes of the run that is retried
	// From is the node that a retry began at, "" for what had not completed; Edited says
	// that its input was edited.
	From   string `json:"from,omitempty"`
	Edited bool   `json:"edited,omitempty"`
	// Edits are the edited inputs of nodes, by address, and of items, by "loop[3]": of this
	// retry and, for nodes that it keeps, of those before it. A node that takes the input
	// data of the run has none: the input data is edited.
	Edits map[string]any `json:"edits,omitempty"`
	// Root is the first ancestor; "" = this run.
	Root string `json:"root,omitempty"`
	// Parent is the run that waits for this one, and Address its waiting node.
	Address string `json:"node,omitempty"`
	Parent  string `json:"parent,omitempty"`
	Depth   int    `json:"depth,omitempty"`
	// Budget bounds the run in addition to that of its blueprint; in a child run it
	// counts only for a retry, and Bounds are those of the ancestors.
	Budget      *blueprint.Budget `json:"budget,omitempty"`
	Bounds      []bound           `json:"bounds,omitempty"`
	Hidden      []string          `json:"hidden,omitempty"` // secrets of connections that the reused steps may hold
	Concurrency *concurrencyPlace `json:"lane,omitempty"`
	// Record keeps the exchanges with other services; Taped are those of the reused
	// steps.
	Record bool                 `json:"record,omitempty"`
	Taped  []blueprint.Exchange `json:"taped,omitempty"`
	// Flow, Chain and Cause are set in child runs: the first trigger, how many events
	// led there, and the key of the first event.
	Flow  string `json:"flow,omitempty"`
	Chain int    `json:"chain,omitempty"`
	Cause string `json:"cause,omitempty"`
}

// privateTo returns the only user who may see the data of the run; "" if its principal
// could manage the blueprint at the start, in which case all its readers may.
func (b *begin) privateTo() string {
	if b.DataOf == "" && !b.CanManage {
		return b.UserID
	}
	return b.DataOf
}

// concurrencyPlace is a run's concurrency group. Number orders its runs on this server.
type concurrencyPlace struct {
	blueprint.ConcurrencyGroup
	Number int64 `json:"number"`
}

type await struct {
	blueprint.AwaitingInput
	LinkExpires blueprint.Time `json:"linkExpires,omitempty"`
	Config      map[string]any `json:"config,omitempty"` // resolved when the node asked
	State       any            `json:"state,omitempty"`  // for the attempt after the answer
}

// record applies an entry and schedules its flush. The caller holds r.mu.
func (r *run) record(e *entry) {
	before := r.tapeSize
	r.apply(e)
	r.engine.addTapeMemory(r, r.tapeSize-before)
	r.pending = append(r.pending, e)
	r.flushWithin(AtEnd)
}
