package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// blueprintStore checks access: CodeNotFound for unknown ids, CodeForbidden for those that
// the principal may not use.
type blueprintStore interface {
	ListBlueprints(ctx context.Context, p blueprint.Principal, filter blueprint.BlueprintFilter) ([]blueprint.Blueprint, int, error)
	GetBlueprint(ctx context.Context, p blueprint.Principal, id string) (blueprint.BlueprintDetails, error)
	CreateBlueprint(ctx context.Context, p blueprint.Principal, b blueprint.NewBlueprint) (blueprint.Blueprint, error)
	UpdateBlueprint(ctx context.Context, p blueprint.Principal, id string, patch blueprint.BlueprintPatch) (blueprint.Blueprint, error)
	DeleteBlueprint(ctx context.Context, p blueprint.Principal, id string) (unfinished []string, err error)
	// DeleteDraft deletes a draft of an agent that is not live; CodeConflict for other blueprints.
	DeleteDraft(ctx context.Context, p blueprint.Principal, id string) (unfinished []string, err error)
	Versions(ctx context.Context, p blueprint.Principal, id string) ([]blueprint.BlueprintVersion, error)
	Definition(ctx context.Context, p blueprint.Principal, id string) (*blueprint.Definition, blueprint.Access, error)
	Rate(ctx context.Context, p blueprint.Principal, id string, rating float64) (blueprint.Ratings, error)
	Favorite(ctx context.Context, p blueprint.Principal, id string, favorite bool) (blueprint.Ratings, error)
}

func (s *Service) blueprints() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("blueprint.list", blueprint.ScopeRead, s.blueprintList),
		trpc.Query("blueprint.get", blueprint.ScopeRead, s.blueprintGet),
		trpc.Query("blueprint.versions", blueprint.ScopeRead, of[resourceID](s, Store.Versions)),
		trpc.Mutation("blueprint.create", blueprint.ScopeWrite, s.blueprintCreate),
		trpc.Mutation("blueprint.update", blueprint.ScopeWrite, s.blueprintUpdate),
		trpc.Mutation("blueprint.delete", blueprint.ScopeWrite, s.blueprintDelete),
		trpc.Mutation("blueprint.validate", blueprint.ScopeRead, s.blueprintValidate),
		trpc.Mutation("blueprint.evaluateExpressions", blueprint.ScopeRead, s.blueprintEvaluate),
		trpc.Mutation("blueprint.execute", blueprint.ScopeRun, s.blueprintExecute),
		trpc.Mutation("blueprint.rate", blueprint.ScopeWrite, s.blueprintRate),
		trpc.Mutation("blueprint.favorite", blueprint.ScopeWrite, s.blueprintFavorite),
		trpc.Mutation("blueprint.unfavorite", blueprint.ScopeWrite, s.blueprintUnfavorite),
	}
}

type blueprintPage struct {
	Data       []blueprint.Blueprint `json:"data"`
	Pagination pagination            `json:"pagination"`
}

type pagination struct {
	Page       int `json:"page"`
	Limit      int `json:"limit"`
	Total      int `json:"total"`
	TotalPages int `json:"totalPages"`
}

func paginationOf(page, limit, total int) pagination {
	return pagination{page, limit, total, (total + limit - 1) / limit}
}

func (s *Service) blueprintList(ctx context.Context, caller *trpc.Caller, in blueprint.BlueprintFilter) (blueprintPage, error) {
	found, total, err := s.listed(ctx, caller.Principal, in)
	found, err = listed(found, err)
	return blueprintPage{found, paginationOf(in.Page, in.Limit, total)}, err
}

func (s *Service) blueprintGet(ctx context.Context, caller *trpc.Caller, in resourceID) (blueprint.BlueprintDetails, error) {
	return s.blueprint(ctx, caller.Principal, in.ID)
}

