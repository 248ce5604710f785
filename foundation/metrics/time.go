package metrics

import "time"

// Stopwatch measures how long something takes in real time, whatever becomes
// of the clock on the wall meanwhile.
type Stopwatch struct{ begun time.Time }

// Begin starts one.
func Begin() Stopwatch { return Stopwatch{time.Now()} }

// Elapsed is the time since.
func (s Stopwatch) Elapsed() time.Duration { return time.Since(s.begun) }
