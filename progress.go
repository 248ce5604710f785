package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// progress shows on a terminal how far a run is: a line for each node that
// ended, and a last line, drawn over and over, for what is going on. Each look is
// one write, and none when nothing is new, so that nothing flickers.
type progress struct {
	out   io.Writer
	shown map[string]bool
	last  string // the last line as it stands there
	color bool
}

// newProgress gives nil when out is no terminal.
func newProgress(out io.Writer) *progress {
	if !isTerminal(out) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &progress{out: out, shown: map[string]bool{}, color: os.Getenv("NO_COLOR") == ""}
}

func (p *progress) paint(color, text string) string {
	if !p.color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

const eraseLine = "\r\x1b[K"

// marks are the signs of steps that have ended, with their colours.
var marks = map[blueprint.StepStatus][2]string{
	blueprint.StepCompleted: {"32", "✓"}, blueprint.StepFailed: {"31", "✗"}, blueprint.StepSkipped: {"90", "–"},
}

// show takes a look at the run; nil is none.
func (p *progress) show(x *blueprint.Execution) {
	if x == nil {
		return
	}
	var text strings.Builder
	var working []string
	for i := range x.Steps {
		step := &x.Steps[i]
		mark, over := marks[step.Status]
		switch {
		case step.Status == blueprint.StepRunning:
			working = append(working, doing(step))
			continue
		case !over || p.shown[step.NodeID]:
			continue
		}
		p.shown[step.NodeID] = true
		line := fmt.Sprintf("%s %-24s %s", p.paint(mark[0], mark[1]), blueprint.OneLine(step.NodeID), p.paint("90", step.NodeType))
		if step.DurationMs != nil && step.Status != blueprint.StepSkipped {
			line += p.paint("90", fmt.Sprintf("  %d ms", *step.DurationMs))
		}
		if step.Attempt > 1 {
			line += p.paint("90", fmt.Sprintf("  attempt %d", step.Attempt))
		}
		if step.Error != nil {
			line += "  " + blueprint.OneLine(strings.ReplaceAll(step.Error.Message, "\n", " "))
		}
		text.WriteString(line + "\n")
	}
	last := fmt.Sprintf("%3d %% %s", x.Progress, x.Status)
	if x.AwaitingInput != nil {
		last += ", waits for " + string(x.AwaitingInput.Kind) + " at " + x.AwaitingInput.NodeID
	} else if len(working) > 0 {
		last += "  " + strings.Join(working, ", ")
	}
	last = clipped(blueprint.OneLine(last), widthOf(p.out)-1)
	if text.Len() == 0 && last == p.last {
		return
	}
	p.last = last
	fmt.Fprint(p.out, eraseLine+text.String()+last)
}

// widthOf gives the width of a terminal: what COLUMNS says, what the terminal says,
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

// doing tells what a node at work does.
func doing(step *blueprint.Step) string {
	switch {
	case step.NodeType == "wait":
		return step.NodeID + " waits"
	case step.Attempt > 1:
		return fmt.Sprintf("%s (attempt %d)", step.NodeID, step.Attempt)
	}
	return step.NodeID
}

// clipped keeps a line from going on in the next, which could not be erased.
func clipped(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

func (p *progress) end() { fmt.Fprintln(p.out) }
