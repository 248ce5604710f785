package migrations

import (
	"database/sql"
	"regexp"
	"slices"
	"testing"

	_ "modernc.org/sqlite"
)

func TestSteps(t *testing.T) {
	for i, step := range Steps() {
		if i > 0 && step.Version != Steps()[i-1].Version+1 {
			t.Errorf("step %d follows step %d", step.Version, Steps()[i-1].Version)
		}
	}
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); !fileName.MatchString(name) && !slices.Contains([]string{"migrations.go", "migrations_test.go"}, name) {
			t.Errorf("%s is not named NNNN_what_it_does.sql", name)
		}
	}
}

// The transaction is that of the store.
func TestStepsLeaveTheTransaction(t *testing.T) {
	forbidden := regexp.MustCompile(`(?im)^\s*(COMMIT|ROLLBACK|SAVEPOINT|RELEASE|VACUUM|ATTACH|DETACH|PRAGMA)\b.*`)
	for _, step := range Steps() {
		if found := forbidden.FindString(step.SQL); found != "" {
			t.Errorf("step %d: %s", step.Version, found)
		}
	}
}

// Rows are copied without a statement journal, which would be in memory.
func TestStepsKeepNoJournal(t *testing.T) {
	plain := regexp.MustCompile(`(?im)^\s*INSERT\s+INTO\b.*`)
	for _, step := range Steps() {
		if found := plain.FindString(step.SQL); found != "" {
			t.Errorf("step %d: %s: want INSERT OR FAIL", step.Version, found)
		}
	}
}

func TestChangedTables(t *testing.T) {
	step := New(9, "try", "-- Why.\n-- changes the rows of: firings, files\nDELETE FROM files;\n-- changes the rows of: events\n")
	if want := []string{"firings", "files", "events"}; !slices.Equal(step.Changed, want) {
		t.Errorf("changed %v, want %v", step.Changed, want)
	}
}

// Entries of answers by link say so after the upgrade to version 11, and all others are the same.
func TestLinksInTheAuditLog(t *testing.T) {
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	steps := Steps()
	step := steps[slices.IndexFunc(steps, func(s Step) bool { return s.Version == 11 })]
	for _, text := range []string{
		`CREATE TABLE audit_log (seq INTEGER PRIMARY KEY, id TEXT, at INTEGER, actor_id TEXT, organization_id TEXT, action TEXT, target_type TEXT, target_id TEXT, via TEXT CHECK (via IN ('api', 'dashboard', 'cli')), detail TEXT)`,
		`CREATE INDEX audit_log_actor ON audit_log (actor_id) WHERE actor_id <> ''`,
		`CREATE INDEX audit_log_organization ON audit_log (organization_id) WHERE organization_id <> ''`,
		`INSERT INTO audit_log VALUES (3, '01HZZZZZZZZZZZZZZZZZZZZZZA', 1, '', 'o', 'execution.answerByLink', 'execution', 'e', 'dashboard', '{}'), (7, '01HZZZZZZZZZZZZZZZZZZZZZZB', 2, 'u', 'o', 'execution.link', 'execution', 'e', 'dashboard', '{"a":1}')`,
		step.SQL,
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	var got string
	if err := db.QueryRow(`SELECT group_concat(seq || ' ' || id || ' ' || at || ' ' || actor_id || ' ' || action || ' ' || via || ' ' || detail, '; ' ORDER BY seq) FROM audit_log`).Scan(&got); err != nil {
		t.Fatal(err)
	}
	const want = `3 01HZZZZZZZZZZZZZZZZZZZZZZA 1  execution.answerByLink link {}; 7 01HZZZZZZZZZZZZZZZZZZZZZZB 2 u execution.link dashboard {"a":1}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
