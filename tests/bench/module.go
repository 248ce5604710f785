package main

import "context"

// goPeerProgram is the program of a peer that is a Go module.
const goPeerProgram = "peer"

// goPeerSettings let Go complete go.sum and ignore the module and workspace of the caller.
var goPeerSettings = []string{"CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off"}

// buildGoPeer builds the module in a folder.
func buildGoPeer(ctx context.Context, folder string) error {
	return runIn(ctx, folder, goPeerSettings, "go", "build", "-trimpath", "-o", goPeerProgram, ".")
}
