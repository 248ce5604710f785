package store

import (
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// Each of these gives the places of runs, newest first: of those with key ?1,
// created from ?2 on, that come after the place ?3, ?4, the next ?5.
const (
	runsOfUser = `SELECT x.created_at, x.seq FROM executions x INDEXED BY executions_user WHERE x.user_id = ?1
		AND x.created_at BETWEEN ?2 AND ?3 AND (x.created_at < ?3 OR x.seq < ?4) ORDER BY x.created_at DESC, x.seq DESC LIMIT ?5`
	runsOfOrganization = `SELECT x.created_at, x.seq FROM executions x INDEXED BY executions_organization WHERE x.organization_id = ?1
		AND x.created_at BETWEEN ?2 AND ?3 AND (x.created_at < ?3 OR x.seq < ?4) ORDER BY x.created_at DESC, x.seq DESC LIMIT ?5`
	runsOfBlueprint = `SELECT x.created_at, x.seq FROM executions x INDEXED BY executions_blueprint WHERE x.blueprint_id = ?1
		AND x.created_at BETWEEN ?2 AND ?3 AND (x.created_at < ?3 OR x.seq < ?4) ORDER BY x.created_at DESC, x.seq DESC LIMIT ?5`
	// unfinishedRuns and runsByID are not of one key; the key of runsByID is the
	// beginning of an id as far as the millisecond, of which there are few runs.
	unfinishedRuns = `SELECT x.created_at, x.seq FROM executions x INDEXED BY executions_unfinished WHERE x.end_time IS NULL AND ?1 = ''
		AND x.created_at BETWEEN ?2 AND ?3 AND (x.created_at < ?3 OR x.seq < ?4) ORDER BY x.created_at DESC, x.seq DESC LIMIT ?5`
	runsByID = `SELECT x.created_at, x.seq FROM executions x WHERE x.id >= ?1 AND x.id < ?1 || '~'
		AND x.created_at BETWEEN ?2 AND ?3 AND (x.created_at < ?3 OR x.seq < ?4) ORDER BY x.created_at DESC, x.seq DESC LIMIT ?5`
)

// runSource is a list of runs of which a part has been read.
type runSource struct {
	query, key string
	ahead      []blueprint.RunPosition // read, and not taken yet
	read       bool                    // to the end
}

// everywhere looks through the principal's own runs, those of each of their
// organizations, and those of blueprints elsewhere that they can manage.
func (l *runSearch) everywhere() error {
	user := l.principal.UserID
	l.sources = []*runSource{{query: runsOfUser, key: user}}
	const organizations = "SELECT organization_id FROM memberships WHERE user_id = ?1"
	const elsewhere = `SELECT b.id FROM collaborators c JOIN blueprints b ON b.id = c.blueprint_id WHERE c.user_id = ?1 AND b.deleted_at IS NULL
			AND b.organization_id NOT IN (SELECT organization_id FROM memberships WHERE user_id = ?1)`
	for _, of := range []struct{ keys, query string }{{organizations, runsOfOrganization}, {elsewhere, runsOfBlueprint}} {
		err := l.each(of.keys, []any{user}, func(scan func(...any) error) error {
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

// next gives the places of the next runs of all sources together, at most n.
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
		if place != l.at { // several sources may have it
			chunk = append(chunk, place)
		}
		l.at = place
	}
	return chunk, nil
}

// read reads the next part of a source: what comes after the place where the
// search is.
func (l *runSearch) read(source *runSource, n int) error {
	source.ahead = source.ahead[:0]
	err := l.each(source.query, []any{source.key, int64(l.begin), int64(l.at.At), l.at.Seq, n}, func(scan func(...any) error) error {
		var place blueprint.RunPosition
		err := scan(&place.At, &place.Seq)
		source.ahead = append(source.ahead, place)
		return err
	})
	source.read = len(source.ahead) < n
	return err
}

// The beginning of the id of a run is the millisecond at which it was made.
const (
	idBegin = "exec_"
	// idLag is how much later than that a run may be created, in milliseconds.
	idLag = 2000
)

// search narrows the search to ids with a beginning: the source gives them when
// that goes as far as the millisecond; when not, it says how far the time is
// bounded by it. some is false when no run has such an id.
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
	for power, length := int64(1), len(digits); length <= 13; length++ { // as many digits as the milliseconds of 2001 to 2286 have
		last, power = (number+1)*power-1, power*10
	}
	l.begin, l.at.At = max(l.begin, blueprint.Time(first)), min(l.at.At, blueprint.Time(last+idLag))
	return nil, true
}
