package deploy

import (
	"context"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
	"blueprintd/triggers"
)

// Store is what a database must do; *store.Store does it.
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

// InStore is a database as a folder is synced with it: beside a server, or in
// one.
type InStore struct {
	Store          Store
	Owner          blueprint.Principal
	OrganizationID string // "" = the owner's workspace
	// CancelRuns and TriggersChanged are as of blueprint.Deletion.
	CancelRuns      func(ctx context.Context, executions []string, reason string) error
	TriggersChanged func()
}

// List returns the blueprints of a source in the organization, with their triggers;
// with "" all of them, without.
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

// syncScopes are the lists in which the blueprints of an organization stand.
var syncScopes = []blueprint.Scope{blueprint.ScopeOwn, blueprint.ScopeShared}

// homeAmong returns the organization to sync with: the one that is asked for, if it
// is among those of the owner, or with "" the owner's workspace.
func homeAmong(of []blueprint.Organization, asked string) (string, error) {
	var others []string
	for _, o := range of {
		switch {
		case asked == "" && o.Personal, asked == o.ID:
			return o.ID, nil
		case !o.Personal && len(others) < 10:
			others = append(others, o.ID+" "+blueprint.OneLine(o.Name))
		}
	}
	if asked == "" {
		return "", blueprint.Hinted("name an organization with --organization", "the owner has no workspace")
	}
	hint := "leave --organization out for the owner's workspace"
	if len(others) > 0 {
		hint += ", or take " + strings.Join(others, ", ")
	}
	return "", blueprint.Hinted(hint, "organization %s is none that the owner is a member of; nothing was changed", asked)
}

// Triggers returns the triggers of a blueprint.
func (s *InStore) Triggers(ctx context.Context, blueprintID string) ([]blueprint.Trigger, error) {
	return s.Store.ListTriggers(ctx, s.Owner, blueprintID)
}

// Create stores a new blueprint.
func (s *InStore) Create(ctx context.Context, b blueprint.NewBlueprint) (string, error) {
	b.OrganizationID = s.OrganizationID
	made, err := s.Store.CreateBlueprint(ctx, s.Owner, b)
	return made.ID, err
}

// Update changes a blueprint.
func (s *InStore) Update(ctx context.Context, id string, patch blueprint.BlueprintPatch) error {
	_, err := s.Store.UpdateBlueprint(ctx, s.Owner, id, patch)
	return err
}

// Delete deletes a blueprint.
func (s *InStore) Delete(ctx context.Context, id string) error {
	return blueprint.Deletion{Store: s.Store, CancelRuns: s.CancelRuns, TriggersChanged: s.TriggersChanged}.Delete(ctx, s.Owner, id)
}

// CreateTrigger makes a trigger.
func (s *InStore) CreateTrigger(ctx context.Context, blueprintID string, kind blueprint.TriggerType, config map[string]any, active bool) (string, error) {
	config, err := settled(kind, nil, config)
	if err != nil {
		return "", err
	}
	defer s.tell()
	trigger, err := s.Store.AddTrigger(ctx, s.Owner, blueprintID, kind, config, active)
	return trigger.ID, err
}

// UpdateTrigger changes a trigger.
func (s *InStore) UpdateTrigger(ctx context.Context, id string, change map[string]any, isActive *bool) error {
	var merge func(present blueprint.Trigger) (map[string]any, error)
	if change != nil {
		merge = func(present blueprint.Trigger) (map[string]any, error) {
			return settled(present.Type, present.Config, change)
		}
	}
	defer s.tell()
	_, err := s.Store.UpdateTrigger(ctx, s.Owner, id, merge, isActive)
	return err
}

// DeleteTrigger deletes a trigger.
func (s *InStore) DeleteTrigger(ctx context.Context, id string) error {
	defer s.tell()
	return s.Store.DeleteTrigger(ctx, s.Owner, id)
}

func (s *InStore) tell() {
	if s.TriggersChanged != nil {
		s.TriggersChanged()
	}
}

// settled returns the config of a trigger as the interface accepts it.
func settled(kind blueprint.TriggerType, before, change map[string]any) (map[string]any, error) {
	config, issues := triggers.Settle(kind, before, change)
	if len(issues) > 0 {
		return nil, blueprint.InvalidInput(issues)
	}
	return config, nil
}
