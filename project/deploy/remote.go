package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"blueprintd/blueprint"
	blueprintd "blueprintd/clients/go"
	"blueprintd/project"
	"blueprintd/triggers"
)

// Remote is a Server over the API.
type Remote struct {
	client         blueprintd.Client
	organizationID string // "" = the workspace of the key's owner
}

const (
	maxAttempts = 8 // of a call to a busy server
	remotePage  = 20
)

// NewRemote returns a Remote; organizationID may be "".
func NewRemote(address, key, organizationID string) *Remote {
	return &Remote{client: blueprintd.Client{Address: address, Key: key, Attempts: maxAttempts}, organizationID: organizationID}
}

// mutate and query call a procedure and decode the result, numbers with their digits.
func (r *Remote) mutate(ctx context.Context, procedure string, input map[string]any, into any) error {
	var answer json.RawMessage
	return r.decode(procedure, r.client.Mutate(ctx, procedure, input, &answer), &answer, into)
}

func (r *Remote) query(ctx context.Context, procedure string, input map[string]any, into any) error {
	var answer json.RawMessage
	return r.decode(procedure, r.client.Query(ctx, procedure, input, &answer), &answer, into)
}

func (r *Remote) decode(procedure string, err error, answer *json.RawMessage, into any) error {
	var refused *blueprintd.Error
	switch {
	case errors.As(err, &refused) && refused.Code == string(blueprint.CodeUnauthorized):
		return blueprint.Hinted("check that the key is one of this server and has not expired, or create one on its dashboard under Settings, API keys",
			"the API key is not accepted by %s", r.client.Address)
	case errors.As(err, &refused) && refused.Code != "":
		err := blueprint.Errorf(blueprint.Code(refused.Code), "%s: %s", procedure, blueprint.OneLine(refused.Message))
		err.Hint = refused.Hint
		return err
	case errors.As(err, &refused):
		return blueprint.Hinted(refused.Hint, "%s is not a blueprintd server (status %d)", r.client.Address, refused.HTTPStatus)
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return blueprint.Hinted("check the address, and whether the server runs", "%v", err)
	}
	if err := blueprint.DecodeInto(*answer, into); err != nil {
		return fmt.Errorf("response of %s to %s: %w", r.client.Address, procedure, err)
	}
	return nil
}

type remoteBlueprint struct {
	ID             string            `json:"id"`
	Title          string            `json:"title"`
	Description    string            `json:"description"`
	Status         string            `json:"status"`
	Visibility     string            `json:"visibility"`
	Version        string            `json:"version"`
	Tags           []string          `json:"tags"`
	OrganizationID string            `json:"organization_id"`
	Variables      []any             `json:"environment_variables"`
	Map            any               `json:"blueprint_map"`
	Budget         *blueprint.Budget `json:"budget"`
	Source         string            `json:"source"`
	SyncedVersion  string            `json:"synced_version"`
}

func (b *remoteBlueprint) blueprint() blueprint.Blueprint {
	return blueprint.Blueprint{
		ID: b.ID, Title: b.Title, Description: b.Description, Status: b.Status, Visibility: b.Visibility, Version: b.Version, Tags: b.Tags, OrganizationID: b.OrganizationID,
		EnvironmentVariables: b.Variables, BlueprintMap: b.Map, Budget: b.Budget, Source: b.Source, SyncedVersion: b.SyncedVersion,
	}
}

func (r *Remote) List(ctx context.Context, source string) ([]project.Deployed, error) {
	var of []blueprint.Organization
	if err := r.query(ctx, "organization.list", map[string]any{}, &of); err != nil {
		return nil, err
	}
	home, err := homeAmong(of, r.organizationID)
	if err != nil {
		return nil, err
	}
	var found []project.Deployed
	for _, scope := range syncScopes {
		for page, total := 1, 1; (page-1)*remotePage < total; page++ {
			var answer struct {
				Data       []remoteBlueprint `json:"data"`
				Pagination struct {
					Total int `json:"total"`
				} `json:"pagination"`
			}
			if err := r.query(ctx, "blueprint.list", map[string]any{"scope": string(scope), "source": source, "page": page, "limit": remotePage}, &answer); err != nil {
				return nil, err
			}
			total = answer.Pagination.Total
			for i := range answer.Data {
				b := &answer.Data[i]
				if !strings.HasPrefix(b.Source, source) || b.OrganizationID != home {
					continue
				}
				d := project.Deployed{Blueprint: b.blueprint(), Foreign: scope != blueprint.ScopeOwn}
				if source != "" {
					if d.Triggers, err = r.Triggers(ctx, b.ID); err != nil {
						return nil, err
					}
				}
				found = append(found, d)
			}
		}
	}
	return found, nil
}

