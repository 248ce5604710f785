package main

import (
	"context"
	"time"
)

// now is real time: what is measured is a real process under a real clock.
func now() time.Time { return time.Now() }

// pause waits, or gives up when ctx ends and says false.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
