package describe

import (
	"os"
	"testing"

	"blueprintd/engine/nodes"
)

// TestPages compares the committed pages that are generated from the code.
func TestPages(t *testing.T) {
	document, err := os.ReadFile("../../clients/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() ([]byte, error){
		"api":   func() ([]byte, error) { return APIPage(document) },
		"cli":   func() ([]byte, error) { return CLIPage("../../command/testdata/help") },
		"nodes": func() ([]byte, error) { return NodesPage(nodes.All(nodes.Dependencies{}), "testdata/nodes") },
	} {
		t.Run(name, func(t *testing.T) {
			got, err := make()
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "../../docs/"+name+".md", string(got))
		})
	}
}

// TestKinds compares the committed texts of the kinds in the dashboard.
func TestKinds(t *testing.T) {
	compare(t, "../../web/src/text/kinds.gen.ts", Kinds())
}
