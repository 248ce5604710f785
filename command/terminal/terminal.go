// Package terminal writes to terminals: lines above a status line, colours, tables, and
// JSON without control characters.
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
	"text/tabwriter"
	"unicode/utf16"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// Colour is the SGR parameter of a colour (ECMA-48), "" for none.
type Colour = string

const (
	Red    Colour = "31"
	Green  Colour = "32"
	Yellow Colour = "33"
	Grey   Colour = "90"
)

const eraseLine = "\r\x1b[K"

// Screen prints lines and, on a terminal, a status line below them. Each change is one
// write, so that the status line does not flicker. It is safe for concurrent use.
type Screen struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	coloured bool
	status   string
	running  []string // shown before the status
	drawn    string   // the status line on the terminal
}

// NewScreen returns a Screen that writes to out. It has a status line if out is a
// terminal and TERM is not "dumb", and then colours unless NO_COLOR is set.
func NewScreen(out io.Writer) *Screen {
	terminal := IsTerminal(out) && os.Getenv("TERM") != "dumb"
	return &Screen{out: out, terminal: terminal, coloured: terminal && os.Getenv("NO_COLOR") == ""}
}

func IsTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// IsInput reports whether in is a terminal at which a user can type. Unlike IsTerminal, it
// tells terminals from other devices, such as /dev/null.
func IsInput(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && isTerminalDevice(f)
}

// Erases reports whether the screen has a status line.
func (s *Screen) Erases() bool { return s.terminal }

// Say prints lines in a colour, with unprintable characters as U+FFFD.
func (s *Screen) Say(colour Colour, format string, args ...any) {
	lines := strings.Split(fmt.Sprintf(format, args...), "\n")
	for i := range lines {
		lines[i] = blueprint.OneLine(lines[i])
	}
	s.print(s.out, s.Paint(colour, strings.Join(lines, "\n"))+"\n")
}

// Paint returns the text in a colour, or unchanged if the screen has no colours.
func (s *Screen) Paint(colour Colour, text string) string {
	if !s.coloured || colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// Status sets the status line; "" removes it.
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

// Running shows in the status line that something is running, until ended is called.
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

// print writes above the status line. It ignores errors: the program ends in another
// way when its terminal is closed.
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
	status = clipped(blueprint.OneLine(status), widthOf(s.out)-1)
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

// Lines is a writer that prints complete lines above the status line of a Screen.
type Lines struct {
	screen *Screen
	out    io.Writer
	mu     sync.Mutex
	rest   bytes.Buffer
}

// Beside returns a Lines that writes to out.
func (s *Screen) Beside(out io.Writer) *Lines { return &Lines{screen: s, out: out} }

// Lines returns a Lines that writes to the output of the screen.
func (s *Screen) Lines() *Lines { return s.Beside(s.out) }

// Write prints complete lines and buffers the rest.
func (l *Lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest.Write(data)
	if end := bytes.LastIndexByte(l.rest.Bytes(), '\n'); end >= 0 {
		l.screen.print(l.out, string(l.rest.Next(end+1)))
	}
	return len(data), nil
}

// widthOf returns the width of a terminal: COLUMNS, what the system reports, or 80.
func widthOf(out io.Writer) int {
	const least, standard = 20, 80
	width, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if f, ok := out.(*os.File); ok && err != nil {
		width = terminalWidth(f)
	}
	if width <= 0 {
		return standard
	}
	return max(least, width)
}

// clipped shortens a line so that it does not wrap; a wrapped line cannot be erased.
func clipped(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// JSON prints a value as indented JSON, with control characters escaped.
func JSON(out io.Writer, value any) error {
	data, err := blueprint.EncodeIndented(value)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, r := range string(data) {
		if r == '\n' || !blueprint.IsUnprintable(r) {
			text.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&text, `\u%04x`, unit)
		}
	}
	_, err = io.WriteString(out, text.String())
	return err
}

// Table prints rows in aligned columns; the first row is the header.
func Table(out io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = blueprint.OneLine(row[i]) // may be user input
		}
		if _, err := fmt.Fprintln(table, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return table.Flush()
}
