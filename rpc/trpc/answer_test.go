package trpc

import (
	"net/http"
	"testing"
)

// TestAbortsAreWanted tells a wish for the end of a connection from a crash.
func TestAbortsAreWanted(t *testing.T) {
	for value, want := range map[any]bool{http.ErrAbortHandler: true, "a crash": false} {
		if got := aborts(protect(func() error { panic(value) })); got != want {
			t.Errorf("%v: %v", value, got)
		}
	}
}
