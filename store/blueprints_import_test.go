package store

import (
	"context"
	"testing"

	"blueprintd/blueprint"
)

// A run is imported with its blueprint, under their own ids and times, into a
// database in memory alone.
func TestImportRun(t *testing.T) {
	ctx := context.Background()
	at := blueprint.TimeOf(start)
	given := func(status blueprint.Status) blueprint.ImportedRun {
		row := blueprint.ExecutionRow{
			ID: "exec_1000000000000_01hv0000000000000000000000", BlueprintID: "3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e61", BlueprintVersion: "1.2.3",
			Status: status, CreatedAt: at, UpdatedAt: at, StartTime: at,
		}
		if status.Terminal() {
			row.EndTime = at
		}
		return blueprint.ImportedRun{Row: row, Blueprint: blueprint.NewBlueprint{Title: "T", Tags: []string{"a"}, Map: map[string]any{"nodes": []any{}}, Variables: []any{map[string]any{"name": "v"}}}}
	}
	for _, status := range []blueprint.Status{blueprint.StatusCompleted, blueprint.StatusFailed, blueprint.StatusPaused, blueprint.StatusRunning} {
		options := testOptions(t)
		options.Ephemeral = true
		s := open(t, options)
		ann := user(t, s, "ann")
		home := must(s.ServerOwner(ctx))(t)
		row := must(s.ImportRun(ctx, ann, given(status)))(t)
		if row.UserID != ann.UserID || row.OrganizationID != home.WorkspaceID || row.LogID == "" {
			t.Errorf("%s: filled in is %+v, want UserID %v, OrganizationID %v and LogID not empty", status, row, ann.UserID, home.WorkspaceID)
		}
		stored, _, err := s.Execution(ctx, ann, row.ID)
		check(t, err)
		if stored.Row.Status != status || stored.Row.BlueprintVersion != "1.2.3" || stored.Row.StartTime != at {
			t.Errorf("%s: stored is %+v, want Status %v, BlueprintVersion 1.2.3 and StartTime %v", status, stored.Row, status, at)
		}
		b := must(s.GetBlueprint(ctx, ann, row.BlueprintID))(t)
		if b.Title != "T" || b.Version != "1.2.3" || b.Status != blueprint.StatusDraft || len(b.Tags) != 1 {
			t.Errorf("%s: the blueprint is %+v, want Title T, Version 1.2.3, Status %v and length 1", status, b.Blueprint, blueprint.StatusDraft)
		}
		if v := must(s.VersionContent(ctx, ann, row.BlueprintID, "1.2.3"))(t); len(v.EnvironmentVariables) != 1 {
			t.Errorf("%s: its version is %+v, want length 1", status, v)
		}
		_, err = s.ImportRun(ctx, ann, given(status))
		wantCode(t, err, blueprint.CodeConflict)
	}
	s := open(t, testOptions(t))
	if _, err := s.ImportRun(ctx, user(t, s, "ann"), given(blueprint.StatusCompleted)); err == nil {
		t.Error("a run is imported into a file, want an error")
	}
}
