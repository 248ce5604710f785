package e2e

import (
	"net/http"
	"strings"
	"testing"

	"blueprintd/tests/process"
)

// GOMEMLIMIT decides how much memory request bodies may take: with two gigabytes, one of
// almost the maximum size is accepted.
func TestMemoryLimitOfEnvironment(t *testing.T) {
	s := process.ServeWith(t, []string{"GOMEMLIMIT=2GiB", "BLUEPRINTD_SYNC_TIMEOUT=30s"}, "--ephemeral")
	id := s.Create("Large", process.Node("n", "set", process.Object{"values": process.Object{"a": 1}}))
	input := process.Object{"id": id, "inputData": process.Object{"pad": strings.Repeat("x", 9<<19)}}
	status, answer := s.Post("/api/trpc/blueprint.execute", process.Key, process.Object{"json": input})
	if status != http.StatusOK {
		t.Errorf("status %d, want 200: %v", status, answer)
	}
}
