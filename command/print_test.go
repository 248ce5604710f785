package command

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/store"
)

// Text chosen by a user is escaped before a command prints it to the terminal.
func TestCommandsEscapeUserText(t *testing.T) {
	const name = "Ada\x1b[2J \u009b31m \u202egnol\nroot\t愛 👩\u200d🚀"
	var out bytes.Buffer
	c := cli.NewContext(&cli.App{Writer: &out}, nil, nil)
	for kind, print := range map[string]func() error{
		"table": func() error { return terminal.Table(c.App.Writer, [][]string{{"NAME", "ID"}, {name, "1"}}) },
		"JSON":  func() error { return terminal.JSON(c.App.Writer, map[string]any{"name": name}) },
		"findings": func() error {
			return printFindings(c, []store.Finding{{Health: store.Broken, Check: "x", Message: name, Fix: name}})
		},
		"error": func() error {
			report(&out, blueprint.Errorf(blueprint.CodeConflict, "there is %s", name))
			return nil
		},
	} {
		t.Run(kind, func(t *testing.T) {
			out.Reset()
			if err := print(); err != nil {
				t.Fatal(err)
			}
			if text := out.String(); strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), blueprint.IsUnprintable) || !strings.Contains(text, "愛") || kind != "JSON" && strings.Contains(text, "\nroot") {
				t.Errorf("%q", text)
			}
			if kind == "JSON" {
				var back struct{ Name string }
				if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Name != name {
					t.Errorf("read back: %q, %v; want %v", back.Name, err, name)
				}
			}
		})
	}
}

// The names and the keys of files that a stranger wrote are escaped, too.
func TestCommandsEscapeFiles(t *testing.T) {
	const name, escape = "a\x1b]0;x\x07", `a\u001b]0;x\u0007`
	dir := t.TempDir()
	in := func(file string) string { return filepath.Join(dir, file) }
	for file, text := range map[string]string{
		name + ".blueprint.json":  `{"title": "x", "blueprint_map": {"nodes": [{"id": "` + escape + `", "title": "x", "type": "set", "config": {"values": {"` + escape + `": "{{"}}}], "edges": []}}`,
		name + ".test.json":       `{"blueprint": "b.blueprint.json", "tests": [{"name": "` + escape + `", "expect": {"status": "completed", "output": {"` + escape + `": 1}}}]}`,
		"b.blueprint.json":        `{"title": "x", "blueprint_map": {"nodes": [{"id": "s", "title": "x", "type": "stop", "config": {}}, {"id": "` + escape + `", "title": "x", "type": "set", "config": {"values": {}}}], "edges": [{"source": "s", "target": "` + escape + `"}]}}`,
		name + "2.test.json":      `{"` + escape + `": 1}`,
		"c.blueprint.json":        `{"title": "x", "` + escape + `": 1, "blueprint_map": {"nodes": [], "edges": []}}`,
		name + "3.blueprint.json": `{`,
	} {
		if err := os.WriteFile(in(file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(in(name+"4.blueprint.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"validate", dir}, {"validate", "--caret", dir, in(name + "4.blueprint.json"), in(name + "5.blueprint.json")}, {"test", dir}, {"test", "--tap", dir},
		{"run", in(name + ".blueprint.json")}, {"run", in(name + "3.blueprint.json")},
		{"import", "--db", in("x.db"), in(name + ".blueprint.json")}, {"sync", "--db", in("x.db"), "--name", "x", dir},
	} {
		t.Run(args[0], func(t *testing.T) {
			var out strings.Builder
			if code := run(t, append([]string{"blueprintd"}, args...), nil, &out, &out); code == 0 {
				t.Error("exit code 0")
			}
			if text := out.String(); text == "" || strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), blueprint.IsUnprintable) {
				t.Errorf("%q", text)
			}
		})
	}
}

// An error of several lines, such as one of PostgreSQL, becomes one readable line.
func TestReportJoinsLines(t *testing.T) {
	const refused = "failed to connect to `user=x`:\n\t127.0.0.1:1 (127.0.0.1): refused\n\t127.0.0.1:1 (127.0.0.1): refused\n\t[::1]:1: refused\n"
	var out bytes.Buffer
	report(&out, blueprint.Hinted("start it", "%s", refused))
	const want = "blueprintd: failed to connect to `user=x`: 127.0.0.1:1 (127.0.0.1): refused; [::1]:1: refused\nhint: start it\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
