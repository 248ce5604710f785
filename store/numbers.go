package store

import "blueprintd/blueprint"

// numbers caches the numbers (seq) by which executions and firings refer to the rows of a
// table. They never change, because these rows are never deleted.
type numbers struct {
	*cache[int64]
	query string // of the number of an id
}

// numbersOf returns an empty cache for a table.
func numbersOf(table string) numbers {
	return numbers{newCache[int64](20_000), "SELECT seq FROM " + table + " WHERE id = ?"}
}

// learnNumbers caches the numbers that a new run needs. It uses a reader, which sees only
// committed rows: the number of one that is rolled back may later belong to another row.
// If no reader is idle, the INSERT looks the numbers up.
func (s *Store) learnNumbers(row *blueprint.ExecutionRow) {
	if s.readers == nil {
		return
	}
	type unknown struct {
		of numbers
		id string
	}
	var list []unknown
	for _, one := range []unknown{{s.organizations, row.OrganizationID}, {s.users, row.UserID}, {s.triggers, row.TriggerID}} {
		if _, known := one.of.get(one.id, 0); !known && one.id != "" {
			list = append(list, one)
		}
	}
	if len(list) == 0 {
		return
	}
	s.readIfIdle(func(q *session) error {
		for _, one := range list {
			var number int64
			if err := q.row(one.of.query, []any{one.id}, &number); err != nil {
				return err
			}
			one.of.put(one.id, 0, number)
		}
		return nil
	})
}

// arguments returns the arguments of coalesce(?, (SELECT seq ... WHERE id = ?)): only the
// number if it is cached, otherwise only the id.
func (n numbers) arguments(id string) (number, text any) {
	if known, ok := n.get(id, 0); ok {
		return known, nil
	}
	return nil, textOrNull(id)
}
