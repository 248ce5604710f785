package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
	"blueprintd/store/dbfile"
)

// smallBackup is the content of a backup of a database with some rows.
func smallBackup(t testing.TB) ([]byte, Options) {
	t.Helper()
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	for range 20 {
		check(t, s.Commit(t.Context(), finished(s, b, ann, bytes.Repeat([]byte("record"), 500))))
	}
	options := s.options
	options.Path = filepath.Join(t.TempDir(), "restored.db")
	return must(os.ReadFile(saved(t, s).Path))(t), options
}

// resigned returns a backup another manifest and the digest that belongs to it.
func resigned(t testing.TB, backup []byte, change func(*dbfile.Manifest)) []byte {
	t.Helper()
	file := fileWith(t, backup)
	m, seal, err := dbfile.ReadBackup(file, nil, SchemaVersion, SchemaVersion)
	check(t, err)
	change(&m)
	return withDigest(append(append(bytes.Clone(backup[:len(backup)-dbfile.TrailerSize]), must(m.Encode())(t)...), dbfile.SignatureLine(seal.MAC)...))
}

// withDigest completes a backup with the digest that belongs to it.
func withDigest(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(data, dbfile.DigestLine(sum[:])...)
}

// fileWith is an open file with some content.
func fileWith(t testing.TB, data []byte) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(path, data, 0o600))
	file := must(os.OpenFile(path, os.O_RDWR, 0))(t)
	t.Cleanup(func() { file.Close() })
	return file
}

// Every byte of a backup counts: 400 anywhere, all of SQLite's header, every third of
// the trailer, and every length but the right one.
func TestRestoreNoticesEveryByte(t *testing.T) {
	t.Parallel()
	good, options := smallBackup(t)
	random := rand.New(rand.NewPCG(1, 2))
	var offsets []int
	for range 400 {
		offsets = append(offsets, random.IntN(len(good)))
	}
	for i := range 100 {
		offsets = append(offsets, i)
	}
	for i := 0; i < dbfile.TrailerSize; i += 3 {
		offsets = append(offsets, len(good)-1-i)
	}
	file := fileWith(t, good)
	if _, _, err := dbfile.ReadBackup(file, nil, SchemaVersion, SchemaVersion); err != nil {
		t.Fatal(err)
	}
	write := func(offset int, value byte) {
		_, err := file.WriteAt([]byte{value}, int64(offset))
		check(t, err)
	}
	for i, offset := range offsets {
		changed := good[offset] ^ byte(1+random.IntN(255))
		if i%3 == 0 {
			changed = good[offset] ^ 0x20 // another case of a letter
		}
		write(offset, changed)
		if _, _, err := dbfile.ReadBackup(file, nil, SchemaVersion, SchemaVersion); err == nil {
			t.Errorf("a backup whose byte %d is %#x instead of %#x is accepted", offset, changed, good[offset])
		}
		if i%500 == 0 {
			_, err := Restore(t.Context(), file.Name(), options, RestoreOptions{})
			wantRefused(t, err, "")
		}
		write(offset, good[offset])
	}
	for _, length := range append(random.Perm(len(good))[:100], 0, 1, dbfile.TrailerSize-1, dbfile.TrailerSize, len(good)-1, len(good)-dbfile.TrailerSize) {
		if _, _, err := dbfile.ReadBackup(fileWith(t, good[:length]), nil, SchemaVersion, SchemaVersion); err == nil {
			t.Errorf("the first %d of %d bytes are taken for good, want an error", length, len(good))
		}
	}
	for _, more := range [][]byte{{0}, {'\n'}, make([]byte, 4096), good[len(good)-dbfile.TrailerSize:], good} {
		if _, _, err := dbfile.ReadBackup(fileWith(t, slices.Concat(good, more)), nil, SchemaVersion, SchemaVersion); err == nil {
			t.Errorf("%d bytes more are taken for good, want an error", len(more))
		}
	}
	if got := files(t, filepath.Dir(options.Path)); len(got) != 0 {
		t.Errorf("refusals left %v, want none", got)
	}
	must(Restore(t.Context(), file.Name(), options, RestoreOptions{}))(t)
}

