package e2e

import (
	"io"
	stdlog "log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/tests/process"
)

// TestMachineWithoutRoots calls an HTTPS service on a machine that has no root certificates,
// as in an image built from scratch.
func TestMachineWithoutRoots(t *testing.T) {
	t.Parallel()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = stdlog.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	name := filepath.Join(t.TempDir(), "call.yaml")
	text := "title: Call\nblueprint_map:\n  nodes:\n    - {id: call, type: http-request, title: Call, config: {url: '" + secure.URL + "'}}\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(process.Path(t), "run", name, "--allow-net", "127.0.0.0/8")
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE=/nonexistent/file", "SSL_CERT_DIR=/nonexistent")
	output, _ := cmd.CombinedOutput()
	if want := "its issuer is not known; this machine has no root certificates: install ca-certificates"; cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(string(output), want) {
		t.Errorf("exit code %d, without %q: %s", cmd.ProcessState.ExitCode(), want, output)
	}
}
