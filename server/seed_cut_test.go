package server_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/project"
	"blueprintd/server"
)

// cutOff is a context that ends once it was asked so many times whether it has.
type cutOff struct {
	context.Context
	left atomic.Int64
}

func (c *cutOff) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// TestSeedCutOff ends the start of a server with a seed at each write of the
// store. Nothing of the seed is stored then, and the next start stores it whole.
func TestSeedCutOff(t *testing.T) {
	text, err := os.ReadFile("../project/testdata/whole.seed.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (string, bool) { return "value-of-" + name, true }
	seed, _, _, err := project.ReadSeed("seed.yaml", []byte(strings.Replace(string(text), ", password: correct horse battery", "", 1)), lookup) // one password is enough: hashing takes time
	if err != nil {
		t.Fatal(err)
	}
	database, cuts := filepath.Join(t.TempDir(), "my.db"), 0
	start := func(ctx context.Context) (*server.Server, error) {
		return server.New(ctx, server.Options{Database: server.Database{Schema: schema, DB: database}, Network: server.Network{Addr: "127.0.0.1:0"}, Version: version, Clock: clock.Real{}, Logger: slog.New(slog.DiscardHandler), Out: io.Discard, Seed: seed})
	}
	for ; ; cuts++ {
		ctx := &cutOff{Context: t.Context()}
		ctx.left.Store(int64(cuts))
		s, err := start(ctx)
		if err == nil {
			if left := s.Bootstrap.Seeded.Left; left > 0 || !s.Bootstrap.Fresh {
				t.Errorf("%d things were there, want at most 0 and Fresh", left)
			}
			s.Listener.Close()
			if err := s.Store.Close(); err != nil {
				t.Error(err)
			}
			break
		}
		if _, missing := os.Stat(database); missing == nil {
			if users := commandOutput(t, "user", "list", "--db", database); strings.Contains(users, "@") {
				break // it was stored, and the start was cut off behind that: all has to be there
			}
		}
	}
	if cuts < 15 { // 4 users, an organization with a member, a connection, 2 blueprints, 4 triggers
		t.Errorf("it was cut off at %d places, want at least 15", cuts)
	}
	s, err := start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Listener.Close()
	if done := s.Bootstrap.Seeded; done.Left != 7 || s.Bootstrap.Fresh || len(done.Blueprints[0].Triggers) != 2 || len(done.Blueprints[1].Triggers) != 2 {
		t.Errorf("afterwards it found %+v, want Left 7, not Fresh, length 2 and length 2", done)
	}
	if err := s.Store.Close(); err != nil {
		t.Error(err)
	}
}

// TestSeedAgain checks that a start creates what was deleted since the last one, and leaves
// the rest unchanged.
func TestSeedAgain(t *testing.T) {
	const text = `{"users": [{"email": "ada@example.org", "name": "Ada"}], "blueprints": [{"title": "Kept", "blueprint_map": {"nodes": []}}, {"title": "Deleted", "blueprint_map": {"nodes": []}}]}`
	seed, _, _, err := project.ReadSeed("seed.json", []byte(text), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	database := filepath.Join(t.TempDir(), "my.db")
	start := func() *server.Server {
		s, err := server.New(t.Context(), server.Options{Database: server.Database{Schema: schema, DB: database}, Network: server.Network{Addr: "127.0.0.1:0"}, Version: version, Clock: clock.Real{}, Logger: slog.New(slog.DiscardHandler), Out: io.Discard, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	stop := func(s *server.Server) {
		s.Listener.Close()
		if err := s.Store.Close(); err != nil {
			t.Error(err)
		}
	}
	first := start()
	before := first.Bootstrap.Seeded.Blueprints
	owner, err := first.Store.ServerOwner(t.Context())
	if err == nil {
		_, err = first.Store.DeleteBlueprint(t.Context(), blueprint.Principal{UserID: owner.ID}, before[1].ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	stop(first)
	second := start()
	defer stop(second)
	after := second.Bootstrap.Seeded
	if after.Left != 2 || after.Blueprints[0].ID != before[0].ID || after.Blueprints[1].ID == before[1].ID {
		t.Errorf("the next start found %d objects and %+v, want 2 and a new blueprint in the place of the second of %+v", after.Left, after.Blueprints, before)
	}
}
