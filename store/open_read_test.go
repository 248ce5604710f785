package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// readOnlyDisk makes a store believe that its disk is mounted read-only. It
// still looks at the real folder, in which nothing may change.
func readOnlyDisk(options Options) Options {
	options.Server, options.ReadOnly = false, true
	options.lookAt = func(string) (place, error) {
		return place{known: true, magic: 0xEF53, readOnly: true, free: 1 << 30, total: 1 << 40}, nil
	}
	return options
}

// content gives all the files of a folder.
func content(t *testing.T, folder string) (all string) {
	t.Helper()
	for name := range files(t, folder) {
		if filepath.Ext(name) != ".db-shm" { // the marks of readers are in it
			all += fmt.Sprintf("%s %x\n", name, must(os.ReadFile(filepath.Join(folder, name)))(t))
		}
	}
	return sorted(all)
}

// A backup needs no more of a database than to read it.
func TestBackupFromAReadOnlyDisk(t *testing.T) {
	closed := testOptions(t)
	s := must(Open(t.Context(), closed))(t)
	user(t, s, "ann")
	check(t, s.Close())

	live := testOptions(t)
	s = open(t, live)
	user(t, s, "ann")

	killed := testOptions(t)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		check(t, os.WriteFile(killed.Path+suffix, must(os.ReadFile(live.Path+suffix))(t), 0o600))
	}
	for name, options := range map[string]Options{"closed": closed, "beside a server": live, "of a killed server": killed} {
		t.Run(name, func(t *testing.T) {
			before := content(t, filepath.Dir(options.Path))
			reading := open(t, readOnlyDisk(options))
			report := saved(t, reading)
			if report.Rows["users"] != 1 {
				t.Errorf("it has %d users", report.Rows["users"])
			}
			if content(t, filepath.Dir(options.Path)) != before {
				t.Error("the files were changed")
			}
			if f := Diagnose(t.Context(), readOnlyDisk(options), false); f[0].Health != Fine {
				t.Errorf("doctor says %+v", f)
			}
		})
	}
	check(t, os.Remove(killed.Path+"-shm"))
	_, err := Open(t.Context(), readOnlyDisk(killed))
	wantRefused(t, err, "read-only")
	killed.Path += ".missing"
	_, err = Open(t.Context(), readOnlyDisk(killed))
	wantRefused(t, err, "there is no database")
}

// While it is read as if nobody could change it, no server starts on it.
func TestReadOnlyKeepsServersOut(t *testing.T) {
	options := testOptions(t)
	check(t, must(Open(t.Context(), options))(t).Close())
	reading := must(Open(t.Context(), readOnlyDisk(options)))(t)
	_, err := Open(t.Context(), options)
	wantRefused(t, err, "already")
	check(t, reading.Close())
	open(t, options)
}