// A backup changed without the master key is refused,
// with a digest that fits too, unless the operator insists.
func TestRestoreRefusesForgeries(t *testing.T) {
	s := open(t, testOptions(t))
	user(t, s, "ann")
	good := must(os.ReadFile(saved(t, s).Path))(t)
	file := fileWith(t, good)
	m, seal, err := dbfile.ReadBackup(file, nil, SchemaVersion, SchemaVersion)
	check(t, err)
	forged := bytes.Replace(good, []byte("ann@example.com"), []byte("eve@example.com"), -1)
	if bytes.Equal(forged, good) {
		t.Fatal("nothing was forged")
	}
	pages := forged[:len(forged)-dbfile.TrailerSize]
	sign := func(data []byte, key *secret.Sealer) []byte {
		data = append(bytes.Clone(data), must(m.Encode())(t)...)
		sum := sha256.Sum256(data)
		return withDigest(append(data, dbfile.SignatureLine(key.Sign(sum[:]))...))
	}
	restore := func(data []byte, o RestoreOptions) (RestoreReport, error) {
		options := s.options
		options.Path = filepath.Join(t.TempDir(), "restored.db")
		report, err := Restore(t.Context(), fileWith(t, data).Name(), options, o)
		if left := files(t, filepath.Dir(options.Path)); err != nil && len(left) != 0 {
			t.Errorf("a refusal left %v", left)
		}
		return report, err
	}
	if report, err := restore(sign(good[:len(good)-dbfile.TrailerSize], s.options.Sealer), RestoreOptions{}); err != nil || !report.Verified {
		t.Errorf("signed here, it is %v, %v", report.Verified, err)
	}
	for name, data := range map[string][]byte{
		"another page and the signature of before": withDigest(append(append(bytes.Clone(pages), must(m.Encode())(t)...), dbfile.SignatureLine(seal.MAC)...)),
		"another page, signed with another key":    sign(pages, sealer(t, 2)),
		"the bare digest as its signature":         withDigest(append(append(bytes.Clone(pages), must(m.Encode())(t)...), dbfile.SignatureLine(seal.Content)...)),
		"no signature":                             withDigest(append(append(bytes.Clone(pages), must(m.Encode())(t)...), bytes.Repeat([]byte(" "), len(dbfile.SignatureLine(seal.MAC)))...)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := restore(data, RestoreOptions{OldKeys: []*secret.Sealer{sealer(t, 3)}})
			wantRefused(t, err, "does not verify")
			if report, err := restore(data, RestoreOptions{Unverified: true}); err != nil || report.Verified {
				t.Errorf("%s, unverified: %v, %v", name, report.Verified, err)
			}
			data[100] ^= 1
			_, err = restore(data, RestoreOptions{Unverified: true})
			wantRefused(t, err, "is damaged")
		})
	}
}

// A backup that was made with an old key is verified with that, and encrypted
// with the present one.
func TestRestoreWithAnOldKey(t *testing.T) {
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	c := connection(t, s, ann, "")
	backup := saved(t, s).Path
	options, old := s.options, s.options.Sealer
	options.Path, options.Sealer = filepath.Join(t.TempDir(), "restored.db"), sealer(t, 2)
	report, err := Restore(t.Context(), backup, options, RestoreOptions{OldKeys: []*secret.Sealer{sealer(t, 3), old}})
	if err != nil || !report.Verified || report.Resealed == 0 {
		t.Fatalf("restored %+v, %v; want Verified and Resealed other than 0", report, err)
	}
	for name := range files(t, filepath.Dir(options.Path)) {
		if name != "restored.db" && name != "restored.db.lock" {
			t.Errorf("it left %s", name)
		}
	}
	copied := open(t, options)
	var used map[string]any
	check(t, copied.read(t.Context(), func(q *session) error {
		c, err := copied.scanConnection(func(into ...any) error {
			return q.row("SELECT "+connectionColumns+" FROM connections c WHERE c.id = ?", []any{c.ID}, into...)
		})
		used = c.Config
		return err
	}))
	if !cmp.Equal(used, slackConfig()) {
		t.Errorf("the connection is %v", used)
	}
}

