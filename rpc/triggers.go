package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// triggerStore is what these procedures ask of the database. Everything but
// ListTriggers needs a principal who can manage the blueprint.
type triggerStore interface {
	ListTriggers(ctx context.Context, p blueprint.Principal, blueprintID string) ([]blueprint.Trigger, error)
	GetTrigger(ctx context.Context, p blueprint.Principal, id string) (blueprint.Trigger, error)
	AddTrigger(ctx context.Context, p blueprint.Principal, blueprintID string, kind blueprint.TriggerType, config map[string]any, active bool) (blueprint.Trigger, error)
	// UpdateTrigger stores what merge makes of the present trigger, within one transaction; nil keeps the config.
	UpdateTrigger(ctx context.Context, p blueprint.Principal, id string, merge func(present blueprint.Trigger) (map[string]any, error), isActive *bool) (blueprint.Trigger, error)
	DeleteTrigger(ctx context.Context, p blueprint.Principal, id string) error
	ledgerStore
}

func (s *Service) triggers() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("blueprintTriggers.list", blueprint.ScopeRead, s.triggerList),
		trpc.Query("blueprintTriggers.getWebhookUrl", blueprint.ScopeRead, s.triggerWebhookURL),
		trpc.Query("blueprintTriggers.history", blueprint.ScopeRead, s.triggerHistory),
		trpc.Query("blueprintTriggers.preview", blueprint.ScopeRead, s.triggerPreview),
		trpc.Mutation("blueprintTriggers.create", blueprint.ScopeWrite, s.triggerCreate),
		trpc.Mutation("blueprintTriggers.update", blueprint.ScopeWrite, s.triggerUpdate),
		trpc.Mutation("blueprintTriggers.delete", blueprint.ScopeWrite, s.triggerDelete),
		trpc.Mutation("blueprintTriggers.fire", blueprint.ScopeRun, s.triggerFire),
		trpc.Query("blueprintTriggers.explain", blueprint.ScopeRead, s.triggerExplain),
		trpc.Mutation("blueprintTriggers.redeliver", blueprint.ScopeRun, s.triggerRedeliver),
		trpc.Mutation("blueprintTriggers.rotateSecret", blueprint.ScopeWrite, s.triggerRotateSecret),
	}
}

type ofBlueprint struct {
	BlueprintID string `json:"blueprintId" check:"required,uuid"`
}

func (s *Service) triggerList(ctx context.Context, caller *trpc.Caller, in ofBlueprint) ([]blueprint.Trigger, error) {
	found, err := s.Store.ListTriggers(ctx, caller.Principal, in.BlueprintID)
	if found == nil {
		found = []blueprint.Trigger{}
	}
	return found, err
}

type triggerCreate struct {
	BlueprintID string         `json:"blueprintId" check:"required,uuid"`
	Type        string         `json:"triggerType" check:"required,enum=manual|scheduled|webhook|email|slack|event|api"`
	Config      map[string]any `json:"config" guards:"secret|token|hmac|signature|signing|password|sender|from|allow|domain|filter|auth|verify"`
	IsActive    *bool          `json:"isActive"` // nil = true
}

func (s *Service) triggerCreate(ctx context.Context, caller *trpc.Caller, in triggerCreate) (blueprint.Trigger, error) {
	config, issues := s.Triggers.Settle(blueprint.TriggerType(in.Type), nil, in.Config)
	if len(issues) > 0 {
		return blueprint.Trigger{}, trpc.InvalidInput(under(issues, "config")...)
	}
	active := in.IsActive == nil || *in.IsActive
	trigger, err := s.Store.AddTrigger(ctx, caller.Principal, in.BlueprintID, blueprint.TriggerType(in.Type), config, active)
	if err == nil {
		s.Triggers.Changed()
		s.warn(&trigger)
	}
	return trigger, err
}

// warn completes the answer about a trigger that was created or updated.
func (s *Service) warn(trigger *blueprint.Trigger) {
	for _, issue := range under(s.Triggers.Warnings(trigger.Type, trigger.Config), "config") {
		trigger.Warnings = append(trigger.Warnings, blueprint.PathText(issue.Path)+": "+issue.Message)
	}
	if trigger.Type == blueprint.TriggerEmail && s.Info().MailDomain == nil {
		trigger.Warnings = append(trigger.Warnings, "the server receives no mail, so this trigger does not fire; start the server with --smtp-addr")
	}
}