type blueprintCreate struct {
	Title          string         `json:"title" check:"required,min=1,max=500"`
	Description    string         `json:"description" check:"max=10000"`
	Status         string         `json:"status" check:"enum=draft|published,default=draft"`
	Tags           []string       `json:"tags" check:"max=100" each:"max=200"`
	Map            mapInput       `json:"blueprint_map"`
	Variables      variablesInput `json:"environment_variables" check:"max=1000"`
	OrganizationID string         `json:"organization_id" check:"uuid"`
	Budget         budgetInput    `json:"budget" guards:"budget"`
	Source         string         `json:"source" check:"max=1000"`
}

func (s *Service) blueprintCreate(ctx context.Context, caller *trpc.Caller, in blueprintCreate) (blueprint.Blueprint, error) {
	created := blueprint.NewBlueprint{Title: in.Title, Description: in.Description, Status: in.Status, Tags: in.Tags, Variables: in.Variables, OrganizationID: in.OrganizationID, Budget: in.Budget.budget(), Source: in.Source}
	if in.Map != nil {
		created.Map = map[string]any(in.Map)
	}
	return s.Store.CreateBlueprint(ctx, caller.Principal, created)
}

// mapInput is a blueprint_map of the right shape that is a valid graph. Nodes that cannot
// run are issues of blueprint.validate.
type mapInput map[string]any

func (m mapInput) Faults() []blueprint.Issue {
	parsed, issues := blueprint.ParseMap(map[string]any(m))
	if issues == nil {
		_, issues = blueprint.Compile(parsed)
	}
	return issues
}

type variablesInput []any

func (v variablesInput) Faults() []blueprint.Issue {
	_, issues := blueprint.ParseVariables(v)
	return issues
}

type blueprintUpdate struct {
	ID          string          `json:"id" check:"required,uuid"`
	Title       *string         `json:"title" check:"min=1,max=500"`
	Description *string         `json:"description" check:"max=10000"`
	Status      *string         `json:"status" check:"enum=draft|published"`
	Visibility  *string         `json:"visibility" check:"enum=private|public" guards:"visib|public|private"`
	Tags        *[]string       `json:"tags" check:"max=100" each:"max=200"`
	Map         mapInput        `json:"blueprint_map"`
	Variables   *variablesInput `json:"environment_variables" check:"max=1000"`
	Version     *string         `json:"version"`
	Budget      budgetInput     `json:"budget" guards:"budget"`
	Source      *string         `json:"source" check:"max=1000"`
}

type budgetInput map[string]any

func (b budgetInput) Faults() []blueprint.Issue {
	_, issues := blueprint.ParseBudget(map[string]any(b))
	return issues
}

func (b budgetInput) budget() *blueprint.Budget {
	if b == nil {
		return nil
	}
	parsed, _ := blueprint.ParseBudget(map[string]any(b))
	return parsed
}

func (s *Service) blueprintUpdate(ctx context.Context, caller *trpc.Caller, in blueprintUpdate) (blueprint.Blueprint, error) {
	patch := blueprint.BlueprintPatch{Title: in.Title, Description: in.Description, Status: in.Status, Visibility: in.Visibility, Tags: in.Tags, Variables: (*[]any)(in.Variables), Version: in.Version, Budget: in.Budget.budget(), Source: in.Source}
	if in.Map != nil {
		var m any = map[string]any(in.Map)
		patch.Map = &m
	}
	return s.Store.UpdateBlueprint(ctx, caller.Principal, in.ID, patch)
}

type blueprintDelete struct {
	ID        string `json:"id" check:"required,uuid"`
	OnlyDraft bool   `json:"onlyDraft" guards:"draft"` // fail unless it is a draft of an agent that is not live
}

// draftsOf is a Store whose DeleteBlueprint deletes only drafts.
type draftsOf struct{ Store }

func (d draftsOf) DeleteBlueprint(ctx context.Context, p blueprint.Principal, id string) ([]string, error) {
	return d.DeleteDraft(ctx, p, id)
}

func (s *Service) blueprintDelete(ctx context.Context, caller *trpc.Caller, in blueprintDelete) (succeeded, error) {
	var from Store = s.Store
	if in.OnlyDraft {
		from = draftsOf{s.Store}
	}
	return success(blueprint.Deletion{Store: from, CancelRuns: s.Runner.CancelAll, TriggersChanged: s.Triggers.Changed}.Delete(ctx, caller.Principal, in.ID))
}

