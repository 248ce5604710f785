package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
)

const (
	// mostDetail is the maximum size of the detail of an audit entry, as JSON, in bytes.
	// mostNames and longestName limit the names in it.
	mostDetail  = 16 << 10
	mostNames   = 50
	longestName = 100
)

// audits is the state of the audit log in memory.
type audits struct {
	waiting atomic.Int64 // lines that are noted and not yet written

	mu     sync.Mutex
	late   []lateLine               // see lateLine
	queued bool                     // a job that writes them is in the queue
	pruned int64                    // how many times lines were removed
	counts map[string]auditCount    // by scope, since then
	failed map[string]wrongPassword // by action and user
}

// subject is the target of a change.
type subject struct {
	kind, id     string
	organization string // whose admins may read the entry; "" = only the actor
	detail       map[string]any
}

const (
	intoAudit   = "INSERT INTO audit_log (id, at, actor_id, organization_id, action, target_type, target_id, via, detail) VALUES "
	auditValues = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"
	insertAudit = intoAudit + auditValues
)

// audit writes an audit entry for the actor of ctx, in the transaction of the change. A
// change without an actor gets no entry.
func (s *Store) audit(ctx context.Context, t *transaction, about subject) error {
	actor := blueprint.ActorOf(ctx)
	if actor == nil {
		return nil
	}
	actor.MarkAudited()
	now := s.options.Clock.Now()
	_, err := t.exec(insertAudit, s.drawn("line", actor.UserID, actor.Action, about.id).ULID(now), int64(blueprint.TimeOf(now)), actor.UserID, about.organization,
		actor.Action, about.kind, about.id, actor.Via, encodeDetail(actor.WithDetail(about.detail)))
	return err
}

// auditOfUser is audit for a change to a user's own resources. The entry belongs to the
// personal workspace of the user, so that the user sees changes made by others.
func (s *Store) auditOfUser(ctx context.Context, t *transaction, userID string, about subject) error {
	if blueprint.ActorOf(ctx) == nil {
		return nil
	}
	if err := t.row(scopeOf["user"], []any{userID}, &about.organization); err != nil {
		return err
	}
	return s.audit(ctx, t, about)
}

// drawn returns the source of a new id. The names distinguish it from other ids generated
// at the same instant.
func (s *Store) drawn(names ...string) *ids.Source {
	return s.options.IDs.At(s.options.Clock.Now(), names...)
}

// unchanged records that a call changed nothing and needs no audit entry; it returns nil.
func (t *transaction) unchanged(ctx context.Context) error {
	if actor := blueprint.ActorOf(ctx); actor != nil {
		actor.MarkAudited()
	}
	return nil
}

// encodeDetail encodes a detail as JSON, within its limits.
func encodeDetail(detail map[string]any) string {
	if detail == nil {
		return "{}"
	}
	data, err := blueprint.Encode(detail)
	if err != nil || len(data) > mostDetail {
		return `{"omitted":true}`
	}
	return string(data)
}

// auditOfBlueprint is audit for a part of a blueprint.
func (s *Store) auditOfBlueprint(ctx context.Context, t *transaction, blueprintID string, about subject) (err error) {
	if blueprint.ActorOf(ctx) == nil {
		return nil
	}
	if _, about.organization, err = homeOfBlueprint(t.session, blueprintID); err != nil {
		return err
	}
	return s.audit(ctx, t, about)
}

// auditConnection writes the line of a connection that was created, deleted or changed.
func (s *Store) auditConnection(ctx context.Context, t *transaction, c, before *blueprint.Connection) error {
	about := subject{kind: "connection", id: c.ID, detail: map[string]any{"name": c.Name, "type": c.Type}}
	if before != nil {
		changed := changedKeys("config.", before.Config, c.Config)
		if before.Name != c.Name {
			changed = append(changed, "name")
			about.detail["nameBefore"] = before.Name
		}
		about.detail["changed"] = named(changed)
	}
	if c.OrganizationID == nil {
		return s.auditOfUser(ctx, t, c.CreatedBy, about)
	}
	about.organization = *c.OrganizationID
	return s.audit(ctx, t, about)
}

