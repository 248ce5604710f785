package trpc

import (
	"fmt"
	"net/http"
	"testing"
)

// TestAbortsAreWanted distinguishes an intended abort of a connection from a panic.
func TestAbortsAreWanted(t *testing.T) {
	for value, want := range map[any]bool{http.ErrAbortHandler: true, "a crash": false} {
		t.Run(fmt.Sprint(value), func(t *testing.T) {
			if got := aborts(protect(func() error { panic(value) })); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}
