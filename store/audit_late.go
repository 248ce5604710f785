package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/clock"
)

const (
	// lineRest is how long a line that nobody waits for stays in the queue, so
	// that it goes to the disk together with what others write.
	lineRest = 10 * time.Millisecond
	// linesAtOnce is how many lines one statement inserts when there are many.
	linesAtOnce = 16
)

// lateLine is a line that is written behind the change that it is about.
type lateLine struct {
	entry   blueprint.AuditEntry
	detail  string
	release func() // lets go of the clock
}

// scopeOf finds the organization of what a line is about.
var scopeOf = map[string]string{
	"blueprint":  "SELECT organization_id FROM blueprints WHERE id = ?",
	"execution":  "SELECT organization_id FROM executions WHERE id = ?",
	"trigger":    "SELECT b.organization_id FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id WHERE t.id = ?",
	"firing":     "SELECT b.organization_id FROM firings f JOIN triggers t ON t.id = f.trigger_id JOIN blueprints b ON b.id = t.blueprint_id WHERE f.id = ?",
	"connection": "SELECT coalesce(organization_id, '') FROM connections WHERE id = ?",
	"user":       "SELECT id FROM organizations WHERE created_by = ? AND personal = 1",
}

// NoteAction writes a line for what did not note itself: runs that were begun
// and the like. It returns as soon as the line is queued; one that could not be
// written is told in the log. The organization, unless it is given, is found by
// the target, and the id and the time are made here.
func (s *Store) NoteAction(ctx context.Context, entry *blueprint.AuditEntry) {
	now := s.options.Clock.Now()
	line := lateLine{entry: *entry, detail: encodeDetail(entry.Detail), release: s.options.Clock.Hold()}
	line.entry.ID, line.entry.At = s.drawn("late line", entry.ActorID, entry.Action, entry.TargetID).ULID(now), blueprint.TimeOf(now)
	s.audits.mu.Lock()
	s.audits.late = append(s.audits.late, line)
	s.audits.waiting.Add(1)
	first := len(s.audits.late) == 1
	s.audits.mu.Unlock()
	if !first {
		return // who was before this one has seen to it
	}
	flush := s.flushLines()
	if err := s.enqueue(context.WithoutCancel(ctx), flush); err != nil {
		flush.ended(err)
		return
	}
	if _, real := s.options.Clock.(clock.Real); real {
		time.AfterFunc(lineRest, s.writer.rouse)
		return
	}
	s.writer.rouse() // a virtual clock stands still meanwhile
}

// flushLines gives a job that writes the lines that wait when it is run.
func (s *Store) flushLines() *job {
	var lines []lateLine
	run := func(t *transaction) error {
		lines = s.audits.take()
		return insertLines(t, lines)
	}
	ended := func(err error) {
		if err != nil {
			lines = append(lines, s.audits.take()...) // perhaps it was not run at all
		}
		s.audits.waiting.Add(-int64(len(lines)))
		for _, line := range lines {
			line.release()
		}
		if err != nil && len(lines) > 0 {
			s.options.Logger.Warn("lines of the audit log could not be written", "count", len(lines), "action", lines[0].entry.Action, "actor", lines[0].entry.ActorID, "error", err)
		}
	}
	return &job{size: 512, run: run, ended: ended}
}

// take gives the lines that wait.
func (a *audits) take() []lateLine {
	a.mu.Lock()
	defer a.mu.Unlock()
	lines := a.late
	a.late = nil
	return lines
}

var insertLinesAtOnce = intoAudit + strings.Repeat(auditValues+", ", linesAtOnce-1) + auditValues

func insertLines(t *transaction, lines []lateLine) error {
	var args []any
	for i := range lines {
		e := &lines[i].entry
		if query := scopeOf[e.TargetType]; query != "" && e.OrganizationID == "" {
			if err := t.row(query, []any{e.TargetID}, &e.OrganizationID); err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		args = append(args, e.ID, int64(e.At), e.ActorID, e.OrganizationID, e.Action, e.TargetType, e.TargetID, e.Via, lines[i].detail)
	}
	for each := len(args) / max(1, len(lines)); len(args) > 0; {
		query, n := insertAudit, each
		if len(args) >= linesAtOnce*each {
			query, n = insertLinesAtOnce, linesAtOnce*each
		}
		if _, err := t.exec(query, args[:n]...); err != nil {
			return err
		}
		args = args[n:]
	}
	return nil
}

// settle waits until the lines that were noted are written.
func (s *Store) settle(ctx context.Context) error {
	if s.audits.waiting.Load() == 0 {
		return nil
	}
	return s.submit(ctx, s.flushLines())
}
