package store

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"blueprintd/blueprint"
)

// Of a trigger with a limit the runs that have not ended are told, the oldest
// first, and of no other.
func TestUnfinished(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		var triggers []string
		for _, config := range []map[string]any{{"concurrency": map[string]any{"limit": json.Number("1")}}, nil} {
			triggers = append(triggers, must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerManual, config))(t).ID)
		}
		var want []string
		var last string
		for i := range 6 {
			c := &blueprint.JournalCommit{Row: row(s, b, ann), New: true, Entries: [][]byte{[]byte("{}")}}
			c.Row.TriggerID = triggers[0]
			switch {
			case i == 1:
				c.Row.Status = blueprint.StatusPaused
			case i == 2:
				c.Row.TriggerID = triggers[1]
			case i == 3:
				c.Row.ParentExecutionID = want[0]
			case i == 4:
				c = finished(s, b, ann, []byte("a record"))
				c.Row.TriggerID = triggers[0]
			}
			trigger := must(s.GetTrigger(ctx, ann, c.Row.TriggerID))(t)
			if c.Row.ParentExecutionID == "" {
				f := firing(s, trigger, fmt.Sprint(i))
				f.Decision, f.ExecutionID, c.Firing, c.Row.FiringID, last = blueprint.DecisionStarted, &c.Row.ID, &f, f.ID, f.ID
			}
			check(t, s.Commit(ctx, c))
			if i == 0 || i == 1 || i == 5 {
				want = append(want, c.Row.ID)
			}
		}
		for _, list := range [][]blueprint.UnfinishedRun{must(s.TriggerStory(ctx, triggers[0]))(t).Unfinished, must(s.FiringStory(ctx, ann, last))(t).Unfinished} {
			var got []string
			for _, run := range list {
				got = append(got, run.ExecutionID)
			}
			if !slices.Equal(got, want) || list[1].Status != blueprint.StatusPaused || list[1].UpdatedAt == 0 {
				t.Errorf("%+v, want %v", list, want)
			}
		}
		if list := must(s.TriggerStory(ctx, triggers[1]))(t).Unfinished; list != nil {
			t.Errorf("without a limit: %v", list)
		}
	})
}

func TestIsServed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.db")
	expect := func(want bool) {
		t.Helper()
		if served, known := IsServed(path); served != want || !known {
			t.Errorf("%v %v, want %v", served, known, want)
		}
	}
	expect(false)
	if _, err := os.Stat(path + ".lock"); err == nil {
		t.Error("it made a file")
	}
	lock := must(lockFile(path + ".lock"))(t)
	expect(true)
	check(t, lock.release())
	expect(false)
}
