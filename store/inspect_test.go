package store

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"blueprintd/store/dbfile"
)

func TestFileSystems(t *testing.T) {
	for _, test := range []struct {
		place          dbfile.FileSystem
		allow          bool
		warns, refuses string
	}{
		{place: dbfile.FileSystem{}},
		{place: dbfile.FileSystem{Known: true, Magic: 0xEF53}},
		{place: dbfile.FileSystem{Known: true, Magic: 0x794C7630}},
		{place: dbfile.FileSystem{Known: true, Magic: 0x12345678}},
		{place: dbfile.FileSystem{Known: true, Magic: 0x6969}, refuses: "network file system (NFS)"},
		{place: dbfile.FileSystem{Known: true, Magic: 0xFF534D42}, refuses: "network file system (CIFS)"},
		{place: dbfile.FileSystem{Known: true, Magic: 0xFE534D42}, refuses: "network file system (SMB)"},
		{place: dbfile.FileSystem{Known: true, Magic: 0x01021997}, refuses: "network file system (9P)"},
		{place: dbfile.FileSystem{Known: true, Magic: 0x00C36400}, refuses: "network file system (Ceph)"},
		{place: dbfile.FileSystem{Known: true, Magic: 0x47504653}, refuses: "network file system (GPFS)"},
		{place: dbfile.FileSystem{Known: true, Magic: 0x6969}, allow: true, warns: "network file system (NFS)"},
		{place: dbfile.FileSystem{Known: true, Magic: 0x65735546}, warns: "FUSE"},
		{place: dbfile.FileSystem{Known: true, Magic: 0x01021994}, warns: "gone at the next start"},
		{place: dbfile.FileSystem{Known: true, Magic: 0xEF53, ReadOnly: true}, refuses: "mounted read-only"},
	} {
		t.Run(fmt.Sprintf("%+v allowed %v", test.place, test.allow), func(t *testing.T) {
			var log bytes.Buffer
			options := testOptions(t)
			options.Logger = slog.New(slog.NewTextHandler(&log, nil))
			options.AllowNetworkFS = test.allow
			options.fileSystem = func(string) (dbfile.FileSystem, error) { return test.place, nil }
			if test.refuses != "" {
				wantRefusal(t, options, test.refuses)
				if found := files(t, strings.TrimSuffix(options.Path, "test.db")); len(found) != 0 {
					t.Errorf("%+v: files %v, want none", test.place, found)
				}
				return
			}
			check(t, must(Open(context.Background(), options))(t).Close())
			if said := log.String(); test.warns == "" && said != "" || !strings.Contains(said, test.warns) || said != "" && !strings.Contains(said, "hint=") {
				t.Errorf("%+v: the log says %q, want %q", test.place, said, test.warns)
			}
		})
	}
}
