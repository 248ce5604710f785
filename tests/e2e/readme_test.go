package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/tests/process"
)

// readmeBlock returns the block of YAML of README.md that begins with a text.
func readmeBlock(t *testing.T, begin string) string {
	t.Helper()
	text, err := os.ReadFile(process.File(t, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), "```yaml\n"+begin)
	block, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatalf("README.md has no block that begins with %q", begin)
	}
	return begin + block
}

// TestReadmeExamples tries the files that the README shows, as they are printed.
func TestReadmeExamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	order, err := os.ReadFile(process.File(t, "testdata/blueprints/order.blueprint.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"order.blueprint.yaml": string(order), "order.test.yaml": readmeBlock(t, "blueprint: order.blueprint.yaml\n"), "seed.yaml": readmeBlock(t, "users:\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hello := `blueprintd run testdata/blueprints/hello.blueprint.yaml --input '{"name": "Ada"}'`
	if text, err := os.ReadFile(process.File(t, "README.md")); err != nil || !strings.Contains(string(text), hello) {
		t.Errorf("README.md does not say %s: %v", hello, err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"test", dir}, "1 passed; "},
		{[]string{"run", process.File(t, "testdata/blueprints/hello.blueprint.yaml"), "--input", `{"name": "Ada"}`}, "Hello, Ada!"},
	} {
		if r := process.Run(t, c.args...); r.Code != 0 || !strings.Contains(r.Out, c.want) {
			t.Errorf("%s: %d\n%s", c.args[0], r.Code, r.Said())
		}
	}
	p := process.Serve(t, "--ephemeral", "--seed", filepath.Join(dir, "seed.yaml"))
	if got, _ := at(p.Query("blueprint.list", object{}), "data").([]any); len(got) != 1 || at(got[0], "title") != "Hello" {
		t.Errorf("seeded %v", got)
	}
}