// changesOf describes a change of a blueprint: the fields that differ, never the
// content of those that may contain secrets.
func changesOf(before, after *blueprint.Blueprint) map[string]any {
	changed := []string{}
	differs := func(name string, differs bool) {
		if differs {
			changed = append(changed, name)
		}
	}
	differs("title", before.Title != after.Title)
	differs("description", before.Description != after.Description)
	differs("status", before.Status != after.Status)
	differs("visibility", before.Visibility != after.Visibility)
	differs("tags", !reflect.DeepEqual(before.Tags, after.Tags))
	differs("source", before.Source != after.Source)
	differs("budget", !reflect.DeepEqual(before.Budget, after.Budget))
	differs("blueprint_map", !blueprint.Equal(before.BlueprintMap, after.BlueprintMap))
	differs("environment_variables", !blueprint.Equal(before.EnvironmentVariables, after.EnvironmentVariables))
	detail := map[string]any{"title": after.Title, "version": after.Version, "changed": named(changed)}
	told := func(name, before, after string) {
		if before != after {
			detail[name], detail[name+"Before"] = after, before
		}
	}
	told("title", before.Title, after.Title)
	told("status", before.Status, after.Status)
	told("visibility", before.Visibility, after.Visibility)
	return detail
}

func changesOfTrigger(before, after *blueprint.Trigger) map[string]any {
	detail := map[string]any{"blueprintId": after.BlueprintID, "type": after.Type, "changed": named(changedKeys("config.", before.Config, after.Config))}
	if before.IsActive != after.IsActive {
		detail["isActive"], detail["isActiveBefore"] = after.IsActive, before.IsActive
	}
	return detail
}

// changedKeys returns the keys of an object whose values differ.
func changedKeys(prefix string, before, after map[string]any) (keys []string) {
	for key, value := range after {
		if was, known := before[key]; !known || !blueprint.Equal(was, value) {
			keys = append(keys, prefix+key)
		}
	}
	for key := range before {
		if _, stays := after[key]; !stays {
			keys = append(keys, prefix+key)
		}
	}
	return keys
}

// named returns the names of what was changed, sorted and limited.
func named(names []string) []string {
	slices.Sort(names)
	bounded := []string{}
	for _, name := range names {
		if len(bounded) == mostNames {
			return append(bounded, "...")
		}
		if runes := []rune(name); len(runes) > longestName {
			name = string(runes[:longestName]) + "..."
		}
		bounded = append(bounded, name)
	}
	return bounded
}

// failedRest is the period after a wrong password in which further ones for the same
// account are only counted, so that guessing passwords cannot fill the disk. Accounts
// beyond mostFailed share one such period.
const (
	failedRest = time.Minute
	mostFailed = 10_000
)

// auditSession is auditOfUser for a call that signs its user in and so has no actor yet.
func (s *Store) auditSession(ctx context.Context, t *transaction, userID string, about subject) error {
	actor := blueprint.ActorOf(ctx)
	if actor == nil {
		return nil
	}
	if actor.UserID == "" && actor.Via == blueprint.ViaDashboard {
		actor.MarkAudited()
		ctx = blueprint.WithActor(ctx, &blueprint.Actor{UserID: userID, Via: actor.Via, Action: actor.Action})
	}
	return s.auditOfUser(ctx, t, userID, about)
}

type wrongPassword struct {
	at    time.Time // of the last entry
	since int64     // failed attempts after it
}

