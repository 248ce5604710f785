package store

import (
	"context"

	"blueprintd/blueprint"
)

// pruneAudit removes the lines of the audit log that are too old or too many,
// those that came first before the others. They came in the order of their
// times, unless the clock was set back: then they wait for those before them.
func (p *pruner) pruneAudit(ctx context.Context) error {
	keep := p.options.KeepAudit
	query, bound := "SELECT seq FROM (SELECT seq, at FROM audit_log ORDER BY seq LIMIT ?2) WHERE at < ?1", int64(0)
	switch {
	case keep.all():
		return nil
	case keep.Rows > 0:
		query = "SELECT seq FROM audit_log WHERE seq <= ?1 ORDER BY seq LIMIT ?2"
		err := p.read(ctx, func(q *session) error {
			return q.row("SELECT coalesce(max(seq), 0) - ? FROM audit_log", []any{keep.Rows}, &bound)
		})
		if err != nil {
			return err
		}
	default:
		bound = int64(blueprint.TimeOf(p.options.Clock.Now().Add(-keep.Age)))
	}
	for {
		var rows []int64
		wanted := p.rows()
		err := p.read(ctx, func(q *session) error {
			return q.each(query, []any{bound, wanted}, func(scan func(...any) error) error {
				var seq int64
				err := scan(&seq)
				rows = append(rows, seq)
				return err
			})
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := p.remove(ctx, "DELETE FROM audit_log WHERE seq = ?", rows); err != nil {
			return err
		}
		p.audits.removed()
		if len(rows) < wanted {
			return nil
		}
	}
}
