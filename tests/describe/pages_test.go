package describe

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

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
			path := "../../docs/" + name + ".md"
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s differs; run make goldens (-want +got):\n%s", path, diff)
			}
		})
	}
}

// TestKinds compares the committed texts of the kinds in the dashboard.
func TestKinds(t *testing.T) {
	const path = "../../web/src/text/kinds.gen.ts"
	got := Kinds()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; run make goldens (-want +got):\n%s", path, diff)
	}
}
