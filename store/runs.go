package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

const (
	// mostLooked is the maximum number of runs searched for one page.
	mostLooked = 5000
	// runChunk is the number of runs searched in one step.
	runChunk = 500
	// largestListed is the maximum size of a record that is read for a list, listedRecords
	// that of all records of a page, in bytes.
	largestListed = 1 << 20
	listedRecords = 8 << 20
)

// ListRuns returns a page of the runs that the principal may see and that match a filter,
// newest first: the principal's own, and those of blueprints that the principal can manage.
// It searches a bounded number of runs, so a page may be short, or empty, although there
// are more. CodeNotFound or CodeForbidden for a blueprint or a trigger, CodeForbidden for
// an organization, that the principal may not see.
func (s *Store) ListRuns(ctx context.Context, principal blueprint.Principal, filter blueprint.RunFilter) (page blueprint.RunPage, err error) {
	defer wrap(&err, "runs for user %s", principal.UserID)
	page.Runs = []blueprint.ListedRun{}
	err = s.read(ctx, func(q *session) error {
		l := &runSearch{session: q, principal: principal, filter: &filter}
		if err := l.prepare(); err != nil {
			return err
		}
		if err := l.fill(&page); err != nil {
			return err
		}
		return readRecords(q, page.Runs)
	})
	return page, err
}

// runSearch collects one page.
type runSearch struct {
	*session
	principal blueprint.Principal
	filter    *blueprint.RunFilter
	begin     blueprint.Time        // of the period that is searched
	at        blueprint.RunPosition // the progress of the search
	sources   []*runSource
	scoped    bool // the user may see all runs of the sources, except of deleted blueprints
}

// prepare determines what the principal may search, and the sources.
func (l *runSearch) prepare() error {
	f, user := l.filter, l.principal.UserID
	if f.TriggerID != "" {
		if err := l.ofTrigger(); err != nil {
			return err
		}
	}
	if f.OrganizationID != "" {
		if err := memberOf(l.session, l.principal, f.OrganizationID); err != nil {
			return err
		}
	}
	var granted grant
	if f.BlueprintID != "" {
		var err error
		if granted, err = accessTo(l.session, user, f.BlueprintID, blueprint.AccessSee); err != nil {
			return err
		}
	}
	l.begin, l.at = f.From, blueprint.RunPosition{At: math.MaxInt64 - 1, Seq: math.MaxInt64}
	if f.To != 0 {
		l.at.At = f.To - 1
	}
	l.scoped = true
	switch searched, some := l.search(); {
	case searched == nil && !some: // no run has such an id
	case f.RetryOf != "":
		l.scoped, l.sources = false, []*runSource{{query: runsRetrying, key: f.RetryOf}}
	case searched != nil:
		l.scoped, l.sources = false, []*runSource{searched}
	case f.Status == blueprint.StatusRunning || f.Status == blueprint.StatusPaused:
		l.scoped, l.sources = false, []*runSource{{query: unfinishedRuns}}
	case f.BlueprintID != "" && granted.access >= blueprint.AccessManage:
		l.sources = []*runSource{{query: runsOfBlueprint, key: f.BlueprintID}}
	case f.BlueprintID != "":
		l.sources = []*runSource{{query: runsOfUser, key: user}}
	case f.OrganizationID != "":
		l.sources = []*runSource{{query: runsOfOrganization, key: f.OrganizationID}}
	default:
		if err := l.everywhere(); err != nil {
			return err
		}
	}
	if f.After != (blueprint.RunPosition{}) && f.After.Before(l.at) {
		l.at = f.After
	}
	return nil
}

// ofTrigger limits the search to the blueprint of the trigger.
func (l *runSearch) ofTrigger() error {
	f, of := l.filter, ""
	err := l.row("SELECT blueprint_id FROM triggers WHERE id = ? AND deleted_at IS NULL", []any{f.TriggerID}, &of)
	if errors.Is(err, sql.ErrNoRows) {
		return notFound("trigger", f.TriggerID)
	}
	if err == nil && f.BlueprintID == "" {
		f.BlueprintID = of
	}
	return err
}

func (l *runSearch) fill(page *blueprint.RunPage) error {
	want, looked := l.filter.Limit, 0
	var last blueprint.RunPosition // on the page
	for size := want + 1; ; size = runChunk {
		chunk, err := l.next(min(size, mostLooked-looked))
		if err != nil || len(chunk) == 0 {
			return err
		}
		found, places, err := l.pick(chunk)
		if err != nil {
			return err
		}
		for i := range found {
			if len(page.Runs) == want { // there is one more
				page.Next = last
				return nil
			}
			page.Runs, last = append(page.Runs, found[i]), places[i]
		}
		l.at = chunk[len(chunk)-1]
		if looked += len(chunk); looked >= mostLooked {
			if page.Next = l.at; len(page.Runs) < want {
				page.SearchedUntil = l.at.At
			}
			return nil
		}
	}
}

