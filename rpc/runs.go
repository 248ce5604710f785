package rpc

import (
	"context"
	"fmt"
	"time"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

type runList struct {
	BlueprintID    string  `json:"blueprintId" check:"uuid"`
	OrganizationID string  `json:"organizationId" check:"uuid"`
	TriggerID      string  `json:"triggerId" check:"uuid"`
	Parent         string  `json:"parentExecutionId" check:"max=100"`
	RetryOf        string  `json:"retryOf" check:"max=100"`
	Status         string  `json:"status" check:"enum=running|paused|completed|failed"`
	From           *string `json:"from"`
	To             *string `json:"to"`
	Search         string  `json:"search" check:"trim,max=100"`
	Limit          int     `json:"limit" check:"min=1,max=100,default=20"`
	Cursor         string  `json:"cursor" check:"max=100"`
}

type runPage struct {
	Runs []blueprint.ListedRun `json:"runs"`
	Next *string               `json:"next"`
	// SearchedUntil is how far back the search went for a page that is not full although
	// there may be more.
	SearchedUntil blueprint.Time `json:"searchedUntil"`
}

func (s *Service) runList(ctx context.Context, caller *trpc.Caller, in runList) (runPage, error) {
	filter := blueprint.RunFilter{
		BlueprintID: in.BlueprintID, OrganizationID: in.OrganizationID, TriggerID: in.TriggerID, ParentExecutionID: in.Parent, RetryOf: in.RetryOf, Status: blueprint.Status(in.Status), Search: in.Search, Limit: in.Limit,
	}
	var issues []blueprint.Issue
	filter.From, filter.To, issues = spanOf(in.From, in.To)
	if in.Cursor != "" {
		var ok bool
		if filter.After, ok = blueprint.ParseRunPosition(in.Cursor); !ok {
			issues = append(issues, trpc.IssueAt("must be the next of an earlier answer", "cursor"))
		}
	}
	if len(issues) > 0 {
		return runPage{}, trpc.InvalidInput(issues...)
	}
	found, err := s.Store.ListRuns(ctx, caller.Principal, filter)
	if err != nil {
		return runPage{}, err
	}
	page := runPage{Runs: found.Runs, SearchedUntil: found.SearchedUntil}
	if found.Next != (blueprint.RunPosition{}) {
		next := found.Next.String()
		page.Next = &next
	}
	for i := range page.Runs {
		s.summarize(ctx, caller.Principal, &page.Runs[i])
	}
	return page, nil
}

// spanOf parses two instants; absent ones are zero.
func spanOf(from, to *string) (after, before blueprint.Time, issues []blueprint.Issue) {
	var r filterReading
	given := func(text *string) (value trpc.Optional[any]) {
		if text != nil {
			value = trpc.Optional[any]{Value: *text, Set: true}
		}
		return value
	}
	r.span(given(from), given(to))
	return r.filter.From, r.filter.To, r.issues
}

type statistics struct {
	BlueprintID    string  `json:"blueprintId" check:"uuid"`
	OrganizationID string  `json:"organizationId" check:"uuid"`
	From           *string `json:"from"`
	To             *string `json:"to"`
	Bucket         string  `json:"bucket" check:"enum=hour|day,default=hour"`
	Timezone       string  `json:"timezone" check:"max=100"` // of the days; default UTC
}

type picture struct {
	Buckets []bucket `json:"buckets"` // in order, without gaps
	Totals  sums     `json:"totals"`
	Running int      `json:"running"` // now
	Paused  int      `json:"paused"`  // now
}

// bucket counts the runs that ended in an hour or a day.
type bucket struct {
	Start blueprint.Time `json:"start"`
	sums
}

type sums struct {
	Completed int64    `json:"completed"`
	Failed    int64    `json:"failed"`
	MeanMs    *float64 `json:"meanMs"`
	SlowestMs *int64   `json:"slowestMs"`
}

func sumsOf(s blueprint.RunSums) sums {
	out := sums{Completed: s.Completed, Failed: s.Failed}
	if ended := s.Completed + s.Failed; ended > 0 {
		mean := float64(s.Duration) / float64(ended)
		out.MeanMs, out.SlowestMs = &mean, &s.Slowest
	}
	return out
}

const maxBuckets = 1000

func (s *Service) runStatistics(ctx context.Context, caller *trpc.Caller, in statistics) (picture, error) {
	from, to, issues := spanOf(in.From, in.To)
	zone, err := time.LoadLocation(in.Timezone)
	if err != nil || in.Timezone == "Local" {
		issues = append(issues, trpc.IssueAt("must be an IANA time zone such as Europe/Berlin", "timezone"))
	}
	if len(issues) > 0 {
		return picture{}, trpc.InvalidInput(issues...)
	}
	starts, end := bucketsOf(from, to, in.Bucket == "day", zone, s.Info().Now.Time())
	switch {
	case len(starts) == 0:
		return picture{}, trpc.InvalidInput(trpc.IssueAt("must not be in the future", "from"))
	case len(starts) > maxBuckets:
		return picture{}, trpc.InvalidInput(trpc.IssueAt(fmt.Sprintf("must be later: at most %d buckets are returned at once", maxBuckets), "from"))
	}
	found, err := s.Store.RunHours(ctx, caller.Principal, blueprint.HoursFilter{
		BlueprintID: in.BlueprintID, OrganizationID: in.OrganizationID, From: hourOf(starts[0]), To: hourOf(end),
	})
	if err != nil {
		return picture{}, err
	}
	out := picture{Running: found.Running, Paused: found.Paused}
	out.Buckets, out.Totals = fillBuckets(starts, end, found.Hours)
	return out, nil
}

// fillBuckets adds up hours, which are in order, to buckets that begin at starts; the last
// one ends at end.
func fillBuckets(starts []time.Time, end time.Time, hours []blueprint.RunHour) ([]bucket, sums) {
	buckets := make([]bucket, len(starts))
	var all blueprint.RunSums
	for i, start := range starts {
		next := end
		if i+1 < len(starts) {
			next = starts[i+1]
		}
		var own blueprint.RunSums
		for ; len(hours) > 0 && hours[0].Hour < hourOf(next); hours = hours[1:] {
			own.Add(hours[0].RunSums)
		}
		all.Add(own)
		buckets[i] = bucket{blueprint.TimeOf(start), sumsOf(own)}
	}
	return buckets, sumsOf(all)
}

// bucketsOf returns the starts of the hours or days that a span touches, and the end of
// the last one. The default span is the last 24 hours. It returns at most maxBuckets+1.
func bucketsOf(from, to blueprint.Time, days bool, zone *time.Location, now time.Time) (starts []time.Time, end time.Time) {
	last := to.Time().Add(-time.Millisecond)
	if to == 0 {
		last = now
	}
	first := from.Time()
	if from == 0 {
		first = last.Add(-23 * time.Hour)
	}
	at := first.UTC().Truncate(time.Hour)
	if days {
		year, month, day := first.In(zone).Date()
		at = time.Date(year, month, day, 0, 0, 0, 0, zone)
	}
	for !at.After(last) && len(starts) <= maxBuckets {
		starts = append(starts, at)
		if at = at.Add(time.Hour); days {
			year, month, day := starts[len(starts)-1].In(zone).Date()
			at = time.Date(year, month, day+1, 0, 0, 0, 0, zone)
		}
	}
	return starts, at
}

// hourOf returns the first hour since 1970 that begins at t or later.
func hourOf(t time.Time) int64 { return (t.Unix() + 3599) / 3600 }
