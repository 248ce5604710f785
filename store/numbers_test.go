package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// The number of a row that is rolled back may later belong to another row.
func TestNumbersAreCommitted(t *testing.T) {
	t.Parallel()
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	b := create(t, s, ann, "B")
	undone := errors.New("undone")
	var lost blueprint.Principal
	err := s.Transact(context.Background(), func() error {
		lost = user(t, s, "lost")
		check(t, s.Commit(context.Background(), finished(s, b, lost, []byte("{}"))))
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	if _, known := s.users.get(lost.UserID, 0); known {
		t.Error("the number of a row that was rolled back is cached")
	}
	next := user(t, s, "next") // has the number of the user who was lost
	for range 2 {              // before its number is cached, and afterwards
		for _, by := range []blueprint.Principal{ann, next} {
			c := finished(s, b, by, []byte("{}"))
			c.Row.LogID = blueprint.LogID(c.Row.ID)
			check(t, s.Commit(context.Background(), c))
			stored, err := s.Load(context.Background(), c.Row.ID)
			check(t, err)
			if got := stored.Row; got.UserID != by.UserID || got.OrganizationID != c.Row.OrganizationID || got.LogID != c.Row.LogID {
				t.Errorf("user %s, organization %s, log id %s, want %s, %s, %s", got.UserID, got.OrganizationID, got.LogID, by.UserID, c.Row.OrganizationID, c.Row.LogID)
			}
		}
	}
	if _, known := s.users.get(next.UserID, 0); !known {
		t.Error("the number of a committed row is not cached")
	}
}

// Numbers are cached because rows of these tables are never deleted.
func TestRowsWithNumbersStay(t *testing.T) {
	t.Parallel()
	deletes := regexp.MustCompile(`(?i)(DELETE\s+FROM|REPLACE\s+INTO)\s+(organizations|users|triggers|blueprints)\b`)
	files, err := filepath.Glob("*.go")
	check(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		check(t, err)
		if found := deletes.Find(text); found != nil {
			t.Errorf("%s has %q", file, found)
		}
	}
}
