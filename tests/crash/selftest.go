package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"blueprintd/foundation/mutant"
	"blueprintd/tests/process"
)

// verdict is the result for one mutant. Without a mutant, nothing may be found.
type verdict struct {
	Bug     mutant.Bug `json:"bug"` // "" = none
	Does    string     `json:"does"`
	Fault   string     `json:"fault"` // what was done to the server: "kill" or "power cut"
	Seed    uint64     `json:"seed"`
	Caught  bool       `json:"caught"`
	By      string     `json:"by,omitempty"` // the invariant
	Text    string     `json:"text,omitempty"`
	Faults  int        `json:"faults"` // kills or power cuts
	Seconds float64    `json:"seconds"`
	Failure string     `json:"failure,omitempty"` // why there is no verdict
}

// expected reports whether the result is as expected.
func (v *verdict) expected() bool { return v.Failure == "" && v.Caught == (v.Bug != "") }

// mutantInvariants are the invariants by which a mutant may be found. A violation of any other one is
// an unrelated finding.
var mutantInvariants = map[mutant.Bug][]string{
	mutant.AckBeforeCommit: {"I1", "I7"},
	mutant.NoRecovery:      {"I2"},
	mutant.JournalAfterAct: {"I1", "I4"},
	mutant.NoFiringKey:     {"I7"},
	mutant.StatusRewritten: {"I5", "I18"},
	mutant.EventForgotten:  {"I7"},
	mutant.LimitForgotten:  {"I16"},
}

// selftest checks whether the harnesses find the mutants, and returns the exit code.
func selftest(o options) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	folder, err := os.MkdirTemp("", "torture-selftest")
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		return 1
	}
	verdicts, err := selftestIn(ctx, o, folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		return 1
	}
	if !o.keep {
		os.RemoveAll(folder)
	}
	wrong := slices.ContainsFunc(verdicts, func(v *verdict) bool { return !v.expected() })
	if o.json {
		head := newReport(ctx, o)
		printJSON(object{"seed": o.seed, "commit": head.Commit, "date": head.Date, "good": !wrong, "verdicts": verdicts})
	} else {
		head := newReport(ctx, o)
		fmt.Printf("seed %d, commit %s, %s\n%s", o.seed, head.Commit, head.Date, table(verdicts))
	}
	if wrong {
		return 1
	}
	return 0
}

