//go:build unix

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/store"
	"blueprintd/tests/process"
)

// examined runs doctor on a database and returns the worst finding of each name, and the
// exit code.
func examined(t *testing.T, args ...string) (map[string]store.Finding, int) {
	t.Helper()
	doctor := process.Run(t, append([]string{"doctor", "--json"}, args...)...)
	var list []store.Finding
	if err := json.Unmarshal([]byte(doctor.Out), &list); err != nil {
		t.Fatalf("doctor: exit code %d: %v\n%s", doctor.Code, err, doctor.Err)
	}
	found := map[string]store.Finding{}
	rank := map[store.Health]int{store.Fine: 1, store.Dubious: 2, store.Broken: 3}
	for _, f := range list {
		if f.Health != store.Fine && f.Fix == "" {
			t.Errorf("%+v says no fix", f)
		}
		if rank[f.Health] > rank[found[f.Check].Health] {
			found[f.Check] = f
		}
	}
	return found, doctor.Code
}

// everything returns the content of a folder, byte for byte.
func everything(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil && !entry.IsDir() {
			t.Fatal(err)
		}
		found[entry.Name()] = string(data)
	}
	return found
}

// TestDoctor runs doctor on databases in every state. It must find what is wrong with each
// and change nothing.
func TestDoctor(t *testing.T) {
	t.Parallel()
	good := usedDatabase(t)
	for _, test := range []struct {
		name   string
		check  string
		health store.Health
		says   string
		damage func(t *testing.T, folder string) error
	}{
		{"killed", "integrity", store.Fine, "sound", func(*testing.T, string) error { return nil }},
		{"closed", "log", store.Fine, "empty", func(t *testing.T, folder string) error {
			process.Serve(t, "--db", filepath.Join(folder, "my.db")).Stop()
			return nil
		}},
		{"without index", "log", store.Dubious, "no index", func(t *testing.T, folder string) error { return removeAll(folder, "my.db-shm") }},
		{"missing", "file", store.Broken, "though a server has had it", func(t *testing.T, folder string) error {
			return removeAll(folder, "my.db", "my.db-wal", "my.db-shm")
		}},
		{"never there", "file", store.Broken, "there is no database", func(t *testing.T, folder string) error {
			return removeAll(folder, "my.db", "my.db-wal", "my.db-shm", "my.db.lock")
		}},
		{"missing beside its log", "file", store.Broken, "what was last written", func(t *testing.T, folder string) error { return removeAll(folder, "my.db") }},
		{"a text", "form", store.Broken, "not an SQLite database", func(t *testing.T, folder string) error {
			return overwrite(folder, strings.Repeat("Dear diary. ", 999))
		}},
		{"readable by others", "rights", store.Dubious, "chmod 600", func(t *testing.T, folder string) error { return os.Chmod(filepath.Join(folder, "my.db"), 0o644) }},
		{"key readable by others", "key file", store.Dubious, "chmod 600", func(t *testing.T, folder string) error {
			return os.Chmod(filepath.Join(folder, "my.db.key"), 0o644)
		}},
		{"without a key", "master key", store.Broken, "restore", func(t *testing.T, folder string) error { return removeAll(folder, "my.db.key") }},
		{"with another key", "master key", store.Broken, "--master-key-file", func(t *testing.T, folder string) error {
			return os.WriteFile(filepath.Join(folder, "my.db.key"), []byte(strings.Repeat("ab", 32)), 0o600)
		}},
		{"with a log of noise", "log", store.Broken, "damaged", func(t *testing.T, folder string) error {
			return os.WriteFile(filepath.Join(folder, "my.db-wal"), []byte(strings.Repeat("noise", 9999)), 0o600)
		}},
		{"from the future", "clock", store.Broken, "correct the clock", func(t *testing.T, folder string) error {
			plainSQL(t, filepath.Join(folder, "my.db"), "UPDATE meta SET created_at = created_at + 86400000")
			return nil
		}},
		{"damaged", "integrity", store.Broken, "restore a backup", func(t *testing.T, folder string) error {
			plainSQL(t, filepath.Join(folder, "my.db"), "PRAGMA wal_checkpoint(TRUNCATE)")
			file, err := os.OpenFile(filepath.Join(folder, "my.db"), os.O_RDWR, 0)
			if err != nil {
				return err
			}
			_, err = file.WriteAt(make([]byte, 4096), 20*4096)
			return errors.Join(err, file.Close(), removeAll(folder, "my.db-wal", "my.db-shm"))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			copyFolder(t, good, folder)
			if err := test.damage(t, folder); err != nil {
				t.Fatal(err)
			}
			before := everything(t, folder)
			found, code := examined(t, "--full", "--db", filepath.Join(folder, "my.db"))
			if f := found[test.check]; f.Health != test.health || !strings.Contains(f.Message+f.Fix, test.says) {
				t.Errorf("found %+v, want Health %v and %q in it", found, test.health, test.says)
			}
			if f := found["form"]; test.check == "log" && test.health == store.Broken && f.Health != "" {
				t.Errorf("it read the database with a damaged log: %+v", f)
			}
			if want := map[bool]int{true: exitFailed}[test.health == store.Broken]; code != want {
				t.Errorf("exit code %d, want %d: %+v", code, want, found)
			}
			if after := everything(t, folder); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("the files were changed: %v, want %v", fmt.Sprint(after), fmt.Sprint(before))
			}
		})
	}
}

func TestDoctorBesideAServer(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	database := filepath.Join(folder, "my.db")
	s := process.Serve(t, "--db", database)
	before := everything(t, folder)
	found, code := examined(t, "--full", "--db", database)
	if code != 0 || found["server"].Message != fmt.Sprintf("process %d has the database open", s.Pid()) || found["integrity"].Health != store.Fine {
		t.Errorf("exit code %d: %+v", code, found)
	}
	after := everything(t, folder)
	delete(before, "my.db-shm") // it contains the marks of readers
	delete(after, "my.db-shm")
	if fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the files were changed: %v, want %v", fmt.Sprint(after), fmt.Sprint(before))
	}
	if text := process.Command(t, "doctor", "--db", database); !strings.Contains(text, "ok       integrity") {
		t.Errorf("it says:\n%s", text)
	}
	s.Stop()
}

// TestServerLowOnSpace runs a server on a disk that is always low on space.
func TestServerLowOnSpace(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "my.db")
	ask := node("ask", "human", object{"prompt": "Your name?"})
	s := process.Serve(t, "--db", database)
	blueprintID := s.Create("ask", ask)
	paused := s.Launch(blueprintID, ask)
	s.Until(paused, "paused")
	s.Stop()
	s = process.Serve(t, "--db", database, "--min-free", "1000000TiB")
	body := object{"json": object{"nodes": []any{ask}, "options": object{"blueprintId": blueprintID}}}
	if status, answer := s.Post("/api/trpc/execution.executeBlueprintWithLogging", process.Key, body); status != 503 || !strings.Contains(fmt.Sprint(answer), "nearly full") {
		t.Errorf("a new run: %d %v, want 503 and \"nearly full\" in it", status, answer)
	}
	s.Mutate("execution.resume", object{"executionId": paused, "input": object{"name": "Ada"}})
	s.Until(paused, "completed")
	s.Stop()
	if !strings.Contains(s.Log.String(), "disk nearly full") {
		t.Errorf("the log says %s, want \"disk nearly full\" in it", s.Log)
	}
}
