package deploy

import (
	"context"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
	"blueprintd/triggers"
)

// Store is the part of *store.Store that InStore uses.
type Store interface {
	Organizations(ctx context.Context, p blueprint.Principal) ([]blueprint.Organization, error)
	Connections(ctx context.Context, p blueprint.Principal, organizationID string) ([]blueprint.Connection, error)
	ListBlueprints(ctx context.Context, p blueprint.Principal, filter blueprint.BlueprintFilter) (page []blueprint.Blueprint, total int, err error)
	CreateBlueprint(ctx context.Context, p blueprint.Principal, b blueprint.NewBlueprint) (blueprint.Blueprint, error)
	UpdateBlueprint(ctx context.Context, p blueprint.Principal, id string, patch blueprint.BlueprintPatch) (blueprint.Blueprint, error)
	DeleteBlueprint(ctx context.Context, p blueprint.Principal, id string) (unfinished []string, err error)
	ListTriggers(ctx context.Context, p blueprint.Principal, blueprintID string) ([]blueprint.Trigger, error)
	AddTrigger(ctx context.Context, p blueprint.Principal, blueprintID string, kind blueprint.TriggerType, config map[string]any, active bool) (blueprint.Trigger, error)
	UpdateTrigger(ctx context.Context, p blueprint.Principal, id string, merge func(present blueprint.Trigger) (map[string]any, error), isActive *bool) (blueprint.Trigger, error)
	DeleteTrigger(ctx context.Context, p blueprint.Principal, id string) error
}

// InStore is a Server over its database, inside its process or another one.
type InStore struct {
	Store          Store
	Owner          blueprint.Principal
	OrganizationID string // "" = the owner's workspace
	// CancelRuns and TriggersChanged are those of blueprint.Deletion.
	CancelRuns      func(ctx context.Context, executions []string, reason string) error
	TriggersChanged func()
}

func (s *InStore) List(ctx context.Context, source string) ([]project.Deployed, error) {
	of, err := s.Store.Organizations(ctx, s.Owner)
	if err != nil {
		return nil, err
	}
	home, err := homeAmong(of, s.OrganizationID)
	if err != nil {
		return nil, err
	}
	var found []project.Deployed
	for _, scope := range syncScopes {
		for page := 1; ; page++ {
			list, total, err := s.Store.ListBlueprints(ctx, s.Owner, blueprint.BlueprintFilter{Scope: scope, Source: source, Page: page, Limit: 100})
			if err != nil {
				return nil, err
			}
			for _, b := range list {
				if b.OrganizationID != home {
					continue
				}
				d := project.Deployed{Blueprint: b, Foreign: scope != blueprint.ScopeOwn}
				if source != "" {
					if d.Triggers, err = s.Triggers(ctx, b.ID); err != nil {
						return nil, err
					}
				}
				found = append(found, d)
			}
			if page*100 >= total {
				break
			}
		}
	}
	return found, nil
}

// syncScopes are the scopes of all blueprints of an organization.
var syncScopes = []blueprint.Scope{blueprint.ScopeOwn, blueprint.ScopeShared}

// homeAmong returns the organization to sync with: the wanted one if it is one of the
// owner's, or with "" the owner's workspace.
func homeAmong(of []blueprint.Organization, wanted string) (string, error) {
	var others []string
	for _, o := range of {
		switch {
		case wanted == "" && o.Personal, wanted == o.ID:
			return o.ID, nil
		case !o.Personal && len(others) < 10:
			others = append(others, o.ID+" "+blueprint.OneLine(o.Name))
		}
	}
	if wanted == "" {
		return "", blueprint.Hinted("name an organization with --organization", "the owner has no workspace")
	}
	hint := "leave --organization out for the owner's workspace"
	if len(others) > 0 {
		hint += ", or choose one of " + strings.Join(others, ", ")
	}
	return "", blueprint.Hinted(hint, "the owner is not a member of organization %s; nothing was changed", wanted)
}

func (s *InStore) Triggers(ctx context.Context, blueprintID string) ([]blueprint.Trigger, error) {
	return s.Store.ListTriggers(ctx, s.Owner, blueprintID)
}

func (s *InStore) Create(ctx context.Context, b blueprint.NewBlueprint) (string, error) {
	b.OrganizationID = s.OrganizationID
	made, err := s.Store.CreateBlueprint(ctx, s.Owner, b)
	return made.ID, err
}

func (s *InStore) Update(ctx context.Context, id string, patch blueprint.BlueprintPatch) error {
	_, err := s.Store.UpdateBlueprint(ctx, s.Owner, id, patch)
	return err
}

func (s *InStore) Delete(ctx context.Context, id string) error {
	return blueprint.Deletion{Store: s.Store, CancelRuns: s.CancelRuns, TriggersChanged: s.TriggersChanged}.Delete(ctx, s.Owner, id)
}

// CreateTrigger implements Server. The address of the server is unknown here, so the
// address of a webhook is its path.
func (s *InStore) CreateTrigger(ctx context.Context, blueprintID string, kind blueprint.TriggerType, config map[string]any, active bool) (id, address string, err error) {
	config, err = settled(kind, nil, config)
	if err != nil {
		return "", "", err
	}
	defer s.triggersChanged()
	trigger, err := s.Store.AddTrigger(ctx, s.Owner, blueprintID, kind, config, active)
	return trigger.ID, trigger.Address(""), err
}

func (s *InStore) UpdateTrigger(ctx context.Context, id string, change map[string]any, isActive *bool) error {
	var merge func(present blueprint.Trigger) (map[string]any, error)
	if change != nil {
		merge = func(present blueprint.Trigger) (map[string]any, error) {
			return settled(present.Type, present.Config, change)
		}
	}
	defer s.triggersChanged()
	_, err := s.Store.UpdateTrigger(ctx, s.Owner, id, merge, isActive)
	return err
}

func (s *InStore) DeleteTrigger(ctx context.Context, id string) error {
	defer s.triggersChanged()
	return s.Store.DeleteTrigger(ctx, s.Owner, id)
}

func (s *InStore) triggersChanged() {
	if s.TriggersChanged != nil {
		s.TriggersChanged()
	}
}

// settled returns the checked config of a trigger, as the API stores it.
func settled(kind blueprint.TriggerType, before, change map[string]any) (map[string]any, error) {
	config, issues := triggers.Settle(kind, before, change)
	if len(issues) > 0 {
		return nil, blueprint.InvalidInput(issues)
	}
	return config, nil
}
