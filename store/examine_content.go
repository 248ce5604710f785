package store

import (
	"fmt"
	"strings"

	"blueprintd/blueprint"
)

// mostNamed is how many damaged runs are named.
const mostNamed = 10

// DamagedRuns are executions with a record, state or journal entry that is not
// what was stored.
type DamagedRuns struct {
	Count int      `json:"count"`
	IDs   []string `json:"ids"` // at most ten
}

func (d *DamagedRuns) add(id string) {
	if d.Count++; len(d.IDs) < mostNamed {
		d.IDs = append(d.IDs, id)
	}
}

// String names the runs.
func (d *DamagedRuns) String() string {
	text := strings.Join(d.IDs, ", ")
	if more := d.Count - len(d.IDs); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// contents reads everything that has a checksum and gives the runs that have
// something damaged. What SQLite finds damaged is an error.
func contents(q *session) (d DamagedRuns, err error) {
	err = q.each("SELECT id, record, state FROM executions WHERE record IS NOT NULL ORDER BY seq", nil, func(scan func(...any) error) error {
		var stored blueprint.StoredExecution
		if err := scan(&stored.Row.ID, &stored.Record, &stored.State); err != nil {
			return err
		}
		if checkedRun(&stored) != nil {
			d.add(stored.Row.ID)
		}
		return nil
	})
	if err != nil {
		return d, err
	}
	// Entries of one run come one after the other.
	last := int64(0)
	const entries = `SELECT j.execution, j.position, j.entry, coalesce(e.id, 'number ' || j.execution)
		FROM journal j LEFT JOIN executions e ON e.seq = j.execution ORDER BY j.execution, j.position`
	err = q.each(entries, nil, func(scan func(...any) error) error {
		var execution, position int64
		var entry []byte
		var id string
		if err := scan(&execution, &position, &entry, &id); err != nil {
			return err
		}
		if checked(&entry, entryPlace(execution, position)) != nil && execution != last {
			last = execution
			d.add(id)
		}
		return nil
	})
	return d, err
}

// damagedContents refuses to make a backup that would have damage in it.
func damagedContents(d *DamagedRuns) error {
	return &blueprint.Error{
		Code: blueprint.CodeConflict, Message: fmt.Sprintf("the database is damaged: what it holds of %d runs is not what was stored: %s", d.Count, d),
		Hint: "blueprintd doctor --full tells more; keep your older backups; --allow-damaged makes the backup all the same",
	}
}
