package server

import (
	"bytes"
	"os"
	"testing"
)

// TestSample checks that a first start stores the example of the documentation.
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
