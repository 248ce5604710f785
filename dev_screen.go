package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

// The colours of lines on a terminal.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

// devScreen is where dev prints: lines, and on a terminal a status line below
// them. It is safe for concurrent use.
type devScreen struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	coloured bool
	last     string   // the status line
	busy     []string // what runs, told in it too
}

func newDevScreen(out io.Writer) *devScreen {
	terminal := isTerminal(out) && os.Getenv("TERM") != "dumb"
	return &devScreen{out: out, terminal: terminal, coloured: terminal && os.Getenv("NO_COLOR") == ""}
}

// say prints a line, in a colour or "".
func (s *devScreen) say(colour, format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if s.coloured && colour != "" {
		line = s.paint(colour, line)
	}
	s.print(s.out, []byte(line+"\n"))
}

// paint gives a text a colour.
func (s *devScreen) paint(colour, text string) string {
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// status sets the line at the bottom; a pipe has none.
func (s *devScreen) status(format string, args ...any) {
	s.mu.Lock()
	s.last = fmt.Sprintf(format, args...)
	s.mu.Unlock()
	s.print(s.out, nil)
}

// runs says in the status line that something runs, until what it gives is called.
func (s *devScreen) runs(what string) (ended func()) {
	set := func(change func([]string) []string) {
		s.mu.Lock()
		s.busy = change(s.busy)
		s.mu.Unlock()
		s.print(s.out, nil)
	}
	set(func(busy []string) []string { return append(slices.Clone(busy), what) })
	return func() {
		set(func(busy []string) []string {
			if i := slices.Index(busy, what); i >= 0 {
				busy = slices.Delete(slices.Clone(busy), i, i+1)
			}
			return busy
		})
	}
}

// end takes the status line away.
func (s *devScreen) end() {
	s.mu.Lock()
	s.last = ""
	s.mu.Unlock()
	s.print(s.out, nil)
}

// print writes above the status line. What cannot be printed is lost: a closed
// terminal ends the program otherwise.
func (s *devScreen) print(out io.Writer, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.terminal {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
	out.Write(text)
	if s.terminal && s.last != "" {
		if len(s.busy) > 0 {
			fmt.Fprint(s.out, "running ", strings.Join(s.busy, ", "), "; ")
		}
		fmt.Fprint(s.out, s.last)
	}
}

// devBeside is another way out that leaves the status line whole. Each write must
// be of whole lines.
type devBeside struct {
	screen *devScreen
	out    io.Writer
	mu     sync.Mutex
	rest   bytes.Buffer
}

func (s *devScreen) beside(out io.Writer) *devBeside { return &devBeside{screen: s, out: out} }

// Write prints the lines that are whole, and keeps the rest until it is.
func (b *devBeside) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rest.Write(data)
	if end := bytes.LastIndexByte(b.rest.Bytes(), '\n'); end >= 0 {
		b.screen.print(b.out, b.rest.Next(end+1))
	}
	return len(data), nil
}
