package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/store/dbfile"
	"blueprintd/tests/process"
)

// The links of user add and user link lead to the server that uses the database, at its
// address, and only while it runs.
func TestLinksLeadToTheRunningServer(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "my.db")
	path := process.Path(t)
	printed := func(args ...string) string {
		out, err := exec.Command(path, append([]string{"user"}, append(args, "--db", database)...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	s := process.Serve(t, "--db", database)
	if got := printed("add", "--email", "ada@example.org"); !strings.Contains(got, s.Host+"/setup?token=") || strings.Contains(got, "note:") {
		t.Errorf("while it runs on %s: %s, want %q in it and no \"note:\"", s.Host, got, s.Host+"/setup?token=")
	}
	if got := printed("link", "--email", "ada@example.org"); !strings.HasPrefix(got, s.Host+"/setup?token=") {
		t.Errorf("while it runs on %s: %s, want %q at the start", s.Host, got, s.Host+"/setup?token=")
	}
	s.Stop()
	if got := printed("link", "--email", "ada@example.org"); !strings.HasPrefix(got, "note: no server runs on ") || !strings.Contains(got, "http://127.0.0.1:8787/setup?token=") {
		t.Errorf("after it: %s, want \"note: no server runs on \" at the start and \"http://127.0.0.1:8787/setup?token=\" in it", got)
	}
	s = process.Serve(t, "--db", database, "--public-url", "https://flows.example.org/")
	defer s.Stop()
	if got := dbfile.ServedAt(database); got != "https://flows.example.org" {
		t.Errorf("with an address of its own: %q, want https://flows.example.org", got)
	}
}
