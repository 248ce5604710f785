package engine

import (
	"bytes"
	"encoding/json"
	"fmt"

	"blueprintd/blueprint"
)

// The kinds of journal entries. They are on disks: never change their meaning.
const (
	entryBegin  = "begin"  // the run was accepted
	entryStart  = "start"  // an attempt of a node began
	entryEnd    = "end"    // a node settled: completed, or failed when Error is set
	entryRetry  = "retry"  // an attempt failed; the next begins at Due
	entryWait   = "wait"   // the node waits until Due
	entryAwait  = "await"  // the node asks for input
	entryAgain  = "again"  // the node is to start once more, at once
	entryLog    = "log"    // a line of the run's log
	entryLoop   = "loop"   // the node goes over the items in Output
	entryCall   = "call"   // the node waits for the run Child, which it started or is about to
	entryHide   = "hide"   // values that nobody may see came into the run
	entryCancel = "cancel" // the run was cancelled, for Reason
	entryAsk    = "ask"    // the run Child, or this one, makes call Number to a language model, about Tokens large
	entrySpent  = "spent"  // that call is over; it took Tokens
	entryRaise  = "raise"  // the budgets of Runs were raised by Raise
	entryLed    = "led"    // a run below this one started another
)

// entry is one thing that happened to a run.
type entry struct {
	Kind    string         `json:"t"`
	At      blueprint.Time `json:"at"`
	Node    string         `json:"n,omitempty"`
	Attempt int            `json:"a,omitempty"`

	Begin *begin `json:"begin,omitempty"`

	Output    any                  `json:"o,omitempty"`
	Pass      bool                 `json:"pass,omitempty"` // the output is the input
	Handle    string               `json:"h,omitempty"`
	Variables bool                 `json:"v,omitempty"` // the output's members are run variables
	Calls     []blueprint.Call     `json:"calls,omitempty"`
	Tokens    int64                `json:"tok,omitempty"`
	Models    int64                `json:"models,omitempty"` // calls to language models
	Clean     bool                 `json:"clean,omitempty"`  // it failed before anything was sent
	Acted     bool                 `json:"acted,omitempty"`  // the run that it waited for did what must not be done twice
	Servers   []server             `json:"mcp,omitempty"`    // MCP servers that were asked
	Uses      []use                `json:"uses,omitempty"`   // connections that were opened
	Masked    bool                 `json:"masked,omitempty"` // a credential was replaced in the output or error
	Stop      bool                 `json:"stop,omitempty"`   // the run ends here
	Item      bool                 `json:"item,omitempty"`   // not the run, only the item that the node belongs to
	Respond   *blueprint.Response  `json:"respond,omitempty"`
	Error     *blueprint.StepError `json:"err,omitempty"`

	Due     blueprint.Time      `json:"due,omitempty"`
	Await   *await              `json:"await,omitempty"`
	Log     *blueprint.LogEntry `json:"log,omitempty"`
	Reason  string              `json:"reason,omitempty"`
	Secrets []string            `json:"secrets,omitempty"`
	Child   string              `json:"child,omitempty"`
	Call    *blueprint.SubRun   `json:"call,omitempty"`
	Most    int                 `json:"most,omitempty"` // items at work at once

	// Of budgets; see spending. Asker is the node of Child that makes the call.
	Raise  *blueprint.Budget `json:"raise,omitempty"`
	Runs   []string          `json:"runs,omitempty"`
	Number int64             `json:"number,omitempty"`
	Asker  string            `json:"asker,omitempty"`

	Exchanges []blueprint.Exchange `json:"x,omitempty"`     // of a run that is recorded
	Dropped   bool                 `json:"xfull,omitempty"` // some of them had no room, and none has from now on

	weight int // of Output when it is known, else 0
}

// begin is all that a run starts from.
type begin struct {
	UserID    string `json:"user"`
	CanManage bool   `json:"manage,omitempty"`
	// DataOf is the user whose data the run of another user works on, as in a retry of
	// a run by who could only start the blueprint.
	DataOf    string                    `json:"dataOf,omitempty"`
	Given     map[string]any            `json:"given,omitempty"` // as the caller passed them
	InputData any                       `json:"input"`
	Trigger   *blueprint.TriggerContext `json:"trigger,omitempty"`
	// Map is kept only for a run whose map is not the stored one.
	Map any `json:"map,omitempty"`
	// MapAuthor is who passed it.
	MapAuthor string `json:"mapAuthor,omitempty"`
	// Lineage are the versions of the runs that led to this one.
	Lineage []blueprint.VersionRef `json:"lineage,omitempty"`
	RetryOf string                 `json:"retryOf,omitempty"`
	Reuse   []step                 `json:"reuse,omitempty"` // finished nodes of the run that is retried
	// Root is the run that all began with; "" = this one.
	Root string `json:"root,omitempty"`
	// Parent is the run, and Address its node, that waits for this one.
	Address string `json:"node,omitempty"`
	Parent  string `json:"parent,omitempty"`
	Depth   int    `json:"depth,omitempty"`
	// Budget bounds the run besides that of its blueprint; of a run that another
	// started it counts only for a retry, and Bounds are those of the runs above.
	Budget *blueprint.Budget `json:"budget,omitempty"`
	Bounds []bound           `json:"bounds,omitempty"`
	Hidden []string          `json:"hidden,omitempty"` // secrets of connections that the reused steps may hold
	// Concurrency bounds the runs of its trigger.
	Concurrency *concurrencyPlace `json:"lane,omitempty"`
	// Record keeps the exchanges with other services.
	Record bool `json:"record,omitempty"`
	// Taped are those of the reused steps.
	Taped []blueprint.Exchange `json:"taped,omitempty"`
	// Flow is the trigger that all began with, of a run that another started.
	Flow string `json:"flow,omitempty"`
	// Chain is how many events led to all that, and Cause the key of the first of
	// them, of a run that another started.
	Chain int    `json:"chain,omitempty"`
	Cause string `json:"cause,omitempty"`
}

// privateTo returns the only user who may see the data of the run, "" when it
// belongs to the blueprint: its principal could manage that when it began.
func (b *begin) privateTo() string {
	if b.DataOf == "" && !b.CanManage {
		return b.UserID
	}
	return b.DataOf
}

// concurrencyPlace is the concurrency group of a run. Number orders the runs of one
// group on this server.
type concurrencyPlace struct {
	blueprint.ConcurrencyGroup
	Number int64 `json:"number"`
}

// await is a request for input, with what is needed to judge the answer.
type await struct {
	blueprint.AwaitingInput
	Config map[string]any `json:"config,omitempty"` // resolved when the node asked
	State  any            `json:"state,omitempty"`  // of a node that is to go on after the answer
}

// record applies an entry and keeps it for the next flush, which comes soon
// enough by itself. r.mu is held.
func (r *run) record(e *entry) {
	r.advance(e)
	r.pending = append(r.pending, e)
	r.soon(AtEnd)
}

// advance applies an entry, and counts the memory that the run needs for it. r.mu is
// held.
func (r *run) advance(e *entry) {
	before := r.taped
	r.apply(e)
	r.engine.holdTape(r, r.taped-before)
}

// encodeEntry writes an entry, decodeEntry reads it back.
func encodeEntry(e *entry) ([]byte, error) { return blueprint.Encode(e) }

func decodeEntry(data []byte) (*entry, error) {
	e := &entry{}
	if err := decode(data, e); err != nil {
		return nil, fmt.Errorf("engine: a journal entry is unreadable: %w", err)
	}
	return e, nil
}

// decode reads JSON with the digits of its numbers intact.
func decode(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(into)
}
