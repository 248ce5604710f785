package command

import (
	"os"
	"strings"
	"testing"

	"blueprintd/store"
)

// TestDoctorKnowsTheModules compares the versions that doctor expects with go.mod.
func TestDoctorKnowsTheModules(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, tested := range testedModules {
		if !strings.Contains(string(text), tested[0]+" "+tested[1]) {
			t.Errorf("go.mod does not have %s %s, want %q in it", tested[0], tested[1], tested[0]+" "+tested[1])
		}
	}
	if f := examineModules("1.0.0", map[string]string{"modernc.org/libc": "v1.0.0"}); f.Health != store.Dubious {
		t.Errorf("found %+v, want Health %v", f, store.Dubious)
	}
}
