package server

import (
	"os"
	"runtime/debug"
)

// BallastSize is how much garbage may gather before it is collected, besides as
// much as is alive; ballastPiece is what it is made of.
const (
	BallastSize  = 32 << 20
	ballastPiece = 1 << 20
)

// Ballast makes the collector think that a small server is a larger one. With
// a few megabytes alive it would otherwise collect a hundred times a second
// under load and spend a fifth of the server's time on it. The memory is never
// touched, so it is an address range and no more; beside much that is alive it
// makes no difference. Whoever sets GOGC decides alone.
//
// It comes in pieces, for the runtime clears, and so touches, whatever begins in
// memory that was used before: that is at most one of them.
//
// The caller keeps it alive as long as it serves.
func Ballast() [][]byte {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	pieces := make([][]byte, BallastSize/ballastPiece)
	for i := range pieces {
		pieces[i] = make([]byte, ballastPiece)
	}
	return pieces
}

// manyRecovered is how many runs, taken up one by one at the start, leave so
// much garbage behind that it is worth giving back at once.
const manyRecovered = 1000

// tidyMemory gives back what recovery needed and nothing holds any more. Left
// to itself, the collector would come to it when as much again has gathered.
func (s *Server) tidyMemory() {
	if s.Engine.Stats().Recovered >= manyRecovered {
		debug.FreeOSMemory()
	}
}