func TestRestoreRefusesOtherFiles(t *testing.T) {
	good, options := smallBackup(t)
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	foreignDatabase(t, foreign, "CREATE TABLE theirs (x)")
	theirs := must(os.ReadFile(foreign))(t)
	crafted := func(pages []byte, change func(*dbfile.Manifest)) []byte {
		m := dbfile.NewManifest(SchemaVersion, "1.2.3", 0)
		m.PageSize, m.Pages = 4096, int64(len(pages)/4096)
		if change != nil {
			change(&m)
		}
		data := append(append(bytes.Clone(pages), must(m.Encode())(t)...), dbfile.SignatureLine(make([]byte, sha256.Size))...)
		return withDigest(data)
	}
	spoiled := bytes.Clone(good[:len(good)-dbfile.TrailerSize])
	for page := 2; page < len(spoiled)/4096; page++ { // the heads of all pages but the schema's
		for i := range 12 {
			spoiled[page*4096+i] ^= 0x5a
		}
	}
	for _, test := range []struct {
		name, want string
		data       []byte
	}{
		{"nothing", "not a complete backup", nil},
		{"text", "not a complete backup", []byte(strings.Repeat("text ", 1000))},
		{"a database of another program", "not a complete backup", theirs},
		{"a copied database", "not a complete backup", good[:len(good)-dbfile.TrailerSize]},
		{"a newer database", "written by the newer blueprintd 9.0.0", resigned(t, good, func(m *dbfile.Manifest) { m.Version, m.Schema = "9.0.0", SchemaVersion+1 })},
		{"an older database", "written by the older blueprintd 0.1.0", resigned(t, good, func(m *dbfile.Manifest) { m.Version, m.Schema = "0.1.0", 1 })},
		{"a newer form", "written by the newer blueprintd 9.0.0", resigned(t, good, func(m *dbfile.Manifest) { m.Version, m.Form = "9.0.0", m.Form+1 })},
		{"another kind", "not a complete backup", resigned(t, good, func(m *dbfile.Manifest) { m.Kind = "something else" })},
		{"other rows", "rows of users, not 7", resigned(t, good, func(m *dbfile.Manifest) { m.Rows["users"] = 7 })},
		{"another size", "its size does not match its manifest", resigned(t, good, func(m *dbfile.Manifest) { m.Pages++ })},
		{"a signed database of another program", "not a database of blueprintd", crafted(theirs, nil)},
		{"a damaged database under a good checksum", "damaged", crafted(spoiled, nil)},
		{"no database under a good checksum", "", crafted(bytes.Repeat([]byte("text"), 4096), nil)},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Restore(t.Context(), fileWith(t, test.data).Name(), options, RestoreOptions{Unverified: true})
			if test.want != "" {
				wantRefused(t, err, test.want)
			} else if err == nil {
				t.Error("it was restored, want an error")
			}
			for name := range files(t, filepath.Dir(options.Path)) { // the lock stays
				if !strings.HasSuffix(name, ".lock") {
					t.Errorf("it left %s, want \".lock\" at the end", name)
				}
			}
		})
	}
}

// An existing database is not replaced unless it is asked for, and then kept.
func TestRestoreOverADatabase(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	good, options := smallBackup(t)
	backup := fileWith(t, good).Name()
	old := must(Open(ctx, options))(t)
	user(t, old, "old")
	for _, force := range []bool{false, true} {
		_, err := Restore(ctx, backup, options, RestoreOptions{Force: force, Progress: func(stage string, _, _ int64) {
			t.Errorf("%s before it is refused", stage)
		}})
		wantRefused(t, err, "another server has the database open")
	}
	if must(old.ServerOwner(ctx))(t).Name != "old" {
		t.Errorf("a refused restore changed the database: %v, want Name old", must(old.ServerOwner(ctx))(t).Name)
	}
	tool := beside(t, old)
	check(t, old.Close())
	_, err := Restore(ctx, backup, options, RestoreOptions{})
	wantRefused(t, err, "exists already")
	_, err = Restore(ctx, backup, options, RestoreOptions{Force: true})
	wantRefused(t, err, "another program has the database")
	user(t, tool, "late") // in a log that is not checkpointed
	check(t, tool.Close())

	_, err = Restore(ctx, options.Path, options, RestoreOptions{Force: true})
	wantRefused(t, err, "")
	report := must(Restore(ctx, backup, options, RestoreOptions{Force: true}))(t)
	if want := options.Path + ".before-restore-20260301T120000.000Z"; report.Before != want {
		t.Errorf("the old one is %s, want %s", report.Before, want)
	}
	s := open(t, options)
	if name := must(s.ServerOwner(ctx))(t).Name; name != "ann" {
		t.Errorf("restored the database of %s, want ann", name)
	}
	kept := options
	kept.Path = report.Before
	if users := must(open(t, kept).Users(ctx))(t); len(users) != 2 || users[0].Name != "old" {
		t.Errorf("kept users %v, want length 2 and Name old", users)
	}
}

