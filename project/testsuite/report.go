package testsuite

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"blueprintd/blueprint"
	"blueprintd/foundation/recording"
)

// Result is the result of a test, or of an invalid test file.
type Result struct {
	File        string
	Test        string
	Took        time.Duration
	Mismatches  []Mismatch
	Differences []recording.Difference // of a replay from the recording
	Fault       error                  // why it could not run, or could not be written
	Broken      bool                   // the file is invalid; Fault is the reason
	NotRun      bool                   // it did not run to its end
	Updated     bool                   // its expectation was written
	Notes       []string
	Pos         func(path []any) (line, column int)
	Excerpt     func(path []any) string // the source line with a caret
	Nodes       []string                // of its blueprint
	Reached     []string                // the executed nodes
	Blueprint   string
}

// Passed reports whether the test ran and did not fail.
func (r *Result) Passed() bool { return !r.NotRun && !r.Failed() }

// Failed reports whether the test ran and failed.
func (r *Result) Failed() bool {
	return !r.NotRun && (r.Fault != nil || !r.Updated && len(r.Mismatches) > 0 || len(r.Differences) > 0)
}

// Lines describes the failure. Lines about a place in the file begin with
// file:line:column; carets adds the source line.
func (r *Result) Lines(carets bool) (lines []string) {
	if r.Fault != nil {
		lines = append(lines, strings.Split(strings.TrimRight(r.Fault.Error(), "\n"), "\n")...)
	}
	if !r.Updated {
		for i := range r.Mismatches {
			m := &r.Mismatches[i]
			line, column := r.Pos(m.Path)
			lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", r.File, line, column, m))
			if carets && r.Excerpt != nil {
				lines = append(lines, strings.Split(strings.TrimRight(r.Excerpt(m.Path), "\n"), "\n")...)
			}
		}
	}
	for i := range r.Differences {
		lines = append(lines, r.Differences[i].String())
	}
	return lines
}

// String describes the mismatch in one line.
func (m *Mismatch) String() string {
	where := blueprint.PathText(m.Path[min(3, len(m.Path)):])
	if m.What != "" {
		where += " (" + m.What + ")"
	}
	switch {
	case m.Missing:
		return fmt.Sprintf("%s: expected %s, got nothing", where, brief(m.Expected))
	case m.Surplus:
		return fmt.Sprintf("%s: expected nothing, got %s", where, brief(m.Got))
	}
	return fmt.Sprintf("%s: expected %s, got %s", where, brief(m.Expected), brief(m.Got))
}

// brief returns the first 300 bytes of a value as JSON.
func brief(value any) string {
	data, err := blueprint.Encode(value)
	if err != nil {
		return "?"
	}
	const most = 300
	if len(data) > most {
		return strings.ToValidUTF8(string(data[:most]), "") + "..."
	}
	return blueprint.OneLine(string(data))
}

// Paint colours a text by an SGR parameter: "32" is green, "31" red, "90" grey. A nil
// Paint returns the text unchanged.
type Paint func(color, text string) string

func (p Paint) paint(color, text string) string {
	if p == nil {
		return text
	}
	return p(color, text)
}

// Print writes the result of a test for a terminal.
func Print(out io.Writer, r *Result, paint Paint) error {
	mark, note := paint.paint("32", "✓"), ""
	switch {
	case r.NotRun:
		_, err := fmt.Fprintf(out, "- %s: %s (not run)\n", blueprint.OneLine(r.File), blueprint.OneLine(r.Test))
		return err
	case r.Failed():
		mark = paint.paint("31", "✗")
	case r.Updated:
		note = " (written)"
	}
	text := fmt.Sprintf("%s %s: %s%s %s\n", mark, blueprint.OneLine(r.File), blueprint.OneLine(r.Test), note, paint.paint("90", fmt.Sprintf("%d ms", r.Took.Milliseconds())))
	if r.Failed() {
		for _, line := range r.Lines(true) {
			text += "    " + blueprint.OneLine(line) + "\n"
		}
	}
	for _, line := range r.Notes {
		text += "    " + paint.paint("90", "note: "+blueprint.OneLine(line)) + "\n"
	}
	_, err := io.WriteString(out, text)
	return err
}

// Sum writes the numbers of passed and failed tests, and of executed nodes.
func Sum(out io.Writer, results []*Result, paint Paint) error {
	passed, failed, left, broken := 0, 0, 0, 0
	nodes, reached := map[string]bool{}, map[string]bool{}
	for _, r := range results {
		switch {
		case r.Broken:
			broken++
		case r.NotRun:
			left++
		case r.Failed():
			failed++
		default:
			passed++
		}
		for _, n := range r.Nodes {
			nodes[r.Blueprint+"\x00"+n] = true
		}
		for _, n := range r.Reached {
			reached[r.Blueprint+"\x00"+n] = true
		}
	}
	text := fmt.Sprintf("%d passed", passed)
	if failed > 0 {
		text += ", " + paint.paint("31", fmt.Sprintf("%d failed", failed))
	}
	if left > 0 {
		text += fmt.Sprintf(", %d not run", left)
	}
	if broken > 0 {
		text += ", " + paint.paint("31", blueprint.Counted(broken, "invalid test file"))
	}
	if len(nodes) > 0 {
		text += fmt.Sprintf("; %d of %d nodes executed (%d %%)", len(reached), len(nodes), len(reached)*100/len(nodes))
		var unreached []string
		for name := range nodes {
			if !reached[name] {
				unreached = append(unreached, blueprint.OneLine(strings.Replace(name, "\x00", ": ", 1)))
			}
		}
		slices.Sort(unreached)
		const most = 10
		if len(unreached) > 0 && len(unreached) <= most {
			text += "\nnot executed: " + strings.Join(unreached, ", ")
		}
	}
	_, err := io.WriteString(out, text+"\n")
	return err
}

