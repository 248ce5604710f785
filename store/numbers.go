package store

import "context"

// numbers caches the numbers (seq) by which executions and firings refer to the rows of a
// table. They never change, because these rows are never deleted. They are read outside of
// the writer: what it has not committed yet may still be undone.
type numbers struct {
	*cache[int64]
	query string // of the number of an id
}

// numbersOf caches those of a table.
func numbersOf(table string) numbers {
	return numbers{newCache[int64](20_000), "SELECT seq FROM " + table + " WHERE id = ?"}
}

// learn reads the number of a row if it is not known. A number that cannot be read is
// left to the statement that needs it.
func (n numbers) learn(ctx context.Context, s *Store, id string) {
	if id == "" || s.readers == nil || s.writer.enclosing != nil {
		return
	}
	if _, known := n.get(id, 0); known {
		return
	}
	_ = s.read(ctx, func(q *session) error {
		var number int64
		err := q.row(n.query, []any{id}, &number)
		if err == nil {
			n.put(id, 0, number)
		}
		return err
	})
}

// of returns the arguments of coalesce(?, (SELECT seq ... WHERE id = ?)): the number
// alone if it is known, else the id alone.
func (n numbers) of(id string) (number, text any) {
	if known, ok := n.get(id, 0); ok {
		return known, nil
	}
	return nil, textOrNull(id)
}