func (r *Remote) Triggers(ctx context.Context, blueprintID string) (list []blueprint.Trigger, err error) {
	err = r.query(ctx, "blueprintTriggers.list", map[string]any{"blueprintId": blueprintID}, &list)
	return list, err
}

func (r *Remote) Create(ctx context.Context, b blueprint.NewBlueprint) (string, error) {
	input := map[string]any{"title": b.Title, "description": b.Description, "source": b.Source, "blueprint_map": b.Map, "environment_variables": b.Variables, "tags": append([]string{}, b.Tags...)}
	for name, text := range map[string]string{"status": b.Status, "organization_id": r.organizationID} {
		if text != "" {
			input[name] = text
		}
	}
	if b.Budget.Limits() {
		input["budget"] = b.Budget
	}
	var made remoteBlueprint
	if err := r.mutate(ctx, "blueprint.create", input, &made); err != nil {
		return "", err
	}
	if made.Source != b.Source { // every sync would create it again
		return "", blueprint.Hinted("upgrade the server to the version of this program", "%s does not store the sources of blueprints; delete blueprint %s, which it created", r.client.Address, made.ID)
	}
	return made.ID, nil
}

func (r *Remote) Update(ctx context.Context, id string, patch blueprint.BlueprintPatch) error {
	input := map[string]any{"id": id}
	for name, text := range map[string]*string{"title": patch.Title, "description": patch.Description, "status": patch.Status, "visibility": patch.Visibility, "source": patch.Source} {
		if text != nil {
			input[name] = *text
		}
	}
	if patch.Tags != nil {
		input["tags"] = *patch.Tags
	}
	if patch.Map != nil {
		input["blueprint_map"] = *patch.Map
	}
	if patch.Variables != nil {
		input["environment_variables"] = *patch.Variables
	}
	if patch.Budget != nil {
		input["budget"] = patch.Budget
	}
	return r.mutate(ctx, "blueprint.update", input, &struct{}{})
}

func (r *Remote) Delete(ctx context.Context, id string) error {
	return r.mutate(ctx, "blueprint.delete", map[string]any{"id": id}, &struct{}{})
}

// CreateTrigger implements Server. The address is empty if the server does not return it.
func (r *Remote) CreateTrigger(ctx context.Context, blueprintID string, kind blueprint.TriggerType, config map[string]any, active bool) (id, address string, err error) {
	var made blueprint.Trigger
	err = r.mutate(ctx, "blueprintTriggers.create", map[string]any{"blueprintId": blueprintID, "triggerType": string(kind), "config": config, "isActive": active}, &made)
	if err != nil {
		return "", "", err
	}
	if blueprint.KindOf(kind).Path == "" {
		return made.ID, made.Address(""), nil
	}
	var details blueprint.ListedTrigger
	if err := r.query(ctx, "blueprintTriggers.getDetails", map[string]any{"triggerId": made.ID}, &details); err == nil && details.URL != nil {
		address = *details.URL
	}
	return made.ID, address, nil
}

func (r *Remote) UpdateTrigger(ctx context.Context, id string, change map[string]any, isActive *bool) error {
	input := map[string]any{"triggerId": id}
	if change != nil {
		input["config"] = change
	}
	if isActive != nil {
		input["isActive"] = *isActive
	}
	return r.mutate(ctx, "blueprintTriggers.update", input, &struct{}{})
}

func (r *Remote) DeleteTrigger(ctx context.Context, id string) error {
	return r.mutate(ctx, "blueprintTriggers.delete", map[string]any{"triggerId": id}, &struct{}{})
}

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
