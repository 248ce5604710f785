package engine

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"blueprintd/blueprint"
)

// The stored form of a record is JSON. Most of the bytes of a database are records, so
// version 2 has short names, and omits what a reader can derive:
//
//   - the status and the id of the trigger if they are those of the row, and the user if it
//     is the one who may see the data, or else that of the row;
//   - ends, if it names only the last step;
//   - of a completed step that has both times: its status, a title equal to the node's
//     address, the number of the attempt if it is 1, and where the input came from if that
//     is the step before (the input data, for the first step). Instead of its times it has
//     t, the milliseconds from the start of the last such step, or of the run, to its own
//     start, and d, its duration.
//
// Instead of manage and dataOf, it has in private the only user who may see the data;
// without it, all readers of the blueprint may.
//
// Version 1 has every member of runRecord, times as text.

// storedRecord is a record as read.
type storedRecord struct {
	runRecord
	Short int          `json:"v"` // the version, from 2 on
	Begin storedBegin  `json:"b"`
	Steps []storedStep `json:"s"`
}

// storedBegin is how a run began, as read.
type storedBegin struct {
	begin
	Private string         `json:"private"`
	Input   any            `json:"i"`
	Trigger *storedTrigger `json:"t"`
}

type storedTrigger struct {
	blueprint.TriggerContext
	Type    blueprint.TriggerType `json:"k"`
	Headers map[string]any        `json:"h"`
}

// storedStep is a step as read. One without a status is short: completed, with the omissions
// above.
type storedStep struct {
	step
	Title   *string `json:"title"`
	Attempt *int    `json:"a"`
	After   int64   `json:"t"`
	Took    int64   `json:"d"`
	Root    bool    `json:"root"` // the source is the input data
}

// parseRecord reads the stored form of a record of the execution in a row.
func parseRecord(plain []byte, row *blueprint.ExecutionRow) (*runRecord, error) {
	s := &storedRecord{}
	if err := blueprint.DecodeInto(plain, s); err != nil {
		return nil, err
	}
	if s.Version = max(s.Version, s.Short); s.Version > recordVersion {
		return nil, fmt.Errorf("unsupported record version %d: it was written by a newer version of blueprintd", s.Version)
	}
	switch {
	case s.Short == 2:
		s.derive(row)
	case s.Version != 1:
		return nil, errors.New("an unreleased build of blueprintd wrote the record")
	}
	return &s.runRecord, nil
}

// derive sets the record from its short form and the row.
func (s *storedRecord) derive(row *blueprint.ExecutionRow) {
	out := &s.runRecord
	if out.Status == "" {
		out.Status = row.Status
	}
	out.Begin = s.Begin.begin
	out.Begin.InputData = s.Begin.Input
	out.Begin.UserID = cmp.Or(out.Begin.UserID, s.Begin.Private, row.UserID)
	if out.Begin.CanManage = s.Begin.Private == ""; s.Begin.Private != out.Begin.UserID {
		out.Begin.DataOf = s.Begin.Private
	}
	if t := s.Begin.Trigger; t != nil {
		t.TriggerContext.Type, t.TriggerContext.Headers = t.Type, t.Headers
		if out.Begin.Trigger = &t.TriggerContext; t.ID == "" {
			t.ID = row.TriggerID
		}
	}
	out.Steps = make([]step, len(s.Steps))
	at, before := row.StartTime, ""
	for i := range s.Steps {
		stored, full := &s.Steps[i], &out.Steps[i]
		*full = stored.step
		if stored.Title != nil {
			full.Title = *stored.Title
		}
		if stored.Attempt != nil {
			full.Attempt = *stored.Attempt
		}
		if full.Status == "" {
			full.Status = blueprint.StepCompleted
			if stored.Title == nil {
				full.Title = full.Node
			}
			if stored.Attempt == nil {
				full.Attempt = 1
			}
			if full.From == nil && !stored.Root && before != "" {
				full.From = []string{before}
			}
			at += blueprint.Time(stored.After)
			full.Start, full.End = at, at+blueprint.Time(stored.Took)
		}
		before = full.Node
	}
	if out.Ends == nil && before != "" {
		out.Ends = []string{before}
	}
}

// encode returns the stored form of a record of the execution in a row.
func (s *runRecord) encode(row *blueprint.ExecutionRow) ([]byte, error) {
	w := jsonWriter{to: make([]byte, 0, 800+64*len(s.Steps))}
	w.open()
	w.number("v", recordVersion)
	if s.Status != row.Status {
		w.text("status", string(s.Status))
	}
	w.key("b")
	s.Begin.write(&w, row)
	w.key("s")
	w.to = append(w.to, '[')
	at, before := row.StartTime, ""
	for i := range s.Steps {
		if i > 0 {
			w.to = append(w.to, ',')
		}
		s.Steps[i].write(&w, &at, before)
		before = s.Steps[i].Node
	}
	w.to = append(w.to, ']')
	w.other("logs", s.Logs, len(s.Logs) > 0)
	if len(s.Ends) != 1 || s.Ends[0] != before {
		w.other("ends", append([]string{}, s.Ends...), true) // also none at all
	}
	w.text("failed", s.Failed)
	w.other("cancelled", s.Canceled, s.Canceled != nil)
	w.flag("acted", s.Acted)
	w.other("hidden", s.Hidden, len(s.Hidden) > 0)
	w.other("exchanges", s.Exchanges, len(s.Exchanges) > 0)
	w.close()
	return w.to, w.err
}

