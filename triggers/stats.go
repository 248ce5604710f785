package triggers

import (
	"io"
	"net/http"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
)

// Stats are the metrics of a Service. Counts start at New.
type Stats struct {
	Firings   []FiringCount // rows written to the ledger
	Webhooks  map[int]int64 // responses to deliveries, by status
	Schedules int64         // active ones
	// Lag is the delay between the instant of the latest tick and its start; 0 before
	// the first.
	Lag time.Duration
	// Looked is when the scheduler last checked for due ticks, and Next when it will
	// at the latest, on the service's clock; 0 is never.
	Looked, Next blueprint.Time
	// Backwards is how often the clock was found to be set back.
	Backwards int64
	// Missed counts ticks without a run on time, including overdue ones.
	Missed int64
	// Overdue counts active schedules with an undecided tick that was due, or with an
	// unreadable config, as found by the watchdog.
	Overdue int64
	// Watched is when the watchdog last checked all schedules, on the service's clock;
	// 0 is never. WatchError is why the last check failed, "" if it did not.
	Watched    blueprint.Time
	WatchError string
	// Undelivered counts the events that some triggers still have to receive.
	Undelivered int64
	// Unheard counts deliveries of events that left no row because their chain had
	// reached its limit.
	Unheard int64
}

// FiringCount is a number of rows of the ledger.
type FiringCount struct {
	Source   blueprint.Source
	Decision blueprint.Decision
	Count    int64
}

// Stats returns the current metrics, without access to the store.
func (t *Service) Stats() Stats {
	c := &t.counts
	stats := Stats{
		Webhooks: map[int]int64{}, Schedules: c.schedules.Value(), Lag: time.Duration(c.lag.Value()) * time.Millisecond,
		Looked: blueprint.Time(c.looked.Value()), Next: blueprint.Time(c.next.Value()), Backwards: c.backwards.Value(),
		Missed: c.missed.Value(), Watched: blueprint.Time(c.watched.Value()),
		Undelivered: c.undelivered.Value(), Unheard: c.unheard.Value(),
	}
	stats.Overdue, stats.WatchError = t.overdue.state()
	c.firings.Each(func(source, decision string, count int64) {
		stats.Firings = append(stats.Firings, FiringCount{blueprint.Source(source), blueprint.Decision(decision), count})
	})
	for i := range c.responses {
		if count := c.responses[i].Value(); count > 0 {
			stats.Webhooks[i+minStatus] = count
		}
	}
	return stats
}

// The range of statuses that are counted.
const (
	minStatus = 200
	maxStatus = 599
)

type counts struct {
	firings                      *metrics.Counters
	responses                    [maxStatus - minStatus + 1]metrics.Counter
	schedules, lag, looked, next metrics.Gauge // times in milliseconds
	undelivered                  metrics.Gauge
	unheard                      metrics.Counter
	watched                      metrics.Gauge
	backwards, missed            metrics.Counter
	postponed                    metrics.Counter // ticks
}

func newCounts() counts {
	var sources, decisions []string
	for _, source := range blueprint.Sources() {
		sources = append(sources, string(source))
	}
	for _, decision := range []blueprint.Decision{
		blueprint.DecisionStarted, blueprint.DecisionDuplicate, blueprint.DecisionSkipped, blueprint.DecisionRefused, blueprint.DecisionCoalesced,
	} {
		decisions = append(decisions, string(decision))
	}
	return counts{firings: metrics.NewCounters(sources, decisions)}
}

// tick counts a tick whose run is durable.
func (c *counts) tick(a *activation) {
	c.firings.Add(string(a.firing.Source), string(blueprint.DecisionStarted))
	if a.coalesced != nil {
		c.firings.Add(string(a.coalesced.Source), string(blueprint.DecisionCoalesced))
	}
	c.lag.Set(int64(a.firing.ReceivedAt - a.firing.DueAt))
}

// countedResponse counts the status of a response.
type countedResponse struct {
	http.ResponseWriter
	counts *counts
}

// WriteHeader implements http.ResponseWriter.
func (w *countedResponse) WriteHeader(status int) {
	if status >= minStatus && status <= maxStatus {
		w.counts.responses[status-minStatus].Add(1)
	}
	w.ResponseWriter.WriteHeader(status)
}

// WriteString implements io.StringWriter, to avoid a copy.
func (w *countedResponse) WriteString(text string) (int, error) {
	return io.WriteString(w.ResponseWriter, text)
}

// Unwrap is used by http.ResponseController.
func (w *countedResponse) Unwrap() http.ResponseWriter { return w.ResponseWriter }
