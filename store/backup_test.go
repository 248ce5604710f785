package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/store/dbfile"
)

// saved makes a backup with the name copy.backup in a folder of its own.
func saved(t testing.TB, s *Store) BackupReport {
	t.Helper()
	return must(s.Backup(context.Background(), filepath.Join(t.TempDir(), "copy.backup"), BackupOptions{Version: "1.2.3"}))(t)
}

// restored makes a backup a database of its own and gives its options.
func restored(t testing.TB, s *Store, path string) Options {
	t.Helper()
	options := s.options
	options.Path = filepath.Join(t.TempDir(), "restored.db")
	must(Restore(context.Background(), path, options, RestoreOptions{}))(t)
	return options
}

// wantRefused checks that an error is for users, and left nothing in a folder.
func wantRefused(t testing.TB, err error, part string) {
	t.Helper()
	var refused *blueprint.Error
	if !errors.As(err, &refused) || refused.Hint == "" || !strings.Contains(refused.Message, part) {
		t.Errorf("refused with %v, want %q and a hint", err, part)
	}
}

func TestBackup(t *testing.T) {
	s := open(t, testOptions(t))
	run(t, s)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	check(t, s.Commit(t.Context(), finished(s, b, ann, []byte("record"))))
	check(t, s.Commit(t.Context(), &blueprint.JournalCommit{Row: row(s, b, ann), New: true, Entries: [][]byte{[]byte("{}")}}))

	var stages []string
	path := filepath.Join(t.TempDir(), "a b?mode=ro.backup")
	report := must(s.Backup(t.Context(), path, BackupOptions{Version: "1.2.3", Progress: func(stage string, done, total int64) {
		if len(stages) == 0 || stages[len(stages)-1] != stage {
			stages = append(stages, stage)
		}
	}}))(t)
	if want := []string{"copying", "checking the copy", "writing the checksum"}; !cmp.Equal(stages, want) {
		t.Errorf("stages %v, want %v", stages, want)
	}
	if diff := cmp.Diff([]any{int64(1), int64(2), int64(1), blueprint.TimeOf(start), "1.2.3"}, []any{report.Unfinished, report.Rows["executions"], report.Rows["users"], report.At, report.Version}); diff != "" {
		t.Errorf("unfinished, executions, users, time and version (-want +got):\n%s", diff)
	}
	info := must(os.Stat(path))(t)
	if info.Size() != report.Size || info.Mode().Perm() != 0o600 {
		t.Errorf("%d bytes of mode %o, want %v and %v", info.Size(), info.Mode().Perm(), report.Size, 0o600)
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files %v, want length 1", got)
	}
	users := 0
	check(t, withDatabase(t.Context(), path, nil, func(q *session) error {
		return q.row("SELECT count(*) FROM users", nil, &users)
	}))
	if users != 1 {
		t.Errorf("as a database it has %d users, want 1", users)
	}

	_, err := s.Backup(t.Context(), path, BackupOptions{})
	wantRefused(t, err, "exists already")
	again := must(s.Backup(t.Context(), path, BackupOptions{Force: true}))(t)
	if again.Digest == report.Digest { // the program's version differs
		t.Errorf("the file was not replaced: %v, want Digest other than %v", again.Digest, report.Digest)
	}
	for _, name := range []string{s.options.Path, s.options.Path + "-wal", s.options.Path + ".lock"} {
		_, err := s.Backup(t.Context(), name, BackupOptions{Force: true})
		wantRefused(t, err, "cannot be written")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Backup(ended, path+"2", BackupOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a backup that was cancelled returns %v, want %v", err, context.Canceled)
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files %v, want length 1", got)
	}
}

// Only one backup of a name is written at a time; what a killed one left is
// removed, even when it is a second name of a finished one.
func TestBackupPartial(t *testing.T) {
	s := open(t, testOptions(t))
	path := filepath.Join(t.TempDir(), "x")
	check(t, os.WriteFile(path+".partial", nil, 0o600)) // left by a killed backup
	check(t, os.WriteFile(path+".partial-journal", []byte("this too"), 0o600))
	must(s.Backup(t.Context(), path, BackupOptions{}))(t)
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files %v, want length 1", got)
	}
	check(t, os.Link(path, path+".partial")) // killed between giving the name and taking the other away
	check(t, os.Link(path, path+".kept"))
	want := must(os.ReadFile(path))(t)
	must(s.Backup(t.Context(), path, BackupOptions{Force: true, Version: "2"}))(t)
	if got := must(os.ReadFile(path + ".kept"))(t); !bytes.Equal(got, want) {
		t.Error("a finished backup was written to")
	}
	other := must(dbfile.ClaimPartial(path + ".partial"))(t)
	_, err := s.Backup(t.Context(), path, BackupOptions{Force: true})
	wantRefused(t, err, "another backup")
	check(t, other.Close())
	must(s.Backup(t.Context(), path, BackupOptions{Force: true}))(t)
}