// write writes how a run began, without what a retry reuses: only journals hold that.
func (b *begin) write(w *jsonWriter, row *blueprint.ExecutionRow) {
	w.open()
	if b.UserID != cmp.Or(b.privateTo(), row.UserID) {
		w.text("user", b.UserID)
	}
	w.text("private", b.privateTo())
	if len(b.Given) > 0 {
		w.value("given", b.Given)
	}
	w.value("i", b.InputData)
	if t := b.Trigger; t != nil {
		w.key("t")
		w.open()
		if t.ID != row.TriggerID {
			w.text("id", t.ID)
		}
		w.text("k", string(t.Type))
		if len(t.Headers) > 0 {
			w.value("h", t.Headers)
		}
		w.number("depth", int64(t.Depth))
		w.text("root", t.Root)
		w.close()
	}
	w.value("map", b.Map)
	w.text("mapAuthor", b.MapAuthor)
	w.other("lineage", b.Lineage, len(b.Lineage) > 0)
	w.text("retryOf", b.RetryOf)
	w.text("from", b.From)
	w.flag("edited", b.Edited)
	w.other("edits", b.Edits, len(b.Edits) > 0)
	w.text("root", b.Root)
	w.text("node", b.Address)
	w.text("parent", b.Parent)
	w.number("depth", int64(b.Depth))
	w.other("budget", b.Budget, b.Budget != nil)
	w.other("bounds", b.Bounds, len(b.Bounds) > 0)
	w.other("lane", b.Concurrency, b.Concurrency != nil)
	w.flag("record", b.Record)
	w.text("flow", b.Flow)
	w.number("chain", int64(b.Chain))
	w.text("cause", b.Cause)
	w.close()
}

// write writes a step. at is the start of the last short step, or of the run, and is
// advanced to that of this one; before is the address of the previous step.
func (s *step) write(w *jsonWriter, at *blueprint.Time, before string) {
	short := s.Status == blueprint.StepCompleted && s.Start != 0 && s.End != 0
	w.open()
	w.text("n", s.Node)
	w.text("k", s.Type)
	if short {
		if s.Title != s.Node {
			w.key("title")
			w.string(s.Title)
		}
		if s.Attempt != 1 {
			w.key("a")
			w.integer(int64(s.Attempt))
		}
		w.number("t", int64(s.Start-*at))
		w.number("d", int64(s.End-s.Start))
		*at = s.Start
		switch {
		case len(s.From) == 0:
			w.flag("root", before != "")
		case len(s.From) != 1 || s.From[0] != before:
			w.other("from", s.From, true)
		}
	} else {
		w.text("title", s.Title)
		w.text("s", string(s.Status))
		w.other("start", s.Start, s.Start != 0)
		w.other("end", s.End, s.End != 0)
		w.number("a", int64(s.Attempt))
		w.other("from", s.From, len(s.From) > 0)
	}
	w.value("o", s.Output)
	w.flag("pass", s.Pass)
	w.text("h", s.Handle)
	w.flag("v", s.Variables)
	w.other("calls", s.Calls, len(s.Calls) > 0)
	w.number("tok", s.Tokens)
	w.number("models", s.Models)
	w.flag("acted", s.Acted)
	w.other("uses", s.Uses, len(s.Uses) > 0)
	w.other("mcp", s.Servers, len(s.Servers) > 0)
	w.flag("signIn", s.SignIn)
	w.other("err", s.Error, s.Error != nil)
	w.flag("late", s.Expired)
	w.flag("masked", s.Masked)
	w.flag("dropped", s.Dropped)
	w.text("in", s.In)
	w.flag("item", s.Item)
	w.flag("last", s.Last)
	w.flag("each", s.Each)
	if len(s.Items) > 0 {
		w.value("items", s.Items)
	}
	w.close()
}

// jsonWriter writes a JSON object member by member. It omits members without a value.
type jsonWriter struct {
	to  []byte
	err error // the first
}

func (w *jsonWriter) open()  { w.to = append(w.to, '{') }
func (w *jsonWriter) close() { w.to = append(w.to, '}') }

// key begins a member, whatever its value.
func (w *jsonWriter) key(name string) {
	if w.to[len(w.to)-1] != '{' {
		w.to = append(w.to, ',')
	}
	w.to = append(append(append(w.to, '"'), name...), '"', ':')
}

func (w *jsonWriter) string(text string)   { w.to = blueprint.AppendJSONString(w.to, text) }
func (w *jsonWriter) integer(number int64) { w.to = strconv.AppendInt(w.to, number, 10) }

func (w *jsonWriter) text(name, text string) {
	if text != "" {
		w.key(name)
		w.string(text)
	}
}

func (w *jsonWriter) number(name string, number int64) {
	if number != 0 {
		w.key(name)
		w.integer(number)
	}
}

func (w *jsonWriter) flag(name string, set bool) {
	if set {
		w.key(name)
		w.to = append(w.to, "true"...)
	}
}

func (w *jsonWriter) value(name string, value any) { w.other(name, value, value != nil) }

// other writes a member with a value of any type, if it is present.
func (w *jsonWriter) other(name string, value any, present bool) {
	if !present || w.err != nil {
		return
	}
	w.key(name)
	to, err := blueprint.AppendJSON(w.to, value)
	if err != nil {
		w.err = err
		return
	}
	w.to = to
}