// NoteWrongPassword writes an audit entry for a wrong password, given while signing in as a
// user or changing the user's password, as the actor's action says. Without an actor there
// is no entry. It does not wait for the disk.
func (s *Store) NoteWrongPassword(ctx context.Context, userID string) {
	actor := blueprint.ActorOf(ctx)
	if actor == nil {
		return
	}
	now, key := s.options.Clock.Now(), actor.Action+" "+userID
	s.audits.mu.Lock()
	last, again := s.audits.failed[key]
	if age := now.Sub(last.at); again && age >= 0 && age < failedRest || !again && len(s.audits.failed) >= mostFailed && !s.audits.forgetFailed(now) {
		last.since++
		if again {
			s.audits.failed[key] = last
		}
		s.audits.mu.Unlock()
		return
	}
	if s.audits.failed == nil {
		s.audits.failed = map[string]wrongPassword{}
	}
	s.audits.failed[key] = wrongPassword{at: now}
	s.audits.mu.Unlock()
	detail := map[string]any{"outcome": "failed"}
	if last.since > 0 {
		detail["alsoBefore"] = last.since
	}
	s.NoteAction(ctx, &blueprint.AuditEntry{ActorID: userID, Action: actor.Action, TargetType: "user", TargetID: userID, Via: actor.Via, Detail: detail})
}

// forgetFailed drops accounts whose period is over and reports whether another one fits.
func (a *audits) forgetFailed(now time.Time) bool {
	for id, one := range a.failed {
		if age := now.Sub(one.at); age < 0 || age >= failedRest {
			delete(a.failed, id)
		}
	}
	return len(a.failed) < mostFailed
}

const (
	// lineRest is how long an entry that no caller waits for stays in the queue, so that it
	// is committed together with other writes.
	lineRest = 10 * time.Millisecond
	// linesAtOnce is the maximum number of entries inserted by one statement.
	linesAtOnce = 16
	// lateInterval is how often entries that could not be written are tried again, mostLate
	// the maximum size of their details together, each with lateOverhead, in bytes.
	lateInterval = time.Second
	mostLate     = 4 << 20
	lateOverhead = 512
)

// lateLine is an audit entry that is written after the change it describes.
type lateLine struct {
	entry   blueprint.AuditEntry
	detail  string
	release func() // releases the clock
}

// scopeOf selects the organization of the target of an entry.
var scopeOf = map[string]string{
	"blueprint":  "SELECT organization_id FROM blueprints WHERE id = ?",
	"execution":  "SELECT o.id FROM executions e JOIN organizations o ON o.seq = e.organization_seq WHERE e.id = ?",
	"trigger":    "SELECT b.organization_id FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id WHERE t.id = ?",
	"firing":     "SELECT b.organization_id FROM firings f JOIN triggers t ON t.seq = f.trigger_seq JOIN blueprints b ON b.id = t.blueprint_id WHERE f.id = ?",
	"connection": "SELECT coalesce(organization_id, '') FROM connections WHERE id = ?",
	"user":       "SELECT id FROM organizations WHERE created_by = ? AND personal = 1",
}

// NoteAction writes an audit entry for an action that does not write its own, such as the
// start of a run. It returns as soon as the entry is queued; an entry that cannot be
// written, also not later by Run, is logged. The organization, unless it is set, is that of the target. NoteAction
// sets the id and the time.
func (s *Store) NoteAction(ctx context.Context, entry *blueprint.AuditEntry) {
	now := s.options.Clock.Now()
	line := lateLine{entry: *entry, detail: encodeDetail(entry.Detail), release: s.options.Clock.Hold()}
	line.entry.ID, line.entry.At = s.drawn("late line", entry.ActorID, entry.Action, entry.TargetID).ULID(now), blueprint.TimeOf(now)
	s.audits.mu.Lock()
	s.audits.late = append(s.audits.late, line)
	s.audits.waiting.Add(1)
	queued := s.audits.queued
	s.audits.queued = true
	s.audits.mu.Unlock()
	if queued {
		return
	}
	flush := s.flushLines()
	if err := s.enqueue(context.WithoutCancel(ctx), flush); err != nil {
		flush.ended(err)
		return
	}
	if _, real := s.options.Clock.(clock.Real); real {
		time.AfterFunc(lineRest, s.writer.signal)
		return
	}
	s.writer.signal() // the held virtual clock must not wait
}

