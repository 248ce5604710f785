package api

import (
	"blueprintd/tests/servertest"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"blueprintd/foundation/clock"
	"blueprintd/project"
	"blueprintd/server"
	"blueprintd/tests/process"
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
	seed, _, _, err := project.ReadSeed("seed.yaml", []byte(strings.Replace(wholeSeed, ", password: correct horse battery", "", 1)), seedLookup) // one is enough: they take time
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
				t.Errorf("%d things were there", left)
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
		t.Errorf("it was cut off at %d places", cuts)
	}
	s, err := start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Listener.Close()
	if done := s.Bootstrap.Seeded; done.Left != 7 || s.Bootstrap.Fresh || len(done.Blueprints[0].Triggers) != 2 || len(done.Blueprints[1].Triggers) != 2 {
		t.Errorf("afterwards it found %+v", done)
	}
	if err := s.Store.Close(); err != nil {
		t.Error(err)
	}
}

// TestSeedKilled kills servers while they store their seed, and looks what the one
// after them has.
func TestSeedKilled(t *testing.T) {
	path := process.Path(t)
	for name, value := range map[string]string{"WHO": "ada", "SHOP_TOKEN": "canary-of-the-shop", "HOOK": "secret-of-hook"} {
		t.Setenv(name, value)
	}
	folder := t.TempDir()
	seed, database, ready := filepath.Join(folder, "s.yaml"), filepath.Join(folder, "my.db"), filepath.Join(folder, "ready.json")
	if err := os.WriteFile(seed, []byte(wholeSeed), 0o600); err != nil {
		t.Fatal(err)
	}
	beat := time.NewTicker(10 * time.Millisecond)
	defer beat.Stop()
	for beats := 1; beats < 60; beats += 3 {
		c := exec.Command(path, "serve", "--addr", "127.0.0.1:0", "--db", database, "--seed", seed, "--ready-file", ready)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for range beats {
			<-beat.C
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		if _, err := os.Stat(ready); err == nil {
			t.Logf("ready after %d beats", beats)
			break // it was done
		}
	}
	os.Remove(ready)
	p := process.Serve(t, "--db", database, "--seed", seed, "--ready-file", ready)
	var told any
	if err := json.Unmarshal(process.AwaitFile(t, ready), &told); err != nil {
		t.Fatal(err)
	}
	list, _ := at(told, "seed.blueprints").([]any)
	if len(list) != 2 || len(at(list[0], "triggers").([]any)) != 2 || len(at(list[1], "triggers").([]any)) != 2 {
		t.Errorf("there is %s", servertest.Encoded(t, told))
	}
	if status, answer := p.Post("/api/trpc/blueprint.create", "key-of-ada", object{"json": object{"title": "x"}}); status != 200 {
		t.Errorf("the key of the seed: %d %v", status, answer)
	}
	p.Stop()
}
