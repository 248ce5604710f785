//go:build unix

package e2e

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/tests/process"
)

// TestFewOpenFiles opens more connections than the server may open files. Those that are too
// many are refused, and runs go on.
func TestFewOpenFiles(t *testing.T) {
	t.Parallel()
	s := process.ServeProgram(t, programAfter(t, "ulimit -n 64"), nil, "--db", filepath.Join(t.TempDir(), "my.db"))
	sum := node("sum", "code", object{"source": "return 1 + 2"})
	id := s.Create("sum", sum)
	var idle []net.Conn
	for range 70 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.Host, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		idle = append(idle, conn)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	status := func() int {
		response, err := client.Get(s.Host + "/readyz")
		if err != nil {
			return 0 // closed without an answer, because many are being refused
		}
		response.Body.Close()
		return response.StatusCode
	}
	if got := status(); got != http.StatusServiceUnavailable && got != 0 {
		t.Errorf("status %d beside %d idle connections, want a refusal", got, len(idle))
	}
	for _, conn := range idle {
		conn.Close()
	}
	for status() != http.StatusOK { // until the server has noticed
	}
	s.Until(s.Launch(id, sum), "completed")
	if want := "the limit on open files allows fewer connections"; !strings.Contains(s.Log.String(), want) || strings.Contains(s.Log.String(), "too many open files") {
		t.Errorf("the log is %s", s.Log)
	}
}
