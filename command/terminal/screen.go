// Package terminal prints for people: lines above a status line, colours, tables and
// JSON without characters that would do something to a terminal.
package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Colour is the SGR parameter of a colour (ECMA-48), "" for none.
type Colour = string

// The colours.
const (
	Red    Colour = "31"
	Green  Colour = "32"
	Yellow Colour = "33"
	Grey   Colour = "90"
)

const eraseLine = "\r\x1b[K"

// Screen prints lines and, on a terminal, a status line below them. Each print is
// one write, and a status that has not changed is none, so that nothing flickers.
// It is safe for concurrent use.
type Screen struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	coloured bool
	status   string
	running  []string // told in front of the status
	drawn    string   // the status line as it stands there
}

// NewScreen returns a Screen on out. It has a status line if out is a terminal that
// can erase lines (TERM is not dumb), and colours unless NO_COLOR is set.
func NewScreen(out io.Writer) *Screen {
	terminal := IsTerminal(out) && os.Getenv("TERM") != "dumb"
	return &Screen{out: out, terminal: terminal, coloured: terminal && os.Getenv("NO_COLOR") == ""}
}

// IsTerminal reports whether out is a terminal.
func IsTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Erases reports whether there is a status line.
func (s *Screen) Erases() bool { return s.terminal }

// Say prints a line.
func (s *Screen) Say(colour Colour, format string, args ...any) {
	s.print(s.out, s.Paint(colour, fmt.Sprintf(format, args...))+"\n")
}

// Paint returns the text in a colour, or as it is where there are no colours.
func (s *Screen) Paint(colour Colour, text string) string {
	if !s.coloured || colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// Status sets the status line; "" takes it away.
func (s *Screen) Status(format string, args ...any) {
	s.Show("", fmt.Sprintf(format, args...))
}

// Show prints whole lines and sets the status line.
func (s *Screen) Show(lines, status string) {
	s.mu.Lock()
	s.status = status
	s.mu.Unlock()
	s.print(s.out, lines)
}

// Running says in the status line that something runs, until ended is called.
func (s *Screen) Running(what string) (ended func()) {
	set := func(change func([]string) []string) {
		s.mu.Lock()
		s.running = change(s.running)
		s.mu.Unlock()
		s.print(s.out, "")
	}
	set(func(running []string) []string { return append(slices.Clone(running), what) })
	return func() {
		set(func(running []string) []string {
			if i := slices.Index(running, what); i >= 0 {
				running = slices.Delete(slices.Clone(running), i, i+1)
			}
			return running
		})
	}
}

// print writes above the status line. What cannot be printed is lost: a closed
// terminal ends the program otherwise.
func (s *Screen) print(out io.Writer, lines string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.terminal {
		io.WriteString(out, lines)
		return
	}
	status := s.status
	if status != "" && len(s.running) > 0 {
		status = "running " + strings.Join(s.running, ", ") + "; " + status
	}
	status = clipped(status, widthOf(s.out)-1)
	if lines == "" && status == s.drawn {
		return
	}
	erase := ""
	if s.drawn != "" {
		erase = eraseLine
	}
	s.drawn = status
	if out == s.out {
		io.WriteString(out, erase+lines+status)
		return
	}
	io.WriteString(s.out, erase)
	io.WriteString(out, lines)
	io.WriteString(s.out, status)
}

// Lines is another way out that leaves the status line whole: it prints lines as
// soon as they end.
type Lines struct {
	screen *Screen
	out    io.Writer
	mu     sync.Mutex
	rest   bytes.Buffer
}

// Beside returns a writer of lines to out.
func (s *Screen) Beside(out io.Writer) *Lines { return &Lines{screen: s, out: out} }

// Lines returns a writer of lines above the status line.
func (s *Screen) Lines() *Lines { return s.Beside(s.out) }

// Write prints the lines that are whole, and keeps the rest until it is.
func (l *Lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest.Write(data)
	if end := bytes.LastIndexByte(l.rest.Bytes(), '\n'); end >= 0 {
		l.screen.print(l.out, string(l.rest.Next(end+1)))
	}
	return len(data), nil
}

// widthOf returns the width of a terminal: what COLUMNS says, what the terminal says,
// or 80.
func widthOf(out io.Writer) int {
	const fewest, usual = 20, 80
	width, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if f, ok := out.(*os.File); ok && err != nil {
		width = terminalWidth(f)
	}
	if width <= 0 {
		return usual
	}
	return max(fewest, width)
}

// clipped keeps a line from going on in the next, which could not be erased.
func clipped(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
