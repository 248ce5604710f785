package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/tests/process"
)

// TestSystemdNotifications checks that the program notifies systemd when it is ready,
// regularly while it runs, and when it stops.
func TestSystemdNotifications(t *testing.T) {
	m := process.NewServiceManager(t)
	t.Setenv("NOTIFY_SOCKET", m.Path)
	t.Setenv("WATCHDOG_USEC", "100000")
	credentials := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", credentials)
	key := filepath.Join(credentials, "master.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("0a", 32)), 0o440); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BLUEPRINTD_MASTER_KEY_FILE", key)
	s := process.Serve(t, "--db", filepath.Join(t.TempDir(), "a.db"))
	seen := map[string]int{}
	for seen["READY=1"] == 0 || seen["WATCHDOG=1"] < 5 {
		message := m.Next(30 * time.Second)
		if message == "" {
			t.Fatalf("only %v came", seen)
		}
		seen[message]++
	}
	if seen["STOPPING=1"] != 0 || seen["READY=1"] != 1 {
		t.Errorf("messages %v, want STOPPING=1 0 and READY=1 1", seen)
	}
	s.Stop()
	if strings.Contains(s.Log.String(), "master key file is accessible") {
		t.Error("it warns of the mode of a credential")
	}
	for message := ""; message != "STOPPING=1"; {
		if message = m.Next(30 * time.Second); message == "" {
			t.Fatal("it was not said that the server stops")
		}
	}
}
