package testsuite

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/recording"
)

// Result is what a test came to.
type Result struct {
	File        string
	Test        string
	Took        time.Duration
	Mismatches  []Mismatch
	Differences []recording.Difference // from the recording; of a replay
	Fault       error                  // why it could not run, or could not be written
	Broken      bool                   // it stands for a file that cannot be read; Fault tells why
	NotRun      bool                   // it was not run to its end, so there is nothing to say of it
	Updated     bool                   // its expectation was written anew
	Notes       []string               // what is no failure, and good to know
	Pos         func(path []any) (line, column int)
	Excerpt     func(path []any) string // the line of the file with a caret
	Nodes       []string                // of its blueprint
	Reached     []string                // the nodes that did something
	Blueprint   string
}

// Passed reports whether it was run and nothing is wrong.
func (r *Result) Passed() bool { return !r.NotRun && !r.Failed() }

// Failed reports whether something is wrong.
func (r *Result) Failed() bool { return !r.NotRun && !r.fine() }

func (r *Result) fine() bool {
	return r.Fault == nil && (r.Updated || len(r.Mismatches) == 0) && len(r.Differences) == 0
}

// Lines tells what is wrong, for people: each begins with file:line:column when
// it is about a line of the file. With carets the line itself is shown beneath.
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

// String tells a mismatch in one line.
func (m *Mismatch) String() string {
	where := blueprint.PathText(m.Path[min(3, len(m.Path)):])
	if m.What != "" {
		where += " (" + m.What + ")"
	}
	switch {
	case m.Missing:
		return fmt.Sprintf("%s: expected %s, and it is missing", where, brief(m.Expected))
	case m.Surplus:
		return fmt.Sprintf("%s: got %s, which is not expected", where, brief(m.Got))
	}
	return fmt.Sprintf("%s: expected %s, got %s", where, brief(m.Expected), brief(m.Got))
}

// brief writes a value in at most about 300 characters.
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

// Paint colours a text: "32" is green, "31" red, "90" grey. Nil leaves it.
type Paint func(color, text string) string

func (p Paint) paint(color, text string) string {
	if p == nil {
		return text
	}
	return p(color, text)
}

// Tell writes one test for people.
func Tell(out io.Writer, r *Result, paint Paint) error {
	mark, note := paint.paint("32", "✓"), ""
	switch {
	case r.NotRun:
		_, err := fmt.Fprintf(out, "- %s: %s (not run)\n", r.File, blueprint.OneLine(r.Test))
		return err
	case r.Failed():
		mark = paint.paint("31", "✗")
	case r.Updated:
		note = " (written)"
	}
	text := fmt.Sprintf("%s %s: %s%s %s\n", mark, r.File, blueprint.OneLine(r.Test), note, paint.paint("90", took(r.Took)))
	if r.Failed() {
		for _, line := range r.Lines(true) {
			text += "    " + line + "\n"
		}
	}
	for _, line := range r.Notes {
		text += "    " + paint.paint("90", "note: "+blueprint.OneLine(line)) + "\n"
	}
	_, err := io.WriteString(out, text)
	return err
}

func took(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

// Sum writes how many passed or not, in colours, and how many nodes of the blueprints were reached.
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
	if broken == 1 {
		text += ", " + paint.paint("31", "1 test file is bad")
	} else if broken > 1 {
		text += ", " + paint.paint("31", fmt.Sprintf("%d test files are bad", broken))
	}
	if len(nodes) > 0 {
		text += fmt.Sprintf("; %d of %d nodes executed (%d %%)", len(reached), len(nodes), len(reached)*100/len(nodes))
		var unreached []string
		for name := range nodes {
			if !reached[name] {
				unreached = append(unreached, strings.Replace(name, "\x00", ": ", 1))
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

// cover notes which nodes of the blueprint a run reached.
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

// Order sorts results by their files and their places there.
func Order(results []*Result) {
	slices.SortStableFunc(results, func(a, b *Result) int { return cmp.Compare(a.File, b.File) })
}
