package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// The schema refuses nonsense whatever the code above it does.
func TestSchemaRefuses(t *testing.T) {
	ctx := context.Background()
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	_, err := s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerManual, nil)
	check(t, err)
	ended := finished(s, b, ann, []byte("{}"))
	check(t, s.Commit(ctx, ended))
	running := row(s, b, ann)
	check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: running, New: true}))
	uuid, ulid := s.options.IDs.UUID(), s.options.IDs.ULID(start)
	execution := func(status, end, record, state string) string {
		return fmt.Sprintf(`INSERT INTO executions (id, log_id, blueprint_seq, blueprint_version, organization_seq, user_seq, status, created_at, updated_at, start_time, end_time, record, state)
			VALUES ('e', 'l', 1, '1.0.0', 1, 1, '%s', 1, 1, 1, %s, %s, %s)`, status, end, record, state)
	}
	firing := func(trigger, key, decision, execution string) string {
		return fmt.Sprintf(`INSERT INTO firings (id, trigger_seq, source, key, received_at, decision, reason_code, execution_id)
			VALUES ('%s', %s, 'webhook', '%s', 1, '%s', '', %s)`, ulid, trigger, key, decision, execution)
	}
	for _, statement := range []string{
		"INSERT INTO meta (id, epoch, generation, created_at) VALUES (2, 1, 1, 1)",
		"UPDATE meta SET generation = -1",
		"UPDATE users SET created_at = 'yesterday'",
		"UPDATE users SET id = 'short'",
		"UPDATE organizations SET personal = 2",
		fmt.Sprintf("INSERT INTO organizations VALUES (NULL, '%s', 'n', 's', 1, '%s', 1)", uuid, ann.UserID), // a second workspace
		"UPDATE memberships SET role = 'emperor'",
		"UPDATE memberships SET user_id = 'unknown'",
		fmt.Sprintf("INSERT INTO api_keys (id, user_id, name, hash, last4, created_at) VALUES ('%s', '%s', '', x'00', '', 1)", ulid, ann.UserID),
		"UPDATE blueprints SET title = ''",
		"UPDATE blueprints SET status = 'maybe'",
		"UPDATE blueprints SET visibility = 'secret'",
		"UPDATE blueprints SET tags = 'no JSON'",
		"UPDATE blueprints SET updated_at = 1",
		"UPDATE blueprints SET created_by = 'unknown'",
		"UPDATE blueprint_contents SET variables = NULL",
		"UPDATE blueprint_contents SET sealed_variables = x'01'",
		"UPDATE blueprint_contents SET map = '{'",
		"UPDATE blueprint_versions SET content_version = '9.9.9'",
		fmt.Sprintf("INSERT INTO collaborators VALUES ('%s', '%s', 'owner', 1)", b.ID, ann.UserID),
		fmt.Sprintf("INSERT INTO ratings VALUES ('%s', '%s', 0)", b.ID, ann.UserID),
		fmt.Sprintf("INSERT INTO ratings VALUES ('%s', '%s', 5.5)", b.ID, ann.UserID),
		"UPDATE triggers SET type = 'telepathy'",
		"UPDATE triggers SET is_active = 7",
		"UPDATE triggers SET config = NULL",
		"UPDATE triggers SET sealed_config = x'01'",
		firing("99", "k", "started", "'e'"),
		firing("NULL", "k", "started", "'e'"),
		firing("1", "", "refused", "NULL"),
		firing("1", ulid, "refused", "NULL"), // it would not be found by the id
		firing("1", "k", "perhaps", "NULL"),
		firing("1", "k", "started", "NULL"),
		execution("running", "1", "NULL", "NULL"),
		execution("paused", "NULL", "x'00'", "NULL"),
		execution("paused", "NULL", "NULL", "x'00'"),
		execution("completed", "NULL", "x'00'", "NULL"),
		execution("failed", "1", "NULL", "NULL"),
		execution("not_found", "NULL", "NULL", "NULL"),
		fmt.Sprintf("UPDATE executions SET status = 'failed' WHERE id = '%s'", ended.Row.ID),
		fmt.Sprintf("UPDATE executions SET status = 'running', end_time = NULL, record = NULL WHERE id = '%s'", ended.Row.ID),
		fmt.Sprintf("UPDATE executions SET record = NULL WHERE id = '%s'", ended.Row.ID),
		fmt.Sprintf("UPDATE executions SET status = 'completed' WHERE id = '%s'", running.ID),
		"INSERT INTO journal VALUES (999, 1, x'00')",
		"INSERT INTO journal VALUES (2, 0, x'00')",
		`SELECT "no such name"`,
	} {
		err := s.write(ctx, func(t *transaction) error {
			_, err := t.exec(statement)
			return err
		})
		if code := resultCode(err) & 0xff; code != 19 && code != 1 || err != nil && strings.Contains(err.Error(), "syntax error") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	// The same rows without the nonsense are taken.
	for _, statement := range []string{
		execution("running", "NULL", "NULL", "NULL"),
		firing("1", "k", "started", "'e'"),
		"INSERT INTO journal VALUES (2, 1, x'00')",
	} {
		check(t, s.write(ctx, func(t *transaction) error {
			_, err := t.exec(statement)
			return err
		}))
	}
}
