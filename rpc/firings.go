package rpc

import (
	"context"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// ledgerStore returns CodeNotFound for firings that the principal may not see.
type ledgerStore interface {
	FindFirings(ctx context.Context, p blueprint.Principal, triggerID string, filter blueprint.FiringFilter, limit, offset int) ([]blueprint.Firing, int, error)
	FiringStory(ctx context.Context, p blueprint.Principal, id string) (*blueprint.FiringStory, error)
}

type triggerHistory struct {
	ID              string             `json:"triggerId" check:"required,uuid"`
	Limit           int                `json:"limit" check:"min=1,max=100,default=20"`
	Offset          int                `json:"offset" check:"min=0,default=0"`
	Decision        trpc.Optional[any] `json:"decision"` // one, or a list
	Source          trpc.Optional[any] `json:"source"`   // one, or a list
	From            trpc.Optional[any] `json:"from"`
	To              trpc.Optional[any] `json:"to"`
	ExecutionStatus string             `json:"executionStatus" check:"enum=running|paused|completed|failed"`
	Key             *string            `json:"key" check:"min=1"`
}

type firingPage struct {
	Firings []blueprint.Firing `json:"firings"`
	Total   int                `json:"total"` // of all pages
}

func (s *Service) triggerHistory(ctx context.Context, caller *trpc.Caller, in triggerHistory) (firingPage, error) {
	r := filterReading{filter: blueprint.FiringFilter{Status: blueprint.Status(in.ExecutionStatus)}}
	if in.Key != nil {
		r.filter.Key = *in.Key
	}
	r.filter.Decisions = oneOrSeveral(&r, "decision", in.Decision, decisions)
	r.filter.Sources = oneOrSeveral(&r, "source", in.Source, sources)
	r.span(in.From, in.To)
	if len(r.issues) > 0 {
		return firingPage{}, trpc.InvalidInput(r.issues...)
	}
	found, total, err := s.Store.FindFirings(ctx, caller.Principal, in.ID, r.filter, in.Limit, in.Offset)
	found, err = listed(found, err)
	return firingPage{found, total}, err
}

var (
	decisions = []blueprint.Decision{
		blueprint.DecisionStarted, blueprint.DecisionDuplicate, blueprint.DecisionSkipped, blueprint.DecisionRefused, blueprint.DecisionCoalesced,
	}
	sources = blueprint.Sources()
)

// filterReading returns the filter of an input.
type filterReading struct {
	filter blueprint.FiringFilter
	issues []blueprint.Issue
}

func (r *filterReading) refuse(message string, path ...any) {
	r.issues = append(r.issues, trpc.IssueAt(message, path...))
}

// oneOrSeveral parses a known word, or a list of known words.
func oneOrSeveral[T ~string](r *filterReading, field string, given trpc.Optional[any], known []T) []T {
	if !given.Set {
		return nil
	}
	list, several := given.Value.([]any)
	if !several {
		list = []any{given.Value}
	}
	var names []string
	for _, name := range known {
		names = append(names, string(name))
	}
	if len(list) == 0 {
		r.refuse("must not be empty", field)
	}
	var out []T
	for i, value := range list {
		word, _ := value.(string)
		switch {
		case slices.Contains(out, T(word)):
		case slices.Contains(names, word):
			out = append(out, T(word))
		case several:
			r.refuse("must be one of "+strings.Join(names, ", "), field, i)
		default:
			r.refuse("must be one of "+strings.Join(names, ", ")+", or a list of them", field)
		}
		if len(r.issues) == blueprint.MaxIssues {
			break
		}
	}
	return out
}

func (r *filterReading) span(from, to trpc.Optional[any]) {
	r.filter.From, r.filter.To = r.instant("from", from), r.instant("to", to)
	if r.filter.From != 0 && r.filter.To != 0 && r.filter.To <= r.filter.From {
		r.refuse("must be later than from", "to")
	}
}

// instant parses an RFC 3339 time, rounded up to a millisecond as stored times are.
func (r *filterReading) instant(field string, given trpc.Optional[any]) blueprint.Time {
	if !given.Set {
		return 0
	}
	text, _ := given.Value.(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 1970 || at.Year() > 9999 {
		r.refuse("must be an RFC 3339 time such as 2026-03-01T12:00:00Z", field)
		return 0
	}
	cut := blueprint.TimeOf(at)
	if cut.Time().Before(at) {
		cut++
	}
	return max(cut, 1)
}

// triggerRedeliver names one firing, or selects several of a trigger.
type triggerRedeliver struct {
	FiringID        *string            `json:"firingId"`
	TriggerID       *string            `json:"triggerId" check:"uuid"`
	Decision        string             `json:"decision" check:"enum=started|duplicate|skipped|refused|coalesced"`
	ExecutionStatus string             `json:"executionStatus" check:"enum=failed"`
	From            trpc.Optional[any] `json:"from"`
	To              trpc.Optional[any] `json:"to"`
	After           string             `json:"after"` // next of the previous result
	Limit           int                `json:"limit" check:"min=1,max=1000,default=100"`
	DryRun          bool               `json:"dryRun"`
	Again           bool               `json:"again"`
}

// redelivered is the result: ExecutionID and FiringID for one firing, else the others.
type redelivered struct {
	Success     bool                           `json:"success"`
	ExecutionID string                         `json:"executionId,omitempty"`
	FiringID    string                         `json:"firingId,omitempty"`
	Matched     *int                           `json:"matched,omitempty"`
	Redelivered *int                           `json:"redelivered,omitempty"`
	Refused     *[]blueprint.RefusedRedelivery `json:"refused,omitempty"`
	Firings     *[]blueprint.RedeliveredFiring `json:"firings,omitempty"`
	Next        **string                       `json:"next,omitempty"` // the value of after for the next call; null when all are done
	Stopped     string                         `json:"stopped,omitempty"`
}

func (s *Service) triggerRedeliver(ctx context.Context, caller *trpc.Caller, in triggerRedeliver) (redelivered, error) {
	if in.FiringID != nil && in.TriggerID == nil {
		executionID, firingID, err := s.Triggers.Redeliver(ctx, caller.Principal, *in.FiringID)
		if err != nil {
			return redelivered{}, err
		}
		caller.Note("firing", *in.FiringID, map[string]any{"executionId": executionID, "firingId": firingID})
		return redelivered{Success: true, ExecutionID: executionID, FiringID: firingID}, nil
	}
	r := filterReading{filter: blueprint.FiringFilter{Status: blueprint.Status(in.ExecutionStatus)}}
	r.span(in.From, in.To)
	switch {
	case in.FiringID != nil:
		r.refuse("cannot be combined with triggerId: it names a single firing", "firingId")
	case in.TriggerID == nil:
		r.refuse("required, or triggerId with decision or executionStatus, and from", "firingId")
	default:
		if in.Decision == "" && in.ExecutionStatus == "" {
			r.refuse(`required, unless executionStatus is "failed"`, "decision")
		}
		if in.ExecutionStatus != "" && in.Decision != "" && in.Decision != string(blueprint.DecisionStarted) {
			r.refuse("only a firing that started a run has one", "executionStatus")
		}
		if !in.From.Set {
			r.refuse("required", "from")
		}
	}
	if len(r.issues) > 0 {
		return redelivered{}, trpc.InvalidInput(r.issues...)
	}
	if in.Decision != "" {
		r.filter.Decisions = []blueprint.Decision{blueprint.Decision(in.Decision)}
	}
	result, err := s.Triggers.RedeliverSeveral(ctx, caller.Principal, &blueprint.RedeliverRequest{
		TriggerID: *in.TriggerID, Filter: r.filter, After: in.After, Limit: in.Limit, Again: in.Again, DryRun: in.DryRun,
	})
	if err != nil {
		return redelivered{}, err
	}
	caller.Note("trigger", *in.TriggerID, map[string]any{"redelivered": result.Redelivered})
	if in.DryRun || result.Stopped != "" && result.Redelivered+len(result.Refused) == 0 {
		caller.NoteNothing()
	}
	next := &result.Next
	if *next == "" {
		next = nil
	}
	return redelivered{
		Success: true, Matched: &result.Matched, Redelivered: &result.Redelivered, Refused: &result.Refused, Firings: &result.Firings,
		Next: &next, Stopped: result.Stopped,
	}, nil
}

type firingID struct {
	ID string `json:"firingId" check:"required"`
}

func (s *Service) triggerExplain(ctx context.Context, caller *trpc.Caller, in firingID) (*blueprint.Explanation, error) {
	story, err := s.Store.FiringStory(ctx, caller.Principal, in.ID)
	if err != nil {
		return nil, err
	}
	if story.Run != nil && story.Run.Status != blueprint.StatusNotFound {
		if err := s.lookUp(ctx, caller.Principal, story.Run); err != nil {
			return nil, err
		}
	}
	return s.Explain(story), nil
}

// lookUp sets the current status of a run. A run that the caller may not see, or that
// cannot be read, stays as it is.
func (s *Service) lookUp(ctx context.Context, principal blueprint.Principal, run *blueprint.FiringRun) error {
	stored, _, err := s.Store.Execution(ctx, principal, run.ExecutionID)
	if err == nil {
		var view *blueprint.Execution
		if view, err = s.view(ctx, principal, stored, 0); err == nil {
			if run.Status = view.Status; view.Failure != nil {
				run.Error, run.Displaced = view.Failure.Message, view.Failure.Displaced
			}
		}
	}
	switch code := blueprint.CodeOf(err); {
	case code == "", code == blueprint.CodeNotFound, code == blueprint.CodeInternal && ctx.Err() == nil:
		return nil
	}
	return err
}