// flushLines returns a job that writes the entries that are queued when it runs.
func (s *Store) flushLines() *job {
	var lines []lateLine
	run := func(t *transaction) error {
		lines = s.audits.drain()
		return insertLines(t, lines)
	}
	ended := func(err error) {
		if err != nil {
			lines = append(lines, s.audits.drain()...) // the job may not have run at all
		}
		for i := range lines {
			lines[i].release()
			lines[i].release = func() {}
		}
		if err != nil && s.mayRetry(err) {
			lines = s.audits.keep(lines)
		}
		s.audits.waiting.Add(-int64(len(lines)))
		if err != nil && len(lines) > 0 {
			s.options.Logger.Warn("writing the audit log failed", "count", len(lines), "action", lines[0].entry.Action, "actor", lines[0].entry.ActorID, "error", err)
		}
	}
	return &job{size: 512, run: run, ended: ended}
}

// mayRetry reports whether Run may succeed later in what failed with err.
func (s *Store) mayRetry(err error) bool {
	s.writer.mu.Lock()
	running := s.writer.running
	s.writer.mu.Unlock()
	return running && s.usable() == nil && blueprint.CodeOf(err) == blueprint.CodeUnavailable && !errors.Is(err, errUnknownOutcome)
}

// retryLines writes entries that could not be written before.
func (s *Store) retryLines(ctx context.Context) {
	s.audits.mu.Lock()
	idle := len(s.audits.late) > 0 && !s.audits.queued
	s.audits.queued = s.audits.queued || idle
	s.audits.mu.Unlock()
	if !idle {
		return
	}
	flush := s.flushLines()
	if err := s.queue(context.WithoutCancel(ctx), flush); err != nil {
		flush.ended(err)
	}
}

// drain removes and returns the queued entries.
func (a *audits) drain() []lateLine {
	a.mu.Lock()
	defer a.mu.Unlock()
	lines := a.late
	a.late, a.queued = nil, false
	return lines
}

