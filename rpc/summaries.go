package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// listingStore is what the lists and pictures of the dashboard ask of the
// database. What is not the caller's to see is not in them; an organization that
// the caller is not a member of, known or not, is CodeForbidden.
type listingStore interface {
	ListSummaries(ctx context.Context, p blueprint.Principal, filter blueprint.SummaryFilter) ([]blueprint.BlueprintSummary, int, error)
	ListTags(ctx context.Context, p blueprint.Principal, limit int) ([]blueprint.TagCount, error)
	CountBlueprints(ctx context.Context, p blueprint.Principal) (int, error)
	ListRuns(ctx context.Context, p blueprint.Principal, filter blueprint.RunFilter) (blueprint.RunPage, error)
	RunHours(ctx context.Context, p blueprint.Principal, filter blueprint.HoursFilter) (blueprint.RunHours, error)
	ListAllTriggers(ctx context.Context, p blueprint.Principal, filter blueprint.TriggerFilter) ([]blueprint.ListedTrigger, int, error)
	TriggerDetails(ctx context.Context, p blueprint.Principal, id string) (blueprint.ListedTrigger, error)
}

// listings are the procedures that show many things at once.
func (s *Service) listings() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("node.types", blueprint.ScopeRead, s.nodeTypes),
		trpc.Query("blueprint.listSummaries", blueprint.ScopeRead, s.blueprintSummaries),
		trpc.Query("blueprint.listTags", blueprint.ScopeRead, s.blueprintTags),
		trpc.Query("execution.listRuns", blueprint.ScopeRead, s.runList),
		trpc.Query("execution.getStatistics", blueprint.ScopeRead, s.runStatistics),
		trpc.Query("blueprintTriggers.listAll", blueprint.ScopeRead, s.triggerListAll),
		trpc.Query("blueprintTriggers.getDetails", blueprint.ScopeRead, s.triggerDetails),
		trpc.Query("connection.listTypes", blueprint.ScopeRead, s.connectionTypes),
		trpc.Mutation("connection.signIn", blueprint.ScopeWrite, s.connectionSignIn),
		trpc.Query("server.getInfo", blueprint.ScopeRead, s.serverInfo),
	}
}

type summaryList struct {
	Page           int    `json:"page" check:"min=1,default=1"`
	Limit          int    `json:"limit" check:"min=1,max=100,default=20"`
	Scope          string `json:"scope" check:"enum=all|own|shared|public|favorites,default=all"`
	Status         string `json:"status" check:"enum=draft|published"`
	Search         string `json:"search" check:"max=500"`
	Tag            string `json:"tag" check:"max=200"`
	CategoryID     string `json:"categoryId" check:"uuid"`
	OrganizationID string `json:"organizationId" check:"uuid"`
	Sort           string `json:"sort" check:"enum=created|updated|title,default=updated"`
}

type summaryPage struct {
	Data       []blueprint.BlueprintSummary `json:"data"`
	Pagination pagination                   `json:"pagination"`
}

func (s *Service) blueprintSummaries(ctx context.Context, caller *trpc.Caller, in summaryList) (summaryPage, error) {
	found, total, err := s.Store.ListSummaries(ctx, caller.Principal, blueprint.SummaryFilter{
		Scope: blueprint.Scope(in.Scope), Status: in.Status, Search: in.Search, Tag: in.Tag, CategoryID: in.CategoryID,
		OrganizationID: in.OrganizationID, Sort: in.Sort, Page: in.Page, Limit: in.Limit,
	})
	return summaryPage{found, paginationOf(in.Page, in.Limit, total)}, err
}

// mostTags is how many tags are listed.
const mostTags = 200

func (s *Service) blueprintTags(ctx context.Context, caller *trpc.Caller, _ struct{}) ([]blueprint.TagCount, error) {
	return s.Store.ListTags(ctx, caller.Principal, mostTags)
}
