package store

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"blueprintd/blueprint"
)

const (
	// mostLooked is how many runs are looked at for one page.
	mostLooked = 5000
	// runChunk is how many are looked at together.
	runChunk = 500
	// largestListed is how large a record may be that a list shows something of,
	// and listedRecords how large all of a page may be, in bytes.
	largestListed = 1 << 20
	listedRecords = 8 << 20
)

// ListRuns gives a page of the runs that the principal may see and a filter lets
// through, newest first: their own, and those of blueprints that they can manage.
// It looks at a bounded number of runs: a page may be short, or empty, though
// there are more. CodeNotFound or CodeForbidden for a blueprint or a trigger,
// CodeForbidden for an organization, that is not the principal's to see.
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

// runSearch is the making of one page.
type runSearch struct {
	*session
	principal blueprint.Principal
	filter    *blueprint.RunFilter
	begin     blueprint.Time        // of the time that is looked through
	at        blueprint.RunPosition // how far it is
	sources   []*runSource
	scoped    bool // all that the sources give, but for deleted blueprints, may be seen
}

// prepare finds out what the principal may look for, and where that is.
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

// ofTrigger narrows the search to the blueprint of the trigger.
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

// fill looks for the runs of a page.
func (l *runSearch) fill(page *blueprint.RunPage) error {
	want, looked := l.filter.Limit, 0
	var last blueprint.RunPosition // of the page
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
			if len(page.Runs) == want { // there is one that has no room
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