// keep puts entries back before those that were queued since, and returns the newest that
// exceed mostLate.
func (a *audits) keep(lines []lateLine) (excess []lateLine) {
	a.mu.Lock()
	defer a.mu.Unlock()
	size, n := 0, 0
	for i := range lines {
		if size += lateOverhead + len(lines[i].detail); size <= mostLate {
			n++
		}
	}
	a.late = append(lines[:n:n], a.late...)
	return lines[n:]
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

// settle waits until all queued entries are written.
func (s *Store) settle(ctx context.Context) error {
	if s.audits.waiting.Load() == 0 {
		return nil
	}
	return s.submit(ctx, s.flushLines())
}

// auditCount is the number of entries of a scope up to a row.
type auditCount struct {
	lines, upTo int64
}

// mostScopes limits the number of scopes whose count is cached.
const mostScopes = 1_000

// auditScope holds the queries for the audit entries of a user or of an organization. Each
// names its index.
type auditScope struct{ count, page string }

const auditLines = `SELECT a.id, a.at, a.actor_id, coalesce(u.name, ''), a.action, a.target_type, a.target_id, a.via, a.detail, a.organization_id
			FROM audit_log a LEFT JOIN users u ON u.id = a.actor_id`

func auditBy(column string) auditScope {
	where := " FROM audit_log WHERE " + column + " = ?1 AND " + column + " <> ''"
	return auditScope{
		count: "SELECT count(*), coalesce(max(seq), ?2)" + where + " AND seq > ?2",
		page: auditLines + `
			WHERE a.seq IN (SELECT seq` + where + ` ORDER BY seq DESC LIMIT ?2 OFFSET ?3) ORDER BY a.seq DESC`,
	}
}

var (
	ofActor      = auditBy("actor_id")
	ofTheirAdmin = auditBy("organization_id")
)

// AuditLog lists the audit entries of an organization for its admins and owners or, if
// organization is "", those of the principal's own actions. It returns a page, newest
// first, and the total number of entries. CodeForbidden.
func (s *Store) AuditLog(ctx context.Context, principal blueprint.Principal, organizationID string, limit, offset int) (list []blueprint.AuditEntry, total int, err error) {
	defer wrap(&err, "audit log for user %s", principal.UserID)
	if err := s.settle(ctx); err != nil {
		return nil, 0, err
	}
	scope, of := ofActor, principal.UserID
	if organizationID != "" {
		scope, of = ofTheirAdmin, organizationID
	}
	known, pruned := s.audits.counted(organizationID != "", of)
	err = s.read(ctx, func(q *session) error {
		if organizationID != "" {
			if _, err := administers(q, principal, organizationID); err != nil {
				return err
			}
		}
		var more int64
		if err := q.row(scope.count, []any{of, known.upTo}, &more, &known.upTo); err != nil {
			return err
		}
		known.lines += more
		err := collect(q, &list, scope.page, []any{of, limit, offset}, scanAudit)
		if err == nil && organizationID == "" {
			err = hideAddresses(q, principal.UserID, list)
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	s.audits.remember(organizationID != "", of, known, pruned)
	return list, int(known.lines), nil
}

// hideAddresses removes the ids of webhooks that the user may no longer manage from the
// user's entries: the id of a webhook is its address.
func hideAddresses(q *session, userID string, list []blueprint.AuditEntry) error {
	const query = "SELECT EXISTS (SELECT 1 FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id WHERE t.id = ?2 AND t.type = 'webhook' AND NOT " + mayManage + ")"
	for i := range list {
		if list[i].TargetType != "trigger" {
			continue
		}
		var hidden bool
		if err := q.row(query, []any{userID, list[i].TargetID}, &hidden); err != nil {
			return err
		}
		if hidden {
			list[i].TargetID = ""
		}
	}
	return nil
}

// WholeAuditLog lists the newest entries of all users. It is for the operator.
func (s *Store) WholeAuditLog(ctx context.Context, limit int) (list []blueprint.AuditEntry, err error) {
	defer wrap(&err, "audit log")
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	err = readRows(ctx, s, &list, auditLines+" ORDER BY a.seq DESC LIMIT ?", []any{limit}, scanAudit)
	return list, err
}

// deactivation returns the entry of the change that left a trigger inactive: one of the
// trigger, or a restore that paused all triggers. It returns nil if there is none. It reads
// the whole log at worst.
func deactivation(q *session, triggerID string) (found *blueprint.AuditEntry, err error) {
	const query = auditLines + ` WHERE a.target_type = 'trigger' AND a.target_id = ?1 AND instr(a.detail, '"isActive":') > 0
		OR a.target_type = 'database' AND instr(a.detail, '"pausedTriggers":') > 0 ORDER BY a.seq DESC`
	var entries []blueprint.AuditEntry
	if err := collect(q, &entries, query, []any{triggerID}, scanAudit); err != nil {
		return nil, err
	}
	for i := range entries {
		e := &entries[i]
		if paused, ok := e.Detail["pausedTriggers"].(json.Number); ok && e.TargetType == "database" && paused != "0" {
			found = e
		}
		if active, ok := e.Detail["isActive"].(bool); ok && e.TargetType == "trigger" {
			if !active {
				found = e // a later restore has changed nothing
			}
			break
		}
	}
	return found, nil
}

func scanAudit(scan scanner) (e blueprint.AuditEntry, err error) {
	var detail []byte
	if err := scan(&e.ID, &e.At, &e.ActorID, &e.ActorName, &e.Action, &e.TargetType, &e.TargetID, &e.Via, &detail, &e.OrganizationID); err != nil {
		return e, err
	}
	value, err := blueprint.Decode(detail)
	if err != nil {
		return e, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return e, errors.New("the detail of a line of the audit log is not an object")
	}
	e.Detail = object
	return e, nil
}

// counted returns the cached number of entries of a scope, so that only newer ones need to
// be counted, and how many times entries had been removed at that point.
func (a *audits) counted(organization bool, of string) (auditCount, int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts[scopeKey(organization, of)], a.pruned
}

// remember caches a count unless entries were removed since the count began.
func (a *audits) remember(organization bool, of string, count auditCount, pruned int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pruned != pruned {
		return
	}
	if a.counts == nil || len(a.counts) >= mostScopes {
		a.counts = map[string]auditCount{}
	}
	a.counts[scopeKey(organization, of)] = count
}

// removed drops the cached counts after entries were removed.
func (a *audits) removed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pruned++
	a.counts = nil
}

func scopeKey(organization bool, of string) string {
	if organization {
		return "organization " + of
	}
	return "user " + of
}
