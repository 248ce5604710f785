package process

import (
	"context"
	"time"
)

// Pause waits, or gives up when ctx ends and says false.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
