package sim

import (
	"bytes"
	"encoding/json"
	"time"

	"blueprintd/blueprint"
)

// history is what the oracle knows of one run: what its nodes did, and what of
// that is on the disk.
type history struct {
	id, name  string
	script    script
	input     any
	kept      map[int]fate // handed on by the run that this one retries
	asked     map[at]bool  // attempts about which a person has to decide
	model     *model       // nil when it is to be worked out anew
	visits    map[at]int   // how often a node came to work
	starts    map[at]int   // how often that was on the disk first
	attempt   map[int]int  // of each node, as the disk has it
	ended     map[int]bool // nodes whose end is on the disk
	questions map[int]blueprint.AwaitKind
	answered  map[int]time.Time // when each was answered last
	lives     int               // processes that knew it unfinished
	shown     int               // the progress that somebody was shown

	cancels  bool // somebody asked for its end
	broken   bool // it cannot go on before the next start
	terminal bool
	record   []byte
	retried  bool
	from     string // of the retry
}

// entry is what the oracle reads of a journal entry.
type entry struct {
	Kind    string `json:"t"`
	Node    string `json:"n"`
	Attempt int    `json:"a"`
	Await   *struct {
		Kind blueprint.AwaitKind `json:"kind"`
	} `json:"await"`
	Begin *struct {
		Input   any    `json:"input"`
		RetryOf string `json:"retryOf"`
		Reuse   []struct {
			Node string `json:"n"`
		} `json:"reuse"`
	} `json:"begin"`
}

func readEntry(data []byte) (e entry, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err = decoder.Decode(&e)
	return e, err
}

// meet gives the history of a run, a new one when nobody has seen it before.
func (w *world) meet(id, blueprintID string, input any) *history {
	if h := w.histories[id]; h != nil {
		return h
	}
	h := &history{
		id: id, name: w.nameOf(id), script: w.script(blueprintID, id), input: input, asked: map[at]bool{}, visits: map[at]int{}, starts: map[at]int{},
		attempt: map[int]int{}, ended: map[int]bool{}, questions: map[int]blueprint.AwaitKind{}, answered: map[int]time.Time{}, lives: 1,
	}
	w.histories[id] = h
	w.order = append(w.order, h)
	return h
}

// fates gives what must become of the nodes of a run.
func (h *history) fates() *model {
	if h.model == nil {
		h.model = interpret(h.script, h.input, h.kept, h.asked)
	}
	return h.model
}

// came checks that a node may do what it is about to do.
func (w *world) came(v *visit) {
	h := w.meet(v.task.ExecutionID, v.task.BlueprintID, v.task.InputData)
	i, node := v.at.node, v.task.Address
	if h.visits[v.at]++; h.visits[v.at] > 1 {
		w.saw("nodes cut off that run again")
	}
	if h.asked[at{v.at.node, v.at.attempt - 1}] {
		w.saw("nodes retried by a person's decision")
	}
	effect := h.script.book.effect(i)
	f := &h.fates().fates[i]
	switch {
	case h.terminal:
		w.fail("I5: %s has ended, and %s works", h.name, node)
	case h.ended[i]:
		w.fail("I4: %s has finished %s, and it runs again", h.name, node)
	case effect != blueprint.EffectPure && h.starts[v.at] < h.visits[v.at]:
		w.fail("I4: %s works at %s, attempt %d, and that is not on the disk", h.name, node, v.at.attempt)
	case effect == blueprint.EffectOnce && h.visits[v.at] > 1:
		w.fail("I4: %s runs %s, attempt %d, for the second time unasked", h.name, node, v.at.attempt)
	case h.visits[v.at] > h.lives:
		w.fail("I4: %s runs %s, attempt %d, %d times in %d lives", h.name, node, v.at.attempt, h.visits[v.at], h.lives)
	case !f.begun || f.kept:
		w.fail("I3: %s runs %s, to which nothing leads", h.name, node)
	case v.at.attempt > f.attempt:
		w.fail("I4: %s runs %s at attempt %d; %d is its last", h.name, node, v.at.attempt, f.attempt)
	case !blueprint.Equal(f.input, v.task.Input):
		w.fail("I3: %s gives %s the input %s, not %s", h.name, node, text(v.task.Input), text(f.input))
	}
}

// landed takes note of a commit that is on the disk.
func (w *world) landed(c *blueprint.JournalCommit) {
	var first entry
	if c.New && len(c.Entries) > 0 {
		var err error
		if first, err = readEntry(c.Entries[0]); err != nil || first.Begin == nil {
			w.fail("I2: the journal of %s does not begin: %v", c.Row.ID, err)
			return
		}
	}
	var h *history
	switch {
	case first.Begin != nil:
		h = w.meet(c.Row.ID, c.Row.BlueprintID, first.Begin.Input)
		if first.Begin.RetryOf != "" {
			kept := map[string]bool{}
			for _, one := range first.Begin.Reuse {
				kept[one.Node] = true
			}
			w.retries(h, first.Begin.RetryOf, kept)
		}
	case c.New: // it began and ended in one commit
		h = w.histories[c.Row.ID]
	default:
		h = w.histories[c.Row.ID]
	}
	if h == nil {
		h = w.meet(c.Row.ID, c.Row.BlueprintID, nil)
		h.input = unknown
	}
	if h.terminal {
		w.fail("I5: %s has ended, and is written again", h.name)
		return
	}
	for _, data := range c.Entries {
		e, err := readEntry(data)
		if err != nil {
			w.fail("the journal of %s cannot be read: %v", h.name, err)
			return
		}
		h.read(&e)
		w.saw("journal entries of kind " + e.Kind)
	}
	if c.Row.Status.Terminal() {
		h.terminal, h.record = true, c.Record
		clear(h.questions)
		w.finished(h)
	}
}

// unknown stands for the input of a run that was never seen before it ended.
var unknown = new(int)

// read takes note of an entry that is on the disk.
func (h *history) read(e *entry) {
	i, ok := h.script.book.index[e.Node]
	if !ok {
		return
	}
	switch e.Kind {
	case "start":
		h.starts[at{i, e.Attempt}]++
		h.attempt[i] = e.Attempt
	case "again":
		delete(h.questions, i)
	case "await":
		h.questions[i] = e.Await.Kind
		if e.Await.Kind == blueprint.AwaitUnknownOutcome {
			h.asked[at{i, h.attempt[i]}] = true
			h.model = nil
		}
	case "end":
		h.ended[i] = true
		delete(h.questions, i)
	}
}

func text(value any) string {
	data, err := blueprint.Encode(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
