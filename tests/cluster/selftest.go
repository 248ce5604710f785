package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"blueprintd/foundation/mutant"
	"blueprintd/tests/process"
)

// mutantInvariants are the invariants by which a mutant may be found. A violation of any
// other one is an unrelated finding.
var mutantInvariants = map[mutant.Bug][]string{
	mutant.FenceForgotten:    {"fenced", "repeat", "step", "limit", "lease", "ended", "log", "takeover"},
	mutant.TakeOverEager:     {"early"},
	mutant.TakeOverForgets:   {"repeat", "step", "ends", "answer", "once", "log", "refused"},
	mutant.TakeOverUnstarted: {"ends", "late"},
	mutant.LeaseUnchecked:    {"lease"},
	mutant.RunHandedTwice:    {"repeat", "limit", "ends", "step", "log", "refused"},
	mutant.CommandTwice:      {"answer", "cancel", "log", "repeat"},
	mutant.DutiesEverywhere:  {"duties"},
	mutant.UnknownIsFailed:   {"ends", "accepted", "key", "takeover"},
	mutant.UnknownIsDone:     {"accepted", "key", "ends", "answer", "cancel"},
}

// faultsPerRound is the number of faults after which a round is checked and the next begins.
const faultsPerRound = 20

// verdict is the result for one mutant. Without a mutant, nothing may be found.
type verdict struct {
	mutant.Description
	faults  int
	seconds float64
	found   *violation
	failure string
}

// expected reports whether the result is as expected.
func (v *verdict) expected() bool { return v.failure == "" && (v.found != nil) == (v.Bug != "") }

// selftest checks whether the torture finds the mutants, and returns the exit code.
func selftest(ctx context.Context, o options) int {
	folder, err := os.MkdirTemp("", "torture-cluster-selftest")
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		return 1
	}
	if o.binary, err = process.Build(ctx, folder, "blueprintd", "-tags", "mutant"); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		return 1
	}
	o.first = true
	bad := false
	var verdicts []*verdict
	for _, d := range append([]mutant.Description{{Does: "nothing is wrong: nothing may be found"}}, mutant.OfCluster()...) {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), string(d.Bug)) {
			continue
		}
		v := &verdict{Description: d}
		v.try(ctx, o, folder)
		if ctx.Err() != nil {
			return 1
		}
		verdicts = append(verdicts, v)
		bad = bad || !v.expected()
	}
	if !o.keep {
		os.RemoveAll(folder)
	}
	printVerdicts(verdicts)
	if bad {
		return 1
	}
	return 0
}

// try tortures a server with the mutant in rounds, until it is found or there were enough
// faults. One round is enough without a mutant.
func (v *verdict) try(ctx context.Context, o options, folder string) {
	most, began := o.faults, now()
	if v.Bug == "" {
		most = min(most, faultsPerRound)
	}
	if err := os.Setenv(mutant.Variable, string(v.Bug)); err != nil {
		v.failure = err.Error()
		return
	}
	for round := 0; v.faults < most && v.found == nil && v.failure == ""; round++ {
		part := o
		part.wanted = mutantInvariants[v.Bug]
		part.faults, part.seed = min(faultsPerRound, most-v.faults), o.seed+uint64(round)
		at := filepath.Join(folder, fmt.Sprintf("%s-%d", name(v.Bug), round))
		if err := os.Mkdir(at, 0o700); err != nil {
			v.failure = err.Error()
			return
		}
		fmt.Fprintf(os.Stderr, "--- %s, round %d\n", name(v.Bug), round+1)
		c, err := tortureIn(ctx, part, at, os.Stderr)
		for _, n := range c.summary.Faults {
			v.faults += n
		}
		if err != nil {
			v.failure = err.Error()
		}
		v.judge(c.history.violations)
		if !o.keep {
			os.RemoveAll(at)
		}
	}
	v.seconds = now().Sub(began).Seconds()
}

// judge looks for a violation that the mutant may cause.
func (v *verdict) judge(violations []violation) {
	for i := range violations {
		if v.Bug == "" || slices.Contains(mutantInvariants[v.Bug], violations[i].Invariant) {
			v.found = &violations[i]
			return
		}
	}
	if len(violations) > 0 {
		v.failure = fmt.Sprintf("%q cannot be caused by this bug: %s", violations[0].Invariant, violations[0].Text)
	}
}

func name(bug mutant.Bug) string {
	if bug == "" {
		return "none"
	}
	return string(bug)
}

// printVerdicts prints the verdicts as a table.
func printVerdicts(verdicts []*verdict) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "bug\twhat the server does\tfound\tby\tafter\tseconds\t")
	for _, v := range verdicts {
		found, by := "no", ""
		if v.found != nil {
			found, by = "yes", v.found.Invariant
		}
		if !v.expected() {
			found += " (WRONG)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d faults\t%.0f\t\n", name(v.Bug), v.Does, found, by, v.faults, v.seconds)
	}
	w.Flush()
	for _, v := range verdicts {
		switch {
		case v.failure != "":
			fmt.Printf("%s: %.400s\n", name(v.Bug), v.failure)
		case v.found != nil:
			fmt.Printf("%s: %.400s\n", name(v.Bug), v.found.Text)
		}
	}
}
