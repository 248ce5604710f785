package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

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
	// Lane bounds the runs of its trigger.
	Lane *turnout `json:"lane,omitempty"`
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

// turnout is the lane of a run. Number tells which runs came before it, on this
// server, since there have been runs in the lane.
type turnout struct {
	blueprint.Lane
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
	r.apply(e)
	r.pending = append(r.pending, e)
	r.soon(AtEnd)
}

// apply lets an entry happen to the run. It is the only way a run changes, in
// life and when it is read back. r.mu is held.
func (r *run) apply(e *entry) {
	switch e.Kind {
	case entryLog:
		r.logs = append(r.logs, *e.Log)
		return
	case entryHide:
		r.hide(e.Secrets)
		return
	case entryCancel:
		r.canceled = &e.Reason
		r.halt(r.root, e.At)
		return
	case entryAsk:
		r.spending.ask(e.Number, e.Runs, e.Tokens)
		return
	case entrySpent:
		r.spending.end(e.Number, e.Tokens)
		return
	case entryRaise:
		r.spending.raise(e.Runs, e.Raise)
		return
	case entryLed:
		r.led++
		return
	}
	if e.Error != nil {
		r.evidence += stepHeft(e.Error.Exchange)
	}
	n := r.find(e.Node)
	n.acted = n.acted && !e.Clean || e.Acted
	switch e.Kind {
	case entryStart:
		if n.state() == blueprint.NodePending {
			n.frame.plan.Start(n.index)
			n.start = e.At
			n.writers = r.seen(n)
		}
		if at := slices.Index(r.again, n); at >= 0 {
			r.again = slices.Delete(r.again, at, at+1)
		}
		n.attempt = e.Attempt
		n.acted = n.acted || n.node().effect == blueprint.EffectOnce
		r.move(n, working)
	case entryAgain:
		n.due, n.retry, n.await, n.next = 0, false, nil, e.Attempt
		r.move(n, idle)
		r.again = append(r.again, n)
	case entryRetry:
		n.due, n.retry, n.err, n.masked, n.next = e.Due, true, e.Error, e.Masked, n.attempt+1
		r.move(n, waiting)
	case entryWait:
		n.due = e.Due
		r.move(n, waiting)
	case entryAwait:
		n.due, n.await, n.carried = e.Await.ExpiresAt, e.Await, e.Await.State
		n.signIn = n.signIn || e.Await.Kind == blueprint.AwaitOAuth
		r.move(n, awaiting)
	case entryCall:
		n.child, n.call = e.Child, e.Call
		r.led++
		r.move(n, calling)
	case entryEnd:
		if r.end(n, e); !n.frame.opening {
			r.reuse(n.frame) // what stood behind it waited for it
		}
	}
	r.keep(e)
	n.calls = append(n.calls, e.Calls...)
	n.tokens += e.Tokens
	n.models += e.Models
	n.note(e.Uses, e.Servers)
	switch {
	case e.Kind == entryLoop:
		r.beginLoop(n, e)
	case n.frame.plan.Halted() && n.phase > working:
		r.drop(n, e.At) // it came to wait after the walk was stopped
	}
	r.close(n.frame, e.At)
}

// move changes what a node is doing.
func (r *run) move(n *nodeRun, to phase) {
	r.count[n.phase]--
	r.count[to]++
	n.phase = to
}

// end settles a node as an entry says.
func (r *run) end(n *nodeRun, e *entry) {
	n.due, n.await, n.retry = 0, nil, false
	r.move(n, idle)
	n.end = e.At
	n.handle, n.err, n.masked = e.Handle, e.Error, e.Masked
	if e.Respond != nil && r.respond == nil {
		r.respond = e.Respond
	}
	plan := n.frame.plan
	switch {
	case e.Error == nil && e.Stop:
		r.handOn(n, e)
		n.item = e.Item && n.frame != r.root
		n.frame.early = n.frame.early || n.item && !plan.Halted()
		plan.Finish(n.index)
		if within := n.frame; e.Item {
			r.halt(within, e.At)
		} else {
			for ; within != nil; within = within.parent {
				within.plan.Quit()
			}
			r.halt(r.root, e.At)
		}
	case e.Error == nil:
		r.handOn(n, e)
		plan.Complete(n.index, e.Handle)
	case e.Stop && !e.Item && n.frame != r.root:
		r.stopped = n
		r.stoppedBy(n, e.At)
		r.halt(r.root, e.At)
	case e.Stop:
		r.stoppedBy(n, e.At)
	default:
		r.fell(n, e.At)
	}
}

