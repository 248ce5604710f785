package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

type triggerListAll struct {
	OrganizationID string `json:"organizationId" check:"uuid"`
	Type           string `json:"type" check:"enum=manual|scheduled|webhook|email|slack|event|api"`
	Active         *bool  `json:"active"`
	Search         string `json:"search" check:"max=500"`
	Page           int    `json:"page" check:"min=1,default=1"`
	Limit          int    `json:"limit" check:"min=1,max=100,default=20"`
}

type triggerPage struct {
	Data       []blueprint.ListedTrigger `json:"data"`
	Pagination pagination                `json:"pagination"`
}

func (s *Service) triggerListAll(ctx context.Context, caller *trpc.Caller, in triggerListAll) (triggerPage, error) {
	found, total, err := s.Store.ListAllTriggers(ctx, caller.Principal, blueprint.TriggerFilter{
		OrganizationID: in.OrganizationID, Type: blueprint.TriggerType(in.Type), Active: in.Active, Search: in.Search, Page: in.Page, Limit: in.Limit,
	})
	for i := range found {
		s.complete(&found[i])
	}
	return triggerPage{found, paginationOf(in.Page, in.Limit, total)}, err
}

func (s *Service) triggerDetails(ctx context.Context, caller *trpc.Caller, in triggerID) (blueprint.ListedTrigger, error) {
	trigger, err := s.Store.TriggerDetails(ctx, caller.Principal, in.ID)
	if err == nil {
		s.complete(&trigger)
	}
	return trigger, err
}

// complete adds what the database does not know: the address, and when a
// schedule is due next.
func (s *Service) complete(t *blueprint.ListedTrigger) {
	if path := map[blueprint.TriggerType]string{
		blueprint.TriggerWebhook: "/webhooks/blueprint/" + t.ID, blueprint.TriggerSlack: "/webhooks/slack/" + t.ID, blueprint.TriggerAPI: "/v1/triggers/" + t.ID + "/fire",
	}[t.Type]; path != "" && t.CanManage {
		url := s.APIHost() + path
		t.URL = &url
	}
	if t.Type == blueprint.TriggerScheduled && t.IsActive {
		cron, _ := t.Config["cron"].(string)
		timezone, _ := t.Config["timezone"].(string)
		if next, err := s.Triggers.Preview(cron, timezone, 1); err == nil && len(next) > 0 {
			_ = t.NextAt.UnmarshalJSON([]byte(`"` + next[0] + `"`))
		}
	}
}
