package api

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestBadFiles passes hostile files to every command that reads one: each prints one line
// with the place of the error, and import stores nothing, not even the valid file before
// it.
func TestBadFiles(t *testing.T) {
	v := newVictim(t)
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good.blueprint.yaml", "title: good\nblueprint_map: {nodes: [{id: a, type: merge, title: a, config: {}}]}\n")
	pointed := regexp.MustCompile(`:[0-9]+:[0-9]+: `)
	v.unharmed(t, func() {
		for _, bad := range []struct {
			name, text, wants string
			validate          int // exit code of validate; run and import return 2
		}{
			{"empty.blueprint.yaml", "", "the file is empty", 1},
			{"nul.blueprint.yaml", "title: a\x00b\nblueprint_map: {nodes: []}\n\x00", "", 1},
			{"bytes.blueprint.yaml", "title: \xff\xfe\n", "is not valid UTF-8", 1},
			{"bytes.blueprint.json", "{\"title\":\"\xff\"}", "is not valid UTF-8", 1},
			{"half.blueprint.json", `{"title":"t","blueprint_map":{"nodes":[`, "ends unexpectedly", 1},
			{"two.blueprint.json", `{"title":"t"} {}`, "", 1},
			{"two.blueprint.yaml", "title: a\n---\ntitle: b\n", "a second document", 1},
			{"deep.blueprint.json", strings.Repeat(`{"a":`, 100_000), "nested deeper than 128 levels", 1},
			{"deep.blueprint.yaml", strings.Repeat("[", 100_000), "nested deeper than 128 levels", 1},
			{"alias.blueprint.yaml", "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + strings.Repeat("- *a\n", 2), "", 1},
			{"laughs.blueprint.yaml", laughs(), "aliases add more than", 1},
			{"itself.blueprint.yaml", "title: &t [*t]\n", `this alias (*name) has no anchor`, 1},
			{"list.blueprint.yaml", "- a\n", "a blueprint file is an object", 1},
			{"title.blueprint.yaml", "title: 5\nblueprint_map: {nodes: []}\n", "title: must be a string", 1},
			{"many.blueprint.json", `{"title":"t","blueprint_map":{"nodes":[` + strings.Repeat(`1,`, 100_000) + `1]}}`, "must hold at most 10000 nodes", 1},
			{"edges.blueprint.json", `{"title":"t","blueprint_map":{"nodes":[],"edges":[` + strings.Repeat(`1,`, 100_000) + `1]}}`, "edges[0]: must be an object", 1},
			{"cycle.blueprint.yaml", "title: t\nblueprint_map:\n  nodes: [{id: a, type: merge, title: a, config: {}}]\n  edges: [{source: a, target: a}]\n", "form a cycle: a -> a", 1},
			{"long.blueprint.json", `{"title":"` + strings.Repeat("x", 1<<20) + `","blueprint_map":{"nodes":[]}}`, "title: must have at most 500 characters", 1},
			{"number.blueprint.json", `{"title":` + strings.Repeat("9", 1<<20) + `,"blueprint_map":{"nodes":[]}}`, "title: must be a string", 1},
			{"huge.blueprint.json", strings.Repeat(" ", 21<<20) + "{}", "it is larger than", 2},
			{"cron.blueprint.yaml", "title: t\nblueprint_map: {nodes: [{id: a, type: merge, title: a, config: {}}]}\ntriggers: [{triggerType: scheduled, config: {cron: '0 0 30 2 *'}}]\n", "triggers[0].config.cron", 1},
		} {
			t.Run(bad.name, func(t *testing.T) {
				path := file(bad.name, bad.text)
				for _, command := range []struct {
					args []string
					code int
				}{
					{[]string{"validate", path}, bad.validate}, {[]string{"run", path}, 2}, {[]string{"import", good, path, "--db", v.Options.DB}, 2},
				} {
					t.Run(command.args[0], func(t *testing.T) {
						var stdout, stderr bytes.Buffer
						var code int
						used := allocated(func() { code = run(append([]string{"blueprintd"}, command.args...), nil, &stdout, &stderr) })
						text := stdout.String() + stderr.String()
						if code != command.code || !strings.Contains(text, bad.wants) || bad.validate == 1 && !pointed.MatchString(text) || len(text) > 1<<20 {
							t.Errorf("%s %s: exit code %d, want %d\n%.600s", command.args[0], bad.name, code, command.code, text)
						}
						if bound := 64*float64(len(bad.text)) + 200<<20; used > bound {
							t.Errorf("%s %s: %.1f MiB for %d bytes, want at most %v", command.args[0], bad.name, used/(1<<20), len(bad.text), bound)
						}
					})
				}
			})
		}
	})
}

// laughs is nine lists of ten aliases each to the one before.
func laughs() string {
	var text strings.Builder
	text.WriteString("a: &a [x, x, x, x, x, x, x, x, x, x]\n")
	for name := byte('b'); name < 'j'; name++ {
		text.WriteString(string(name) + ": &" + string(name) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(name-1)+", ", 10), ", ") + "]\n")
	}
	return text.String()
}

// TestBadArguments passes invalid arguments to the commands.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	good := filepath.Join("..", "..", "testdata", "blueprints", "hello.blueprint.yaml")
	for _, args := range [][]string{
		{"run", good, "--input", "{"}, {"run", good, "--input", strings.Repeat("[", 100_000)}, {"run", good, "--input", "{\"a\":\"\xff\"}"}, {"run", good, "--var", "novalue"}, {"run", good, "--var", "=x"}, {"run", good, "--var", "x=\xff"},
		{"run", filepath.Join("..", "..", "testdata", "nothing")}, {"run", "../../testdata"}, {"validate", ""}, {"validate"}, {"export", "not-an-id", "--ephemeral"}, {"serve", "--max-body", "-1"}, {"serve", "--max-body", "9999999999TiB"},
		{"serve", "--clock", "virtual=yesterday"}, {"serve", "--addr", "nowhere"}, {"serve", "--addr", "h:99999"}, {"serve", "--rate-limit", "NaN"}, {"serve", "--allow-net", "10.0.0.0/99"}, {"serve", "--api-key", "a\x00b\x00c\x00d"},
		{"serve", "--public-url", "file:///etc"}, {"serve", "--trusted-proxy", "here"}, {"serve", "--trusted-proxy", "10.0.0.0/33"}, {"serve", "--ready-file", filepath.Join("..", "..", "testdata", "nothing", "ready")}, {"\x00"}, {strings.Repeat("x", 100_000)},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(append([]string{"blueprintd"}, args...), nil, &stdout, &stderr); code != 2 || !strings.HasPrefix(stderr.String(), "blueprintd: ") || strings.Count(stderr.String(), "\n") > 3 {
			t.Errorf("%.80q: exit code %d\n%.400s, want 2, \"blueprintd: \" at the start and at most 3", args, code, stderr.String())
		}
	}
}
