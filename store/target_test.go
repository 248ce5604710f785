package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Neither a backup nor a restore writes to, or removes, what is not its own.
func TestOthersFilesAreKept(t *testing.T) {
	good, options := smallBackup(t)
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	put := func(name, content string) { check(t, os.WriteFile(path(name), []byte(content), 0o600)) }
	options.Path = path("y.partial")
	s := open(t, options)
	ann := user(t, s, "ann")
	_ = ann
	put("y.partial.key", "the key")
	put("k2", "another key")
	check(t, os.Link(path("k2"), path("k2.other")))
	put("letter", "Dear diary")
	put("n.partial", "Dear diary, this is about something that is not finished.")
	put("z.restoring", string(good))
	put("z2.restoring", "Dear diary")
	put("z3.lock", string(good))
	before := map[string][]byte{}
	for name := range files(t, folder) {
		before[name] = must(os.ReadFile(path(name)))(t)
	}
	o := BackupOptions{Force: true, KeyFile: path("k2")}
	for _, name := range []string{"y.partial.key", "k2", "k2.other", "y", "y.partial", "y.partial-wal", "y.partial-journal", "y.partial.lock", "letter", "n", "new.partial"} {
		_, err := s.Backup(t.Context(), path(name), o)
		wantRefused(t, err, "")
	}
	other := options
	for from, to := range map[string]string{"z.restoring": "z", "z3.lock": "z3"} {
		other.Path = path(to)
		_, err := Restore(t.Context(), path(from), other, RestoreOptions{Force: true})
		wantRefused(t, err, "cannot be written")
	}
	backup := fileWith(t, good).Name()
	other.Path = path("z")
	_, err := Restore(t.Context(), backup, other, RestoreOptions{})
	wantRefused(t, err, "in the way")
	other.Path = path("z2")
	_, err = Restore(t.Context(), backup, other, RestoreOptions{})
	wantRefused(t, err, "in the way")
	other.Path = path("k2.other")
	_, err = Restore(t.Context(), backup, other, RestoreOptions{Force: true, KeyFile: path("k2")})
	wantRefused(t, err, "cannot be written")
	for name := range files(t, folder) {
		if after := must(os.ReadFile(path(name)))(t); !bytes.Equal(after, before[name]) {
			t.Errorf("%s was changed, or made", name)
		}
	}
	put("old", string(good))
	must(s.Backup(t.Context(), path("old"), BackupOptions{Force: true}))(t)
}

// Without hard links the old database is copied, and never gone meanwhile.
func TestSetAsideWithoutLinks(t *testing.T) {
	options := testOptions(t)
	s := must(Open(t.Context(), options))(t)
	user(t, s, "ann")
	check(t, s.Close())
	aside := options.Path + ".aside"
	noLinks := func(from, _ string) error {
		if _, err := os.Stat(from); err != nil {
			return err
		}
		return errors.ErrUnsupported
	}
	if before := must(setAside(t.Context(), options.Path, aside, noLinks))(t); before != aside {
		t.Errorf("set aside as %q", before)
	}
	for _, path := range []string{options.Path, aside} {
		one := options
		one.Path = path
		if name := must(open(t, one).FirstUser(t.Context()))(t).Name; name != "ann" {
			t.Errorf("%s belongs to %s", path, name)
		}
	}
	if before := must(setAside(t.Context(), options.Path+".none", aside+"2", noLinks))(t); before != "" {
		t.Errorf("nothing was set aside as %q", before)
	}
}

// A turned bit in what runs left behind is found, named, and not copied unasked.
func TestDamagedRuns(t *testing.T) {
	options := testOptions(t)
	s := open(t, options)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	var ids []string
	for i := range 12 {
		c := finished(s, b, ann, []byte(fmt.Sprintf(`{"marker":"ABCDEFGHIJKL%d"}`, i)))
		check(t, s.Commit(t.Context(), c))
		ids = append(ids, c.Row.ID)
	}
	check(t, s.Close())
	data := must(os.ReadFile(options.Path))(t)
	data = bytes.ReplaceAll(data, []byte("ABCDEFGHIJKL"), []byte("ABCDEFGHIJKM"))
	check(t, os.WriteFile(options.Path, data, 0o600))
	found := false
	for _, f := range Diagnose(t.Context(), options, true) {
		if f.Check == "runs" {
			found = f.Health == Broken && f.Fix != "" && bytes.Contains([]byte(f.Message), []byte(ids[0])) && bytes.Contains([]byte(f.Message), []byte("and 2 more"))
		}
	}
	if !found {
		t.Errorf("found %+v", Diagnose(t.Context(), options, true))
	}
	s = open(t, options)
	path := filepath.Join(t.TempDir(), "b")
	_, err := s.Backup(t.Context(), path, BackupOptions{})
	wantRefused(t, err, ids[0])
	if got := files(t, filepath.Dir(path)); len(got) != 0 {
		t.Errorf("it left %v", got)
	}
	report := must(s.Backup(t.Context(), path, BackupOptions{AllowDamaged: true}))(t)
	if report.Damaged == nil || report.Damaged.Count != 12 || len(report.Damaged.IDs) != 10 {
		t.Errorf("reported %+v", report.Damaged)
	}
	options.Path = filepath.Join(t.TempDir(), "r.db")
	again := must(Restore(t.Context(), path, options, RestoreOptions{}))(t)
	if again.Damaged == nil || again.Damaged.Count != 12 {
		t.Errorf("restored %+v", again.Damaged)
	}
}