// A log that lies beside the old database never gets into the new one, and is
// kept with the database that it belongs to, even where that is damaged.
func TestRestoreOverLeftovers(t *testing.T) {
	t.Parallel()
	good, options := smallBackup(t)
	backup := fileWith(t, good).Name()
	old := must(Open(t.Context(), options))(t)
	user(t, old, "old")
	log, pages := must(os.ReadFile(options.Path+"-wal"))(t), must(os.ReadFile(options.Path))(t)
	check(t, old.Close())
	for name, broken := range map[string][]byte{"damaged": bytes.Repeat([]byte("x"), len(pages)), "no database": nil, "whole": pages} {
		t.Run(name, func(t *testing.T) {
			options := options
			options.Path = filepath.Join(t.TempDir(), "x.db")
			if broken != nil {
				check(t, os.WriteFile(options.Path, broken, 0o600))
			}
			check(t, os.WriteFile(options.Path+"-wal", log, 0o600))
			_, err := Restore(t.Context(), backup, options, RestoreOptions{})
			wantRefused(t, err, "exists already")
			report := must(Restore(t.Context(), backup, options, RestoreOptions{Force: true}))(t)
			if name := must(open(t, options).ServerOwner(t.Context()))(t).Name; name != "ann" {
				t.Errorf("restored the database of %s, want ann", name)
			}
			if name == "whole" {
				kept := options
				kept.Path = report.Before
				if name := must(open(t, kept).ServerOwner(t.Context()))(t).Name; name != "old" {
					t.Errorf("kept the database of %s, want old", name)
				}
			} else if kept := must(os.ReadFile(report.Before + "-wal"))(t); !bytes.Equal(kept, log) {
				t.Error("the log of the old database was not kept")
			}
		})
	}
}

// What had not ended is still there to go on, and triggers can be kept from
// starting anything.
func TestRestoreUnfinished(t *testing.T) {
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	must(s.CreateTrigger(t.Context(), ann, b.ID, blueprint.TriggerManual, nil))(t)
	running := row(s, b, ann)
	check(t, s.Commit(t.Context(), &blueprint.JournalCommit{Row: running, New: true, Entries: [][]byte{[]byte("{}")}}))
	backup := saved(t, s)
	for _, pause := range []bool{false, true} {
		options := s.options
		options.Path = filepath.Join(t.TempDir(), "r.db")
		report := must(Restore(t.Context(), backup.Path, options, RestoreOptions{PauseTriggers: pause}))(t)
		copied := open(t, options)
		if list := must(copied.Unfinished(t.Context()))(t); report.Unfinished != 1 || len(list) != 1 || list[0].ID != running.ID {
			t.Errorf("unfinished %v, reported %d; want 1, length 1 and ID %v", list, report.Unfinished, running.ID)
		}
		triggers := must(copied.ListTriggers(t.Context(), ann, b.ID))(t)
		if triggers[0].IsActive == pause || (report.Paused == 1) != pause {
			t.Errorf("paused %t: %+v, reported %d", pause, triggers[0], report.Paused)
		}
	}
}

// Sessions that ended and links that were used since the backup stay invalid.
func TestRestoreEndsSessions(t *testing.T) {
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	signedIn(t, s, ann.UserID, "a-token")
	check(t, s.CreateSetupLink(t.Context(), ann.UserID, "a-link"))
	backup := saved(t, s)
	options := s.options
	options.Path = filepath.Join(t.TempDir(), "r.db")
	report := must(Restore(t.Context(), backup.Path, options, RestoreOptions{}))(t)
	copied := open(t, options)
	_, err := copied.SetupLink(t.Context(), "a-link")
	wantCode(t, err, blueprint.CodeNotFound)
	if admitted(t, copied, "a-token") || report.Sessions != 1 {
		t.Errorf("a session still works; %d are reported to have ended", report.Sessions)
	}
	if _, hash, err := copied.Password(t.Context(), "ann@example.com"); hash != oneHash || err != nil {
		t.Errorf("the password is %q, %v; want %v", hash, err, oneHash)
	}
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
		t.Errorf("set aside as %q, want %v", before, aside)
	}
	for _, path := range []string{options.Path, aside} {
		one := options
		one.Path = path
		if name := must(open(t, one).ServerOwner(t.Context()))(t).Name; name != "ann" {
			t.Errorf("%s belongs to %s, want ann", path, name)
		}
	}
	if before := must(setAside(t.Context(), options.Path+".none", aside+"2", noLinks))(t); before != "" {
		t.Errorf("nothing was set aside as %q, want nothing", before)
	}
}
