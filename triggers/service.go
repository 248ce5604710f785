package triggers

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/metrics"
)

// Store stores triggers, their ledgers and the outbox. It is safe for concurrent
// use. CodeUnavailable is a temporary error.
type Store interface {
	// Binding returns the current data needed to fire a trigger, the same pointer
	// while nothing has changed. CodeNotFound for an unknown or deleted trigger.
	Binding(ctx context.Context, triggerID string) (*blueprint.Binding, error)
	// RecentBinding returns a binding that may be out of date, and its generation, 0 if
	// it is current. A run that is started with it must state the generation.
	RecentBinding(ctx context.Context, triggerID string) (*blueprint.Binding, int64, error)
	// GetTrigger returns CodeForbidden if the principal cannot manage the blueprint.
	GetTrigger(ctx context.Context, principal blueprint.Principal, triggerID string) (blueprint.Trigger, error)
	// Schedules returns, oldest first, the scheduled triggers that have changed since a
	// generation, and the current generation; for 0 all active ones. A trigger whose
	// IsActive is false is no longer scheduled.
	Schedules(ctx context.Context, since int64) (list []blueprint.Schedule, generation int64, err error)
	// SchedulesAfter returns a page of active schedules with their organizations,
	// oldest first, starting after the position last (0 = the first page). The
	// organization is "" if the config is unreadable. The last page is empty.
	SchedulesAfter(ctx context.Context, last int64, limit int) (page []blueprint.Schedule, next int64, err error)
	// RecordFirings stores rows that start nothing, advances the schedule's cursor and
	// publishes events, all or nothing. The cursor never moves back; 0 leaves it.
	RecordFirings(ctx context.Context, triggerID string, firings []blueprint.Firing, cursor blueprint.Time, events ...blueprint.Event) error
	// Reactivate switches on a trigger that the server switched off and whose pause is over.
	// It reports whether it did.
	Reactivate(ctx context.Context, triggerID string) (bool, error)
	// StartedFiring returns the firing with which a key started a run, or CodeNotFound.
	StartedFiring(ctx context.Context, triggerID, key string) (*blueprint.Firing, error)
	// FiringWithDelivery returns a row with its delivery. The error is CodeNotFound if
	// the principal cannot manage the trigger's blueprint.
	FiringWithDelivery(ctx context.Context, principal blueprint.Principal, id string) (blueprint.Firing, error)
	// FiringsToRedeliver returns, oldest first, the rows that a request selects, at most
	// its limit, and their total number. Errors: CodeNotFound or CodeForbidden without
	// AccessManage, CodeBadRequest for an invalid After.
	FiringsToRedeliver(ctx context.Context, principal blueprint.Principal, request *blueprint.RedeliverRequest) (list []blueprint.RedeliveryCandidate, matched int, err error)
	// Listeners returns the active triggers of an organization that are subscribed to
	// an event, oldest first.
	Listeners(ctx context.Context, organizationID, event string) ([]string, error)
	// Events returns the events of the outbox after a sequence number, oldest first.
	// NextEvents divides limit among the organizations; after holds their positions.
	Events(ctx context.Context, after int64, limit int) ([]blueprint.OutboxEvent, error)
	NextEvents(ctx context.Context, after map[string]int64, limit int) ([]blueprint.OutboxEvent, error)
	// RemoveEvents deletes events from the outbox by key and stores rows that start
	// nothing, of any triggers, all or nothing.
	RemoveEvents(ctx context.Context, keys []string, firings ...blueprint.Firing) error
}

// Runner starts runs.
type Runner interface {
	// Start begins a run and sets the execution id of the request's firing. It returns
	// at the latest when the run waits for a node. The run is durable within patience;
	// 0 = before its first node starts. It waits for memory for a large input until ctx
	// ends. Errors: CodeBadRequest if the blueprint cannot run, CodeUnavailable for now.
	Start(ctx context.Context, request *blueprint.StartRequest, patience time.Duration) (Run, error)
}

// Run is a started run. It is safe for concurrent use.
type Run interface {
	// Accepted waits until the run and its firing are durable. If the key has already
	// started a run, the error is a *blueprint.DuplicateFiringError without a new run.
	Accepted(ctx context.Context) error
	// Ending waits until the run has ended or paused and returns the outcome. Ended
	// returns a channel that is closed then.
	Ending(ctx context.Context) (blueprint.Ending, error)
	Ended() <-chan struct{}
	// Responded returns a channel that is closed when a respond node has run.
	Responded() <-chan struct{}
	// Response returns the response of the first respond node, nil before.
	Response() *blueprint.Response
}

