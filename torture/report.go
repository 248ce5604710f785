package main

import (
	"fmt"
	"strings"
)

// report is what came of it.
type report struct {
	Seed       uint64      `json:"seed"`
	Clients    int         `json:"clients"`
	Scenes     []figures   `json:"scenes"`
	Violations []violation `json:"violations"`
	Folder     string      `json:"folder,omitempty"`
}

// figures are those of one scene. Durations are milliseconds.
type figures struct {
	Name             string `json:"name"`
	Duration         int64  `json:"duration"`
	Kills            int    `json:"kills"`
	KillsBeforeReady int    `json:"killsBeforeReady"`
	Stops            int    `json:"stopsAskedFor"`
	Starts           int    `json:"startsThatBecameReady"`
	ReadyMedian      int64  `json:"readyMedian"`
	ReadyMost        int64  `json:"readyMost"`
	Runs             int    `json:"runs"`
	Calls            int    `json:"calls"`
	CallsRepeated    int    `json:"callsRepeated"`
	counts
}

func (r *report) add(s *scene) {
	r.Scenes = append(r.Scenes, figures{
		Name: s.name, Duration: now().Sub(s.began).Milliseconds(), Kills: s.kills, Stops: s.stops, KillsBeforeReady: s.early, Starts: len(s.ready),
		ReadyMedian: percentile(s.ready, 50).Milliseconds(), ReadyMost: percentile(s.ready, 100).Milliseconds(),
		Runs: len(s.book.runs), Calls: s.calls, CallsRepeated: s.repeated, counts: s.book.counts,
	})
	r.Violations = append(r.Violations, s.book.violations...)
}

func (r *report) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d clients\n", r.Seed, r.Clients)
	for _, f := range r.Scenes {
		fmt.Fprintf(&b, "%s: %d kills (%d before the server was ready) and %d stops in %.0f s\n", f.Name, f.Kills, f.KillsBeforeReady, f.Stops, float64(f.Duration)/1000)
		fmt.Fprintf(&b, "  starts    %d became ready, in %d ms (median), %d ms at most\n", f.Starts, f.ReadyMedian, f.ReadyMost)
		fmt.Fprintf(&b, "  requests  %d, of them %d without an answer, %d answered 503\n", f.Requests, f.Lost, f.Refused)
		fmt.Fprintf(&b, "  runs      %d, of them %d acknowledged; %d completed, %d failed; %d cancelled, %d retried, %d by ticks\n", f.Runs, f.Acknowledged, f.Completed, f.Failed, f.Cancelled, f.Retried, f.Ticks)
		fmt.Fprintf(&b, "  people    %d answers, %d unknown outcomes decided\n", f.Answers, f.UnknownOutcome)
		fmt.Fprintf(&b, "  repeats   %d deliveries answered as duplicates; of %d calls %d were repetitions\n", f.Duplicates, f.Calls, f.CallsRepeated)
	}
	if len(r.Violations) == 0 {
		b.WriteString("every invariant held\n")
	}
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "VIOLATED  %s\n", v)
	}
	if r.Folder != "" {
		fmt.Fprintf(&b, "kept      %s\n", r.Folder)
	}
	return b.String()
}
