package command

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

// TestHelp compares the help of every command with testdata/help, so that a review
// shows each changed sentence. Run it with -update to write the files.
func TestHelp(t *testing.T) {
	seen := map[string]bool{}
	eachCommand(application(Program{}, nil, io.Discard, io.Discard).Commands, nil, func(words []string, command *cli.Command) {
		name := strings.Join(words, "-") + ".txt"
		seen[name] = true
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			got := helpOf(t, append(words, "--help"))
			if command.Usage == "" || strings.Contains(command.Usage, "\n") || strings.HasSuffix(command.Usage, ".") {
				t.Errorf("the description is %q, want one line without a full stop", command.Usage)
			}
			if command.Subcommands == nil {
				if command.UsageText == "" {
					t.Error("the help has no examples")
				}
				for line := range strings.Lines(command.UsageText) {
					if !strings.Contains(line, "blueprintd "+strings.Join(words, " ")) {
						t.Errorf("the example %q does not call the command, want %q in it", line, "blueprintd "+strings.Join(words, " "))
					}
				}
			}
			golden(t, name, got)
		})
	})
	golden(t, "blueprintd.txt", helpOf(t, []string{"--help"}))
	for _, words := range [][]string{{"serve", "-h"}, {"serve", "--h"}, {"h", "serve"}, {"help", "serve"}} {
		t.Run(strings.Join(words, " "), func(t *testing.T) { golden(t, "serve.txt", helpOf(t, words)) })
	}
	seen["blueprintd.txt"] = true
	files, err := os.ReadDir(filepath.Join("testdata", "help"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !seen[file.Name()] {
			t.Errorf("%s is the help of no command; remove it", file.Name())
		}
	}
}

func eachCommand(commands []*cli.Command, above []string, visit func(words []string, command *cli.Command)) {
	for _, command := range commands {
		words := append(above[:len(above):len(above)], command.Name)
		visit(words, command)
		eachCommand(command.Subcommands, words, visit)
	}
}

func helpOf(t *testing.T, args []string) string {
	t.Helper()
	var out, errors bytes.Buffer
	if code := run(t, append([]string{"blueprintd"}, args...), strings.NewReader(""), &out, &errors); code != 0 || errors.Len() > 0 {
		t.Fatalf("exit code %d, want 0; standard error: %s", code, &errors)
	}
	return out.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "help", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the help differs from %s (-want +got; -update writes it):\n%s", path, diff)
	}
}
