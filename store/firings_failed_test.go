package store

import (
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// Who looks for a trigger's failed runs does not look at those of others.
func TestFailedFiringsPlan(t *testing.T) {
	s := open(t, testOptions(t))
	filter := blueprint.FiringFilter{Status: blueprint.StatusFailed}
	args, plan := []any{"trigger", 0, 9, 0, 9, "", "", "", "failed"}, ""
	check(t, s.writer.session.each("EXPLAIN QUERY PLAN SELECT count(*)"+along(&filter), args, func(scan func(...any) error) error {
		var id, parent, rest any
		var detail string
		err := scan(&id, &parent, &rest, &detail)
		plan += detail + "\n"
		return err
	}))
	if !strings.Contains(plan, "SEARCH e USING INDEX executions_failed (trigger_id=? AND end_time>?)") || strings.Contains(plan, "SCAN f") {
		t.Errorf("it goes by\n%s", plan)
	}
}
