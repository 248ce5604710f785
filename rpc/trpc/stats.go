package trpc

import (
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
)

// Stats counts the calls that a handler has answered.
type Stats struct {
	Calls []CallCount
	// Durations excludes subscriptions. It is measured in real time.
	Durations metrics.Distribution
}

// CallCount is how many calls of a procedure ended with a code: "OK" for success.
// Calls of procedures that do not exist are counted under "unknown".
type CallCount struct {
	Procedure, Code string
	Count           int64
}

// Stats returns a snapshot of the counters.
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
