package main

import (
	"context"
	"crypto/sha256"
	"fmt"
)

// goPeerProgram is the program of a peer that is a Go module.
const goPeerProgram = "peer"

// goPeerSettings let Go complete go.sum and ignore the module and workspace of the caller.
var goPeerSettings = []string{"CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off"}

// goPeerFolder adds a hash of the main program to the name of a folder, so that a changed
// program is installed again.
func goPeerFolder(name, main string) string {
	hash := sha256.Sum256([]byte(main))
	return fmt.Sprintf("%s-%x", name, hash[:4])
}

// buildGoPeer builds the module in a folder.
func buildGoPeer(ctx context.Context, folder string) error {
	return runIn(ctx, folder, goPeerSettings, "go", "build", "-trimpath", "-o", goPeerProgram, ".")
}
