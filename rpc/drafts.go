package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// DashboardProcedures returns the procedures of a Service that only a person who is signed
// in to the dashboard can call.
func (s *Service) DashboardProcedures() []trpc.Procedure {
	if s.Frozen != nil {
		return frozen(s.dashboardOnly(), s.Frozen)
	}
	return audited(s.Store, s.dashboardOnly())
}

// DashboardProcedures describes all procedures for the dashboard alone, including those of
// Sessions. They cannot be called.
func DashboardProcedures() []trpc.Procedure {
	return append((*Sessions)(nil).table(), (*Service)(nil).dashboardOnly()...)
}

func (s *Service) dashboardOnly() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Mutation("draft.apply", blueprint.ScopeWrite, s.draftApply),
		trpc.Mutation("execution.link", blueprint.ScopeRun, s.executionLink),
	}
}

type draftApply struct {
	ID      string `json:"id" check:"required,uuid"`
	Version string `json:"version" check:"required,max=100"` // the one that the person has reviewed
	Of      string `json:"of" check:"max=100"`               // the blueprint that it was compared with; "" for a new one
}

// draftApply publishes a draft that an agent made: it stores the draft's content as a new
// version of the blueprint that it was made from and deletes the draft, or makes a new
// blueprint of it. The audit entry names the draft and its author.
func (s *Service) draftApply(ctx context.Context, caller *trpc.Caller, in draftApply) (blueprint.Blueprint, error) {
	row, err := s.blueprint(ctx, caller.Principal, in.ID)
	if err != nil {
		return blueprint.Blueprint{}, err
	}
	draft, is := blueprint.ParseDraft(row.Tags)
	switch {
	case !is:
		return blueprint.Blueprint{}, blueprint.Errorf(blueprint.CodeConflict, "this blueprint is not a draft of an agent")
	case draft.Of != in.Of:
		return blueprint.Blueprint{}, blueprint.Errorf(blueprint.CodeConflict, "the draft was not made from the blueprint that it was compared with; review it again")
	case row.Version != in.Version:
		return blueprint.Blueprint{}, blueprint.Errorf(blueprint.CodeConflict, "the draft has changed since version %s: it is at version %s now; review it again", in.Version, row.Version)
	}
	content, err := s.Store.VersionContent(ctx, caller.Principal, in.ID, in.Version)
	if err != nil {
		return blueprint.Blueprint{}, err
	}
	if actor := blueprint.ActorOf(ctx); actor != nil {
		actor.Detail = map[string]any{"draft": row.ID, "draftVersion": row.Version, "draftBy": row.CreatedBy}
	}
	if draft.Of == "" {
		status, tags := blueprint.StatusPublished, blueprint.WithoutDraft(row.Tags)
		return s.updatedFrom(ctx, caller, in.ID, row.Version, func(_, _ *blueprint.BlueprintVersion) blueprint.BlueprintPatch {
			return blueprint.BlueprintPatch{Status: &status, Tags: &tags}
		})
	}
	if err := s.mayPropose(ctx, caller, &row.Blueprint, draft.Of); err != nil {
		return blueprint.Blueprint{}, err
	}
	updated, err := s.updatedFrom(ctx, caller, draft.Of, draft.From, func(made, current *blueprint.BlueprintVersion) (patch blueprint.BlueprintPatch) {
		m, variables := blueprint.MergeLayout(made.BlueprintMap, content.BlueprintMap, current.BlueprintMap), withoutSecrets(content.EnvironmentVariables)
		patch.Map, patch.Variables = &m, &variables
		if title := blueprint.DraftedTitle(row.Title); title != made.Title { // else it may have another one by now
			patch.Title = &title
		}
		return patch
	})
	if err != nil {
		return blueprint.Blueprint{}, err
	}
	err = blueprint.Deletion{Store: s.Store, CancelRuns: s.Runner.CancelAll, TriggersChanged: s.Triggers.Changed}.Delete(ctx, caller.Principal, in.ID)
	switch blueprint.CodeOf(err) {
	case blueprint.CodeForbidden, blueprint.CodeNotFound:
		err = nil // the draft belongs to another user, who can delete it, or is deleted already
	}
	return updated, err
}

// mayPropose refuses a draft whose creator may not manage the blueprint that it changes: anyone
// can create one that names it, and share it with a manager. An organization may apply its own drafts,
// also those of users who have left it.
func (s *Service) mayPropose(ctx context.Context, caller *trpc.Caller, draft *blueprint.Blueprint, of string) error {
	target, err := s.blueprint(ctx, caller.Principal, of)
	if err != nil || target.OrganizationID == draft.OrganizationID {
		return err
	}
	_, access, err := s.Store.Definition(ctx, blueprint.Principal{UserID: draft.CreatedBy}, of)
	if err == nil && access < blueprint.AccessManage || blueprint.CodeOf(err) == blueprint.CodeForbidden {
		return blueprint.Errorf(blueprint.CodeForbidden, "the creator of this draft may not manage the blueprint, so it cannot be applied")
	}
	return err
}

// withoutSecrets returns variables whose secret ones keep the values that the blueprint has:
// a comparison of the two does not show values of secrets, so that a person could not
// confirm others.
func withoutSecrets(variables []any) []any {
	kept := blueprint.RedactVariables(variables)
	for _, element := range kept {
		if variable, ok := element.(map[string]any); ok && variable["secret"] == true {
			variable["default"] = nil
		}
	}
	return kept
}

// updatedFrom makes a change of a blueprint that has the content of a version still:
// CodeConflict otherwise. Changes of the layout and of other fields, such as the tags, do not
// matter. change gets that version and the current one.
func (s *Service) updatedFrom(ctx context.Context, caller *trpc.Caller, id, from string, change func(made, current *blueprint.BlueprintVersion) blueprint.BlueprintPatch) (blueprint.Blueprint, error) {
	made, err := s.Store.VersionContent(ctx, caller.Principal, id, from)
	if err != nil {
		return blueprint.Blueprint{}, err
	}
	now, err := s.blueprint(ctx, caller.Principal, id)
	if err != nil {
		return blueprint.Blueprint{}, err
	}
	current, err := s.Store.VersionContent(ctx, caller.Principal, id, now.Version)
	if err != nil {
		return blueprint.Blueprint{}, err
	}
	conflict := blueprint.Errorf(blueprint.CodeConflict, "the blueprint has changed since version %s, from which the draft was made; have the change made again from the current version", from)
	if !blueprint.Equal(blueprint.WithoutLayout(made.BlueprintMap), blueprint.WithoutLayout(current.BlueprintMap)) || !blueprint.Equal(made.EnvironmentVariables, current.EnvironmentVariables) {
		return blueprint.Blueprint{}, conflict
	}
	next, err := blueprint.FollowingVersion(now.Version)
	if err != nil {
		return blueprint.Blueprint{}, err
	}
	patch := change(made, current)
	patch.Version = &next // a change in between has this version, so that this one is refused
	updated, err := s.Store.UpdateBlueprint(ctx, caller.Principal, id, patch)
	if blueprint.CodeOf(err) == blueprint.CodeBadRequest {
		err = conflict
	}
	return updated, err
}
