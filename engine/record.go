package engine

import (
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// runRecord is the record of a run as stored, from which every view is made. Inputs,
// and outputs that equal the input, are not copied but named by the nodes they come
// from.
type runRecord struct {
	Version  int                  `json:"version"`
	Status   blueprint.Status     `json:"status"`
	Begin    begin                `json:"begin"`
	Steps    []step               `json:"steps"`
	Logs     []blueprint.LogEntry `json:"logs,omitempty"`
	Ends     []string             `json:"ends,omitempty"`
	Failed   string               `json:"failed,omitempty"` // the node that stopped the run
	Canceled *string              `json:"cancelled,omitempty"`
	Acted    bool                 `json:"acted,omitempty"`  // a node of a repeated item had an effect that must not be repeated, and has no step
	Hidden   []string             `json:"hidden,omitempty"` // all secrets; unmasked records only
	// Exchanges of a recorded run, in the order in which their nodes settled, redacted.
	// They may be large, and are stored with the unmasked record only.
	Exchanges []blueprint.Exchange                `json:"exchanges,omitempty"`
	Awaiting  map[string]*blueprint.AwaitingInput `json:"-"`
	secrets   []string                            // names of the secret variables
	room      int                                 // bytes of inputs and outputs to show
}

const recordVersion = 2

// step is one node in a record.
type step struct {
	Node      string               `json:"n"`
	Type      string               `json:"k"`
	Title     string               `json:"title"`
	Status    blueprint.StepStatus `json:"s"`
	Start     blueprint.Time       `json:"start,omitempty"`
	End       blueprint.Time       `json:"end,omitempty"`
	Attempt   int                  `json:"a,omitempty"`
	From      []string             `json:"from,omitempty"` // where the input came from; none = the run's input data
	Output    any                  `json:"o,omitempty"`
	Pass      bool                 `json:"pass,omitempty"`
	Handle    string               `json:"h,omitempty"`
	Variables bool                 `json:"v,omitempty"`
	Calls     []blueprint.Call     `json:"calls,omitempty"`
	Tokens    int64                `json:"tok,omitempty"`
	Models    int64                `json:"models,omitempty"`
	Acted     bool                 `json:"acted,omitempty"`
	Uses      []usedConnection     `json:"uses,omitempty"`
	Servers   []usedServer         `json:"mcp,omitempty"`
	SignIn    bool                 `json:"signIn,omitempty"`
	Error     *blueprint.StepError `json:"err,omitempty"`
	Expired   bool                 `json:"late,omitempty"` // no answer came in time
	Masked    bool                 `json:"masked,omitempty"`
	Dropped   bool                 `json:"dropped,omitempty"`

	In    string `json:"in,omitempty"`   // the item that the node belongs to, such as "loop[3]"
	Item  bool   `json:"item,omitempty"` // it ended that item early
	Last  bool   `json:"last,omitempty"` // of that item: its output is the item's
	Each  bool   `json:"each,omitempty"` // a for-each node: its output is that of its items
	Items []any  `json:"items,omitempty"`

	loop *loop // of a for-each node that is reused with its items
}

// newRecord returns the record of the run as it is now, with the status of its row.
func (r *fold) newRecord(status blueprint.Status, room int) *runRecord {
	steps := 0
	r.each(func(*nodeRun) { steps++ })
	s := &runRecord{Version: recordVersion, Status: status, Begin: *r.begin, Logs: slices.Clip(r.logs), Canceled: r.canceled, Steps: make([]step, 0, steps), secrets: r.program.secrets, room: room}
	s.Begin.Reuse, s.Begin.Hidden, s.Begin.Taped, s.Hidden = nil, nil, nil, slices.Concat(r.hidden, secret.Strings(r.secrets))
	r.each(func(n *nodeRun) {
		s.Steps = append(s.Steps, n.step())
		if n.phase == awaiting {
			if s.Awaiting == nil {
				s.Awaiting = map[string]*blueprint.AwaitingInput{}
			}
			s.Awaiting[n.address()] = &n.await.AwaitingInput
		}
	})
	for _, done := range r.reused {
		s.Acted = s.Acted || done.Acted
	}
	for _, i := range r.root.plan.Ends() {
		s.Ends = append(s.Ends, r.root.nodes[i].address())
	}
	switch {
	case r.stopped != nil:
		s.Failed = r.stopped.address()
	case r.root.failed >= 0:
		s.Failed = r.root.nodes[r.root.failed].address()
	}
	return s
}

// step returns the node's entry in a record.
func (n *nodeRun) step() step {
	node, state := n.node(), n.state()
	out := step{
		Node: n.address(), Type: node.Type, Title: node.Title, Status: blueprint.StepPending, Start: n.start, End: n.end, Attempt: n.attempt,
		Pass: n.pass, Handle: n.handle, Variables: n.variables, Error: n.err, Masked: n.masked, Dropped: n.dropped,
		Acted: n.acted, SignIn: n.signIn, Item: n.endsItem, Expired: n.expired,
	}
	if u := n.usage; u != nil {
		out.Calls, out.Tokens, out.Models, out.Uses, out.Servers = u.calls, u.tokens, u.modelCalls, u.connections, u.servers
	}
	if f := n.frame; f.parent != nil {
		out.In = strings.TrimSuffix(f.prefix, "/")
		out.Last = slices.Contains(f.plan.Ends(), n.index)
	}
	if n.loop != nil {
		out.Each, out.Items = true, n.loop.items
	}
	if !n.pass && (n.loop == nil || state == blueprint.NodeFailed) { // else it follows from the steps of the items
		out.Output = n.output
	}
	switch state {
	case blueprint.NodePending:
		return out
	case blueprint.NodeStarted:
		out.Status = blueprint.StepRunning
		if n.phase == awaiting {
			out.Status = blueprint.StepPaused
		}
		out.End, out.Error = 0, nil
	case blueprint.NodeCompleted:
		out.Status = blueprint.StepCompleted
	case blueprint.NodeFailed:
		out.Status = blueprint.StepFailed
	case blueprint.NodePassed:
		out.Status, out.Pass, out.Output = blueprint.StepSkipped, true, nil
	case blueprint.NodeSkipped:
		out.Status = blueprint.StepSkipped
		if n.start == 0 {
			return out
		}
	}
	for _, from := range n.inputs() {
		out.From = append(out.From, from.address())
	}
	return out
}

func (s *runRecord) mask(m *secret.Masker) *runRecord {
	if m == nil && len(s.secrets) == 0 {
		return s
	}
	out := *s
	out.Hidden = nil
	out.Begin.Given, _ = m.Value(s.Begin.Given).(map[string]any)
	for _, name := range s.secrets { // also values that a Masker leaves, such as short ones
		if out.Begin.Given[name] != nil {
			out.Begin.Given = maps.Clone(out.Begin.Given)
			out.Begin.Given[name] = secret.Mask
		}
	}
	out.Begin.InputData, out.Begin.Map = m.Value(s.Begin.InputData), m.Value(s.Begin.Map)
	out.Begin.Edits = maps.Clone(s.Begin.Edits)
	for address, value := range out.Begin.Edits {
		out.Begin.Edits[address] = m.Value(value)
	}
	if s.Begin.Trigger != nil {
		trigger := *s.Begin.Trigger
		trigger.Headers, _ = m.Value(trigger.Headers).(map[string]any)
		out.Begin.Trigger = &trigger
	}
	if s.Canceled != nil {
		reason := m.Text(*s.Canceled)
		out.Canceled = &reason
	}
	out.Steps = slices.Clone(s.Steps)
	for i := range out.Steps {
		at := &out.Steps[i]
		at.Output = m.Value(at.Output)
		at.Items, _ = m.Value(at.Items).([]any)
		at.Servers = slices.Clone(at.Servers)
		for j := range at.Servers {
			at.Servers[j].Name = m.Text(at.Servers[j].Name)
		}
		at.Calls = slices.Clone(at.Calls)
		for j := range at.Calls {
			at.Calls[j].Host = m.Text(at.Calls[j].Host)
		}
		if at.Error != nil {
			masked := *at.Error
			masked.Message, masked.Code = m.Text(masked.Message), m.Text(masked.Code)
			masked.Exchange = m.StepExchange(masked.Exchange)
			at.Error = &masked
		}
	}
	out.Logs = slices.Clone(s.Logs)
	for i := range out.Logs {
		at := &out.Logs[i]
		at.Message, at.Data = m.Text(at.Message), m.Value(at.Data)
	}
	out.Awaiting = maps.Clone(s.Awaiting)
	for address, a := range out.Awaiting {
		masked := *a
		masked.Prompt, masked.Schema, masked.URL = m.Text(a.Prompt), m.Value(a.Schema), m.Text(a.URL)
		out.Awaiting[address] = &masked
	}
	return &out
}

// finish builds the last commit of a run that is over. The caller holds r.mu.
func (r *run) finish() (*blueprint.JournalCommit, error) {
	now := r.engine.now()
	account := r.newRecord(r.row.Status, r.engine.Limits.Record)
	account.Status = blueprint.StatusCompleted
	if r.canceled != nil || r.root.failed >= 0 || r.stopped != nil {
		account.Status = blueprint.StatusFailed
	}
	r.masked, r.unmasked = account.mask(r.masker.Load()), account
	row := r.row
	row.Status = account.Status
	record, err := r.masked.encode(&row)
	if err != nil {
		return nil, err
	}
	commit := r.blankCommit()
	commit.Row.Status, commit.Row.EndTime, commit.Row.UpdatedAt = account.Status, now, now
	commit.Record = r.engine.Sealer.Seal(record, secret.RecordPlace(r.id))
	commit.Events = append(commit.Events, r.endEvent(r.masked, now)...)
	commit.Cancelled = r.canceled != nil
	if r.masked != account || r.begin.Record {
		account.Exchanges = maskedExchanges(r.masker.Load(), r.exchanges)
		truth, err := account.encode(&row)
		if err != nil {
			return nil, err
		}
		commit.State = r.engine.Sealer.Seal(truth, secret.StatePlace(r.id))
	}
	return commit, r.passOn(commit)
}
