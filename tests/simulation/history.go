package simulation

import (
	"maps"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// history is the oracle's knowledge of one run: what its nodes did, and how much of that is
// on the disk.
type history struct {
	id, name   string
	script     script
	input      any
	kept       map[string]nodeResult // taken over from the run that this one retries
	asked      map[at]bool           // attempts for which a user must decide
	model      *model                // nil if it must be computed again
	visits     map[at]int            // number of starts of a node
	starts     map[at]int            // number of those that were on the disk first
	modelCalls map[at]int64          // calls to language models that are on the disk
	wasted     map[at]int64          // those made by attempts that were cancelled
	grants     map[at]int            // number of sign-ins or raised budgets
	ended      map[string]bool       // by place: nodes whose end is on the disk
	attempt    map[string]int        // by address: of each node, according to the disk
	highest    map[string]int        // by address: the highest one so far; an outer for-each node begins with 1 again
	questions  map[string]blueprint.AwaitKind
	answered   map[string]time.Time // when each was answered last
	calls      map[at]string        // the run that each attempt started
	once       map[string]at        // by address: the last start of what must not be done twice
	settled    map[string]bool      // by address: nodes with an end that no other attempt of a for-each node repeats
	retries    string               // the run that this one retries
	processes  int                  // processes in which it was unfinished
	holder     int                  // the process that has it, among several
	heldSince  time.Time
	group      string         // its concurrency group, "" for none
	sent       map[string]int // by address: answers that clients have sent, were acknowledged, and settled a question
	acked      map[string]int
	resolved   map[string]int
	began      bool // one of its nodes has begun, as far as its process knows
	atOnce     bool // it began and ended in one commit
	cancelled  bool // its cancellation is on the disk
	shown      int  // the progress last seen by a client

	parent   *history // the run that waits for it
	depth    int
	returned *returned // its result for the parent
	endedAt  time.Time // when it ended

	cancels   bool // a client requested its cancellation
	halts     bool // it was cancelled, or a node of it failed or stopped it
	suspended bool // it cannot continue before the next start
	terminal  bool
	record    []byte
	retried   bool
	from      string // of the retry
}

// entry is the part of a journal entry that the oracle reads.
type entry struct {
	Kind    string `json:"t"`
	Node    string `json:"n"`
	Attempt int    `json:"a"`
	Child   string `json:"child"`
	Asker   string `json:"asker"`
	Stop    bool   `json:"stop"`
	Error   any    `json:"err"`
	Await   *struct {
		Kind blueprint.AwaitKind `json:"kind"`
	} `json:"await"`
	Begin *struct {
		Input   any     `json:"input"`
		RetryOf string  `json:"retryOf"`
		Depth   int     `json:"depth"`
		Reuse   []reuse `json:"reuse"`
	} `json:"begin"`
}

// reuse is a step that a retry keeps.
type reuse struct {
	Node    string               `json:"n"`
	Status  blueprint.StepStatus `json:"s"`
	Attempt int                  `json:"a"`
	Output  any                  `json:"o"`
	Pass    bool                 `json:"pass"`
	Handle  string               `json:"h"`
	Item    bool                 `json:"item"`
	Error   *blueprint.StepError `json:"err"`
}

func readEntry(id string, sealed []byte) (e entry, err error) {
	data, err := sealer.Open(sealed, secret.JournalPlace(id))
	if err != nil {
		return e, err
	}
	err = blueprint.DecodeInto(data, &e)
	return e, err
}

// addHistory returns the history of a run, a new one if it is unknown.
func (w *world) addHistory(id, blueprintID string, input any) *history {
	if h := w.histories[id]; h != nil {
		return h
	}
	h := &history{
		id: id, name: w.nameOf(id), script: w.script(blueprintID, id), input: input, asked: map[at]bool{}, visits: map[at]int{}, starts: map[at]int{}, modelCalls: map[at]int64{}, wasted: map[at]int64{},
		grants: map[at]int{}, ended: map[string]bool{}, attempt: map[string]int{}, highest: map[string]int{}, questions: map[string]blueprint.AwaitKind{}, answered: map[string]time.Time{},
		sent: map[string]int{}, acked: map[string]int{}, resolved: map[string]int{}, calls: map[at]string{}, once: map[string]at{}, settled: map[string]bool{}, processes: 1,
	}
	w.histories[id] = h
	w.order = append(w.order, h)
	return h
}

// expected returns the required outcomes of the nodes of a run.
func (w *world) expected(h *history) *model {
	if h.model == nil {
		h.model = interpret(h.script, h.input, h.kept, facts{
			asked: h.asked, wasted: h.wasted, child: func(a at) *returned { return w.returned(h.calls[a]) }, deep: h.depth+1 >= maxRuns,
			allowed: h.script.blueprint.definition.Budget, missing: func(id string) bool { return w.byID[id] == nil },
		})
	}
	return h.model
}

// place returns the place of an address, according to the disk.
func (h *history) place(address string) string {
	return placeOf(address, func(loop string) int { return h.attempt[loop] })
}

// nodeStarted checks that a node may start.
func (w *world) nodeStarted(v *visit) {
	h := w.addHistory(v.task.ExecutionID, v.task.BlueprintID, v.task.InputData)
	if w.isStray(h, v) {
		return
	}
	place, node, n := v.at.place, v.task.Address, h.script.node(v.at.place)
	v.life = h.processes
	if h.visits[v.at]++; h.visits[v.at] > 1+h.grants[v.at] {
		w.count("interrupted nodes that run again")
	}
	if h.asked[v.at.before()] {
		w.count("nodes retried by a user's decision")
	}
	if place != node {
		w.count("nodes of items")
	}
	m := w.expected(h)
	f := m.at(place)
	// A late item may be given the results of an earlier run.
	known := place == node || len(h.kept) == 0 && !m.uncertain
	switch {
	case h.terminal:
		w.fail("I5: %s has ended, but %s runs", h.name, node)
	case h.ended[place]:
		w.fail("I4: %s has finished %s, but it runs again", h.name, node)
	case n.effect() != blueprint.EffectPure && h.starts[v.at] < h.visits[v.at]:
		w.fail("I4: %s runs %s, attempt %d, whose start is not on the disk", h.name, node, v.at.attempt)
	case n.effect() == blueprint.EffectOnce && h.visits[v.at] > 1+h.grants[v.at]:
		w.fail("I4: %s runs %s, attempt %d, again without a request", h.name, node, v.at.attempt)
	case h.visits[v.at] > h.processes+h.grants[v.at]:
		w.fail("I4: %s runs %s, attempt %d, %d times in %d processes", h.name, node, v.at.attempt, h.visits[v.at], h.processes)
	case h.settled[node] && n.body == nil:
		w.fail("I4: %s has finished %s in an earlier attempt of its for-each node, but it runs again", h.name, node)
	case v.at.attempt > 1 && h.visits[v.at.before()] == 0 && h.starts[v.at.before()] == 0:
		w.fail("I4: %s runs %s at attempt %d, without the one before", h.name, node, v.at.attempt)
	case h.script.blueprint.first(node) && !same(f.input, v.task.Input):
		w.fail("I3: %s passes %s the input %s, not %s", h.name, node, text(v.task.Input), text(f.input))
	case known && (!f.begun || f.kept):
		w.fail("I3: %s runs %s, which no node leads to (kept: %v)", h.name, node, f.kept)
	case known && v.at.attempt > f.attempt:
		w.fail("I4: %s runs %s at attempt %d; %d is its last", h.name, node, v.at.attempt, f.attempt)
	case known && !same(f.input, v.task.Input):
		w.fail("I3: %s passes %s the input %s, not %s", h.name, node, text(v.task.Input), text(f.input))
	}
	h.began = true
	w.checkConcurrency(h, v)
	w.checkGroup(h)
	if v.ctx.Err() == nil { // otherwise it started earlier, and waited for the disk
		w.checkParent(h)
	}
}

// same compares with the required value; unknown matches any.
func same(want, got any) bool { return want == unknown || blueprint.Equal(want, got) }

// committed records a commit that is on the disk.
func (w *world) committed(c *blueprint.JournalCommit, p *process) {
	var first entry
	if c.New && len(c.Entries) > 0 {
		var err error
		if first, err = readEntry(c.Row.ID, c.Entries[0]); err != nil || first.Begin == nil {
			w.fail("I2: the journal of %s does not begin: %v", c.Row.ID, err)
			return
		}
	}
	if first.Begin != nil {
		h := w.addHistory(c.Row.ID, c.Row.BlueprintID, first.Begin.Input)
		h.depth, h.model = first.Begin.Depth, nil
		if h.retries = first.Begin.RetryOf; h.retries != "" {
			w.retries(h, first.Begin.RetryOf, first.Begin.Reuse)
		}
	}
	h := w.histories[c.Row.ID]
	if h == nil { // it began and ended in one commit
		h = w.addHistory(c.Row.ID, c.Row.BlueprintID, nil)
		h.input, h.atOnce = unknown, true
	}
	w.recordHolder(h, c, p)
	if c.New && c.Row.ParentExecutionID != "" {
		w.childStarted(h, c.Row.ParentExecutionID)
	}
	if h.terminal {
		w.fail("I5: %s has ended, but is written again", h.name)
		return
	}
	for _, data := range c.Entries {
		e, err := readEntry(c.Row.ID, data)
		if err != nil {
			w.fail("the journal of %s cannot be read: %v", h.name, err)
			return
		}
		w.read(h, &e)
		w.count("journal entries of kind " + e.Kind)
	}
	if c.Row.Status.Terminal() {
		h.terminal, h.record, h.endedAt = true, c.Record, w.now()
		clear(h.questions)
		w.checkRecord(h)
	}
}

// unknown represents the input of a run that was first observed after its end.
var unknown = new(int)

// read records a journal entry that is on the disk.
func (w *world) read(h *history, e *entry) {
	h.halts = h.halts || e.Kind == "cancel" || e.Kind == "end" && (e.Stop || e.Error != nil)
	if e.Kind == "ask" && e.Child == h.id {
		h.modelCalls[at{h.place(e.Asker), h.attempt[e.Asker]}]++
	}
	h.cancelled = h.cancelled || e.Kind == "cancel"
	if e.Node == "" {
		return
	}
	w.checkAnswers(h, e)
	address := e.Node
	here := at{h.place(address), h.attempt[address]}
	switch e.Kind {
	case "start":
		here.attempt = e.Attempt
		h.starts[here]++
		h.attempt[address] = e.Attempt
		h.highest[address] = max(h.highest[address], e.Attempt)
		h.recordWasted(here)
		w.checkRestart(h, address, here)
		if h.script.node(here.place).effect() == blueprint.EffectOnce {
			h.once[address] = here
		}
		h.dropQuestions(address)
	case "again":
		switch h.questions[address] {
		case blueprint.AwaitOAuth, blueprint.AwaitBudget:
			h.grants[here]++
			w.count("nodes continued after a sign-in or with more budget")
		}
		delete(h.questions, address)
	case "await":
		h.questions[address] = e.Await.Kind
		if e.Await.Kind == blueprint.AwaitUnknownOutcome {
			h.asked[here] = true
			h.recordWasted(here)
			h.model = nil
		}
	case "call":
		w.childCalled(h, here, e.Child)
	case "end":
		h.ended[here.place] = true
		if !e.Stop && (e.Error == nil || h.script.node(here.place).OnError != blueprint.OnErrorStop) {
			h.settled[address] = true
		}
		delete(h.questions, address)
	}
}

// recordWasted records that the calls to language models of an attempt count against the budget,
// and for nothing else.
func (h *history) recordWasted(here at) {
	if made := h.modelCalls[here]; made != h.wasted[here] {
		h.wasted[here] = made
		h.model = nil
	}
}

// checkRestart checks that another attempt of a for-each node does not repeat a node with
// effect "once": no such node within its items, except in those of a nested one, has
// started and not finished.
func (w *world) checkRestart(h *history, loop string, now at) {
	if now.attempt == 1 || h.script.node(now.place).body == nil || h.asked[now.before()] {
		return
	}
	for _, address := range slices.Sorted(maps.Keys(h.once)) {
		last := h.once[address]
		rest, within := strings.CutPrefix(address, loop+"[")
		if _, inner, _ := strings.Cut(rest, "]/"); strings.Contains(inner, "]/") {
			continue // that attempt may have failed, and its item continued
		}
		if !within || h.settled[address] || h.asked[last] || h.script.node(last.place).body != nil {
			continue
		}
		if o := h.script.outcome(last.place, last.attempt); o.ending != fails || !o.failure.NotSent {
			w.fail("I4: %s runs the items of %s again, but %s may have acted", h.name, loop, address)
		}
	}
}

// dropQuestions drops the questions of a restarted node, and of all nodes within it.
func (h *history) dropQuestions(address string) {
	for asked := range h.questions {
		if asked == address || strings.HasPrefix(asked, address+"[") {
			delete(h.questions, asked)
		}
	}
}

func text(value any) string {
	data, err := blueprint.Encode(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
