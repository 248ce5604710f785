package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// display shows the output: permanent lines and, on a terminal, a last line that is redrawn.
type display struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	drawn    bool

	began time.Time
	total int // planned kills
	done  int // kills of finished scenarios
}

// newDisplay returns a display for a number of planned kills.
func newDisplay(out io.Writer, total int) *display {
	return &display{out: out, terminal: isTerminal(out), began: now(), total: total}
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
func (s *display) Write(lines []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawn {
		s.drawn = false
		fmt.Fprint(s.out, eraseLine)
	}
	return s.out.Write(lines)
}

// draw shows the progress. Without a terminal it prints every tenth step.
func (s *display) draw(times int, line string) {
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
func (s *display) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawn {
		s.drawn = false
		fmt.Fprintln(s.out)
	}
}

// remaining estimates the remaining time from the elapsed time.
func (s *display) remaining(kills int) time.Duration {
	if kills == 0 {
		return 0
	}
	return (now().Sub(s.began) / time.Duration(kills) * time.Duration(max(0, s.total-kills))).Round(time.Second)
}

// progress shows the progress of the scenario, and its current step unless that is killing
// servers.
func (s *scenario) progress(at string) {
	s.history.mu.Lock()
	c, runs, open, violations := s.history.counts, len(s.history.runs), len(s.history.open), len(s.history.violations)
	s.history.mu.Unlock()
	done := s.display.done + s.kills
	line := fmt.Sprintf("%s  %d/%d kills  %d runs  %d violations  %s left", s.name, done, s.display.total, runs, violations, s.display.remaining(done))
	if at != "" {
		s.display.draw(1, line+"  "+at) // more detail
		return
	}
	if !s.display.terminal { // a terminal may have too few columns
		line += fmt.Sprintf("  (open %d, acknowledged %d, completed %d, failed %d, unknown outcomes %d, ready in %s)",
			open, c.Acknowledged, c.Completed, c.Failed, c.UnknownOutcome, percentile(s.ready, 50))
	}
	s.display.draw(done, line)
}