// Each of these selects positions of runs, newest first: of the runs with key ?1 created at
// or after ?2, the next ?5 after the position ?3, ?4.
const (
	runsOfUser         = runsFrom + "INDEXED BY executions_user WHERE x.user_seq = (SELECT seq FROM users WHERE id = ?1)" + nextRuns
	runsOfOrganization = runsFrom + "INDEXED BY executions_organization WHERE x.organization_seq = (SELECT seq FROM organizations WHERE id = ?1)" + nextRuns
	runsOfBlueprint    = runsFrom + "INDEXED BY executions_blueprint WHERE x.blueprint_seq = (SELECT seq FROM blueprints WHERE id = ?1)" + nextRuns
	// unfinishedRuns has no key. The key of runsByID is the beginning of an id up to the
	// millisecond, which few runs share.
	unfinishedRuns = runsFrom + "INDEXED BY executions_unfinished WHERE x.end_time IS NULL AND ?1 = ''" + nextRuns
	runsByID       = runsFrom + "WHERE x.id >= ?1 AND x.id < ?1 || '~'" + nextRuns

	// The key of runsRetrying is the id of a run.
	runsRetrying = runsFrom + "JOIN retries y ON y.execution = x.seq WHERE y.retry_of = ?1" + nextRuns

	runsFrom = "SELECT x.created_at, x.seq FROM executions x "
	nextRuns = " AND x.created_at BETWEEN ?2 AND ?3 AND (x.created_at < ?3 OR x.seq < ?4) ORDER BY x.created_at DESC, x.seq DESC LIMIT ?5"
)

// runSource is a list of runs that is read in parts.
type runSource struct {
	query, key string
	ahead      []blueprint.RunPosition // read but not used yet
	read       bool                    // to the end
}

