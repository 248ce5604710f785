//go:build postgres

package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/rpc/trpc"
	"blueprintd/server/accounts"
	"blueprintd/store"
	"blueprintd/tests/process"
)

// processStores opens one PostgreSQL database for several processes.
func processStores(t *testing.T, n int) (list []*store.Store) {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := secret.NewSealer(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	database := process.PostgreSQL(t)
	for i := range n {
		s, err := store.Open(t.Context(), store.Options{Database: database, Server: i == 0, Schema: string(schema), Sealer: sealer, Clock: clock.Real{}, IDs: ids.New(nil), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		list = append(list, s)
	}
	return list
}

// sharedStore is a store of one process among several.
type sharedStore struct {
	*store.Store
	nodes int
}

func (s sharedStore) LiveNodes() int { return s.nodes }

// Calls of all processes at once exceed the rate limit by four for each process at most.
func TestRateLimitOfProcesses(t *testing.T) {
	const n, burst = 3, 100
	var limiters []*trpc.Limiter
	for _, s := range processStores(t, n) {
		limiter := trpc.NewLimiter(clock.Real{}, 1e-6, burst)
		limiter.Shared = sharedStore{s, n}
		limiters = append(limiters, limiter)
	}
	var admitted atomic.Int64
	var group sync.WaitGroup
	for i := range n * 2 * burst {
		group.Go(func() {
			if limiters[i%n].Take("key k", 1) == nil {
				admitted.Add(1)
			}
		})
	}
	group.Wait()
	if got := int(admitted.Load()); got < burst || got > burst+4*n {
		t.Errorf("%d calls were admitted, want %d to %d", got, burst, burst+4*n)
	}
}

// Wrong passwords count in all processes, even at once.
func TestThrottleOfProcesses(t *testing.T) {
	const n, limit = 2, 10
	stores := processStores(t, n)
	user, err := stores[0].CreateUser(t.Context(), "ada@example.org", "Ada")
	if err != nil {
		t.Fatal(err)
	}
	var services []*accounts.Service
	for _, s := range stores {
		services = append(services, accounts.New(accounts.Options{Store: s, Clock: clock.Real{}, IDs: ids.New(nil), HashMemory: 64}))
	}
	const password = "a long password"
	if err := services[0].SetPassword(t.Context(), user.ID, password); err != nil {
		t.Fatal(err)
	}
	signIn := func(i int, password string) blueprint.Code {
		_, _, err := services[i%n].SignIn(context.Background(), "ada@example.org", password, blueprint.SignInClient{Address: fmt.Sprint(i)})
		return blueprint.CodeOf(err)
	}
	for i := range 2 * limit { // right passwords do not count
		if code := signIn(i, password); code != "" {
			t.Fatalf("the right password: %s", code)
		}
	}
	var tried atomic.Int64
	var group sync.WaitGroup
	for i := range 3 * limit {
		group.Go(func() {
			if code := signIn(i, "x"); code == blueprint.CodeUnauthorized {
				tried.Add(1)
			} else if code != blueprint.CodeTooManyRequests {
				t.Errorf("got %s, want %s", code, blueprint.CodeTooManyRequests)
			}
		})
	}
	group.Wait()
	if tried.Load() != limit {
		t.Errorf("%d passwords were tried, want %d", tried.Load(), limit)
	}
	for i := range n {
		if code := signIn(i, password); code != blueprint.CodeTooManyRequests {
			t.Errorf("process %d answers %q, want %s", i, code, blueprint.CodeTooManyRequests)
		}
	}
}

// The link with which the owner sets a password is printed by one of the processes that start
// at once.
func TestFirstStartOfProcesses(t *testing.T) {
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		key := filepath.Join(t.TempDir(), "master.key")
		if err := os.WriteFile(key, []byte(strings.Repeat("0a", 32)), 0o600); err != nil {
			t.Fatal(err)
		}
		database := process.PostgreSQL(t)
		servers := make([]*Server, 3)
		var group sync.WaitGroup
		for i := range servers {
			group.Go(func() {
				s, err := New(t.Context(), Options{
					Database: Database{Schema: string(schema), URL: database, NodeName: fmt.Sprint(i), MasterKeyFile: key}, Network: Network{Addr: "127.0.0.1:0"},
					Version: "1", Clock: clock.Real{}, Logger: slog.New(slog.DiscardHandler), Out: io.Discard,
				})
				if err != nil {
					t.Error(err)
					return
				}
				servers[i] = s
			})
		}
		group.Wait()
		links, keys := 0, 0
		for _, s := range servers {
			if s == nil {
				continue
			}
			if s.Bootstrap.Setup != "" {
				links++
			}
			if s.Bootstrap.Made {
				keys++
			}
			s.Listener.Close()
			if err := s.Store.Close(); err != nil {
				t.Error(err)
			}
		}
		if links != 1 || keys != 1 {
			t.Errorf("%d links to set a password and %d keys were made, want one of each", links, keys)
		}
	}
}
