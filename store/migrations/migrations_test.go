package migrations

import (
	"regexp"
	"slices"
	"testing"
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
