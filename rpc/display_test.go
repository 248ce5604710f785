package rpc

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOnePointOfDisplay finds runs and blueprints that are shown without regard to
// whose data they hold.
func TestOnePointOfDisplay(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	reads := regexp.MustCompile(`Runner\.(View|ViewWithin|Gist|Recording)\b|Store\.(GetBlueprint|ListBlueprints)\b`)
	found := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range reads.FindAllString(string(text), -1) {
			if name != "display.go" && !strings.HasSuffix(name, "_test.go") {
				t.Errorf("%s uses %s: use what display.go has", name, use)
			}
			found++
		}
	}
	if found < 6 {
		t.Errorf("only %d uses are found", found)
	}
}
