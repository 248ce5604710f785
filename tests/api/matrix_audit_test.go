package api

import (
	"fmt"
	"strings"
	"testing"

	"blueprintd/rpc/trpc"
	"blueprintd/tests/servertest"
)

// lastLine returns the number of the newest line of the audit log.
func (w *world) lastLine(t *testing.T) (seq int64) {
	t.Helper()
	w.must(t, w.sql.QueryRow("SELECT coalesce(max(seq), 0) FROM audit_log").Scan(&seq))
	return seq
}

// lineOf returns what is wrong with the audit lines since a permitted call: a mutation has
// one, with its actor and its target; other calls have none.
func (w *world) lineOf(t *testing.T, row *row, p servertest.Caller, since int64, input, answer string) string {
	t.Helper()
	var lines []string
	var wrong []string
	w.rows(t, fmt.Sprintf("SELECT actor_id, action, target_type, target_id, via FROM audit_log WHERE seq > %d", since), func(values []any) {
		lines = append(lines, fmt.Sprint(values...))
		action, about, id := row.name, fmt.Sprint(values[2]), fmt.Sprint(values[3])
		if row.path != nil {
			action, input = "blueprintTriggers.fire", row.name+input+id // it is in the path
		}
		if values[0] != p.ID || values[1] != action || values[4] != "api" {
			wrong = append(wrong, fmt.Sprintf("%q, want %s by %s over the API", values, action, p.ID))
		}
		if about == "" || id == "" || !strings.Contains(input+answer+p.ID, id) {
			wrong = append(wrong, fmt.Sprintf("%q is not about it", values))
		}
	})
	want := 0
	if row.changes(w.Kinds) && (row.path != nil || w.Kinds[row.name] == trpc.KindMutation) {
		want = 1
	}
	if len(lines) != want || len(wrong) > 0 {
		return fmt.Sprintf("the audit log has %d lines, want %d: %q", len(lines), want, append(wrong, lines...))
	}
	return ""
}
