package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

type runList struct {
	BlueprintID    string  `json:"blueprintId" check:"uuid"`
	OrganizationID string  `json:"organizationId" check:"uuid"`
	TriggerID      string  `json:"triggerId" check:"uuid"`
	Parent         string  `json:"parentExecutionId" check:"max=100"`
	Status         string  `json:"status" check:"enum=running|paused|completed|failed"`
	From           *string `json:"from"`
	To             *string `json:"to"`
	Search         string  `json:"search" check:"trim,max=100"`
	Limit          int     `json:"limit" check:"min=1,max=100,default=20"`
	Cursor         string  `json:"cursor" check:"max=100"`
}

type runPage struct {
	Runs []blueprint.ListedRun `json:"runs"`
	Next *string               `json:"next"`
	// SearchedUntil is how far back this page was looked for when it is not full
	// though there may be more, from Next on.
	SearchedUntil blueprint.Time `json:"searchedUntil"`
}

func (s *Service) runList(ctx context.Context, caller *trpc.Caller, in runList) (runPage, error) {
	filter := blueprint.RunFilter{
		BlueprintID: in.BlueprintID, OrganizationID: in.OrganizationID, TriggerID: in.TriggerID, ParentExecutionID: in.Parent, Status: blueprint.Status(in.Status), Search: in.Search, Limit: in.Limit,
	}
	var issues []blueprint.Issue
	filter.From, filter.To, issues = spanOf(in.From, in.To)
	if in.Cursor != "" {
		var ok bool
		if filter.After, ok = blueprint.ParseRunPosition(in.Cursor); !ok {
			issues = append(issues, trpc.IssueAt("is none that this procedure gave", "cursor"))
		}
	}
	if len(issues) > 0 {
		return runPage{}, trpc.InvalidInput(issues...)
	}
	found, err := s.Store.ListRuns(ctx, caller.Principal, filter)
	if err != nil {
		return runPage{}, err
	}
	page := runPage{Runs: found.Runs, SearchedUntil: found.SearchedUntil}
	if found.Next != (blueprint.RunPosition{}) {
		next := found.Next.String()
		page.Next = &next
	}
	for i := range page.Runs {
		s.gist(ctx, caller.Principal, &page.Runs[i])
	}
	return page, nil
}

// spanOf reads two instants; absent ones are zero.
func spanOf(from, to *string) (after, before blueprint.Time, issues []blueprint.Issue) {
	var r filterReading
	given := func(text *string) (value trpc.Optional[any]) {
		if text != nil {
			value = trpc.Optional[any]{Value: *text, Set: true}
		}
		return value
	}
	r.span(given(from), given(to))
	return r.filter.From, r.filter.To, r.issues
}
