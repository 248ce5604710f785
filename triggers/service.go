package triggers

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
)

// Store is the disk under this package: what triggers are, and what became of
// each of their firings. It is safe for concurrent use. Errors with
// CodeUnavailable may pass.
type Store interface {
	// Binding returns what is needed to fire a trigger, as it is now. A trigger
	// that is unknown or deleted is CodeNotFound.
	Binding(ctx context.Context, triggerID string) (*blueprint.Binding, error)
	// RecentBinding returns a binding that may be out of date, and the generation
	// that it is of; 0 = it is what Binding gives. A run that is made of it names
	// the generation. Binding gives the same pointer while nothing has changed.
	RecentBinding(ctx context.Context, triggerID string) (*blueprint.Binding, int64, error)
	// GetTrigger is CodeForbidden for somebody who may not manage the trigger's
	// blueprint.
	GetTrigger(ctx context.Context, principal blueprint.Principal, triggerID string) (blueprint.Trigger, error)
	// Schedules gives, oldest first, the scheduled triggers that have changed
	// since a generation, and the present one; since 0, every active one. One
	// whose IsActive is false is no longer there.
	Schedules(ctx context.Context, since int64) (list []blueprint.Schedule, generation int64, err error)
	// SchedulesAfter returns a page of at most limit active schedules, oldest first:
	// those after the one that last names, 0 for the first page, each with its
	// organization; one whose config cannot be read without it. An empty page is
	// the end.
	SchedulesAfter(ctx context.Context, last int64, limit int) (page []blueprint.Schedule, next int64, err error)
	// RecordFirings stores rows that start nothing, moves the schedule's cursor
	// and raises events, all or nothing. The cursor never goes back; zero leaves
	// it.
	RecordFirings(ctx context.Context, triggerID string, firings []blueprint.Firing, cursor blueprint.Time, events ...blueprint.Event) error
	// LetIn switches on a trigger that the server switched off and that may be
	// tried again; it tells whether it did.
	LetIn(ctx context.Context, triggerID string) (bool, error)
	// StartedFiring returns the row of the firing that started a run with a key,
	// or CodeNotFound.
	StartedFiring(ctx context.Context, triggerID, key string) (*blueprint.Firing, error)
	// FiringWithDelivery returns a row of the ledger with what came, to who can
	// manage its trigger's blueprint; for anybody else it is CodeNotFound.
	FiringWithDelivery(ctx context.Context, principal blueprint.Principal, id string) (blueprint.Firing, error)
	// FiringsToRedeliver lists, oldest first, the rows of a trigger's ledger that
	// a request is about, at most its limit, and tells how many there are in all.
	// It needs AccessManage: CodeNotFound, or CodeForbidden; CodeBadRequest when
	// its After is no place.
	FiringsToRedeliver(ctx context.Context, principal blueprint.Principal, request *blueprint.RedeliverRequest) (list []blueprint.RedeliveryCandidate, matched int, err error)
	// Listeners lists the active triggers of an organization that listen to an
	// event, oldest first.
	Listeners(ctx context.Context, organizationID, event string) ([]string, error)
	// Events lists what is in the outbox behind a place, oldest first. NextEvents
	// shares limit out among the organizations that have some, each one's behind
	// the place that after names.
	Events(ctx context.Context, after int64, limit int) ([]blueprint.OutboxEvent, error)
	NextEvents(ctx context.Context, after map[string]int64, limit int) ([]blueprint.OutboxEvent, error)
	// EventsTold takes events out of it, by their keys, and stores rows that start
	// nothing, of any trigger, all or nothing.
	EventsTold(ctx context.Context, keys []string, firings ...blueprint.Firing) error
}

// Runner starts runs.
type Runner interface {
	// Start begins a run, fills in the request's firing and returns, at the latest
	// when the caller would have to wait for a node.
	// The run is durable within patience, or earlier; 0 is before its first
	// node starts. CodeBadRequest says that the blueprint cannot run so,
	// CodeUnavailable that it can later. While there is no room for a large input
	// it waits, at most until ctx ends.
	Start(ctx context.Context, request *blueprint.StartRequest, patience time.Duration) (Run, error)
}

