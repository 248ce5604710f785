package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// triggerStore requires a principal who can manage the blueprint.
type triggerStore interface {
	ListTriggers(ctx context.Context, p blueprint.Principal, blueprintID string) ([]blueprint.Trigger, error)
	GetTrigger(ctx context.Context, p blueprint.Principal, id string) (blueprint.Trigger, error)
	AddTrigger(ctx context.Context, p blueprint.Principal, blueprintID string, kind blueprint.TriggerType, config map[string]any, active bool) (blueprint.Trigger, error)
	// UpdateTrigger stores the result of merge on the current trigger in one transaction; nil keeps the config.
	UpdateTrigger(ctx context.Context, p blueprint.Principal, id string, merge func(present blueprint.Trigger) (map[string]any, error), isActive *bool) (blueprint.Trigger, error)
	DeleteTrigger(ctx context.Context, p blueprint.Principal, id string) error
	ledgerStore
}

func (s *Service) triggers() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("blueprintTriggers.list", blueprint.ScopeRead, of[ofBlueprint](s, Store.ListTriggers)),
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

func (in ofBlueprint) target() string { return in.BlueprintID }

type triggerCreate struct {
	BlueprintID string                `json:"blueprintId" check:"required,uuid"`
	Type        blueprint.TriggerType `json:"triggerType" check:"required"`
	Config      map[string]any        `json:"config" guards:"secret|token|hmac|signature|signing|password|sender|from|allow|domain|filter|auth|verify"`
	IsActive    *bool                 `json:"isActive"` // nil = true
}

func (s *Service) triggerCreate(ctx context.Context, caller *trpc.Caller, in triggerCreate) (blueprint.Trigger, error) {
	config, issues := s.Triggers.Settle(in.Type, nil, in.Config)
	if len(issues) > 0 {
		return blueprint.Trigger{}, trpc.InvalidInput(under(issues, "config")...)
	}
	active := in.IsActive == nil || *in.IsActive
	trigger, err := s.Store.AddTrigger(ctx, caller.Principal, in.BlueprintID, in.Type, config, active)
	if err == nil {
		s.Triggers.Changed()
		s.warn(&trigger)
	}
	return trigger, err
}

// warn adds the warnings about a created or updated trigger.
func (s *Service) warn(trigger *blueprint.Trigger) {
	for _, issue := range under(s.Triggers.Warnings(trigger.Type, trigger.Config), "config") {
		trigger.Warnings = append(trigger.Warnings, blueprint.PathText(issue.Path)+": "+issue.Message)
	}
	if blueprint.KindOf(trigger.Type).Mailbox && s.Info().MailDomain == nil {
		trigger.Warnings = append(trigger.Warnings, "the server receives no mail, so this trigger does not fire; start the server with --smtp-addr")
	}
}

type triggerID struct {
	ID string `json:"triggerId" check:"required,uuid"`
}

func (in triggerID) target() string { return in.ID }

type webhookURL struct {
	URL    string `json:"url"`
	Secret any    `json:"secret"` // text, or null
}

func (s *Service) triggerWebhookURL(ctx context.Context, caller *trpc.Caller, in triggerID) (webhookURL, error) {
	trigger, err := s.Store.GetTrigger(ctx, caller.Principal, in.ID)
	if err != nil {
		return webhookURL{}, err
	}
	if kind := blueprint.KindOf(trigger.Type); kind.IsSigned() {
		return webhookURL{URL: trigger.Address(s.APIHost()), Secret: trigger.Config[kind.Secrets.Secret]}, nil
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
	return s.Triggers.Preview(in.Cron, in.Timezone, in.Count)
}

type triggerPage struct {
	Data       []blueprint.ListedTrigger `json:"data"`
	Pagination pagination                `json:"pagination"`
}

func (s *Service) triggerListAll(ctx context.Context, caller *trpc.Caller, in blueprint.TriggerFilter) (triggerPage, error) {
	found, total, err := s.Store.ListAllTriggers(ctx, caller.Principal, in)
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

// complete sets the URL of a trigger and the next tick of a schedule.
func (s *Service) complete(t *blueprint.ListedTrigger) {
	if path := blueprint.KindOf(t.Type).PathTo(t.ID); path != "" && t.CanManage {
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

type triggerRotateSecret struct {
	ID              string  `json:"triggerId" check:"required,uuid"`
	Secret          *string `json:"secret" check:"min=1"` // absent = a random one
	KeepPreviousFor string  `json:"keepPreviousFor" check:"default=24h" guards:"keep|previous|grace"`
}

type rotatedSecret struct {
	Secret string `json:"secret"`
	// PreviousSecretUntil is until when the previous secret is accepted too.
	PreviousSecretUntil blueprint.Time `json:"previousSecretUntil"`
}

// triggerRotateSecret replaces a trigger's secret. The previous one is valid for a while.
func (s *Service) triggerRotateSecret(ctx context.Context, caller *trpc.Caller, in triggerRotateSecret) (out rotatedSecret, err error) {
	if in.Secret != nil {
		out.Secret = *in.Secret
	}
	wanted := out.Secret
	_, err = s.Store.UpdateTrigger(ctx, caller.Principal, in.ID, func(present blueprint.Trigger) (config map[string]any, err error) {
		config, out.Secret, out.PreviousSecretUntil, err = s.Triggers.Rotate(&present, wanted, in.KeepPreviousFor)
		return config, err
	}, nil)
	if err != nil {
		return rotatedSecret{}, err
	}
	s.Triggers.Changed()
	return out, nil
}

type toolStore interface {
	Tools(ctx context.Context, p blueprint.Principal) ([]blueprint.Tool, error)
	EnableTool(ctx context.Context, p blueprint.Principal, triggerID string) error
	DisableTool(ctx context.Context, p blueprint.Principal, triggerID string) error
}

func (s *Service) mcpTools() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("mcpTool.list", blueprint.ScopeWrite, ofCaller(s, Store.Tools)),
		trpc.Mutation("mcpTool.enable", blueprint.ScopeWrite, change[triggerID](s, Store.EnableTool)),
		trpc.Mutation("mcpTool.disable", blueprint.ScopeWrite, change[triggerID](s, Store.DisableTool)),
	}
}
