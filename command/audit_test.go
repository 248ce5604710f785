package command

import (
	"io"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/process"
	"blueprintd/tests/servertest"
)

// The operator sees every entry, including those without an organization, and control
// characters in the name of a user are escaped.
func TestAuditList(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/b.db"
	s := servertest.New(t, servertest.OnFile(path))
	eve := s.NewUser(t, "eve")
	if _, err := s.Store.RenameUser(t.Context(), blueprint.Principal{UserID: eve.ID}, "eve\x1b[2J"); err != nil {
		t.Fatal(err)
	}
	eve.OK(t, "apiKey.create", process.Object{"name": "laptop"})
	s.Stop()
	for _, args := range [][]string{{"user", "add", "--email", "ben@example.org", "--db", path}, {"master-key", "rotate", "--db", path}} {
		output(t, args...)
	}
	out := output(t, "audit", "list", "--db", path)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 5 {
		t.Fatalf("%v, want length 5", out)
	}
	for i, want := range []string{"AT", "masterKey.rotate", "user.link", "user.add", "apiKey.create"} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d: %s, want %s", i, lines[i], want)
		}
	}
	if strings.Contains(out, "\x1b") || !strings.Contains(lines[4], eve.ID) {
		t.Errorf("%q", lines[4])
	}
	out = output(t, "audit", "list", "--limit", "1", "--json", "--db", path)
	list, _ := servertest.Decoded(t, out).([]any)
	if len(list) != 1 || process.At(list[0], "action") != "masterKey.rotate" || process.At(list[0], "organizationId") != "" {
		t.Errorf("%v, want length 1, action masterKey.rotate and organizationId nothing", out)
	}
	refused := &process.Output{}
	if code := run(t, []string{"blueprintd", "audit", "list", "--limit", "0", "--db", path}, nil, io.Discard, refused); code != ExitUsage || !strings.Contains(refused.String(), "--limit") {
		t.Errorf("%d, %s; want %v and \"--limit\" in it", code, refused, ExitUsage)
	}
}
