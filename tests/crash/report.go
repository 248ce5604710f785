package main

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// report is the result of all scenarios, as JSON or text.
type report struct {
	Seed       uint64      `json:"seed"`
	Commit     string      `json:"commit,omitempty"` // of the working directory; with "+" when files differ from it
	Date       string      `json:"date"`
	Kills      int         `json:"kills"`
	Clients    int         `json:"clients"`
	Without    []string    `json:"without,omitempty"`
	Scenarios  []figures   `json:"scenarios"`
	Violations []violation `json:"violations"`
	Folder     string      `json:"folder,omitempty"`
}

// figures are those of one scenario. Durations are milliseconds.
type figures struct {
	Name             string `json:"name"`
	Duration         int64  `json:"duration"`
	Kills            int    `json:"kills"`
	KillsBeforeReady int    `json:"killsBeforeReady"`
	Stops            int    `json:"stops"`
	Starts           int    `json:"starts"`
	ReadyMedian      int64  `json:"readyMedian"`
	ReadyMost        int64  `json:"readyMost"`
	Runs             int    `json:"runs"`
	Calls            int    `json:"calls"`
	CallsRepeated    int    `json:"callsRepeated"`
	counts
}

func newReport(ctx context.Context, o options) *report {
	return &report{Seed: o.seed, Clients: o.clients, Without: o.without, Commit: commit(ctx), Date: now().UTC().Format(time.RFC3339), Violations: []violation{}}
}

// commit names what the working directory holds, "" when git does not know.
func commit(ctx context.Context) string {
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return ""
	}
	name := strings.TrimSpace(string(head))
	if changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output(); err != nil || len(changes) > 0 {
		name += "+"
	}
	return name
}

func (r *report) add(s *scenario) {
	r.Kills += s.kills
	r.Scenarios = append(r.Scenarios, figures{
		Name: s.name, Duration: now().Sub(s.began).Milliseconds(), Kills: s.kills, Stops: s.stops, KillsBeforeReady: s.earlyKills, Starts: len(s.ready),
		ReadyMedian: percentile(s.ready, 50).Milliseconds(), ReadyMost: percentile(s.ready, 100).Milliseconds(),
		Runs: len(s.history.runs), Calls: s.calls, CallsRepeated: s.repeatedCalls, counts: s.history.counts,
	})
	r.Violations = append(r.Violations, s.history.violations...)
}

func (r *report) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, commit %s, %s, %d kills, %d clients\n", r.Seed, cmp.Or(r.Commit, "unknown"), r.Date, r.Kills, r.Clients)
	if len(r.Without) > 0 {
		fmt.Fprintf(&b, "excluded: %s\n", strings.Join(r.Without, ", "))
	}
	for _, f := range r.Scenarios {
		fmt.Fprintf(&b, "%s: %d kills (%d before the server was ready) and %d stops in %.0f s\n", f.Name, f.Kills, f.KillsBeforeReady, f.Stops, float64(f.Duration)/1000)
		fmt.Fprintf(&b, "  starts    %d became ready, in %d ms (median), %d ms at most\n", f.Starts, f.ReadyMedian, f.ReadyMost)
		fmt.Fprintf(&b, "  requests  %d, of them %d without an answer, %d answered 503\n", f.Requests, f.Lost, f.Refused)
		fmt.Fprintf(&b, "  runs      %d, of them %d acknowledged; %d completed, %d failed; %d cancelled, %d retried, %d by ticks\n", f.Runs, f.Acknowledged, f.Completed, f.Failed, f.Cancelled, f.Retried, f.Ticks)
		fmt.Fprintf(&b, "  success   %d %% of the requests were served, %d %% of the runs that ended completed\n", f.served(), f.successRate())
		fmt.Fprintf(&b, "  started   %d logged, %d synchronous, %d fired, %d deliveries accepted, %d answered at the end\n", f.Logged, f.Executed, f.Fired, f.Delivered, f.AnsweredAtEnd)
		fmt.Fprintf(&b, "  other     %d changes of a blueprint, %d subscriptions with %d events, %d second servers\n", f.Updates, f.Streams, f.Events, f.SecondServers)
		fmt.Fprintf(&b, "  nested    %d items, %d sub-runs, %d events delivered, %d scripts\n", f.Items, f.SubRuns, f.CustomEvents, f.Scripts)
		if f.Signed+f.Emails+f.EndEvents+f.Limited > 0 {
			b.WriteString(f.sourceLines())
		}
		fmt.Fprintf(&b, "  services  %d calls with a token, %d redirected, %d with OAuth (%d tokens); %d questions to a model, %d tool calls, %d mails, %d posts\n", f.TokenCalls, f.Redirected, f.OAuthCalls, f.Tokens, f.Questions, f.Tools, f.Mails, f.Posts)
		fmt.Fprintf(&b, "  access    connections listed %d times, tested %d, changed %d; %d texts searched for secrets\n", f.ConnectionLists, f.ConnectionTests, f.ConnectionChanges, f.Searched)
		b.WriteString(f.accounts())
		fmt.Fprintf(&b, "  users     %d answers, %d unknown outcomes decided\n", f.Answers, f.UnknownOutcome)
		fmt.Fprintf(&b, "  repeats   %d deliveries answered as duplicates, %d keys refused for another body; of %d calls %d were repetitions\n", f.Duplicates, f.Conflicts, f.Calls, f.CallsRepeated)
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

// sourceLines returns the lines about deliveries and their runs.
func (f *figures) sourceLines() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  sources   %d signed deliveries (%d with the previous secret, %d rotations), %d with a wrong signature, %d from Slack, %d filtered; %d emails (%d cut off), %d attachments read\n", f.Signed, f.PreviousSecrets, f.Rotations, f.WrongSignatures, f.Slack, f.Filtered, f.Emails, f.EmailsCutOff, f.Attachments)
	fmt.Fprintf(&b, "  events    %d ends and %d changes delivered; %d firings redelivered, %d explained\n", f.EndEvents, f.ChangeEvents, f.Redelivered, f.Explained)
	fmt.Fprintf(&b, "  limits    %d runs under a limit, which was reached %d times; %d runs displaced\n", f.Limited, f.LimitReached, f.Displaced)
	return b.String()
}

// accounts returns the lines about the audit log, the hourly counts and sessions.
func (f *figures) accounts() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  audit     %d changes acknowledged, %d of them in the dashboard; %d lines, %d of them for unacknowledged changes; %d about runs lost in the %d ms before a kill\n", f.AuditedChanges, f.DashboardChanges, f.Lines, f.LinesMade, f.LinesMissed, maxAuditDelay.Milliseconds())
	fmt.Fprintf(&b, "  hours     %d runs that ended, counted for %d blueprints and organizations\n", f.HourEnds, f.HourScopes)
	if f.SignIns > 0 {
		fmt.Fprintf(&b, "  sessions  %d sign-ins, sessions worked %d times; %d ended, refused %d times; %d passwords changed, old ones refused %d times; %d links used, refused %d times\n", f.SignIns, f.Sessions, f.SignOuts, f.SessionsRefused, f.Passwords, f.OldPasswords, f.SetUps, f.UsedLinks)
	}
	return b.String()
}
