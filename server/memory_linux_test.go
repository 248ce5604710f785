package server

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	processes "blueprintd/tests/process"
)

// The ballast uses no memory, even if part of the heap was used before.
func TestBallastUsesNoMemory(t *testing.T) {
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
	percent := debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	collector := NewCollector()
	if got := debug.SetGCPercent(startPercent); got != startPercent {
		t.Errorf("GOGC is %d during the start, want %d", got, startPercent)
	}
	collector.Settle()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GOGC is %d after the start, want 100 as before", got)
	}
	after, _, err := processes.Memory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if grown := after - before; grown > BallastSize/2 {
		t.Errorf("the process takes %d bytes more with a ballast of %d, want at most %v", grown, BallastSize, BallastSize/2)
	}
	runtime.KeepAlive(collector)
}
