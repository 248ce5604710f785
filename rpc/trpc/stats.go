package trpc

import (
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
)

// Stats tell what a handler has answered since it was made.
type Stats struct {
	Calls []CallCount
	// Durations are how long calls worked, in real time; subscriptions, which
	// last as long as somebody listens, are left out.
	Durations metrics.Distribution
}

// CallCount is how many calls of a procedure ended with a code. The procedure
// of a call that names none of ours is "unknown"; the code of one that
// succeeded is "OK".
type CallCount struct {
	Procedure, Code string
	Count           int64
}

// Stats returns the numbers of now.
func (h *Handler) Stats() Stats {
	stats := Stats{Durations: h.counts.durations.Distribution()}
	h.counts.calls.Each(func(procedure, code string, count int64) {
		stats.Calls = append(stats.Calls, CallCount{procedure, code, count})
	})
	return stats
}

const (
	unknown = "unknown"
	success = "OK"
)

// counts are what a handler counts as it goes.
type counts struct {
	calls     *metrics.Counters
	durations *metrics.Histogram
}

func newCounts(procedures []string) counts {
	return counts{
		calls: metrics.NewCounters(append(procedures, unknown), []string{
			success, string(blueprint.CodeParse), string(blueprint.CodeBadRequest), string(blueprint.CodeUnauthorized), string(blueprint.CodeForbidden),
			string(blueprint.CodeNotFound), string(blueprint.CodeMethodNotSupported), string(blueprint.CodeTimeout), string(blueprint.CodeConflict),
			string(blueprint.CodePayloadTooLarge), string(blueprint.CodeUnsupportedMedia), string(blueprint.CodeTooManyRequests),
			string(blueprint.CodeClientClosed), string(blueprint.CodeInternal), string(blueprint.CodeUnavailable),
		}),
		durations: metrics.NewHistogram(
			250*time.Microsecond, 500*time.Microsecond, time.Millisecond, 2500*time.Microsecond, 5*time.Millisecond, 10*time.Millisecond, 25*time.Millisecond,
			50*time.Millisecond, 100*time.Millisecond, 250*time.Millisecond, 500*time.Millisecond, time.Second, 5*time.Second, 30*time.Second,
		),
	}
}

// ended counts the calls of a request that has been answered.
func (c *counts) ended(r *request) {
	for _, one := range r.calls {
		procedure, code := unknown, success
		if one.procedure != nil {
			procedure = one.procedure.Name
		}
		if one.failure != nil {
			code = string(one.failure.Code)
		}
		c.calls.Add(procedure, code)
	}
}
