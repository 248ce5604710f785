package rpc

import (
	"context"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// ledgerStore is what these procedures ask of the ledger. A firing that is not
// the caller's to see is CodeNotFound.
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
	if found == nil {
		found = []blueprint.Firing{}
	}
	return firingPage{found, total}, err
}

var (
	decisions = []blueprint.Decision{
		blueprint.DecisionStarted, blueprint.DecisionDuplicate, blueprint.DecisionSkipped, blueprint.DecisionRefused, blueprint.DecisionCoalesced,
	}
	sources = []blueprint.Source{
		blueprint.SourceSchedule, blueprint.SourceWebhook, blueprint.SourceAPI, blueprint.SourceManual, blueprint.SourceEmail, blueprint.SourceSlack,
		blueprint.SourceEvent, blueprint.SourceRedelivery,
	}
)

// filterReading makes a filter of what a caller gave.
type filterReading struct {
	filter blueprint.FiringFilter
	issues []blueprint.Issue
}

func (r *filterReading) refuse(message string, path ...any) {
	r.issues = append(r.issues, trpc.IssueAt(message, path...))
}

// oneOrSeveral reads a word of a list of known ones, or a list of them.
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

// span reads from and to.
func (r *filterReading) span(from, to trpc.Optional[any]) {
	r.filter.From, r.filter.To = r.instant("from", from), r.instant("to", to)
	if r.filter.From != 0 && r.filter.To != 0 && r.filter.To <= r.filter.From {
		r.refuse("must be later than from", "to")
	}
}

// instant reads an RFC 3339 time; what is between two milliseconds counts as the
// later one, so that a bound means the same as in what is stored.
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