// Run is a hold on a run that was started. It is safe for concurrent use.
type Run interface {
	// Accepted waits until the run and its firing are durable. When the key
	// had started a run before, it gives a *blueprint.DuplicateFiringError, and
	// the run does not exist.
	Accepted(ctx context.Context) error
	// Ending waits until the run has ended or paused and returns what came of it,
	// the output unaltered; Ended returns a channel that closes then.
	Ending(ctx context.Context) (blueprint.Ending, error)
	Ended() <-chan struct{}
	// Responded returns a channel that closes when a respond node has answered.
	Responded() <-chan struct{}
	// Response is the answer of the first respond node, nil before there is one.
	Response() *blueprint.Response
}

// Channels knows the names of Slack's channels. It is safe for concurrent use.
type Channels interface {
	// ChannelName returns the name of a channel, without #, as the bot of a
	// connection sees it that the user must be allowed to use; "" for one that
	// has none, as a talk of two people. A *blueprint.Error or *blueprint.Failure
	// says why it cannot be known, in words that hold no secret.
	ChannelName(ctx context.Context, userID, connectionID, channelID string) (string, error)
}

// Options are what a Service needs. Those up to Logger are required.
type Options struct {
	Store  Store
	Runner Runner
	Clock  clock.Clock
	IDs    *ids.Source
	Logger *slog.Logger
	// MaxBody is how many bytes a body may have; 0 = 5 MiB.
	MaxBody int64
	// SyncTimeout is how long a webhook caller waits for a run; 0 = 30 s. It is
	// real time.
	SyncTimeout time.Duration
	// Relimit is told when limits may have changed (config.concurrency), and twice
	// a minute in case another process has done so; nil = the limits are never asked for.
	Relimit func(ctx context.Context)
	// Channels are asked by Slack triggers that name their channel; nil = nobody
	// knows the names.
	Channels Channels
	// Mail is for email triggers.
	Mail MailOptions
}

// Service starts executions: by schedule, by webhook, by event, by hand,
// through the API. It is safe for concurrent use.
type Service struct {
	Options
	schemas  inputSchemas
	throttle throttle
	mails    mailBudget
	started  atomic.Int64
	missing  atomic.Int64 // firings that the ledger lacks since it last took a row
	counts   counts
	bulks    sync.Map // the ids of the triggers for which RedeliverSeveral is at work
	overdue  overdue

	changed *signal // for the scheduler: schedules have changed
	raised  *signal // for the relay: events are in the outbox
	chains  chains
}

// New makes a service. Webhooks and fire work at once; schedules fire, and
// events of the outbox are told, while Run runs.
func New(options Options) *Service {
	if options.MaxBody == 0 {
		options.MaxBody = 5 << 20
	}
	if options.SyncTimeout == 0 {
		options.SyncTimeout = 30 * time.Second
	}
	return &Service{
		Options: options, changed: newSignal(), raised: newSignal(),
		schemas:  inputSchemas{compiled: map[string]compiledSchema{}},
		throttle: throttle{buckets: map[string]*bucket{}},
		counts:   newCounts(),
	}
}

// Settle is the function Settle, with the rules that need the time.
func (t *Service) Settle(kind blueprint.TriggerType, before, change map[string]any) (map[string]any, []blueprint.Issue) {
	config, issues := Settle(kind, before, change)
	until := blueprint.KindOf(kind).Secrets.Until
	text, _ := config[until].(string)
	if end, err := time.Parse(time.RFC3339, text); err == nil && end.Sub(t.Clock.Now()) > maxKeepPrevious {
		issues = append(issues, blueprint.Issue{Path: []any{until}, Message: "must be at most 30 days from now"})
	}
	return config, issues
}

// Warnings is the function Warnings.
func (t *Service) Warnings(kind blueprint.TriggerType, config map[string]any) []blueprint.Issue {
	return Warnings(kind, config)
}

// Started counts the ledger rows of decision "started" since New.
func (t *Service) Started() int64 { return t.started.Load() }
