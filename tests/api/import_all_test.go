package api

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/command"
	"blueprintd/project"
	"blueprintd/server"
)

// TestImportIsAllOrNothing stores two files where there is room for one.
func TestImportIsAllOrNothing(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *server.Options) { o.MaxBlueprints = 1 })
	var files []*project.Blueprint
	for i := range 2 {
		doc, err := document.Parse(fmt.Sprintf("%d.yaml", i), server.Sample)
		if err != nil {
			t.Fatal(err)
		}
		r := &project.Reader{Blueprint: &project.Blueprint{Document: doc}}
		r.Read()
		files = append(files, r.Blueprint)
	}
	ctx := context.Background()
	user, err := s.Store.ServerOwner(ctx)
	if err != nil {
		t.Fatal(err)
	}
	owner := blueprint.Principal{UserID: user.ID}
	_, err = command.ImportAll(ctx, s.Store, owner, files)
	if err == nil || !strings.HasPrefix(err.Error(), "1.yaml cannot be stored: blueprint limit") {
		t.Errorf("importAll = %v", err)
	}
	if _, total, err := s.Store.ListBlueprints(ctx, owner, blueprint.BlueprintFilter{Scope: "own", Page: 1, Limit: 10}); err != nil || total != 0 {
		t.Errorf("%d blueprints are left (%v)", total, err)
	}
	if done, err := command.ImportAll(ctx, s.Store, owner, files[:1]); err != nil || len(done) != 1 {
		t.Errorf("importAll of one file = %v, %v", done, err)
	}
}
