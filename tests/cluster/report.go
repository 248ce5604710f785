package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// summary is what the report counts.
type summary struct {
	Faults          map[string]int
	Requests        int
	Lost            int // without an answer
	Refused         int // with 503
	Repeated        int // deliveries that were acknowledged before
	Runs            int
	Acknowledged    int
	Completed       int
	Failed          int
	Cancelled       int
	Answers         int
	UnknownOutcomes int
	Ticks           int
	Events          int
	Calls           int
	RepeatedCalls   int
	UnknownCallers  int
	MostAtOnce      map[string]int // runs of a shape with a limit
	DeclaredDead    int
	FailedStarts    int
	Ready           measured
	Takeover        measured
	Pause           measured // of runs between two calls
	Settled         time.Duration
}

func newSummary() summary {
	return summary{Faults: map[string]int{}, MostAtOnce: map[string]int{}}
}

// timelineBefore is how much of the timeline before a violation is printed.
const timelineBefore = 45 * time.Second

func (c *cluster) report(out io.Writer, folder string) {
	s := &c.summary
	total := 0
	for _, n := range s.Faults {
		total += n
	}
	fmt.Fprintf(out, "seed %d, %d processes, %d faults in %.0f s\n", c.seed, c.options.count, total, now().Sub(c.began).Seconds())
	for _, kind := range slices.Sorted(maps.Keys(s.Faults)) {
		fmt.Fprintf(out, "  %-22s %5d\n", kind, s.Faults[kind])
	}
	fmt.Fprintf(out, "runs: %d, %d of them acknowledged, %d completed, %d failed, %d cancelled; %d answers, %d decisions on unknown outcomes\n", s.Runs, s.Acknowledged, s.Completed, s.Failed, s.Cancelled, s.Answers, s.UnknownOutcomes)
	fmt.Fprintf(out, "ticks: %d; events: %d\n", s.Ticks, s.Events)
	fmt.Fprintf(out, "requests: %d, %d without an answer, %d refused with 503; %d repeated deliveries\n", s.Requests, s.Lost, s.Refused, s.Repeated)
	fmt.Fprintf(out, "calls: %d, %d of them repetitions; %d of an unknown process\n", s.Calls, s.RepeatedCalls, s.UnknownCallers)
	for _, name := range slices.Sorted(maps.Keys(s.MostAtOnce)) {
		fmt.Fprintf(out, "most runs at once of %s: %d\n", name, s.MostAtOnce[name])
	}
	fmt.Fprintf(out, "declared dead: %d processes; starts that failed without a database: %d\n", s.DeclaredDead, s.FailedStarts)
	fmt.Fprintf(out, "ready after the faults: %s; runs taken over after the last beat: %s; runs went on after: %s; settled in %.1f s\n", &s.Ready, &s.Takeover, &s.Pause, s.Settled.Seconds())
	violations := c.history.violations
	if len(violations) == 0 {
		fmt.Fprintln(out, "no violations")
	}
	if folder != "" {
		fmt.Fprintf(out, "the logs are in %s\n", folder)
	}
	for i, v := range violations {
		if i == shownViolations {
			fmt.Fprintf(out, "and %d more violations\n", len(violations)-i)
			break
		}
		fmt.Fprintf(out, "VIOLATION of %q, seed %d, at %s, run %s: %.2000s\n", v.Invariant, c.seed, strings.TrimSpace(c.since(v.At)), v.Run, v.Text)
		if !c.healed.IsZero() && v.At.After(c.healed) {
			continue
		}
		for _, e := range c.timeline {
			if e.at.After(v.At.Add(-timelineBefore)) && !e.at.After(v.At) {
				fmt.Fprintf(out, "    %s %s\n", c.since(e.at), e.what)
			}
		}
	}
}

// around lists the faults between two instants.
func (c *cluster) around(from, to time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for _, e := range c.timeline {
		if e.at.After(from.Add(-timelineBefore)) && e.at.Before(to.Add(time.Second)) {
			list = append(list, strings.TrimSpace(c.since(e.at))+" "+e.what)
		}
	}
	return strings.Join(list, "; ")
}
