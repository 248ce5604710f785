package e2e

import (
	"blueprintd/tests/process"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnmetAtTheEnd: a server with unmet expectations exits with code 1.
func TestUnmetAtTheEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "expect.yaml")
	if err := os.WriteFile(path, []byte("expect:\n  - match: {nodeType: send-slack}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := process.Serve(t, "--ephemeral", "--sandbox", "--expect", path)
	if err := p.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-p.Ended()
	var ended *exec.ExitError
	if !errors.As(p.Err, &ended) || ended.ExitCode() != exitFailed || !strings.Contains(p.Log.String(), `expect[0] {"match":{"nodeType":"send-slack"}}: want at least 1 time, got 0 times; there were no requests`) || !strings.Contains(p.Log.String(), "an expectation was not met") {
		t.Errorf("ended with %v\n%s", p.Err, p.Log)
	}
}
