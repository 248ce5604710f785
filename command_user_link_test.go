package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/store/dbfile"
)

// The links of user add and user link lead to the server that has the database,
// wherever it listens, and only as long as it runs.
func TestLinksLeadToTheRunningServer(t *testing.T) {
	database := filepath.Join(t.TempDir(), "my.db")
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	printed := func(args ...string) string {
		out, err := exec.Command(path, append([]string{"user"}, append(args, "--db", database)...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	s := startServer(t, "--db", database)
	if got := printed("add", "--email", "ada@example.org"); !strings.Contains(got, s.host+"/setup?token=") || strings.Contains(got, "note:") {
		t.Errorf("while it runs on %s: %s", s.host, got)
	}
	if got := printed("link", "--email", "ada@example.org"); !strings.HasPrefix(got, s.host+"/setup?token=") {
		t.Errorf("while it runs on %s: %s", s.host, got)
	}
	s.stop()
	if got := printed("link", "--email", "ada@example.org"); !strings.HasPrefix(got, "note: no server runs on ") || !strings.Contains(got, usualAddress+"/setup?token=") {
		t.Errorf("after it: %s", got)
	}
	s = startServer(t, "--db", database, "--public-url", "https://flows.example.org/")
	defer s.stop()
	if got := dbfile.ServedAt(database); got != "https://flows.example.org" {
		t.Errorf("with an address of its own: %q", got)
	}
}
