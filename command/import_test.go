package command

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/project"
	"blueprintd/store"
)

// TestImportIsAllOrNothing stores two files where there is room for one.
func TestImportIsAllOrNothing(t *testing.T) {
	s, owner := memory(t, 1)
	sample, err := os.ReadFile("../testdata/blueprints/hello.blueprint.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var files []*project.Blueprint
	for i := range 2 {
		doc, err := document.Parse(fmt.Sprintf("%d.yaml", i), sample)
		if err != nil {
			t.Fatal(err)
		}
		r := &project.Reader{Blueprint: &project.Blueprint{Document: doc}}
		r.Read()
		files = append(files, r.Blueprint)
	}
	_, err = importAll(t.Context(), s, owner, files)
	if err == nil || !strings.HasPrefix(err.Error(), "1.yaml cannot be stored: blueprint limit") {
		t.Errorf("of two files: %v, want a refusal of 1.yaml", err)
	}
	if _, total, err := s.ListBlueprints(t.Context(), owner, blueprint.BlueprintFilter{Scope: "own", Page: 1, Limit: 10}); err != nil || total != 0 {
		t.Errorf("%d blueprints are left (%v), want 0", total, err)
	}
	if done, err := importAll(t.Context(), s, owner, files[:1]); err != nil || len(done) != 1 {
		t.Errorf("of one file: %v, %v; want length 1", done, err)
	}
}

// memory opens a database in memory with a limit on blueprints, and creates its owner.
func memory(t *testing.T, blueprints int) (*store.Store, blueprint.Principal) {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := secret.NewSealer(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Options{
		Ephemeral: true, Schema: string(schema), Sealer: sealer, Clock: clock.Real{}, IDs: ids.New(nil), Logger: slog.New(slog.DiscardHandler), MaxBlueprints: blueprints,
	})
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(running) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.Close()
	})
	user, err := s.CreateUser(t.Context(), "ada@example.org", "Ada")
	if err != nil {
		t.Fatal(err)
	}
	return s, blueprint.Principal{UserID: user.ID}
}
