package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"blueprintd/blueprint"
)

// progress shows on a terminal how far a run is: a line for each node that
// ended, and a last line, drawn over and over, for what is going on.
type progress struct {
	out   io.Writer
	shown map[string]bool
	color bool
}

// newProgress gives nil when out is no terminal.
func newProgress(out io.Writer) *progress {
	if !isTerminal(out) {
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

func (p *progress) show(x *blueprint.Execution) {
	for i := range x.Steps {
		step := &x.Steps[i]
		if p.shown[step.NodeID] {
			continue
		}
		mark := ""
		switch step.Status {
		case blueprint.StepCompleted:
			mark = p.paint("32", "✓")
		case blueprint.StepFailed:
			mark = p.paint("31", "✗")
		case blueprint.StepSkipped:
			mark = p.paint("90", "–")
		default:
			continue
		}
		p.shown[step.NodeID] = true
		line := fmt.Sprintf("%s %-24s %s", mark, step.NodeID, p.paint("90", step.NodeType))
		if step.DurationMs != nil {
			line += p.paint("90", fmt.Sprintf("  %d ms", *step.DurationMs))
		}
		if step.Error != nil {
			line += "  " + strings.ReplaceAll(step.Error.Message, "\n", " ")
		}
		fmt.Fprint(p.out, eraseLine+line+"\n")
	}
	current := ""
	if x.CurrentStep != nil {
		current = *x.CurrentStep
	}
	fmt.Fprintf(p.out, "%s%3d %% %s %s", eraseLine, x.Progress, x.Status, current)
}

func (p *progress) end() { fmt.Fprintln(p.out) }

// indented writes JSON for people: two blanks, no HTML escaping.
func indented(value any) ([]byte, error) {
	data, err := blueprint.Encode(value)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
