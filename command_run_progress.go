package main

import (
	"fmt"
	"io"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
)

// progress shows on a terminal how far a run is: a line for each node that ended,
// and a status line for what is going on.
type progress struct {
	screen *terminal.Screen
	shown  map[string]bool
}

// newProgress gives nil when out is no terminal.
func newProgress(out io.Writer) *progress {
	screen := terminal.NewScreen(out)
	if !screen.Erases() {
		return nil
	}
	return &progress{screen: screen, shown: map[string]bool{}}
}

// marks are the signs of steps that have ended, with their colours.
var marks = map[blueprint.StepStatus]struct {
	colour terminal.Colour
	sign   string
}{
	blueprint.StepCompleted: {terminal.Green, "✓"}, blueprint.StepFailed: {terminal.Red, "✗"}, blueprint.StepSkipped: {terminal.Grey, "–"},
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
		line := fmt.Sprintf("%s %-24s %s", p.screen.Paint(mark.colour, mark.sign), blueprint.OneLine(step.NodeID), p.screen.Paint(terminal.Grey, step.NodeType))
		if step.DurationMs != nil && step.Status != blueprint.StepSkipped {
			line += p.screen.Paint(terminal.Grey, fmt.Sprintf("  %d ms", *step.DurationMs))
		}
		if step.Attempt > 1 {
			line += p.screen.Paint(terminal.Grey, fmt.Sprintf("  attempt %d", step.Attempt))
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
	p.screen.Show(text.String(), blueprint.OneLine(last))
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