// A backup that is taken while many write has all that was acknowledged before
// it began, and it has the state of one moment: of each writer a first part of
// what it wrote, and of all of them one without holes.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	const writers, backups = 4, 3
	s := open(t, testOptions(t))
	stop := run(t, s)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	var acknowledged [writers]atomic.Int64
	done := make(chan struct{})
	var group sync.WaitGroup
	record := bytes.Repeat([]byte("0123456789abcdef"), 4)
	for w := range writers {
		group.Go(func() {
			for n := int64(1); ; n++ {
				commit := finished(s, b, ann, record)
				commit.Row.ID = fmt.Sprintf("%d/%d", w, n)
				if err := s.Commit(context.Background(), commit); err != nil {
					t.Error(err)
					return
				}
				acknowledged[w].Store(n)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	tool := beside(t, s)
	for i := range backups {
		eventually(t, "something new is written", func() bool { return acknowledged[0].Load() > int64(50*(i+1)) })
		var before [writers]int64
		for w := range before {
			before[w] = acknowledged[w].Load()
		}
		report := saved(t, tool)
		copied := open(t, restored(t, s, report.Path))
		check(t, copied.read(t.Context(), func(q *session) error {
			total := int64(0)
			for w := range before {
				var count, last int64
				const query = "SELECT count(*), coalesce(max(CAST(substr(id, 3) AS INTEGER)), 0) FROM executions WHERE id LIKE ? || '/%'"
				if err := q.row(query, []any{w}, &count, &last); err != nil {
					return err
				}
				if count != last || last < before[w] {
					t.Errorf("backup %d: writer %d has %d runs up to %d; %d were acknowledged before, want %v and at least %v", i, w, count, last, before[w], last, before[w])
				}
				total += count
			}
			var last int64
			if err := q.row("SELECT max(seq) FROM executions", nil, &last); err != nil {
				return err
			}
			if last != total || total != report.Rows["executions"] {
				t.Errorf("backup %d: %d runs, the last has number %d, reported %d", i, total, last, report.Rows["executions"])
			}
			return nil
		}))
	}
	close(done)
	group.Wait()
	check(t, stop())
}

// Nothing that was entrusted as a secret can be read in a backup.
func TestBackupKeepsSecrets(t *testing.T) {
	const canary = "canary-5f0c2e81b7"
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	b := must(s.CreateBlueprint(t.Context(), ann, blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), Variables: []any{map[string]any{"name": "TOKEN", "default": canary, "secret": true}}}))(t)
	must(s.CreateTrigger(t.Context(), ann, b.ID, blueprint.TriggerWebhook, map[string]any{"secret": canary}))(t)
	must(s.CreateKey(t.Context(), ann.UserID, "key", canary))(t)
	report := saved(t, s)
	data := must(os.ReadFile(report.Path))(t)
	if bytes.Contains(data, []byte(canary)) {
		t.Error("a secret can be read in the backup")
	}
	if bytes.Contains(data, bytes.Repeat([]byte{1}, 32)) {
		t.Error("the master key is in the backup")
	}

	options := s.options
	options.Path, options.Sealer = filepath.Join(t.TempDir(), "r.db"), sealer(t, 2)
	_, err := Restore(t.Context(), report.Path, options, RestoreOptions{})
	wantRefused(t, err, "does not verify")
	_, err = Restore(t.Context(), report.Path, options, RestoreOptions{Unverified: true})
	wantRefused(t, err, "another master key")
	options.Sealer = nil
	_, err = Restore(t.Context(), report.Path, options, RestoreOptions{})
	wantRefused(t, err, "there is no master key to verify")
	_, err = Restore(t.Context(), report.Path, options, RestoreOptions{Unverified: true})
	wantRefused(t, err, "there is no master key")
	if _, err := os.Stat(options.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was restored")
	}
	copied := open(t, restored(t, s, report.Path))
	if got := must(copied.GetBlueprint(t.Context(), ann, b.ID))(t); !strings.Contains(fmt.Sprint(got.EnvironmentVariables), canary) {
		t.Errorf("restored variables %+v, want %q in it", got.EnvironmentVariables, canary)
	}
}

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
			t.Errorf("%s was changed, or made; want %v", name, before[name])
		}
	}
	put("old", string(good))
	must(s.Backup(t.Context(), path("old"), BackupOptions{Force: true}))(t)
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
		t.Errorf("it left %v, want none", got)
	}
	report := must(s.Backup(t.Context(), path, BackupOptions{AllowDamaged: true}))(t)
	if report.Damaged == nil || report.Damaged.Count != 12 || len(report.Damaged.IDs) != 10 {
		t.Errorf("reported %+v, want not nil, Count 12 and length 10", report.Damaged)
	}
	options.Path = filepath.Join(t.TempDir(), "r.db")
	again := must(Restore(t.Context(), path, options, RestoreOptions{}))(t)
	if again.Damaged == nil || again.Damaged.Count != 12 {
		t.Errorf("restored %+v, want not nil and Count 12", again.Damaged)
	}
}
