package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"blueprintd/tests/process"
)

const askingBlueprint = `title: Order
blueprint_map:
  nodes:
    - {id: form, type: human, title: Form, config: {prompt: 'How many?', schema: {type: object, required: [copies], properties: {copies: {type: integer, minimum: 1}}}}}
    - {id: approve, type: approval-gate, title: Approve, config: {prompt: 'Print {{nodes.form.output.copies}}?'}}
`

// TestRunAtTerminal answers the questions of a run at a pseudo terminal, which is the
// standard input and the standard error of the command. Without a terminal, and at the end
// of the input, the run stays paused.
func TestRunAtTerminal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "order.blueprint.yaml")
	if err := os.WriteFile(path, []byte(askingBlueprint), 0o600); err != nil {
		t.Fatal(err)
	}
	const endOfInput = "\x04"
	for _, c := range []struct {
		name   string
		dialog []string // each prompt, and what is typed after it
		flags  []string
		code   int
		status string
	}{
		{"approved", []string{"copies (a whole number): ", "0\n", "must be at least 1", "", "copies (a whole number): ", "3\n", "approve asks: Print 3?", "", "Approve? [y/N] ", "y\n"}, nil, 0, "completed"},
		{"rejected", []string{"copies (a whole number): ", "3\n", "Approve? [y/N] ", "\n"}, nil, exitFailed, "failed"},
		{"not answered", []string{"copies (a whole number): ", "3\n", "Approve? [y/N] ", endOfInput}, nil, 3, "paused"},
		{"with a virtual clock", []string{"copies (a whole number): ", "3\n", "Approve? [y/N] ", "yes\n"}, []string{"--clock", "virtual"}, 0, "completed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			user, terminal := openTerminal(t)
			command := exec.CommandContext(t.Context(), process.Path(t), append([]string{"run", path}, c.flags...)...)
			var stdout bytes.Buffer
			command.Stdin, command.Stdout, command.Stderr = terminal, &stdout, terminal
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			terminal.Close()
			var printed strings.Builder
			for i := 0; i < len(c.dialog); i += 2 {
				if err := readUntil(user, &printed, c.dialog[i]); err != nil {
					t.Fatalf("%q was not printed: %v\n%s", c.dialog[i], err, printed.String())
				}
				if _, err := io.WriteString(user, c.dialog[i+1]); err != nil {
					t.Fatal(err)
				}
			}
			go func() { _, _ = io.Copy(io.Discard, user) }() // a full terminal would block the command
			_ = command.Wait()
			var record struct{ Status string }
			err := json.Unmarshal(stdout.Bytes(), &record)
			if code := command.ProcessState.ExitCode(); code != c.code || err != nil || record.Status != c.status {
				t.Errorf("exit code %d, %v, status %q; want %d and %q\n%s", code, err, record.Status, c.code, c.status, printed.String())
			}
		})
	}
	without := process.Run(t, "run", path)
	if without.Code != 3 || !strings.Contains(without.Err, "run it in a terminal to answer there") || strings.Contains(without.Err, "asks:") {
		t.Errorf("without a terminal: exit code %d, said %q, want 3 and no question", without.Code, without.Err)
	}
}

// openTerminal returns both sides of a pseudo terminal.
func openTerminal(t *testing.T) (user, terminal *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { user.Close() })
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return user, terminal
}

// readUntil reads until a text is printed after what was read before.
func readUntil(in io.Reader, printed *strings.Builder, want string) error {
	began, one := printed.Len(), make([]byte, 1)
	for !strings.HasSuffix(printed.String()[began:], want) {
		if _, err := in.Read(one); err != nil {
			return err
		}
		printed.Write(one)
	}
	return nil
}
