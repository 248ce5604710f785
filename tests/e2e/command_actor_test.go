package e2e

import (
	"database/sql"
	"os/exec"
	"strings"
	"testing"

	"blueprintd/tests/process"
)

// Changes made on the command line are in the audit log without a user.
func TestCommandsAreNoted(t *testing.T) {
	t.Parallel()
	path := process.Path(t)
	folder := t.TempDir()
	database := folder + "/blueprintd.db"
	do := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(path, append(args, "--db", database)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v %s", args, err, out)
		}
		return string(out)
	}
	do("user", "add", "--email", "ada@example.org", "--name", "Ada")
	do("key", "create", "--user", "ada@example.org", "--name", "laptop")
	for _, word := range strings.Fields(do("key", "list")) {
		if strings.HasPrefix(word, "01") && len(word) == 26 {
			do("key", "revoke", word)
		}
	}
	do("import", process.File(t, "testdata/blueprints/hello.blueprint.yaml"))
	do("master-key", "rotate")
	do("backup", folder+"/a.backup")
	do("restore", folder+"/a.backup", "--force")
	db, err := sql.Open("sqlite", "file:"+database+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got string
	const query = "SELECT group_concat(line, ', ') FROM (SELECT action || ' ' || target_type AS line FROM audit_log WHERE actor_id = '' AND via = 'cli' ORDER BY seq)"
	if err := db.QueryRow(query).Scan(&got); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"user.add user", "key.create key", "key.revoke key", "blueprint.import blueprint", "blueprint.import trigger", "masterKey.rotate database", "database.restore database"} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %q in %s", want, got)
		}
	}
}