// everywhere searches the principal's own runs, those of each of their organizations, and
// those of blueprints elsewhere that they can manage.
func (l *runSearch) everywhere() error {
	user := l.principal.UserID
	l.sources = []*runSource{{query: runsOfUser, key: user}}
	const organizations = "SELECT organization_id FROM memberships WHERE user_id = ?1"
	const elsewhere = `SELECT b.id FROM collaborators c JOIN blueprints b ON b.id = c.blueprint_id WHERE c.user_id = ?1 AND b.deleted_at IS NULL
			AND b.organization_id NOT IN (SELECT organization_id FROM memberships WHERE user_id = ?1)`
	for _, of := range []struct{ keys, query string }{{organizations, runsOfOrganization}, {elsewhere, runsOfBlueprint}} {
		err := l.each(of.keys, []any{user}, func(scan scanner) error {
			source := &runSource{query: of.query}
			l.sources = append(l.sources, source)
			return scan(&source.key)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// next returns the positions of the next runs of all sources together, at most n.
func (l *runSearch) next(n int) (chunk []blueprint.RunPosition, err error) {
	for len(chunk) < n {
		var newest *runSource
		for _, source := range l.sources {
			if len(source.ahead) == 0 && !source.read {
				if err := l.read(source, n-len(chunk)); err != nil {
					return nil, err
				}
			}
			if len(source.ahead) > 0 && (newest == nil || newest.ahead[0].Before(source.ahead[0])) {
				newest = source
			}
		}
		if newest == nil {
			break
		}
		place := newest.ahead[0]
		newest.ahead = newest.ahead[1:]
		if place != l.at { // several sources may contain it
			chunk = append(chunk, place)
		}
		l.at = place
	}
	return chunk, nil
}

// read reads the next part of a source, from the position of the search.
func (l *runSearch) read(source *runSource, n int) error {
	source.ahead = source.ahead[:0]
	err := collect(l.session, &source.ahead, source.query, []any{source.key, int64(l.begin), int64(l.at.At), l.at.Seq, n}, fields(func(place *blueprint.RunPosition) []any {
		return []any{&place.At, &place.Seq}
	}))
	source.read = len(source.ahead) < n
	return err
}

// The id of a run begins with the millisecond in which the run was created.
const (
	idBegin = "exec_"
	// idLag is how much later the run may be created, in milliseconds.
	idLag = 2000
)

// search limits the search to ids with a prefix. A prefix up to the millisecond gives a
// source; a shorter one limits the period. some is false if no run can have such an id.
func (l *runSearch) search() (source *runSource, some bool) {
	begin := l.filter.Search
	rest, named := strings.CutPrefix(begin, idBegin)
	if !named {
		return nil, strings.HasPrefix(idBegin, begin)
	}
	digits, _, whole := strings.Cut(rest, "_")
	if digits == "" && !whole {
		return nil, true
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || len(digits) > 15 || number < 0 {
		return nil, false
	}
	if whole {
		return &runSource{query: runsByID, key: begin}, true
	}
	first, last := number, number
	for power, length := int64(1), len(digits); length <= 13; length++ { // the milliseconds of 2001 to 2286 have 13 digits
		last, power = (number+1)*power-1, power*10
	}
	l.begin, l.at.At = max(l.begin, blueprint.Time(first)), min(l.at.At, blueprint.Time(last+idLag))
	return nil, true
}

// pickRuns selects, from the runs at the positions in the list ?2, those that user ?1 may
// see and that match a filter, in the order of the list. ?8 says that the user may see the
// blueprints of all of them, except deleted ones and those of the user's own runs. The
// title is the current one if the user may see it, else that of the version that ran.
const pickRuns = "SELECT " + executionColumns + `, e.seq,
	CASE WHEN b.deleted_at IS NULL AND (?8 AND u.id <> ?1 OR ` + maySee + `) THEN b.title ELSE coalesce(v.title, '') END, u.name, coalesce(t.type, ''),
	coalesce((SELECT retry_of FROM retries WHERE execution = e.seq), '')
	FROM json_each(?2) place CROSS JOIN executions e JOIN blueprints b ON b.seq = e.blueprint_seq
	JOIN users u ON u.seq = e.user_seq LEFT JOIN blueprint_versions v ON v.blueprint_id = b.id AND v.version = e.blueprint_version
	LEFT JOIN triggers t ON t.seq = e.trigger_seq
	WHERE e.seq = CAST(place.value AS BIGINT) AND (?3 = '' OR e.status = ?3) AND (?4 = '' OR b.id = ?4) AND (?5 = '' OR e.organization_seq = (SELECT seq FROM organizations WHERE id = ?5)) AND (?6 = '' OR t.id = ?6)
	AND (?9 = '' OR e.parent_execution_id = ?9) AND (?10 = '' OR e.seq IN (SELECT execution FROM retries WHERE retry_of = ?10))
	AND substr(e.id, 1, length(?7)) = ?7 AND (u.id = ?1 OR b.deleted_at IS NULL AND (?8 OR ` + mayManage + `))
	ORDER BY e.created_at DESC, e.seq DESC`

// pick returns the runs at positions that belong on the page, with their positions.
func (l *runSearch) pick(chunk []blueprint.RunPosition) (found []blueprint.ListedRun, places []blueprint.RunPosition, err error) {
	list := []byte{'['}
	for _, place := range chunk {
		list = append(strconv.AppendInt(list, place.Seq, 10), ',')
	}
	list[len(list)-1] = ']'
	f := l.filter
	args := []any{l.principal.UserID, string(list), string(f.Status), f.BlueprintID, f.OrganizationID, f.TriggerID, f.Search, l.scoped, f.ParentExecutionID, f.RetryOf}
	err = l.each(pickRuns, args, func(scan scanner) error {
		one, place, err := scanListedRun(scan)
		found, places = append(found, one), append(places, place)
		return err
	})
	return found, places, err
}

func scanListedRun(scan scanner) (one blueprint.ListedRun, place blueprint.RunPosition, err error) {
	stored := &blueprint.StoredExecution{}
	r := &stored.Row
	var trigger blueprint.TriggerType
	if err := scan(executionFields(r, &place.Seq, &one.BlueprintTitle, &one.UserName, &trigger, &r.RetryOf)...); err != nil {
		return one, place, err
	}
	place.At = r.CreatedAt
	one.Stored, one.ExecutionID, one.LogID, one.BlueprintID, one.BlueprintVersion = stored, r.ID, r.LogID, r.BlueprintID, r.BlueprintVersion
	one.OrganizationID, one.UserID, one.Status, one.StartTime, one.EndTime, one.CreatedAt = r.OrganizationID, r.UserID, r.Status, r.StartTime, r.EndTime, r.CreatedAt
	if r.TriggerID != "" {
		one.TriggerID = &r.TriggerID
	}
	if trigger != "" {
		one.TriggerType = &trigger
	}
	if r.ParentExecutionID != "" {
		one.ParentExecutionID = &r.ParentExecutionID
	}
	if r.RetryOf != "" {
		one.RetryOf = &r.RetryOf
	}
	if r.EndTime != 0 {
		took := max(0, int64(r.EndTime-r.StartTime))
		one.DurationMs = &took
	}
	return one, place, nil
}

// readRecords reads the records of the ended runs of a page, except large and damaged ones.
func readRecords(q *session, runs []blueprint.ListedRun) error {
	room := listedRecords
	for i := range runs {
		stored := runs[i].Stored
		if !stored.Row.Status.Terminal() || room <= 0 {
			continue
		}
		const query = "SELECT CASE WHEN length(record) <= ? THEN record END FROM executions WHERE id = ?"
		if err := q.row(query, []any{min(room, largestListed), stored.Row.ID}, &stored.Record); err != nil {
			return err
		}
		if room -= len(stored.Record); checked(&stored.Record, recordPlace(stored.Row.ID)) != nil {
			stored.Record = nil
		}
	}
	return nil
}
