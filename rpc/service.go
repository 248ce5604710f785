package rpc

import (
	"context"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/ids"
	"blueprintd/rpc/trpc"
)

// Options are what a Service works with. All are required but Status, MayOperate,
// Connections, Link and Frozen.
type Options struct {
	Store     Store
	Runner    Runner
	Triggers  Triggers
	Catalogue blueprint.Catalogue
	// CheckConfig compiles templates, for blueprint.validate.
	CheckConfig blueprint.ConfigChecker
	IDs         *ids.Source
	// Explain returns the outcome of a firing and its reason, without secrets.
	Explain func(story *blueprint.FiringStory) *blueprint.Explanation
	// APIHost returns the host root under which webhooks are reached.
	APIHost func() string
	// Info returns the description of the server that every caller may read.
	Info func() ServerInfo
	// Status returns the status of the server, without its hours.
	Status func(ctx context.Context) ServerStatus
	// MayOperate reports whether a caller may see the status; nil = no caller may.
	MayOperate func(caller *trpc.Caller) bool
	// Connections tests connections; nil = none can be tested.
	Connections ConnectionTester
	// Link returns an approval link to an open question for a user who may answer it, its short
	// id, and when it expires; nil on a read-only server.
	Link func(ctx context.Context, userID string, canManage bool, executionID, nodeID string) (address, id string, expires blueprint.Time, err error)
	// Frozen is the error of every mutation on a read-only server; nil on all others.
	Frozen error
}

// Service implements the procedures.
type Service struct {
	Options
	*Exporter
	evaluations chan struct{} // see evaluationSlots
}

// New returns a service. It panics if a required option is missing.
func New(o Options) *Service {
	for name, missing := range map[string]bool{
		"Store": o.Store == nil, "Runner": o.Runner == nil, "Triggers": o.Triggers == nil, "Catalogue": o.Catalogue == nil, "CheckConfig": o.CheckConfig == nil,
		"IDs": o.IDs == nil, "Explain": o.Explain == nil, "APIHost": o.APIHost == nil, "Info": o.Info == nil,
	} {
		if missing {
			panic("rpc.New: Options." + name + " is missing")
		}
	}
	return &Service{Options: o, Exporter: NewExporter(o.Store, o.Runner, o.Catalogue, o.Info), evaluations: evaluationSlots()}
}

// Store is the database. Each part is declared beside the procedures that use it.
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
	auditStore
	actionStore
	toolStore
}

// Runner runs executions. Execute returns the record of a run that ended or paused in
// time, nil for one that is still running. Execute, Start and Retry return the id of a run
// once it is durable, even with an error, as when ctx has ended; "" if there is none.
type Runner interface {
	Execute(ctx context.Context, request *blueprint.StartRequest) (id string, outcome *blueprint.Execution, err error)
	Start(ctx context.Context, request *blueprint.StartRequest) (id string, err error)
	View(ctx context.Context, stored *blueprint.StoredExecution) (*blueprint.Execution, error)
	// ViewWithin is View for a record whose inputs and outputs take at most room bytes of JSON.
	ViewWithin(ctx context.Context, stored *blueprint.StoredExecution, room int) (*blueprint.Execution, error)
	// Summary returns the errorSummary of a run that has ended, and what a paused run
	// waits for first; nil for none, or if it cannot be read. With a problem, privateTo is
	// that of blueprint.Execution.
	Summary(ctx context.Context, stored *blueprint.StoredExecution) (problem *string, awaiting *blueprint.AwaitKind, privateTo string)
	Recordings
	Watch(id string) (changes <-chan struct{}, stop func())
	Control
}

// Control changes existing runs. After an error of Resume or Cancel the run is unchanged.
type Control interface {
	Resume(ctx context.Context, answer blueprint.ResumeAnswer) error
	Cancel(ctx context.Context, id, reason string) error
	CancelAll(ctx context.Context, ids []string, reason string) error
	Retry(ctx context.Context, stored *blueprint.StoredExecution, fromNodeID string, principal blueprint.Principal, canManage bool) (id string, err error)
	Fork(ctx context.Context, stored *blueprint.StoredExecution, fromNodeID string, input any, principal blueprint.Principal, canManage bool) (id string, err error)
}

