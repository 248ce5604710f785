package triggers

import (
	"io"
	"net/http"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
)

// Stats tell how a service is doing. What counts up does so since New.
type Stats struct {
	// Firings are the rows that were written into the ledger.
	Firings []FiringCount
	// Webhooks are the answers of Webhook by their status.
	Webhooks  map[int]int64
	Schedules int64 // that are active
	// Lag is how long after it was due the latest tick was begun, 0 before the
	// first.
	Lag time.Duration
	// Looked is when the scheduler last looked for what is due, and Next when
	// it will at the latest, both on the service's clock; 0 is never.
	Looked, Next blueprint.Time
	// Backwards is how often the clock turned out to stand before where it had
	// been seen.
	Backwards int64
	// Missed are the ticks for which no run was started when they were due,
	// those that are overdue included.
	Missed int64
	// Overdue are the active schedules that the watchdog finds silent: with a
	// tick that was due and about which nothing is decided, or unreadable.
	Overdue int64
	// Watched is when the watchdog last looked at all schedules, on the service's
	// clock; 0 is never. WatchError is why it could not the last time, "" when it
	// could.
	Watched    blueprint.Time
	WatchError string
	// Undelivered are the events that could not be told to all who listen to them, and
	// are told again later.
	Undelivered int64
	// Unheard counts how often an event started nothing, without a row, because
	// what it began in had led to as many runs as may be.
	Unheard int64
}

// FiringCount is how many firings of a source there were on which was so
// decided.
type FiringCount struct {
	Source   blueprint.Source
	Decision blueprint.Decision
	Count    int64
}

// Stats returns the numbers of now. It costs no access to the disk.
func (t *Service) Stats() Stats {
	c := &t.counts
	stats := Stats{
		Webhooks: map[int]int64{}, Schedules: c.schedules.Value(), Lag: time.Duration(c.lag.Value()) * time.Millisecond,
		Looked: blueprint.Time(c.looked.Value()), Next: blueprint.Time(c.next.Value()), Backwards: c.backwards.Value(),
		Missed: c.missed.Value(), Watched: blueprint.Time(c.watched.Value()),
	}
	stats.Undelivered, stats.Unheard = c.waiting.Value(), c.unheard.Value()
	stats.Overdue, stats.WatchError = t.overdue.state()
	c.firings.Each(func(source, decision string, count int64) {
		stats.Firings = append(stats.Firings, FiringCount{blueprint.Source(source), blueprint.Decision(decision), count})
	})
	for i := range c.answers {
		if count := c.answers[i].Value(); count > 0 {
			stats.Webhooks[i+leastStatus] = count
		}
	}
	return stats
}

// The statuses that an answer can have.
const (
	leastStatus = 200
	mostStatus  = 599
)

// counts are what a service counts as it goes.
type counts struct {
	firings                      *metrics.Counters
	answers                      [mostStatus - leastStatus + 1]metrics.Counter
	schedules, lag, looked, next metrics.Gauge // instants and spans in milliseconds
	waiting                      metrics.Gauge // events
	unheard                      metrics.Counter
	watched                      metrics.Gauge
	backwards, missed            metrics.Counter
	postponed                    metrics.Counter // ticks that were put off
}

func newCounts() counts {
	return counts{firings: metrics.NewCounters(
		[]string{
			string(blueprint.SourceSchedule), string(blueprint.SourceWebhook), string(blueprint.SourceAPI), string(blueprint.SourceManual),
			string(blueprint.SourceEmail), string(blueprint.SourceSlack), string(blueprint.SourceEvent), string(blueprint.SourceRedelivery),
		},
		[]string{
			string(blueprint.DecisionStarted), string(blueprint.DecisionDuplicate), string(blueprint.DecisionSkipped),
			string(blueprint.DecisionRefused), string(blueprint.DecisionCoalesced),
		},
	)}
}

// tick counts a tick whose run is on the disk.
func (c *counts) tick(a *activation) {
	c.firings.Add(string(a.firing.Source), string(blueprint.DecisionStarted))
	if a.coalesced != nil {
		c.firings.Add(string(a.coalesced.Source), string(blueprint.DecisionCoalesced))
	}
	c.lag.Set(int64(a.firing.ReceivedAt - a.firing.DueAt))
}

// counted counts the answers of a handler.
func (t *Service) counted(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next(&countedAnswer{w, &t.counts}, r)
	})
}

// countedAnswer notes with which status a request is answered.
type countedAnswer struct {
	http.ResponseWriter
	counts *counts
}

// WriteHeader writes the headers.
func (a *countedAnswer) WriteHeader(status int) {
	if status >= leastStatus && status <= mostStatus {
		a.counts.answers[status-leastStatus].Add(1)
	}
	a.ResponseWriter.WriteHeader(status)
}

// WriteString writes a text without a copy of it.
func (a *countedAnswer) WriteString(text string) (int, error) {
	return io.WriteString(a.ResponseWriter, text)
}

// Unwrap lets http.ResponseController reach the writer behind.
func (a *countedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
