package store

import (
	"context"

	"blueprintd/blueprint"
)

// How many hours of run_hours stay: of a blueprint 90 days, of an organization
// 400, a year and what it takes to compare it with the one before.
const (
	blueprintHours    = 90 * 24
	organizationHours = 400 * 24
)

// oldHours are the next rows of run_hours to remove after hour ?1 of scope ?2:
// of organizations from before hour ?3, of blueprints from before ?4.
const oldHours = `SELECT h.scope, h.hour FROM run_hours h INDEXED BY run_hours_hour WHERE (h.hour, h.scope) > (?1, ?2) AND h.hour < ?4
	AND (h.hour < ?3 OR NOT EXISTS (SELECT 1 FROM organizations o WHERE o.id = h.scope)) ORDER BY h.hour, h.scope LIMIT ?5`

// pruneHours removes what is too old of run_hours. The rows of organizations that
// stay longer than those of blueprints are passed over once: p.hours is up to
// where only they are left.
func (p *pruner) pruneHours(ctx context.Context) error {
	now := hourOf(blueprint.TimeOf(p.options.Clock.Now()))
	old, young := now-organizationHours, now-blueprintHours
	if err := p.hoursBetween(ctx, 0, old, old); err != nil {
		return err
	}
	if err := p.hoursBetween(ctx, min(p.hours, young), old, young); err != nil {
		return err
	}
	p.hours = young
	return nil
}

// hoursBetween removes rows from hour first on: of organizations from before old,
// of blueprints from before young.
func (p *pruner) hoursBetween(ctx context.Context, first, old, young int64) error {
	last := runHour{hour: first}
	for {
		var rows []runHour
		limit := p.rows()
		err := p.read(ctx, func(q *session) error {
			return q.each(oldHours, []any{last.hour, last.scope, old, young, limit}, func(scan func(...any) error) error {
				err := scan(&last.scope, &last.hour)
				rows = append(rows, last)
				return err
			})
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		err = p.step(ctx, func(t *transaction) error {
			for _, row := range rows {
				if _, err := t.exec("DELETE FROM run_hours WHERE scope = ? AND hour = ?", row.scope, row.hour); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(rows) < limit {
			return err
		}
	}
}
