package e2e

import (
	"bytes"
	"os"
	"testing"

	"blueprintd/foundation/mutant"
	"blueprintd/tests/process"
)

// TestNormalBuildHasNoMutants searches a release build for mutants.
func TestNormalBuildHasNoMutants(t *testing.T) {
	t.Parallel()
	path := process.Path(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	traces := []string{"foundation/mutant.", mutant.Variable}
	for _, bug := range append(mutant.All(), mutant.OfCluster()...) {
		traces = append(traces, string(bug.Bug))
	}
	for _, trace := range traces {
		if bytes.Contains(data, []byte(trace)) {
			t.Errorf("the program holds %q", trace)
		}
	}
}
