//go:build postgres

package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"blueprintd/tests/process"
)

// TestMoves moves a database with runs in every state to PostgreSQL and back, backs it up
// and restores it there. On each, everything continues.
func TestMoves(t *testing.T) {
	f, to := unpackForm(t, newestForm(t))
	file, key := filepath.Join(to, "server.db"), filepath.Join(to, "server.db.key")
	first, second, back := process.PostgreSQL(t), process.PostgreSQL(t), filepath.Join(to, "back.db")
	process.Command(t, "move", "--from", file, "--to", first)
	process.Command(t, "move", "--from", first, "--to", back, "--master-key-file", key)
	process.Command(t, "backup", filepath.Join(to, "moved.backup"), "--database", first, "--master-key-file", key)
	process.Command(t, "restore", filepath.Join(to, "moved.backup"), "--database", second, "--master-key-file", key)
	if text := process.Command(t, "doctor", "--full", "--database", second, "--master-key-file", key); strings.Contains(text, "problem ") || strings.Contains(text, "warning ") {
		t.Errorf("doctor: %s", text)
	}
	refused := process.Run(t, "restore", filepath.Join(to, "moved.backup"), "--database", second, "--master-key-file", key)
	if !strings.Contains(refused.Err, "has the tables of blueprintd already") {
		t.Errorf("a second restore: %s", refused.Said())
	}
	keys := t.TempDir()
	for name, flags := range map[string][]string{"PostgreSQL": {"--database", first}, "restored": {"--database", second}, "back": {"--db", back}} {
		own := filepath.Join(keys, name+".key") // which useForm changes
		data, err := os.ReadFile(key)
		if err == nil {
			err = os.WriteFile(own, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			useForm(t, f, append(flags, "--master-key-file", own)...)
		})
	}
}

// newestForm returns the folder of the form with the present schema version.
func newestForm(t *testing.T) string {
	t.Helper()
	forms := filepath.Join(process.File(t, "testdata"), "forms")
	folders, err := os.ReadDir(forms)
	if err != nil {
		t.Fatal(err)
	}
	newest := 0
	for _, folder := range folders {
		version, err := strconv.Atoi(folder.Name())
		if err != nil {
			t.Fatal(err)
		}
		newest = max(newest, version)
	}
	return filepath.Join(forms, strconv.Itoa(newest))
}
