package main

import "os"

// ballastSize is how much garbage may gather before it is collected, besides
// as much as is alive.
const ballastSize = 32 << 20

// ballast makes the collector think that a small server is a larger one. With
// a few megabytes alive it would otherwise collect a hundred times a second
// under load and spend a fifth of the server's time on it. The memory is never
// touched, so it is an address range and no more; beside much that is alive it
// makes no difference. Whoever sets GOGC decides alone.
//
// The caller keeps it alive as long as it serves.
func ballast() []byte {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	return make([]byte, ballastSize)
}