// fell settles a node that failed for good; its error says why. r.mu is held.
func (r *run) fell(n *nodeRun, at blueprint.Time) {
	reaction := n.node().OnError
	if r.canceled != nil || reaction == blueprint.OnErrorStop {
		r.stoppedBy(n, at)
		return
	}
	n.output = map[string]any{"error": errorValue(n.err)}
	n.weight = len(n.err.Message)
	n.frame.plan.Fail(n.index, reaction)
}

// stoppedBy settles a node whose failure stops its walk; of several the first
// in the map counts. That of an item stops the other items too. r.mu is held.
func (r *run) stoppedBy(n *nodeRun, at blueprint.Time) {
	f := n.frame
	if f.failed < 0 || n.index < f.failed {
		f.failed = n.index
	}
	n.halts = true
	f.plan.Fail(n.index, blueprint.OnErrorStop)
	if holder := f.holder(); holder != nil {
		r.haltLoop(holder, at)
	} else {
		r.halt(f, at)
	}
}

// handOn gives a node the output that an entry tells of.
func (r *run) handOn(n *nodeRun, e *entry) {
	n.pass, n.variables = e.Pass, e.Variables
	if e.Pass {
		n.output, n.weight = r.input(n)
		return
	}
	n.output, n.weight = e.Output, e.weight
	if e.weight == 0 {
		n.weight, _ = weigh(e.Output, tooHeavy)
	}
	r.total += n.weight
	if values, ok := e.Output.(map[string]any); ok && e.Variables {
		n.writers = n.writers.Write(n.index, values)
	}
}

func errorValue(e *blueprint.StepError) map[string]any {
	value := map[string]any{"message": e.Message}
	if e.Code != "" {
		value["code"] = e.Code
	}
	return value
}

// drop settles a node of a halted walk on which nobody works: a wait or a
// question is skipped, a node between two attempts keeps its failure. r.mu is
// held.
func (r *run) drop(n *nodeRun, at blueprint.Time) {
	again := slices.Index(r.again, n)
	if n.phase <= working && again < 0 {
		return
	}
	failed := n.retry || again >= 0 && n.err != nil
	n.due, n.await, n.retry, n.end = 0, nil, false, at
	if n.phase == calling {
		r.orphans = append(r.orphans, n.child)
		n.acted = true // that run may have
	}
	r.move(n, idle)
	if again >= 0 {
		r.again = slices.Delete(r.again, again, again+1)
	}
	f := n.frame
	if !failed {
		n.dropped = true
		f.plan.Drop(n.index)
		return
	}
	if f.failed > n.index && n.node().OnError == blueprint.OnErrorStop {
		f.failed = n.index
	}
	n.halts = true
	f.plan.Fail(n.index, blueprint.OnErrorStop)
}

// follows tells whether an entry that was read back can have happened. One that
// cannot means a damaged journal.
func (r *run) follows(e *entry) error {
	switch e.Kind {
	case entryLog:
		if e.Log == nil {
			return fmt.Errorf("a log line is empty")
		}
		return nil
	case entryRaise:
		if e.Raise == nil {
			return fmt.Errorf("a raise of a budget is empty")
		}
		return nil
	case entryCancel, entryHide, entryAsk, entrySpent, entryLed:
		return nil
	}
	n := r.find(e.Node)
	if n == nil {
		return fmt.Errorf("it tells of a node %q that the blueprint does not have", e.Node)
	}
	var ok bool
	switch phase := n.phase; e.Kind {
	case entryStart:
		ok = n.frame.plan.IsReady(n.index) || slices.Contains(r.again, n)
	case entryCall:
		ok = phase == working && e.Child != "" && e.Call != nil
	case entryLoop:
		_, list := e.Output.([]any)
		ok = phase == working && list && n.node().body != nil
	case entryAgain, entryEnd:
		ok = phase != idle
	case entryRetry:
		ok = (phase == working || phase == calling) && e.Error != nil
	case entryWait:
		ok = phase == working
	case entryAwait:
		ok = phase == working && e.Await != nil
	}
	if !ok {
		return fmt.Errorf("the entry %q of node %q does not follow from those before it", e.Kind, e.Node)
	}
	return nil
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
