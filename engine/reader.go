package engine

import (
	"bytes"
	"context"
	"fmt"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// Records stores the runs that a Reader reads.
type Records interface {
	Load(ctx context.Context, id string) (*blueprint.StoredExecution, error)
	DefinitionVersion(ctx context.Context, blueprintID, version string) (*blueprint.Definition, error)
}

// Reader reads stored runs. It runs nothing, and is safe for concurrent use.
type Reader struct {
	programs *programs
	records  Records
	sealer   *secret.Sealer
	limits   Limits
}

// NewReader returns a Reader with the default Limits.
func NewReader(catalogue blueprint.Catalogue, records Records, sealer *secret.Sealer) *Reader {
	return newReader(catalogue, records, sealer, Limits{}.orDefaults())
}

func newReader(catalogue blueprint.Catalogue, records Records, sealer *secret.Sealer, limits Limits) *Reader {
	return &Reader{programs: &programs{catalogue: catalogue, byVersion: map[versionKey]*program{}}, records: records, sealer: sealer, limits: limits}
}

// View returns the redacted record of a run, as far as its journal goes.
func (d *Reader) View(ctx context.Context, execution *blueprint.StoredExecution) (*blueprint.Execution, error) {
	return d.ViewWithin(ctx, execution, d.limits.Record)
}

// ViewWithin is View with at most room bytes of JSON for inputs and outputs of steps.
// Values that do not fit are null, and the run's log says so.
func (d *Reader) ViewWithin(ctx context.Context, execution *blueprint.StoredExecution, room int) (*blueprint.Execution, error) {
	room = min(room, d.limits.Record)
	if execution.Row.Status.Terminal() {
		return d.viewRecord(execution, room)
	}
	// It may have changed since it was read.
	stored, err := d.records.Load(ctx, execution.Row.ID)
	if err != nil {
		return nil, err
	}
	if stored.Row.Status.Terminal() {
		return d.viewRecord(stored, room)
	}
	f := &fold{id: stored.Row.ID}
	if err := d.replay(ctx, f, stored); err != nil {
		return nil, err
	}
	return f.view(stored.Row, room), nil
}

func (d *Reader) viewRecord(execution *blueprint.StoredExecution, room int) (*blueprint.Execution, error) {
	s, err := d.decodeRecord(execution, false)
	if err != nil {
		return nil, err
	}
	s.room = room
	return s.render(&execution.Row), nil
}

// Recording returns a run with everything needed to show it elsewhere: the redacted record,
// exchanges, and how it began. For an unfinished run it returns the content of the journal.
// The map is set only if it differs from the stored one.
func (d *Reader) Recording(ctx context.Context, execution *blueprint.StoredExecution) (*blueprint.Recording, error) {
	stored, err := d.records.Load(ctx, execution.Row.ID)
	if err != nil {
		return nil, err
	}
	if stored.Row.Status.Terminal() {
		s, err := d.decodeRecord(stored, false)
		if err != nil {
			return nil, err
		}
		out := s.recording(&stored.Row)
		if out.Recorded && stored.State != nil {
			whole, err := d.decodeRecord(stored, true)
			if err != nil {
				return nil, err
			}
			out.Exchanges = whole.Exchanges
		}
		return out, nil
	}
	f := &fold{id: stored.Row.ID}
	if err := d.replay(ctx, f, stored); err != nil {
		return nil, err
	}
	row, masker := stored.Row, f.masker.Load()
	row.Status = f.status()
	out := f.newRecord(stored.Row.Status, d.limits.Record).mask(masker).recording(&row)
	out.Exchanges = maskedExchanges(masker, f.exchanges)
	return out, nil
}

// Summary returns the errorSummary of a finished run, without decoding inputs and
// outputs, and the first request for input of a paused one; nil where there is none or
// it cannot be read. privateTo is that of blueprint.Execution, set when there is a
// problem.
func (d *Reader) Summary(ctx context.Context, execution *blueprint.StoredExecution) (problem *string, awaiting *blueprint.AwaitKind, privateTo string) {
	return d.summary(ctx, execution, d.ViewWithin)
}

func (d *Reader) summary(ctx context.Context, execution *blueprint.StoredExecution, view func(context.Context, *blueprint.StoredExecution, int) (*blueprint.Execution, error)) (problem *string, awaiting *blueprint.AwaitKind, privateTo string) {
	row := &execution.Row
	switch {
	case row.Status == blueprint.StatusPaused:
		view, err := view(ctx, execution, 0)
		if err == nil && view.Status == blueprint.StatusPaused && view.AwaitingInput != nil {
			awaiting = &view.AwaitingInput.Kind
		}
		return nil, awaiting, ""
	case !row.Status.Terminal():
		return nil, nil, ""
	}
	record, err := d.openRecord(execution)
	if err != nil || row.Status == blueprint.StatusCompleted && !bytes.Contains(record, failedStep) {
		return nil, nil, ""
	}
	var b summaryRecord
	if decode(record, &b) != nil || b.Version > recordVersion {
		return nil, nil, ""
	}
	s := runRecord{Failed: b.Failed, Canceled: b.Canceled, Steps: make([]step, len(b.Steps))}
	for i, at := range b.Steps {
		s.Steps[i] = step{Node: at.Node, Status: at.Status, Error: at.Error}
	}
	x := &blueprint.Execution{Failure: s.failure(row.Status)}
	x.Status = row.Status
	if summary := s.telemetry(x).ErrorSummary; summary != "" {
		if b.Version == 2 {
			return &summary, nil, b.Begin.Private
		}
		return &summary, nil, (&begin{UserID: b.Begin.UserID, CanManage: b.Begin.CanManage, DataOf: b.Begin.DataOf}).privateTo()
	}
	return nil, nil, ""
}

func (d *Reader) openRecord(execution *blueprint.StoredExecution) ([]byte, error) {
	return d.sealer.Open(execution.Record, secret.RecordPlace(execution.Row.ID))
}

// decodeRecord reads the record of a finished run; if truth is set, the unredacted one.
func (d *Reader) decodeRecord(execution *blueprint.StoredExecution, truth bool) (*runRecord, error) {
	var plain []byte
	var err error
	if truth && execution.State != nil {
		plain, err = d.sealer.Open(execution.State, secret.StatePlace(execution.Row.ID))
	} else {
		plain, err = d.openRecord(execution)
	}
	if err != nil {
		return nil, fmt.Errorf("engine: record of %s: %w", execution.Row.ID, err)
	}
	stored := &storedRecord{}
	if err := decode(plain, stored); err != nil {
		return nil, fmt.Errorf("engine: record of %s: %w", execution.Row.ID, err)
	}
	s, err := stored.record(&execution.Row)
	if err != nil {
		return nil, fmt.Errorf("engine: record of %s: %w", execution.Row.ID, err)
	}
	s.room = d.limits.Record
	return s, nil
}

// replay applies the journal of a stored run to f, of which only the id is set.
func (d *Reader) replay(ctx context.Context, f *fold, stored *blueprint.StoredExecution) error {
	for i, data := range stored.Entries {
		plain, err := d.sealer.Open(data, secret.JournalPlace(f.id))
		if err != nil {
			return fmt.Errorf("engine: journal of %s: %w", f.id, err)
		}
		entry := &entry{}
		if err := decode(plain, entry); err != nil {
			return fmt.Errorf("engine: journal of %s: entry %d is unreadable: %w", f.id, i, err)
		}
		if i > 0 {
			if err := f.validate(entry); err != nil {
				return fmt.Errorf("engine: journal of %s, entry %d: %w", f.id, i, err)
			}
			f.apply(entry)
			continue
		}
		if entry.Kind != entryBegin || entry.Begin == nil {
			return fmt.Errorf("engine: journal of %s does not start with a begin entry", f.id)
		}
		if err := d.rebegin(ctx, f, &stored.Row, entry.Begin); err != nil {
			return err
		}
	}
	if f.begin == nil {
		return fmt.Errorf("engine: journal of %s is empty", f.id)
	}
	return nil
}

// rebegin sets f up from its stored beginning, on the version that it is pinned to.
func (d *Reader) rebegin(ctx context.Context, f *fold, row *blueprint.ExecutionRow, b *begin) error {
	definition, err := d.records.DefinitionVersion(ctx, row.BlueprintID, row.BlueprintVersion)
	if err != nil {
		return err
	}
	p, err := d.programOf(definition, b)
	if err != nil {
		return err
	}
	return f.setUp(p, b, d.limits)
}

// programOf compiles what a stored beginning runs: its own map or the pinned version.
func (d *Reader) programOf(definition *blueprint.Definition, b *begin) (*program, error) {
	if b.Map == nil {
		return d.programs.get(definition)
	}
	adHoc := *definition
	var issues []blueprint.Issue
	if adHoc.Map, issues = blueprint.ParseMap(b.Map); issues != nil {
		return nil, fmt.Errorf("engine: the map of a run of %s is broken: %s", definition.BlueprintID, issues[0].Message)
	}
	return compile(d.programs.catalogue, &adHoc)
}