type blueprintValidate struct {
	Map       map[string]any `json:"blueprint_map" check:"required"`
	Variables any            `json:"environment_variables"` // another value than an array is an issue
}

type validation struct {
	Valid  bool              `json:"valid"`
	Issues []blueprint.Issue `json:"issues"`
}

func (s *Service) blueprintValidate(_ context.Context, caller *trpc.Caller, in blueprintValidate) (validation, error) {
	caller.NoteNothing()
	out := validation{Valid: true, Issues: []blueprint.Issue{}}
	variables, ok := in.Variables.([]any)
	if !ok && in.Variables != nil {
		out.Issues = append(out.Issues, blueprint.Issue{Path: []any{"environment_variables"}, Message: "must be an array", Severity: blueprint.SeverityError})
	}
	out.Issues = append(out.Issues, blueprint.Validate(in.Map, variables, s.Catalogue, s.CheckConfig)...)
	for _, issue := range out.Issues {
		out.Valid = out.Valid && issue.Severity == blueprint.SeverityWarning
	}
	return out, nil
}

// listingStore returns what the principal may see. An organization that they are not a
// member of, whether it exists or not, is CodeForbidden.
type listingStore interface {
	ListSummaries(ctx context.Context, p blueprint.Principal, filter blueprint.SummaryFilter) ([]blueprint.BlueprintSummary, int, error)
	ListTags(ctx context.Context, p blueprint.Principal, limit int) ([]blueprint.TagCount, error)
	CountBlueprints(ctx context.Context, p blueprint.Principal) (int, error)
	ListRuns(ctx context.Context, p blueprint.Principal, filter blueprint.RunFilter) (blueprint.RunPage, error)
	RunHours(ctx context.Context, p blueprint.Principal, filter blueprint.HoursFilter) (blueprint.RunHours, error)
	ServerHours(ctx context.Context, from, to int64) ([]blueprint.RunHour, error)
	ListAllTriggers(ctx context.Context, p blueprint.Principal, filter blueprint.TriggerFilter) ([]blueprint.ListedTrigger, int, error)
	TriggerDetails(ctx context.Context, p blueprint.Principal, id string) (blueprint.ListedTrigger, error)
}

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
		trpc.Query("server.getStatus", blueprint.ScopeRead, s.serverStatus),
	}
}

type summaryPage struct {
	Data       []blueprint.BlueprintSummary `json:"data"`
	Pagination pagination                   `json:"pagination"`
}

func (s *Service) blueprintSummaries(ctx context.Context, caller *trpc.Caller, in blueprint.SummaryFilter) (summaryPage, error) {
	found, total, err := s.Store.ListSummaries(ctx, caller.Principal, in)
	return summaryPage{found, paginationOf(in.Page, in.Limit, total)}, err
}

const maxTags = 200

func (s *Service) blueprintTags(ctx context.Context, caller *trpc.Caller, _ struct{}) ([]blueprint.TagCount, error) {
	return s.Store.ListTags(ctx, caller.Principal, maxTags)
}

type blueprintRate struct {
	ID     string  `json:"id" check:"required,uuid"`
	Rating float64 `json:"rating" check:"required,min=0,max=5"`
}

func (s *Service) blueprintRate(ctx context.Context, caller *trpc.Caller, in blueprintRate) (blueprint.Ratings, error) {
	return s.Store.Rate(ctx, caller.Principal, in.ID, in.Rating)
}

func (s *Service) blueprintFavorite(ctx context.Context, caller *trpc.Caller, in resourceID) (blueprint.Ratings, error) {
	return s.Store.Favorite(ctx, caller.Principal, in.ID, true)
}

func (s *Service) blueprintUnfavorite(ctx context.Context, caller *trpc.Caller, in resourceID) (blueprint.Ratings, error) {
	return s.Store.Favorite(ctx, caller.Principal, in.ID, false)
}
