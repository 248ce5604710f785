package testsuite

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"blueprintd/blueprint"
)

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
// and an invalid file are errors, a mismatch is a failure, and a test that did not run is
// skipped.
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
