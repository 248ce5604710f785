package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// screen shows the output: permanent lines and, on a terminal, a last line that is redrawn.
type screen struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	drawn    bool

	began time.Time
	total int // planned kills
	done  int // kills of finished scenes
}

// newScreen returns a screen for a number of planned kills.
func newScreen(out io.Writer, total int) *screen {
	return &screen{out: out, terminal: isTerminal(out), began: now(), total: total}
}

// isTerminal reports whether the output is a terminal.
func isTerminal(out io.Writer) bool {
	file, isFile := out.(*os.File)
	if !isFile {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

const eraseLine = "\r\x1b[K"

// Write writes lines above the last one.
func (s *screen) Write(lines []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawn {
		s.drawn = false
		fmt.Fprint(s.out, eraseLine)
	}
	return s.out.Write(lines)
}

// draw shows the progress. Without a terminal it prints every tenth step.
func (s *screen) draw(times int, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.terminal:
		s.drawn = true
		fmt.Fprint(s.out, eraseLine+line)
	case times%10 == 0:
		fmt.Fprintln(s.out, line)
	}
}

// close keeps the last line.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawn {
		s.drawn = false
		fmt.Fprintln(s.out)
	}
}

// left estimates the remaining time from the elapsed time.
func (s *screen) left(kills int) time.Duration {
	if kills == 0 {
		return 0
	}
	return (now().Sub(s.began) / time.Duration(kills) * time.Duration(max(0, s.total-kills))).Round(time.Second)
}

// progress shows the progress of the scene, and its current step unless that is killing
// servers.
func (s *scene) progress(at string) {
	s.book.mu.Lock()
	c, runs, open, violations := s.book.counts, len(s.book.runs), len(s.book.open), len(s.book.violations)
	s.book.mu.Unlock()
	done := s.screen.done + s.kills
	line := fmt.Sprintf("%s  %d/%d kills  %d runs  %d violations  %s left", s.name, done, s.screen.total, runs, violations, s.screen.left(done))
	if at != "" {
		s.screen.draw(1, line+"  "+at) // more detail
		return
	}
	if !s.screen.terminal { // a terminal may have too few columns
		line += fmt.Sprintf("  (open %d, acknowledged %d, completed %d, failed %d, unknown outcomes %d, ready in %s)",
			open, c.Acknowledged, c.Completed, c.Failed, c.UnknownOutcome, percentile(s.ready, 50))
	}
	s.screen.draw(done, line)
}