// cover sets the nodes that a run executed.
func (r *Result) cover(o *Outcome) {
	r.Nodes = o.Nodes
	for i := range o.Recording.Steps {
		s := &o.Recording.Steps[i]
		address := everyItem(s.NodeID)
		switch s.Status {
		case blueprint.StepCompleted, blueprint.StepFailed, blueprint.StepPaused, blueprint.StepRunning:
			if slices.Contains(o.Nodes, address) && !slices.Contains(r.Reached, address) {
				r.Reached = append(r.Reached, address)
			}
		}
	}
}

// TAP writes results as TAP version 14, which version 13 readers accept. interrupted adds
// a "Bail out!" line.
func TAP(out io.Writer, results []*Result, interrupted bool) error {
	var text strings.Builder
	fmt.Fprintf(&text, "TAP version 14\n1..%d\n", len(results))
	for i, r := range results {
		name := strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(blueprint.OneLine(r.label()))
		if !r.Failed() {
			if r.NotRun {
				name += " # SKIP not run"
			}
			fmt.Fprintf(&text, "ok %d - %s\n", i+1, name)
			for _, note := range r.Notes {
				text.WriteString("# note: " + blueprint.OneLine(note) + "\n")
			}
			continue
		}
		fmt.Fprintf(&text, "not ok %d - %s\n  ---\n  message: |\n", i+1, name)
		for _, line := range r.Lines(false) {
			text.WriteString("    " + blueprint.OneLine(line) + "\n")
		}
		text.WriteString("  ...\n")
	}
	if interrupted {
		text.WriteString("Bail out! interrupted\n")
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// label returns the name of a test or of an invalid file.
func (r *Result) label() string {
	if r.Broken {
		return r.File
	}
	return r.File + ": " + r.Test
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	Time    string       `xml:"time,attr"`
	Failure *junitDetail `xml:"failure,omitempty"`
	Error   *junitDetail `xml:"error,omitempty"`
	Skipped *junitSkip   `xml:"skipped,omitempty"`
}

type junitSkip struct {
	Message string `xml:"message,attr"`
}

type junitDetail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes results as JUnit XML with a suite for each file. A test that could not run
// and an invalid file are errors, a mismatch is a failure, and one not run is skipped.
func JUnit(out io.Writer, results []*Result) error {
	all := junitSuites{Name: "blueprintd"}
	var total time.Duration
	var suiteTime time.Duration
	for _, r := range results {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != printable(r.File) {
			all.Suites = append(all.Suites, junitSuite{Name: printable(r.File)})
			suiteTime = 0
		}
		s := &all.Suites[len(all.Suites)-1]
		c := junitCase{Name: printable(r.Test), Class: printable(r.File), Time: seconds(r.Took)}
		if r.Broken {
			c.Name = c.Class
		}
		if r.NotRun {
			c.Skipped = &junitSkip{Message: "not run"}
			s.Skipped++
		}
		if r.Failed() {
			lines := r.Lines(true)
			d := &junitDetail{Message: printable(lines[0]), Type: "expectation", Text: printable(strings.Join(lines, "\n"))}
			if r.Fault != nil {
				d.Type = "fault"
				c.Error = d
				s.Errors++
				all.Errors++
			} else {
				c.Failure = d
				s.Failures++
				all.Failures++
			}
		}
		s.Cases = append(s.Cases, c)
		s.Tests++
		all.Tests++
		total += r.Took
		suiteTime += r.Took
		s.Time = seconds(suiteTime)
	}
	all.Time = seconds(total)
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = out.Write(append([]byte(xml.Header), append(data, '\n')...))
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// printable removes characters that XML does not allow.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == unicode.ReplacementChar || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, text)
}

type jsonResult struct {
	File       string      `json:"file"`
	Name       string      `json:"name"`
	Passed     bool        `json:"passed"`
	NotRun     bool        `json:"notRun,omitempty"`
	Updated    bool        `json:"updated,omitempty"`
	DurationMs int64       `json:"durationMs"`
	Error      string      `json:"error,omitempty"`
	Mismatches []jsonWrong `json:"mismatches,omitempty"`
	Replay     []string    `json:"differences,omitempty"`
	Notes      []string    `json:"notes,omitempty"`
}

type jsonWrong struct {
	Line     int             `json:"line"`
	Column   int             `json:"column"`
	Path     []any           `json:"path"`
	Message  string          `json:"message"`
	Expected json.RawMessage `json:"expected,omitempty"`
	Got      json.RawMessage `json:"got,omitempty"`
}

// JSON writes results as an array with an object for each test, and one without a name
// for each invalid file.
func JSON(out io.Writer, results []*Result) error {
	list := []jsonResult{}
	for _, r := range results {
		one := jsonResult{File: r.File, Name: r.Test, Passed: r.Passed(), NotRun: r.NotRun, Updated: r.Updated, Notes: r.Notes, DurationMs: r.Took.Milliseconds()}
		if r.Fault != nil {
			one.Error = r.Fault.Error()
		}
		for i := range r.Mismatches {
			m := &r.Mismatches[i]
			w := jsonWrong{Path: m.Path, Message: m.String()}
			w.Line, w.Column = r.Pos(m.Path)
			if !m.Surplus {
				w.Expected, _ = blueprint.Encode(m.Expected)
			}
			if !m.Missing {
				w.Got, _ = blueprint.Encode(m.Got)
			}
			one.Mismatches = append(one.Mismatches, w)
		}
		for i := range r.Differences {
			one.Replay = append(one.Replay, r.Differences[i].String())
		}
		list = append(list, one)
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	_, err = out.Write(append(data, '\n'))
	return err
}
