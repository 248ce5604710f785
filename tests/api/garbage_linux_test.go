package api

import (
	"os"
	"runtime"
	"testing"

	"blueprintd/server"
	processes "blueprintd/tests/process"
)

// The ballast takes no memory, also where a part of the heap was used before.
func TestBallastIsNotTouched(t *testing.T) {
	t.Setenv("GOGC", "")
	used := make([][]byte, 64)
	for i := range used {
		used[i] = make([]byte, 100<<10)
		clear(used[i])
	}
	runtime.KeepAlive(used)
	runtime.GC()
	before, _, err := processes.Memory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	pieces := server.Ballast()
	after, _, err := processes.Memory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if grown := after - before; grown > server.BallastSize/2 {
		t.Errorf("the process takes %d bytes more with a ballast of %d", grown, server.BallastSize)
	}
	runtime.KeepAlive(pieces)
}
