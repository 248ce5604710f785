package server

import (
	"context"

	"blueprintd/engine/script"
)

// RunScripts lets the code of blueprints run until stop is called, which
// returns when none of its processes is left.
func RunScripts(pool *script.Pool) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = pool.Run(ctx) // it ends when it is told to
	}()
	return func() {
		cancel()
		<-ended
	}
}
