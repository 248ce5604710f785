package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
)

func TestEveryFlagHasItsEnvironmentVariable(t *testing.T) {
	seen := 0
	var look func(commands []*cli.Command)
	look = func(commands []*cli.Command) {
		for _, command := range commands {
			for _, flag := range command.Flags {
				seen++
				names, name := flag.(cli.DocGenerationFlag).GetEnvVars(), flag.Names()[0]
				want := []string{variableOf(name)}
				if none := slices.Contains(lineOnly, name) || command.Name == "health" && name == "url" || command.Name == "dev" && name == "db"; none {
					want = nil
					if command.Name == "serve" {
						t.Errorf("--%s of serve has no variable, want Name other than serve", name)
					}
				}
				if !slices.Equal(names, want) {
					t.Errorf("--%s of %s has the variables %v, want %v", name, command.Name, names, want)
				}
			}
			look(command.Subcommands)
		}
	}
	look(application(Program{}, nil, io.Discard, io.Discard).Commands)
	if seen < 30 {
		t.Errorf("only %d flags were seen, want at least 30", seen)
	}
}

func TestFlagsFirst(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"run x.yaml --var a=b", "run --var a=b -- x.yaml"},
		{"run --var a=b x.yaml", "run --var a=b -- x.yaml"},
		{"run x.yaml --var=a=-1 --input {}", "run --var=a=-1 --input {} -- x.yaml"},
		{"run -- --var x", "run -- --var x"},
		{"run - --var a=-", "run --var a=- -- -"},
		{"user list --json --db x", "user list --json --db x"},
		{"serve --rate-limit -5 --ephemeral", "serve --rate-limit -5 --ephemeral"},
		{"export ID --json --db x", "export --json --db x -- ID"},
		{"run x.yaml --var", "run --var"},
		{"help serve", "help serve"},
		{"", ""},
	} {
		t.Run(c.given, func(t *testing.T) {
			args := append([]string{"blueprintd"}, strings.Fields(c.given)...)
			if got := strings.Join(flagsFirst(application(Program{}, nil, io.Discard, io.Discard), args)[1:], " "); got != c.want {
				t.Errorf("flagsFirst(%s) = %s, want %s", c.given, got, c.want)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	known := &blueprint.Error{Code: blueprint.CodeConflict, Message: "it is taken", Hint: "take another"}
	for _, c := range []struct {
		name          string
		err           error
		code          int
		message, hint string
	}{
		{"wrapped", fmt.Errorf("store: create thing: %w", known), 1, "it is taken", "take another"},
		{"joined", errors.Join(fmt.Errorf("store: x: %w", known), errors.New("and more")), 1, "it is taken", "take another"},
		{"of the machine", fmt.Errorf("store: x: %w", &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the disk is full", Hint: "free some", Err: errors.New("SQL 13")}), 1, "the disk is full: SQL 13", "free some"},
		{"internal", errors.New("store: open: strange"), 1, "store: open: strange", ""},
		{"a file", fmt.Errorf("x: %w", &fs.PathError{Op: "open", Path: "my.db", Err: fs.ErrPermission}), 1, "my.db: permission denied", "check the owner and the mode of the file and of its folder"},
		{"wrong usage", fmt.Errorf("x: %w", usage("so", "not %s", "thus")), 2, "not thus", "so"},
		{"without a hint", blueprint.WithHint(fmt.Errorf("store: x: %w", blueprint.Errorf(blueprint.CodeNotFound, "gone")), "look"), 1, "gone", "look"},
		{"with its own hint", blueprint.WithHint(known, "look"), 1, "it is taken", "take another"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code, message, hint := explained(c.err); code != c.code || message != c.message || hint != c.hint {
				t.Errorf("explain = %d %q %q, want %d %q %q", code, message, hint, c.code, c.message, c.hint)
			}
		})
	}
	var out strings.Builder
	report(&out, errors.New("one\ntwo\n"))
	if out.String() != "blueprintd: one; two\n" {
		t.Errorf("report wrote %q, want %v", out.String(), "blueprintd: one; two\n")
	}
}

func TestQuoted(t *testing.T) {
	for given, want := range map[string]string{"my.db": "my.db", "": "''", "my data/x.db": "'my data/x.db'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "a;b": "'a;b'"} {
		t.Run(given, func(t *testing.T) {
			if got := blueprint.ShellWord(given); got != want {
				t.Errorf("blueprint.ShellWord(%q) = %s, want %s", given, got, want)
			}
		})
	}
}

func TestMisspelt(t *testing.T) {
	commands := application(Program{}, nil, nil, nil).Commands
	serve := commands[slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == "serve" })]
	got := misspelt([]string{
		"BLUEPRINTD_ADR=:1", "BLUEPRINT_DB=x", "BLUEPRINTD_MAXRUNNING=1", // misspelt
		"BLUEPRINTD_ADDR=:1", "BLUEPRINTD_URL=x", "BLUEPRINTD_CPU_PROFILE=x", // known
		"BLUEPRINTD_PORT=tcp://10.0.0.1:8787", "BLUEPRINTD_SERVICE_HOST=10.0.0.1", "BLUEPRINTD_VERSION=1", // of others
		"BLUEPRINTD_DBB=", "ADDR=:1",
	}, serve.Flags, commands)
	want := map[string]string{"BLUEPRINTD_ADR": "BLUEPRINTD_ADDR", "BLUEPRINT_DB": "BLUEPRINTD_DB", "BLUEPRINTD_MAXRUNNING": "BLUEPRINTD_MAX_RUNNING"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