// Triggers fires triggers and checks their configs.
type Triggers interface {
	Fire(ctx context.Context, principal blueprint.Principal, triggerID string, input any, record bool) (executionID, firingID string, err error)
	// Settle applies change to the config before, which is nil for a new trigger.
	// Warnings returns what has no effect. Paths of issues start at the config.
	Settle(kind blueprint.TriggerType, before, change map[string]any) (map[string]any, []blueprint.Issue)
	Warnings(kind blueprint.TriggerType, config map[string]any) []blueprint.Issue
	Preview(cron, timezone string, count int) ([]string, error)
	Redeliver(ctx context.Context, principal blueprint.Principal, firingID string) (executionID, newID string, err error)
	RedeliverSeveral(ctx context.Context, principal blueprint.Principal, request *blueprint.RedeliverRequest) (*blueprint.RedeliverResult, error)
	Rotate(trigger *blueprint.Trigger, secret, keepFor string) (config map[string]any, made string, until blueprint.Time, err error)
	Changed()
}

// Procedures describes the procedures of a Service. They cannot be called.
func Procedures() []trpc.Procedure { return (*Service)(nil).table() }

func (s *Service) Procedures() []trpc.Procedure {
	if s.Frozen != nil {
		return frozen(s.table(), s.Frozen)
	}
	return audited(s.Store, s.table())
}

func (s *Service) table() []trpc.Procedure {
	var all []trpc.Procedure
	for _, part := range [][]trpc.Procedure{s.blueprints(), s.executions(), s.triggers(), s.apiKeys(), s.connections(), s.listings(),
		s.grants(), s.organizations(), s.collaborators(), s.categories(), {trpc.Query("auditLog.list", blueprint.ScopeAdmin, s.auditList)}, s.mcpTools()} {
		all = append(all, part...)
	}
	return all
}

// frozen returns procedures with mutations that fail with refusal.
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

// target is an input that selects what a procedure is about by an id, "" for an absent one.
type target interface{ target() string }

type resourceID struct {
	ID string `json:"id" check:"required,uuid"`
}

func (in resourceID) target() string { return in.ID }

type inOrganization struct {
	OrganizationID string `json:"organizationId" check:"uuid"`
}

func (in inOrganization) target() string { return in.OrganizationID }

// of returns a procedure that is a method of the database with an id.
func of[In target, Out any](s *Service, method func(Store, context.Context, blueprint.Principal, string) (Out, error)) func(context.Context, *trpc.Caller, In) (Out, error) {
	return func(ctx context.Context, caller *trpc.Caller, in In) (Out, error) {
		return method(s.Store, ctx, caller.Principal, in.target())
	}
}

// change is of for a method without a result.
func change[In target](s *Service, method func(Store, context.Context, blueprint.Principal, string) error) func(context.Context, *trpc.Caller, In) (succeeded, error) {
	return func(ctx context.Context, caller *trpc.Caller, in In) (succeeded, error) {
		return success(method(s.Store, ctx, caller.Principal, in.target()))
	}
}

// ofCaller is of for a method without an id.
func ofCaller[Out any](s *Service, method func(Store, context.Context, blueprint.Principal) (Out, error)) func(context.Context, *trpc.Caller, struct{}) (Out, error) {
	return func(ctx context.Context, caller *trpc.Caller, _ struct{}) (Out, error) {
		return method(s.Store, ctx, caller.Principal)
	}
}

// succeeded is the result of a procedure without other output.
type succeeded struct {
	Success bool `json:"success"`
}

func success(err error) (succeeded, error) { return succeeded{err == nil}, err }

// listed replaces a nil list with an empty one, which is not null in JSON.
func listed[T any](found []T, err error) ([]T, error) {
	if found == nil {
		found = []T{}
	}
	return found, err
}

// started is the result of a procedure that started a run.
type started struct {
	Success     bool   `json:"success"`
	ExecutionID string `json:"executionId"`
}

// under prefixes the paths of issues with field.
func under(issues []blueprint.Issue, field ...any) []blueprint.Issue {
	out := make([]blueprint.Issue, len(issues))
	for i, issue := range issues {
		issue.Path = append(append([]any{}, field...), issue.Path...)
		out[i] = issue
	}
	return out
}

// waitForRun bounds the wait for a change of a run, in case a signal is lost.
const waitForRun = 30 * time.Second
