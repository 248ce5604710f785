package store

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
)

func TestFileSystems(t *testing.T) {
	for _, test := range []struct {
		place          FileSystem
		allow          bool
		warns, refuses string
	}{
		{place: FileSystem{}},
		{place: FileSystem{Known: true, Magic: 0xEF53}},
		{place: FileSystem{Known: true, Magic: 0x794C7630}},
		{place: FileSystem{Known: true, Magic: 0x12345678}},
		{place: FileSystem{Known: true, Magic: 0x6969}, refuses: "network file system (NFS)"},
		{place: FileSystem{Known: true, Magic: 0xFF534D42}, refuses: "network file system (CIFS)"},
		{place: FileSystem{Known: true, Magic: 0xFE534D42}, refuses: "network file system (SMB)"},
		{place: FileSystem{Known: true, Magic: 0x01021997}, refuses: "network file system (9P)"},
		{place: FileSystem{Known: true, Magic: 0x00C36400}, refuses: "network file system (Ceph)"},
		{place: FileSystem{Known: true, Magic: 0x47504653}, refuses: "network file system (GPFS)"},
		{place: FileSystem{Known: true, Magic: 0x6969}, allow: true, warns: "network file system (NFS)"},
		{place: FileSystem{Known: true, Magic: 0x65735546}, warns: "FUSE"},
		{place: FileSystem{Known: true, Magic: 0x01021994}, warns: "gone at the next start"},
		{place: FileSystem{Known: true, Magic: 0xEF53, ReadOnly: true}, refuses: "mounted read-only"},
	} {
		var log bytes.Buffer
		options := testOptions(t)
		options.Logger = slog.New(slog.NewTextHandler(&log, nil))
		options.AllowNetworkFS = test.allow
		options.fileSystem = func(string) (FileSystem, error) { return test.place, nil }
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