// selftestIn tests the server without a mutant and with each.
func selftestIn(ctx context.Context, o options, folder string) ([]*verdict, error) {
	var err error
	if o.binary, err = process.Build(ctx, folder, "blueprintd", "-tags", "mutant"); err != nil {
		return nil, err
	}
	o.first = true
	control := mutant.Description{Does: "nothing is wrong: nothing may be found"}
	var verdicts []*verdict
	for i, d := range append([]mutant.Description{control, control}, mutant.All()...) {
		v := &verdict{Bug: d.Bug, Does: d.Does, Fault: "kill", Seed: o.seed + uint64(i)*1000}
		if i == 1 || d.Bug == mutant.SynchronousOff {
			v.Fault = "power cut"
		}
		began := now()
		fmt.Fprintf(os.Stderr, "--- %s (%s)\n", name(d.Bug), v.Fault)
		// Both programs start servers with the mutant in this variable.
		if err := os.Setenv(mutant.Variable, string(d.Bug)); err != nil {
			return nil, err
		}
		if v.Fault == "kill" {
			err = v.kill(ctx, o, filepath.Join(folder, fmt.Sprint("try-", i)))
		} else {
			err = v.cut(ctx, o, folder)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			v.Failure = err.Error()
		}
		v.Seconds = now().Sub(began).Round(100 * time.Millisecond).Seconds()
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// killsPerRound is the number of kills after which a round is checked and the next begins.
const killsPerRound = 12

// kill tortures the server in rounds until the mutant is found or there were enough kills.
// Two rounds are enough without a mutant.
func (v *verdict) kill(ctx context.Context, o options, folder string) error {
	most := o.kills
	if v.Bug == "" {
		most = min(most, 2*killsPerRound)
	}
	display := newDisplay(os.Stderr, most)
	defer display.close()
	for round := 0; v.Faults < most; round++ {
		part := o
		part.kills, part.seed, part.expectedInvariants = min(killsPerRound, most-v.Faults), v.Seed+uint64(round), mutantInvariants[v.Bug]
		at := fmt.Sprint(folder, "-", round)
		if err := os.Mkdir(at, 0o700); err != nil {
			return err
		}
		r, err := tortureIn(ctx, part, at, display)
		if err != nil {
			return err
		}
		v.Faults += r.Kills
		if n := len(r.Violations); n > 0 {
			return v.found(r.Violations[n-1].Invariant, r.Violations[n-1].String())
		}
		if !o.keep {
			os.RemoveAll(at)
		}
	}
	return nil
}

// found records a finding, which must be a violation of one of its mutantInvariants.
func (v *verdict) found(invariant, text string) error {
	v.By, v.Text = invariant, text
	if may, known := mutantInvariants[v.Bug]; known && !slices.Contains(may, invariant) {
		return fmt.Errorf("%s cannot be caused by this bug: %s", invariant, text)
	}
	v.Caught = true
	return nil
}

// maxPowerCut bounds one power cut.
const maxPowerCut = 5 * time.Second

// cut runs the power cut of the sweep, which a kill cannot replace: after a kill, written
// data is still in the page cache.
func (v *verdict) cut(ctx context.Context, o options, folder string) error {
	sweep, err := process.Build(ctx, folder, "blueprintd/tests/faults")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute+time.Duration(o.cuts)*maxPowerCut)
	defer cancel()
	command := exec.CommandContext(ctx, sweep, "-binary", o.binary, "-cuts", fmt.Sprint(o.cuts), "-seed", fmt.Sprint(v.Seed), "-first", "-json")
	command.Stderr = os.Stderr
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // it has a file system mounted
	command.WaitDelay = 20 * time.Second
	out, err := command.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return fmt.Errorf("the sweep did not work: %w", err)
	}
	return v.readSweep(out)
}

// readSweep reads the report of the sweep, whose violations have no invariant. All its cases
// end with a power cut; that of the rehearsal comes after all clients have ended.
func (v *verdict) readSweep(data []byte) error {
	var report struct {
		Cases      map[string]int                 `json:"cases"`
		Violations []struct{ Where, Text string } `json:"violations"`
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return fmt.Errorf("the report of the sweep: %w", err)
	}
	for _, n := range report.Cases {
		v.Faults += n
	}
	if v.Faults == 0 {
		return errors.New("the sweep cut no power")
	}
	if len(report.Violations) > 0 {
		return v.found("sweep", report.Violations[0].Where+": "+report.Violations[0].Text)
	}
	return nil
}

func name(bug mutant.Bug) string {
	if bug == "" {
		return "(none)"
	}
	return string(bug)
}

// table prints the verdicts.
func table(verdicts []*verdict) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "bug\twhat the server does\tcaught\tby\tafter\tseconds\t")
	for _, v := range verdicts {
		caught := "no"
		if v.Caught {
			caught = "yes"
		}
		if !v.expected() {
			caught += " (WRONG)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d %ss\t%.1f\t\n", name(v.Bug), v.Does, caught, v.By, v.Faults, v.Fault, v.Seconds)
	}
	w.Flush()
	for _, v := range verdicts {
		switch {
		case v.Failure != "":
			fmt.Fprintf(&b, "%s: %s\n", name(v.Bug), shorten(v.Failure))
		case v.Text != "":
			fmt.Fprintf(&b, "%s: %s\n", name(v.Bug), shorten(v.Text))
		}
	}
	return b.String()
}

func shorten(text string) string {
	if at := 300; len(text) > at {
		return text[:at] + "..."
	}
	return text
}
