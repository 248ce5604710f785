package rpc

import (
	"context"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/ids"
	"blueprintd/rpc/trpc"
)

// Options are what a Service works with. All are required but Connections and
// Frozen.
type Options struct {
	Store     Store
	Runner    Runner
	Triggers  Triggers
	Catalogue blueprint.Catalogue
	// CheckConfig compiles templates, for blueprint.validate.
	CheckConfig blueprint.ConfigChecker
	IDs         *ids.Source
	// Explain returns what became of a firing and why, without a secret.
	Explain func(story *blueprint.FiringStory) *blueprint.Explanation
	// APIHost returns the host root under which webhooks are reached.
	APIHost func() string
	// Info returns what is true of the server for every caller.
	Info func() ServerInfo
	// Connections tests connections; nil = none can be tested.
	Connections ConnectionTester
	// Frozen is the error of every procedure that changes something, on a server that
	// only shows something; nil on all others.
	Frozen error
}

// Service answers the procedures.
type Service struct {
	Options
	*Exporter
}

// New returns a service. It panics when an option is missing that is required,
// which is a mistake of the program.
func New(o Options) *Service {
	for name, missing := range map[string]bool{
		"Store": o.Store == nil, "Runner": o.Runner == nil, "Triggers": o.Triggers == nil, "Catalogue": o.Catalogue == nil, "CheckConfig": o.CheckConfig == nil,
		"IDs": o.IDs == nil, "Explain": o.Explain == nil, "APIHost": o.APIHost == nil, "Info": o.Info == nil,
	} {
		if missing {
			panic("rpc.New: Options." + name + " is missing")
		}
	}
	return &Service{Options: o, Exporter: NewExporter(o.Store, o.Runner, o.Catalogue, o.Info)}
}

// Store is the sum of what the procedures ask of the database. Each part
// stands beside the procedures that use it.
type Store interface {
	blueprintStore
	executionStore
	exportStore
	triggerStore
	grantStore
	keyStore
	connectionStore
	listingStore
	organizationStore
	collaboratorStore
	categoryStore
	opinionStore
	auditStore
	actionStore
	toolStore
}

// Runner runs executions. Execute gives the record of a run that ended or
// paused in time, nil for one that goes on. Execute, Start and Retry give the id
// of a run whenever it is durable, also with an error, as when ctx has ended
// meanwhile, and "" when there is none.
type Runner interface {
	Execute(ctx context.Context, request *blueprint.StartRequest) (id string, outcome *blueprint.Execution, err error)
	Start(ctx context.Context, request *blueprint.StartRequest) (id string, err error)
	View(ctx context.Context, stored *blueprint.StoredExecution) (*blueprint.Execution, error)
	// ViewWithin is View for a record whose inputs and outputs take at most room bytes of JSON.
	ViewWithin(ctx context.Context, stored *blueprint.StoredExecution, room int) (*blueprint.Execution, error)
	// Summary returns the errorSummary of a run that has ended, and what a paused one
	// waits for first; nil where there is none or it cannot be read. privateTo is as
	// of blueprint.Execution, where there is a problem.
	Summary(ctx context.Context, stored *blueprint.StoredExecution) (problem *string, awaiting *blueprint.AwaitKind, privateTo string)
	Recordings
	Watch(id string) (changes <-chan struct{}, stop func())
	Control
}

// Control changes runs that exist. What Resume and Cancel give an error for has
// not changed the run.
type Control interface {
	Resume(ctx context.Context, answer ResumeAnswer) error
	Cancel(ctx context.Context, id, reason string) error
	CancelAll(ctx context.Context, ids []string, reason string) error
	Retry(ctx context.Context, stored *blueprint.StoredExecution, fromNodeID string, principal blueprint.Principal, canManage bool) (id string, err error)
}

// ResumeAnswer is somebody's answer to a paused run.
type ResumeAnswer struct {
	ExecutionID string
	NodeID      string // "" = the first that waits
	Input       any
	UserID      string
	CanManage   bool
}

// Triggers starts runs by trigger and knows what a trigger's config must be.
type Triggers interface {
	Fire(ctx context.Context, principal blueprint.Principal, triggerID string, input any, record bool) (executionID, firingID string, err error)
	// Settle returns the config that change makes of the one before, nil for a new
	// trigger, or what is wrong with it; Warnings, what in it has no effect. Paths
	// start at the config.
	Settle(kind blueprint.TriggerType, before, change map[string]any) (map[string]any, []blueprint.Issue)
	Warnings(kind blueprint.TriggerType, config map[string]any) []blueprint.Issue
	Preview(cron, timezone string, count int) ([]string, error)
	Redeliver(ctx context.Context, principal blueprint.Principal, firingID string) (executionID, newID string, err error)
	RedeliverSeveral(ctx context.Context, principal blueprint.Principal, request *blueprint.RedeliverRequest) (*blueprint.RedeliverResult, error)
	Rotate(trigger *blueprint.Trigger, secret, keepFor string) (config map[string]any, made string, until blueprint.Time, err error)
	Changed()
}

// Procedures describes everything that a Service answers: names, kinds, types and
// words. To call them takes a Service.
func Procedures() []trpc.Procedure { return (*Service)(nil).table() }

// Procedures is the table of everything that can be called.
func (s *Service) Procedures() []trpc.Procedure {
	if s.Frozen != nil {
		return frozen(s.table(), s.Frozen)
	}
	return audited(s.Store, s.table())
}

func (s *Service) table() []trpc.Procedure {
	var all []trpc.Procedure
	for _, part := range [][]trpc.Procedure{s.blueprints(), s.executions(), s.triggers(), s.apiKeys(), s.connections(), s.listings(),
		s.grants(), s.organizations(), s.collaborators(), s.categories(), s.opinions(), s.audit(), s.mcpTools()} {
		all = append(all, part...)
	}
	return all
}

// frozen puts a refusal in the place of all that changes something.
func frozen(procedures []trpc.Procedure, refusal error) []trpc.Procedure {
	for i := range procedures {
		if procedures[i].Kind == trpc.KindMutation {
			procedures[i].Around(func(context.Context, *trpc.Caller, func(context.Context) (any, error)) (any, error) {
				return nil, refusal
			})
		}
	}
	return procedures
}

// succeeded is the answer of what has nothing else to say.
type succeeded struct {
	Success bool `json:"success"`
}

// started is the answer of what began a run.
type started struct {
	Success     bool   `json:"success"`
	ExecutionID string `json:"executionId"`
}

// under puts the issues of a value below the field that holds it.
func under(issues []blueprint.Issue, field ...any) []blueprint.Issue {
	out := make([]blueprint.Issue, len(issues))
	for i, issue := range issues {
		issue.Path = append(append([]any{}, field...), issue.Path...)
		out[i] = issue
	}
	return out
}

// waitForRun is how long an answer waits for a change of a run before it looks
// again without one; signals are not lost, so it only bounds a mistake.
const waitForRun = 30 * time.Second
