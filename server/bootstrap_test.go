package server

import (
	"bytes"
	"os"
	"testing"
)

// TestSample: what a first start stores is the example that the documentation shows.
func TestSample(t *testing.T) {
	const path = "../testdata/blueprints/hello.blueprint.yaml"
	shown, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sample, shown) {
		t.Errorf("sample.blueprint.yaml is not %s; copy one over the other", path)
	}
}
