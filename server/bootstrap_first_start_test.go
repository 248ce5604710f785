package server_test

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/server"
	"blueprintd/store"
	"blueprintd/tests/process"
)

// announced starts a server on a database and gives what it prints.
func announced(t *testing.T, database string, change ...func(*server.Options)) string {
	t.Helper()
	out := &lockedBuffer{}
	o := server.Options{Database: server.Database{Schema: schema, DB: database}, Network: server.Network{Addr: "127.0.0.1:0"}, Version: version, Clock: clock.Real{}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Out: out}
	for _, f := range change {
		f(&o)
	}
	s, err := server.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Listener.Close()
	if err := s.Announce(); err != nil {
		t.Error(err)
	}
	if err := s.Store.Close(); err != nil {
		t.Error(err)
	}
	return out.String()
}

func TestFirstStartShowsTheKeyOnce(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "my.db")
	if text := announced(t, database); !process.ContainsAll(text, "API key   bpd_", "Try the sample blueprint") {
		t.Errorf("the first start says:\n%s", text)
	}
	if text := announced(t, database); strings.Contains(strings.ToLower(text), "api key") || strings.Contains(text, "Try") {
		t.Errorf("the second start says:\n%s", text)
	}
}

// The service manager removes its copy of a credential when the service stops, so it is not the
// file to keep.
func TestStartDoesNotNameTheCopyOfACredential(t *testing.T) {
	credentials := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", credentials)
	key := filepath.Join(credentials, "master.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("0a", 32)), 0o400); err != nil {
		t.Fatal(err)
	}
	text := announced(t, filepath.Join(t.TempDir(), "my.db"), func(o *server.Options) { o.MasterKeyFile = key })
	if strings.Contains(text, credentials) || !strings.Contains(text, "(master key: the file that the service loads as credential master.key; keep copies of both") {
		t.Errorf("the start says:\n%s", text)
	}
}

func TestStartWithAUserWithoutKeySaysHowToMakeOne(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "my.db")
	commandOutput(t, "user", "add", "--email", "ada@example.org", "--db", database)
	text := announced(t, database)
	_, line, found := strings.Cut(text, "ada@example.org has none yet; create one: blueprintd ")
	if !found {
		t.Fatalf("the start says:\n%s", text)
	}
	line, _, _ = strings.Cut(line, "\n")
	if key := commandOutput(t, strings.Fields(line)...); !strings.HasPrefix(key, "bpd_") {
		t.Errorf("blueprintd %s printed %q, want \"bpd_\" at the start", line, key)
	}
	if text := announced(t, database); strings.Contains(text, "key create") {
		t.Errorf("with a key there the start says:\n%s", text)
	}
}

func TestStartBehindAPublicAddressNamesBoth(t *testing.T) {
	t.Parallel()
	text := announced(t, filepath.Join(t.TempDir(), "my.db"), func(o *server.Options) { o.PublicURL = "https://flows.example.org" })
	if !process.ContainsAll(text, "is ready on https://flows.example.org\n", "\n  listens   http://127.0.0.1:") || strings.Contains(text, "127.0.0.1:0\n") {
		t.Errorf("the start says:\n%s", text)
	}
}

// A server logs the address of the dashboard, and how to sign in as long as it has no
// user who can.
func TestAnnouncedDashboard(t *testing.T) {
	t.Parallel()
	database := t.TempDir() + "/my.db"
	tokens := map[string]bool{}
	for range 2 {
		text := announced(t, database, func(o *server.Options) { o.PublicURL = "https://flows.example" })
		_, line, _ := strings.Cut(text, "\n  dashboard https://flows.example/setup?token=")
		token, _, found := strings.Cut(line, "  (sets your password; works once, for 24 hours)\n")
		if !found || len(token) != 43 || tokens[token] {
			t.Errorf("the start says:\n%s", text)
		}
		tokens[token] = true
	}
	if text := announced(t, database); !strings.Contains(text, "/setup?token=") {
		t.Errorf("without a public address the start says:\n%s", text)
	}
	commandOutput(t, "user", "add", "--email", "bo@example.org", "--db", database)
	withPassword(t, database, "bo@example.org")
	if text := announced(t, database); strings.Contains(text, "token") || !strings.Contains(text, "\n  dashboard http://127.0.0.1:") {
		t.Errorf("with a password the start says:\n%s", text)
	}
}

// withPassword sets the password of a user, as a command in another process does.
func withPassword(t testing.TB, database, email string) {
	t.Helper()
	stored, err := store.Open(t.Context(), store.Options{Path: database, Schema: schema, Clock: clock.Real{}, IDs: ids.New(nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	user, err := stored.UserByEmail(t.Context(), email)
	if err == nil {
		err = stored.SetPassword(t.Context(), user.ID, "$argon2id$x")
	}
	if err != nil {
		t.Fatal(err)
	}
}
