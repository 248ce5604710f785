package store

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func TestFileSystems(t *testing.T) {
	for _, test := range []struct {
		place          place
		allow          bool
		warns, refuses string
	}{
		{place: place{}},
		{place: place{known: true, magic: 0xEF53}},
		{place: place{known: true, magic: 0x794C7630}},
		{place: place{known: true, magic: 0x12345678}},
		{place: place{known: true, magic: 0x6969}, refuses: "network file system (NFS)"},
		{place: place{known: true, magic: 0xFF534D42}, refuses: "network file system (CIFS)"},
		{place: place{known: true, magic: 0xFE534D42}, refuses: "network file system (SMB)"},
		{place: place{known: true, magic: 0x01021997}, refuses: "network file system (9P)"},
		{place: place{known: true, magic: 0x00C36400}, refuses: "network file system (Ceph)"},
		{place: place{known: true, magic: 0x47504653}, refuses: "network file system (GPFS)"},
		{place: place{known: true, magic: 0x6969}, allow: true, warns: "network file system (NFS)"},
		{place: place{known: true, magic: 0x65735546}, warns: "FUSE"},
		{place: place{known: true, magic: 0x01021994}, warns: "gone at the next start"},
		{place: place{known: true, magic: 0xEF53, readOnly: true}, refuses: "mounted read-only"},
	} {
		var log bytes.Buffer
		options := testOptions(t)
		options.Logger = slog.New(slog.NewTextHandler(&log, nil))
		options.AllowNetworkFS = test.allow
		options.lookAt = func(string) (place, error) { return test.place, nil }
		if test.refuses != "" {
			wantRefusal(t, options, test.refuses)
			if found := files(t, strings.TrimSuffix(options.Path, "test.db")); len(found) != 0 {
				t.Errorf("%+v: files %v", test.place, found)
			}
			continue
		}
		check(t, must(Open(context.Background(), options))(t).Close())
		if said := log.String(); test.warns == "" && said != "" || !strings.Contains(said, test.warns) || said != "" && !strings.Contains(said, "hint=") {
			t.Errorf("%+v: the log says %q, want %q", test.place, said, test.warns)
		}
	}
}

func TestReserve(t *testing.T) {
	const mib, tib = 1 << 20, 1 << 40
	for _, test := range []struct {
		place         place
		minFree, want int64
	}{
		{place{known: true, total: tib}, 0, 64 * mib},
		{place{known: true, total: 100 * mib}, 0, 5 * mib},
		{place{known: true, total: 100 * mib}, 50 * mib, 50 * mib},
		{place{known: true, total: tib}, -1, 0},
		{place{}, 50 * mib, 0},
	} {
		if got := test.place.reserve(test.minFree); got != test.want {
			t.Errorf("%+v, %d: %d, want %d", test.place, test.minFree, got, test.want)
		}
	}
}

// With little room left no run begins, those under way end, everything can be
// read, and room alone makes it good again.
func TestNarrowDisk(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	free := int64(1 << 40)
	options.lookAt = func(string) (place, error) {
		return place{known: true, magic: 0xEF53, free: free, total: 1 << 40}, nil
	}
	s := open(t, options)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	begin := func() (*blueprint.JournalCommit, error) {
		commit := &blueprint.JournalCommit{Row: row(s, b, ann), New: true, Entries: [][]byte{[]byte(`{}`)}}
		return commit, s.Commit(ctx, commit)
	}
	under, err := begin()
	check(t, err)
	s.measure()
	for range 2 {
		free = 64<<20 - 1
		s.measure()
		_, err := begin()
		var told *blueprint.Error
		if !errors.As(err, &told) || told.Code != blueprint.CodeUnavailable || told.RetryAfter == 0 || told.Hint == "" {
			t.Errorf("told %v", err)
		}
		wantCode(t, s.RecordFiring(ctx, blueprint.Firing{}), blueprint.CodeUnavailable)
		under.New = false
		check(t, s.Commit(ctx, under))
		must(s.Load(ctx, under.Row.ID))(t)
		free = 64 << 20
		s.measure()
		_, err = begin()
		check(t, err)
	}
}
