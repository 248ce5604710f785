package main

import (
	"database/sql"
	"strconv"
	"time"

	"blueprintd/tests/process"
)

// hour is an hour, counted since 1970, of a blueprint or an organization; ends is the
// number of runs that ended in it.
type hour struct {
	subject string
	at      int64
}

type ends struct{ completed, failed int }

// maxHours is the number of hours in one request.
const maxHours = 900

// fetchHours reads the hourly counts of ended runs, by a key of the input.
func (s *scenario) fetchHours(ask func(procedure string, input object) answer, key, id string) {
	from, to := s.began, now()
	if s.clock != nil {
		from, to = virtualStart, s.clock.now.Add(time.Hour)
	}
	s.accounts.asked[id] = true
	for from = from.Truncate(time.Hour); !from.After(to); from = from.Add(maxHours * time.Hour) {
		a := ask("execution.getStatistics", object{key: id, "from": from.UTC().Format(time.RFC3339), "to": from.Add(maxHours * time.Hour).UTC().Format(time.RFC3339)})
		if !a.OK() {
			s.history.violated("I18", "", "the runs of %s by the hour cannot be read: %s", id, a)
			return
		}
		s.history.readHours(s.accounts.hours, id, a.Value)
	}
}

// readHours reads a response of getStatistics, whose totals are the sums of its hours.
func (h *history) readHours(into map[hour]ends, id string, value any) {
	buckets, _ := process.At(value, "buckets").([]any)
	var all ends
	for _, bucket := range buckets {
		text, _ := process.At(bucket, "start").(string)
		start, err := time.Parse(time.RFC3339, text)
		if err != nil {
			h.violated("I18", "", "an hour of %s begins at %q", id, text)
			continue
		}
		one := endsOf(bucket)
		all.completed, all.failed = all.completed+one.completed, all.failed+one.failed
		if one != (ends{}) {
			into[hour{id, start.Unix() / 3600}] = one
		}
	}
	if totals := endsOf(process.At(value, "totals")); totals != all {
		h.violated("I18", "", "the hours of %s sum up to %+v, and its totals are %+v", id, all, totals)
	}
}

func endsOf(value any) ends {
	completed, _ := process.At(value, "completed").(float64)
	failed, _ := process.At(value, "failed").(float64)
	return ends{int(completed), int(failed)}
}

// checkHours compares the hourly counts of the API with the runs in the database.
func (s *scenario) checkHours(db *sql.DB) error {
	rows, err := queryText(db, `SELECT of, hour, sum(status = 'completed'), sum(status <> 'completed'), max(gone) FROM
		(SELECT b.id AS of, e.end_time / 3600000 AS hour, e.status, b.deleted_at IS NOT NULL AS gone FROM executions e JOIN blueprints b ON b.seq = e.blueprint_seq WHERE e.end_time IS NOT NULL
		UNION ALL SELECT o.id, e.end_time / 3600000, e.status, 0 FROM executions e JOIN organizations o ON o.seq = e.organization_seq WHERE e.end_time IS NOT NULL) GROUP BY of, hour`)
	if err != nil {
		return err
	}
	ended, gone := map[hour]ends{}, map[string]bool{}
	for _, row := range rows {
		number := func(i int) int { n, _ := strconv.Atoi(row[i]); return n }
		ended[hour{row[0], int64(number(1))}] = ends{number(2), number(3)}
		gone[row[0]] = row[4] == "1"
	}
	s.history.checkHourlyCounts(s.accounts.hours, ended, s.accounts.asked, gone)
	return nil
}

// checkHourlyCounts compares the number of ended runs that was returned for each hour with
// the actual number. Counts of deleted blueprints are not returned.
func (h *history) checkHourlyCounts(counted, ended map[hour]ends, asked, gone map[string]bool) {
	scopes := map[string]bool{}
	for at, want := range ended {
		if !asked[at.subject] && gone[at.subject] {
			continue
		}
		if got := counted[at]; got != want {
			h.violated("I18", "", "of %s %+v ended in the hour of %s, and %+v are counted", at.subject, want, at.time(), got)
		}
		if !scopes[at.subject] {
			h.counts.HourScopes++
		}
		scopes[at.subject] = true
		h.counts.HourEnds += want.completed + want.failed
	}
	for at, got := range counted {
		if ended[at] == (ends{}) {
			h.violated("I18", "", "of %s none ended in the hour of %s, and %+v are counted", at.subject, at.time(), got)
		}
	}
	h.counts.HourEnds /= 2 // each is counted for a blueprint and an organization
}

func (h hour) time() string { return time.Unix(h.at*3600, 0).UTC().Format(time.RFC3339) }
