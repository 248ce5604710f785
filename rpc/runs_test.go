package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// hours is a store with one run in each hour, which takes as many seconds as its day of the
// month.
type hours struct{ Store }

func (hours) RunHours(_ context.Context, _ blueprint.Principal, f blueprint.HoursFilter) (found blueprint.RunHours, err error) {
	for hour := f.From; hour < f.To; hour++ {
		one := blueprint.RunHour{Hour: hour}
		one.Completed, one.Duration, one.Slowest = 1, 1000*(hour%24), 1000*(hour%24)
		found.Hours = append(found.Hours, one)
	}
	return found, nil
}

func TestStatistics(t *testing.T) {
	now := time.Date(2026, 3, 29, 12, 30, 0, 0, time.UTC) // start of daylight saving time in Berlin
	s := &Service{Options: Options{Store: hours{}, Info: func() ServerInfo { return ServerInfo{Now: blueprint.TimeOf(now)} }}}
	text := func(s string) *string { return &s }
	for _, test := range []struct {
		in   statistics
		want string // the starts and counts, or the invalid fields
	}{
		{statistics{Bucket: "hour", From: text("2026-03-29T10:00:00Z")}, "03-29T10 1, 03-29T11 1, 03-29T12 1; 3"},
		{statistics{Bucket: "hour", From: text("2026-03-29T10:59:00Z"), To: text("2026-03-29T12:00:00Z")}, "03-29T10 1, 03-29T11 1; 2"},
		{statistics{Bucket: "day", From: text("2026-03-27T12:00:00Z")}, "03-27T00 24, 03-28T00 24, 03-29T00 24; 72"},
		{statistics{Bucket: "day", From: text("2026-03-28T12:00:00Z"), Timezone: "Europe/Berlin"}, "03-27T23 24, 03-28T23 23; 47"},
		{statistics{Bucket: "day", From: text("2026-03-28T12:00:00Z"), To: text("2026-03-29T00:00:00+05:30"), Timezone: "Asia/Kolkata"}, "03-27T18 24; 24"},
		{statistics{Bucket: "day", From: text("2027-01-01T00:00:00Z")}, "from"},
		{statistics{Bucket: "hour", From: text("2026-02-15T20:00:00Z")}, "from"},
		{statistics{Bucket: "hour", From: text("yesterday"), To: text("2026"), Timezone: "Middle/Earth"}, "from to timezone"},
		{statistics{Bucket: "hour", Timezone: "Local"}, "timezone"},
		{statistics{Bucket: "hour", From: text("2026-03-01T00:00:00Z"), To: text("2026-02-01T00:00:00Z")}, "to"},
	} {
		t.Run(test.want, func(t *testing.T) {
			out, err := s.runStatistics(t.Context(), &trpc.Caller{}, test.in)
			var got []string
			if err != nil {
				var refused *blueprint.Error
				if !errors.As(err, &refused) {
					t.Fatal(err)
				}
				for _, issue := range refused.Issues {
					got = append(got, blueprint.PathText(issue.Path))
				}
				if got := strings.Join(got, " "); got != test.want {
					t.Errorf("%+v: %v, want %q", test.in, err, test.want)
				}
				return
			}
			for _, b := range out.Buckets {
				got = append(got, b.Start.Time().Format("01-02T15 ")+fmt.Sprint(b.Completed))
			}
			if got := strings.Join(got, ", ") + "; " + fmt.Sprint(out.Totals.Completed); got != test.want {
				t.Errorf("%+v: %s, want %s", test.in, got, test.want)
			}
		})
	}
	out, err := s.runStatistics(t.Context(), &trpc.Caller{}, statistics{Bucket: "hour"})
	if err != nil || len(out.Buckets) != 24 {
		t.Fatalf("%v, %d buckets, want 24", err, len(out.Buckets))
	}
	last := out.Buckets[23]
	if diff := cmp.Diff([]any{"2026-03-29T12:00:00.000Z", 12000.0, int64(23000), 11500.0}, []any{last.Start.String(), *last.MeanMs, *out.Totals.SlowestMs, *out.Totals.MeanMs}); diff != "" {
		t.Errorf("last start, its mean, the slowest and the mean of all (-want +got):\n%s", diff)
	}
	if out, err := s.runStatistics(t.Context(), &trpc.Caller{}, statistics{Bucket: "hour", From: text("2026-02-15T21:00:00Z")}); err != nil || len(out.Buckets) != 1000 {
		t.Errorf("%v, %d buckets; want 1000", err, len(out.Buckets))
	}
}