// Channels looks up Slack channels. It is safe for concurrent use.
type Channels interface {
	// ChannelName returns the name of a channel, without #, as seen by the bot of a
	// connection that the user may use; "" if it has none, such as a direct message.
	// The message of a *blueprint.Error or *blueprint.Failure contains no secret.
	ChannelName(ctx context.Context, userID, connectionID, channelID string) (string, error)
}

// Options configure a Service. Those up to Logger are required.
type Options struct {
	Store  Store
	Runner Runner
	Clock  clock.Clock
	IDs    *ids.Source
	Logger *slog.Logger
	// MaxBody is the maximum size of a body in bytes; 0 = 5 MiB.
	MaxBody int64
	// SyncTimeout is the maximum real time that a caller waits for a run; 0 = 30 s.
	SyncTimeout time.Duration
	// Relimit is called when config.concurrency may have changed, and twice a minute in
	// case another process changed it; nil = never.
	Relimit func(ctx context.Context)
	// Channels are used by Slack triggers with a channel name; nil = lookups fail.
	Channels Channels
	Mail     MailOptions
}

// Service starts executions. It is safe for concurrent use.
type Service struct {
	Options
	schemas  inputSchemas
	throttle throttle
	mails    mailBudget
	started  atomic.Int64
	missing  atomic.Int64 // rows lost since the store became unavailable
	counts   counts
	bulks    sync.Map // ids of the triggers with a RedeliverSeveral in progress
	overdue  overdue

	changed   *signal // schedules
	published *signal // events
	chains    chains
}

// New returns a service. Endpoints and Fire work at once; schedules and the outbox
// are processed while Run runs.
func New(options Options) *Service {
	options.MaxBody = cmp.Or(options.MaxBody, 5<<20)
	options.SyncTimeout = cmp.Or(options.SyncTimeout, 30*time.Second)
	return &Service{
		Options: options, changed: newSignal(), published: newSignal(),
		schemas:  inputSchemas{compiled: map[string]compiledSchema{}},
		throttle: throttle{buckets: map[string]*bucket{}},
		counts:   newCounts(),
	}
}

// Settle is the function Settle, with the rules that depend on the time.
func (t *Service) Settle(kind blueprint.TriggerType, before, change map[string]any) (map[string]any, []blueprint.Issue) {
	config, issues := Settle(kind, before, change)
	until := blueprint.KindOf(kind).Secrets.Until
	text, _ := config[until].(string)
	if end, err := time.Parse(time.RFC3339, text); err == nil && end.Sub(t.Clock.Now()) > maxKeepPrevious {
		issues = append(issues, blueprint.Issue{Path: []any{until}, Message: "must be at most 30 days from now"})
	}
	return config, issues
}

func (t *Service) Warnings(kind blueprint.TriggerType, config map[string]any) []blueprint.Issue {
	return Warnings(kind, config)
}

// Started returns the number of runs started since New.
func (t *Service) Started() int64 { return t.started.Load() }

// Stats are the metrics of a Service. Counts start at New.
type Stats struct {
	Firings   []FiringCount // rows written to the ledger
	Webhooks  map[int]int64 // responses to deliveries, by status
	Schedules int64         // active ones
	// Lag is the delay between the latest tick's instant and its start; 0 before the first.
	Lag time.Duration
	// Looked is when the scheduler last checked for due ticks, and Next when it will
	// at the latest, on the service's clock; 0 is never.
	Looked, Next blueprint.Time
	// Backwards is the number of times that the clock was found to be set back.
	Backwards int64
	// Missed counts ticks without a run on time, including overdue ones.
	Missed int64
	// Overdue counts active schedules with an undecided tick that was due, or with an
	// unreadable config, as found by the watchdog.
	Overdue int64
	// Watched is when the watchdog last checked all schedules, on the service's clock; 0 is
	// never. WatchError is the error of the last check, "" if it succeeded.
	Watched    blueprint.Time
	WatchError string
	// Undelivered counts the events that some triggers still have to receive.
	Undelivered int64
	// Unheard counts deliveries of events without a row: their chain was at its limit.
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
