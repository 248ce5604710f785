package process

import (
	"context"
	"time"
)

// now is real time: what is tried is a real process.
func now() time.Time { return time.Now() }

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
