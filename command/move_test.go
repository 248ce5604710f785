package command

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDatabaseFlags runs the commands that copy a database with flags that name no database or
// two. No answer repeats a password.
func TestDatabaseFlags(t *testing.T) {
	folder := t.TempDir()
	key, missing := filepath.Join(folder, "a.key"), filepath.Join(folder, "missing.db")
	output(t, "master-key", "create", key)
	const database = "postgres://ann:canary@127.0.0.1:1/x"
	for _, c := range []struct {
		args        string
		code        int
		says, hints string
	}{
		{"move", 2, "move needs --from", "blueprintd move --from"},
		{"move --from a.db", 2, "move needs --to", "blueprintd move --from"},
		{"move --from a.db --to b.db", 2, "--from and --to are both files", "blueprintd backup"},
		{"move a.db --to b.db", 2, "takes no arguments", "--help"},
		{"move --from a.db --to mysql://ann:canary@host/x", 2, "--to: begins neither with postgres://", "--to postgres://USER@HOST/NAME"},
		{"move --from postgres://ann:canary@127.0.0.1:1/%zz --to b.db", 2, "--from: cannot be read as a URL", "--from postgres://USER@HOST/NAME"},
		{"move --from " + database + " --to b.db", 2, "move needs its --master-key-file", "--master-key-file"},
		{"move --from " + missing + " --to " + database, 1, "there is no database " + missing, "--from"},
		{"move --from " + folder + " --to " + database, 1, "is a folder", "--from"},
		{"move --from " + database + " --to " + folder + "/none/b.db --master-key-file " + key, 1, "the folder " + folder + "/none", "--to"},
		{"move --from " + database + " --to b.db --master-key-file " + key + ".none", 1, "there is no master key", "--master-key-file"},
		{"backup x.backup --database " + database, 2, "--database needs --master-key-file", "master-key create"},
		{"backup x.backup --database " + database + " --db a.db", 2, "--db names a file", "leave one of them out"},
		{"restore x.backup --database " + database, 2, "--database needs --master-key-file", "master-key create"},
		{"doctor --database " + database, 2, "--database needs --master-key-file", "master-key create"},
		{"doctor --database " + database + " --min-free 5MiB --master-key-file " + key, 2, "--min-free", "leave one of them out"},
		{"doctor --database " + database + " --master-key-file " + key, 1, "doctor found 1 problem", "apply the fixes"},
		{"master-key rotate --database " + database, 2, "--database needs --master-key-file", "master-key create"},
	} {
		t.Run(c.args, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := run(t, append([]string{"blueprintd"}, strings.Fields(c.args)...), nil, &stdout, &stderr)
			said := strings.Split(stderr.String()+"\n", "\n")
			if code != c.code || !strings.Contains(said[0], c.says) || !strings.Contains(said[1], c.hints) {
				t.Errorf("exit code %d, said %q, want %d, %q and %q", code, stderr.String(), c.code, c.says, c.hints)
			}
			if strings.Contains(stdout.String()+stderr.String(), "canary") {
				t.Errorf("the password is in %q", stdout.String()+stderr.String())
			}
		})
	}
}
