package main

import (
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/clock"
)

// quietly is how long something may run, in real time, before a line says so.
const quietly = time.Second

// goesOn shows that what belongs to a file runs, until what it gives is called: on
// the status line at once, and in a line of its own where there is none. Under a
// virtual clock it says how to have a wait end, which nothing else would tell.
func (l *devLoop) goesOn(path string) (ended func()) {
	var mu sync.Mutex
	over := false
	erase := l.screen.Running(path)
	now := clock.Real{}.Now()
	timer := clock.Real{}.At(now.Add(quietly), func() {
		mu.Lock()
		defer mu.Unlock()
		virtual := l.server.Options.Virtual()
		switch {
		case over:
		case virtual != nil:
			l.screen.Say(terminal.Yellow, "%s: running; its waits end when POST %s/clock/advance moves the clock, which stands at %s", path, l.server.APIHost(), blueprint.TimeOf(virtual.Now()))
		case !l.screen.Erases():
			l.screen.Say("", "%s: running", path)
		}
	})
	return func() {
		timer.Stop()
		erase()
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}
