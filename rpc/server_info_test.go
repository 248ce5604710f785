package rpc

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/engine/nodes"
)

var update = flag.Bool("update", false, "write the golden file")

// TestNodeTypesOfTheDashboard compares the catalogue in the dashboard's tests with that of
// the server.
func TestNodeTypesOfTheDashboard(t *testing.T) {
	s := &Service{Options: Options{Catalogue: map[string]*blueprint.NodeType{}}}
	for _, kind := range nodes.All(nodes.Dependencies{}) {
		s.Catalogue[kind.Type] = kind
	}
	types, err := s.nodeTypes(t.Context(), nil, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(types); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("..", "web", "test", "node-types.json")
	if *update {
		if err := os.WriteFile(golden, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(golden); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not what node.types answers (%v); go test ./rpc -run NodeTypes -update", golden, err)
	}
}
