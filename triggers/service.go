package triggers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/form"
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
	// TryClaim takes a claim until release is called. held is false if another process on
	// the database holds it; where there is one process, it is always true.
	TryClaim(ctx context.Context, name string) (release func(), held bool, err error)
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
	// Nodes returns the number of processes on the database, which share the allowances of
	// refused rows and of mail; nil = 1.
	Nodes func() int
	// WhileAvailable returns a context that ends when the store can store nothing for a
	// while, with the error for callers as its cause; nil = one that does not end.
	WhileAvailable func(context.Context) (context.Context, context.CancelFunc)
	// UpSince returns since when the server is up, seen from Run; nil = since Run began.
	UpSince func() time.Time
	// Channels are used by Slack triggers with a channel name; nil = lookups fail.
	Channels Channels
	Mail     MailOptions
	// FormKey signs the pages of forms; processes of one server share it.
	FormKey []byte
	// Network returns the network that a request comes from; nil = its address.
	Network func(*http.Request) string
}

// Service starts executions. It is safe for concurrent use.
type Service struct {
	Options
	schemas  inputSchemas
	throttle throttle
	mails    mailBudget
	forms    form.Limiter
	started  atomic.Int64
	missing  atomic.Int64 // rows lost since the store became unavailable
	counts   counts
	bulks    sync.Map // ids of the triggers with a RedeliverSeveral in progress in this process
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
	if options.Network == nil {
		options.Network = func(r *http.Request) string { return r.RemoteAddr }
	}
	if options.Nodes == nil {
		options.Nodes = func() int { return 1 }
	}
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

// How long a run may execute before it and its firing must be durable.
const (
	// atOnce is for keys that may be repeated: only one of two deliveries may run a node.
	atOnce = 0
	// soon is for callers that wait for the acknowledgement, and for ticks, which are
	// decided again if the server stops before they are durable.
	soon = 5 * time.Millisecond
	// atEnd is for callers that wait for the end of the run.
	atEnd = time.Second
)

// activation is an attempt to start the blueprint of a trigger.
type activation struct {
	binding  *blueprint.Binding
	firing   *blueprint.Firing
	input    any
	headers  map[string]any
	hidden   []string // secrets that the input may contain
	depth    int      // number of events that led to it
	root     string   // key of the first of them
	record   bool     // whether to record the run's exchanges regardless of the config
	resumed  bool     // whether it switched the trigger on again
	form     bool     // whether it was sent with the page of a form
	keyed    bool     // whether the firing has a key set by the sender, which may be repeated
	bodyID   string   // delivery id from the body, set by Kind.judge
	patience time.Duration
	run      Run // set by fire

	generation int64 // of binding; 0 = it is current

	// Of a tick.
	coalesced *blueprint.Firing
	cursor    blueprint.Time
	events    []blueprint.Event // published when it starts
}

// newFiring returns a ledger row that is received now. Its key is its id.
func (t *Service) newFiring(triggerID string, source blueprint.Source) *blueprint.Firing {
	now := t.Clock.Now()
	id := t.IDs.At(now, "firing", triggerID).ULID(now)
	return &blueprint.Firing{ID: id, TriggerID: triggerID, Source: source, Key: id, ReceivedAt: blueprint.TimeOf(now)}
}

// begin passes an activation to the runner. The run is not durable yet. It waits
// for memory for a large input until ctx ends.
func (t *Service) begin(ctx context.Context, a *activation) (Run, error) {
	b, group := a.binding, ConcurrencyOf(&a.binding.Trigger)
	if group != nil && group.OnLimit == blueprint.LimitSkip {
		// A duplicate must not occupy a slot, not even briefly.
		if first := t.earlier(context.Background(), a); first != nil {
			return nil, first
		}
	}
	// The caller may refuse the activation while its run is still waiting to be stored.
	firing := *a.firing
	run, err := t.Runner.Start(ctx, &blueprint.StartRequest{
		Definition: b.Definition, Principal: b.Principal, CanManage: b.CanManage, InputData: a.input, Hidden: a.hidden,
		Trigger: &blueprint.TriggerContext{ID: b.Trigger.ID, Type: b.Trigger.Type, Headers: a.headers, Depth: a.depth, Root: a.root},
		Firing:  &firing, Coalesced: a.coalesced, Cursor: a.cursor, Events: a.events,
		Concurrency: group, Record: a.record || b.Trigger.Config["record"] == true, Generation: a.generation,
	}, a.patience)
	a.firing.Decision, a.firing.ExecutionID = firing.Decision, firing.ExecutionID
	return run, limitError(err)
}

// finish waits until a run is durable together with its ledger row. It takes the
// results of begin, so that several runs can begin before the first is waited for.
// A repeated key is recorded, unless the binding may be out of date, and returned
// as a *blueprint.DuplicateFiringError. Other errors, among them
// *blueprint.StaleError, leave no row.
func (t *Service) finish(ctx context.Context, a *activation, run Run, err error) (Run, error) {
	ctx = context.WithoutCancel(ctx) // the outcome is recorded even if the caller disconnects
	if err == nil {
		waiting, done := ctx, context.CancelFunc(func() {})
		if t.WhileAvailable != nil {
			waiting, done = t.WhileAvailable(ctx)
		}
		err = limitError(run.Accepted(waiting))
		ended := waiting.Err() != nil
		done()
		if err != nil && ended { // it may still be stored, with its own row
			refused := t.newFiring(a.firing.TriggerID, a.firing.Source)
			id, at := refused.ID, refused.ReceivedAt
			*refused = *a.firing
			refused.ID, refused.ReceivedAt, refused.Files = id, at, nil
			if refused.Key == a.firing.ID {
				refused.Key = id
			}
			if a.firing.Delivery != nil {
				delivery := *a.firing.Delivery
				refused.Delivery = &delivery
			}
			a.firing = refused
			return nil, err
		}
	}
	if err == nil {
		t.started.Add(1)
		t.counts.firings.Add(string(a.firing.Source), string(blueprint.DecisionStarted))
		return run, nil
	}
	var duplicate *blueprint.DuplicateFiringError
	if !errors.As(err, &duplicate) {
		if isStale(err) {
			return nil, err
		}
		if duplicate = t.earlier(ctx, a); duplicate == nil {
			return nil, err
		}
	}
	if a.firing.BodyHash == "" && a.generation == 0 {
		t.recordDuplicate(ctx, a, duplicate)
	}
	return nil, duplicate
}

// start is begin and finish.
func (t *Service) start(ctx context.Context, a *activation) (Run, error) {
	run, err := t.begin(ctx, a)
	return t.finish(ctx, a, run, err)
}

// earlier returns the firing with which the key of an activation has started a run,
// nil if it has not. A repeated delivery gets its first response in any case.
func (t *Service) earlier(ctx context.Context, a *activation) *blueprint.DuplicateFiringError {
	if !a.keyed {
		return nil
	}
	first, err := t.Store.StartedFiring(ctx, a.firing.TriggerID, a.firing.Key)
	if err != nil || first.ExecutionID == nil {
		return nil
	}
	return &blueprint.DuplicateFiringError{FiringID: first.ID, ExecutionID: *first.ExecutionID}
}

// recordDuplicate stores the row of a firing whose key has already started a run,
// without the body, which is stored with the first.
func (t *Service) recordDuplicate(ctx context.Context, a *activation, first *blueprint.DuplicateFiringError) {
	firing := a.firing
	firing.Files = nil
	if firing.Delivery != nil {
		firing.Delivery.Body = nil
	}
	firing.Decision, firing.ExecutionID = blueprint.DecisionDuplicate, &first.ExecutionID
	firing.SetReason(blueprint.NewReason(blueprint.ReasonDuplicate, "executionId", first.ExecutionID, "firingId", first.FiringID))
	// Duplicates of mail are found before the sender is authenticated.
	anyone := a.binding.Trigger.IsOpen() || a.binding.Trigger.Type == blueprint.TriggerEmail
	if !anyone || t.mayRecord(firing, firing.Why) {
		t.record(ctx, firing)
	}
}

// decide sets the decision of a firing that starts nothing.
func decide(firing *blueprint.Firing, decision blueprint.Decision, why blueprint.Reason) {
	firing.Decision, firing.ExecutionID = decision, nil
	firing.SetReason(why)
}

func (t *Service) recordRefused(ctx context.Context, firing *blueprint.Firing, why blueprint.Reason) {
	decide(firing, blueprint.DecisionRefused, why)
	t.record(ctx, firing)
}

func (t *Service) recordSkipped(ctx context.Context, firing *blueprint.Firing, why blueprint.Reason) {
	decide(firing, blueprint.DecisionSkipped, why)
	t.record(ctx, firing)
}

// record stores a row that starts nothing. The response does not depend on it, so
// it only logs failures, and those of an unavailable store once.
func (t *Service) record(ctx context.Context, firing *blueprint.Firing) {
	err := t.Store.RecordFirings(context.WithoutCancel(ctx), firing.TriggerID, []blueprint.Firing{*firing}, 0)
	if err != nil {
		if blueprint.CodeOf(err) != blueprint.CodeUnavailable || t.missing.Add(1) == 1 {
			t.Logger.Warn("recording a firing failed", "trigger", firing.TriggerID, "decision", firing.Decision, "error", err)
		}
		return
	}
	if missing := t.missing.Swap(0); missing > 0 {
		t.Logger.Info("recording firings works again", "missing", missing)
	}
	t.counts.firings.Add(string(firing.Source), string(firing.Decision))
}

// shorten truncates a text that is stored as a fact.
func shorten(text string) string { return blueprint.Shorten(text, 300) }

// shown returns the part of an error that callers may see, or "internal error".
func shown(err error) *blueprint.Error {
	if known, ok := errors.AsType[*blueprint.Error](err); ok && known.Code != blueprint.CodeInternal {
		return known
	}
	return blueprint.Errorf(blueprint.CodeInternal, "internal error")
}

// failure is shown, and logs what the caller does not see.
func (t *Service) failure(triggerID string, err error) *blueprint.Error {
	answer := shown(err)
	switch {
	case answer.Code == blueprint.CodeInternal && errors.Is(err, context.Canceled):
		return blueprint.Errorf(blueprint.CodeClientClosed, "the client disconnected")
	case answer.Code == blueprint.CodeInternal:
		t.Logger.Error("firing failed", "trigger", triggerID, "error", err)
	case answer.Err != nil:
		t.Logger.Warn("firing refused", "trigger", triggerID, "code", answer.Code, "error", err)
	}
	return answer
}

// resume switches a trigger on again for a delivery if the server switched it off and the
// pause is over, so that strangers cannot disable it permanently. It returns the current
// binding and whether it did. During the pause the error is CodeUnavailable; it is
// CodeNotFound if the trigger was deleted.
func (t *Service) resume(ctx context.Context, b *blueprint.Binding) (_ *blueprint.Binding, done bool, refused *blueprint.Error) {
	if b.Trigger.IsActive || b.RetryAt == 0 || !b.CanManage {
		return b, false, nil
	}
	if wait := t.pause(b); wait != nil {
		return b, false, wait
	}
	done, err := t.Store.Reactivate(ctx, b.Trigger.ID)
	if err != nil {
		return b, false, t.failure(b.Trigger.ID, err)
	}
	if done {
		t.Logger.Info("trigger activated again after pause", "trigger", b.Trigger.ID)
	}
	current, err := t.Store.Binding(ctx, b.Trigger.ID) // another delivery may have been first
	if err != nil {
		return b, false, t.failure(b.Trigger.ID, err)
	}
	return current, done, nil
}

// pause returns the response during the pause of a trigger that the server switched off,
// nil if the pause is over. An end too far in the future means that the clock was set back.
func (t *Service) pause(b *blueprint.Binding) *blueprint.Error {
	left := b.RetryAt.Time().Sub(t.Clock.Now())
	if left <= 0 || left > blueprint.BreakerPause {
		return nil
	}
	return &blueprint.Error{Code: blueprint.CodeUnavailable, RetryAfter: left, Message: "the runs of this trigger keep failing, so it is paused: try again later"}
}

// offReason returns why an inactive trigger is off: a user or the breaker switched it off.
func offReason(binding *blueprint.Binding) blueprint.Reason {
	if binding.Tripped == nil {
		return blueprint.NewReason(blueprint.ReasonInactive)
	}
	return binding.Tripped.Because(blueprint.ReasonTripped)
}

// off is offReason for callers who can switch the trigger on.
func off(binding *blueprint.Binding) *blueprint.Error {
	refused := blueprint.ReasonError(blueprint.CodeBadRequest, offReason(binding))
	if binding.Tripped != nil {
		refused.Hint = "fix the cause, then activate it with isActive: true"
	}
	return refused
}

// maxConcurrency is the highest limit that config.concurrency may set.
const maxConcurrency = 1000

// onLimits are the values of config.concurrency.onLimit; the first is the default.
var onLimits = []string{string(blueprint.LimitQueue), string(blueprint.LimitSkip), string(blueprint.LimitCancel)}

// limits is the concurrency limit of a trigger. Unknown keys are errors, because a
// misspelled limit would have no effect.
type limits map[string]any

func (limits) check(c *checker, f *field) {
	key, value := f.key, c.config[f.key]
	if value == nil {
		return
	}
	config, ok := value.(map[string]any)
	if !ok {
		c.refuse("must be an object with limit and onLimit", key)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if name != "limit" && name != "onLimit" {
			c.refuse("unknown key; want limit and onLimit", key, name)
		}
	}
	if limitOf(config) == 0 {
		c.refuse(fmt.Sprintf("must be a whole number from 1 to %d", maxConcurrency), key, "limit")
	}
	if text, isText := config["onLimit"].(string); config["onLimit"] != nil && !(isText && slices.Contains(onLimits, text)) {
		c.refuse("must be one of queue, skip, cancel-running", key, "onLimit")
	}
}

func (limits) schema(*field) map[string]any {
	onLimit := choiceSchema(onLimits)
	onLimit["description"] = "a run beyond the limit waits, is skipped, or cancels a running one"
	return map[string]any{
		"type": []any{"object", "null"}, "required": []any{"limit"}, "additionalProperties": false,
		"properties": map[string]any{
			"limit":   map[string]any{"type": "integer", "minimum": json.Number("1"), "maximum": json.Number(strconv.Itoa(maxConcurrency)), "description": "how many"},
			"onLimit": onLimit,
		},
	}
}

// limitOf returns the limit, 0 if it is invalid.
func limitOf(config map[string]any) int {
	number, _ := config["limit"].(json.Number)
	limit, err := strconv.Atoi(number.String())
	if err != nil || limit < 1 || limit > maxConcurrency {
		return 0
	}
	return limit
}

// ConcurrencyOf returns the group that limits the runs of a trigger, however they are
// started; nil for no limit.
func ConcurrencyOf(trigger *blueprint.Trigger) *blueprint.ConcurrencyGroup {
	config, _ := trigger.Config["concurrency"].(map[string]any)
	limit := limitOf(config)
	if limit == 0 {
		return nil
	}
	group := &blueprint.ConcurrencyGroup{Key: trigger.ID, Limit: limit, OnLimit: blueprint.LimitQueue}
	if rule, ok := config["onLimit"].(string); ok {
		group.OnLimit = blueprint.OnLimit(rule)
	}
	return group
}

// Concurrency returns the current ConcurrencyOf a trigger, nil for a deleted one.
func (t *Service) Concurrency(ctx context.Context, triggerID string) (*blueprint.ConcurrencyGroup, error) {
	binding, err := t.Store.Binding(ctx, triggerID)
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return ConcurrencyOf(&binding.Trigger), nil
}

// limitError converts a *blueprint.ConcurrencyLimitError to a *blueprint.Error.
func limitError(err error) error {
	if full, ok := errors.AsType[*blueprint.ConcurrencyLimitError](err); ok {
		return &blueprint.Error{Code: blueprint.CodeConflict, Message: full.Error(), Err: full, Reason: blueprint.NewReason(blueprint.ReasonLimit, "limit", full.Limit, "running", full.Running)}
	}
	return err
}

// isLimited reports whether the trigger's limit skipped a firing.
func isLimited(err error) bool {
	var full *blueprint.ConcurrencyLimitError
	return errors.As(err, &full)
}
