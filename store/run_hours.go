package store

import (
	"blueprintd/blueprint"
)

// hourMs is how many milliseconds an hour has.
const hourMs = 3_600_000

// hourOf gives the hour that an instant is in, counted since 1970.
func hourOf(at blueprint.Time) int64 { return int64(at) / hourMs }

// hourCounts count what ends in one transaction of the writer, so that it is
// written once for each blueprint and organization however many runs share the
// transaction. A job that is undone alone is not counted.
type hourCounts struct {
	sums  map[runHour]blueprint.RunSums
	order []runHour // as they came: what is written does not depend on the map
}

// runHour is the key of a row of run_hours.
type runHour struct {
	scope string
	hour  int64
}

func (e *hourCounts) forget() {
	clear(e.sums)
	e.order = e.order[:0]
}

// add counts a run that has ended; nil is none.
func (e *hourCounts) add(row *blueprint.ExecutionRow) {
	if row == nil {
		return
	}
	took := max(0, int64(row.EndTime-row.StartTime))
	one := blueprint.RunSums{Duration: took, Slowest: took}
	if one.Completed = 1; row.Status == blueprint.StatusFailed {
		one.Completed, one.Failed = 0, 1
	}
	if e.sums == nil {
		e.sums = map[runHour]blueprint.RunSums{}
	}
	for _, scope := range [...]string{row.BlueprintID, row.OrganizationID} {
		key := runHour{scope, hourOf(row.EndTime)}
		sums, known := e.sums[key]
		if !known {
			e.order = append(e.order, key)
		}
		sums.Add(one)
		e.sums[key] = sums
	}
}

const addRunHour = `INSERT INTO run_hours (scope, hour, completed, failed, duration_ms, slowest_ms) VALUES (?, ?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET completed = completed + excluded.completed, failed = failed + excluded.failed,
	duration_ms = duration_ms + excluded.duration_ms, slowest_ms = max(slowest_ms, excluded.slowest_ms)`

// write adds what was counted to run_hours.
func (e *hourCounts) write(q *session) error {
	for _, key := range e.order {
		sums := e.sums[key]
		if _, err := q.exec(addRunHour, key.scope, key.hour, sums.Completed, sums.Failed, sums.Duration, sums.Slowest); err != nil {
			return err
		}
	}
	return nil
}
