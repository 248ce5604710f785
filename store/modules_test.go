package store

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The driver is a translation of C that fits exactly one version of its C
// library, the one that its own go.mod names; with another it has crashed.
func TestLibraryFitsDriver(t *testing.T) {
	list := func(format, module string) string {
		t.Helper()
		var stderr bytes.Buffer
		command := exec.Command("go", "list", "-m", "-f", format, module)
		command.Stderr = &stderr
		out, err := command.Output()
		if err != nil {
			t.Fatalf("go list %s: %v: %s", module, err, &stderr)
		}
		return strings.TrimSpace(string(out))
	}
	got := list("{{.Version}}", "modernc.org/libc")
	for line := range strings.Lines(string(must(os.ReadFile(list("{{.GoMod}}", "modernc.org/sqlite")))(t))) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "modernc.org/libc" {
			if fields[1] != got {
				t.Errorf("go.mod has modernc.org/libc %s, the driver needs %s", got, fields[1])
			}
			return
		}
	}
	t.Error("the driver's go.mod names no modernc.org/libc")
}