type triggerID struct {
	ID string `json:"triggerId" check:"required,uuid"`
}

type webhookURL struct {
	URL    string `json:"url"`
	Secret any    `json:"secret"` // text, or null
}

func (s *Service) triggerWebhookURL(ctx context.Context, caller *trpc.Caller, in triggerID) (webhookURL, error) {
	trigger, err := s.Store.GetTrigger(ctx, caller.Principal, in.ID)
	if err != nil {
		return webhookURL{}, err
	}
	switch trigger.Type {
	case blueprint.TriggerWebhook:
		return webhookURL{URL: s.APIHost() + "/webhooks/blueprint/" + trigger.ID, Secret: trigger.Config["secret"]}, nil
	case blueprint.TriggerSlack:
		return webhookURL{URL: s.APIHost() + "/webhooks/slack/" + trigger.ID, Secret: trigger.Config["signingSecret"]}, nil
	}
	return webhookURL{}, blueprint.Errorf(blueprint.CodeBadRequest, "trigger %s is of type %s; only webhook and slack triggers have a URL", trigger.ID, trigger.Type)
}

type triggerUpdate struct {
	ID       string         `json:"triggerId" check:"required,uuid"`
	Config   map[string]any `json:"config" guards:"secret|token|hmac|signature|signing|password|sender|from|allow|domain|filter|auth|verify"`
	IsActive *bool          `json:"isActive"`
}

func (s *Service) triggerUpdate(ctx context.Context, caller *trpc.Caller, in triggerUpdate) (blueprint.Trigger, error) {
	var merge func(present blueprint.Trigger) (map[string]any, error)
	if in.Config != nil {
		merge = func(present blueprint.Trigger) (map[string]any, error) {
			before := present.Config
			if before == nil {
				before = map[string]any{}
			}
			config, issues := s.Triggers.Settle(present.Type, before, in.Config)
			if len(issues) > 0 {
				return nil, trpc.InvalidInput(under(issues, "config")...)
			}
			return config, nil
		}
	}
	trigger, err := s.Store.UpdateTrigger(ctx, caller.Principal, in.ID, merge, in.IsActive)
	if err == nil {
		s.Triggers.Changed()
		s.warn(&trigger)
	}
	return trigger, err
}

func (s *Service) triggerDelete(ctx context.Context, caller *trpc.Caller, in triggerID) (succeeded, error) {
	if err := s.Store.DeleteTrigger(ctx, caller.Principal, in.ID); err != nil {
		return succeeded{}, err
	}
	s.Triggers.Changed()
	return succeeded{true}, nil
}

type triggerFire struct {
	ID        string         `json:"triggerId" check:"required,uuid"`
	InputData map[string]any `json:"inputData"`
	Record    bool           `json:"record"`
}

type fired struct {
	Success     bool   `json:"success"`
	ExecutionID string `json:"executionId"`
	FiringID    string `json:"firingId"`
}

func (s *Service) triggerFire(ctx context.Context, caller *trpc.Caller, in triggerFire) (fired, error) {
	if in.InputData == nil {
		in.InputData = map[string]any{}
	}
	executionID, firingID, err := s.Triggers.Fire(ctx, caller.Principal, in.ID, in.InputData, in.Record)
	if err != nil {
		return fired{}, err
	}
	caller.Note("trigger", in.ID, map[string]any{"executionId": executionID, "firingId": firingID})
	return fired{true, executionID, firingID}, nil
}

type triggerPreview struct {
	Cron     string `json:"cron" check:"required"`
	Timezone string `json:"timezone"`
	Count    int    `json:"count" check:"min=1,max=100,default=5"`
}

func (s *Service) triggerPreview(_ context.Context, _ *trpc.Caller, in triggerPreview) ([]string, error) {
	ticks, err := s.Triggers.Preview(in.Cron, in.Timezone, in.Count)
	if ticks == nil {
		ticks = []string{}
	}
	return ticks, err
}
