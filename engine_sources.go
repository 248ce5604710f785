package main

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/store"
)

// blueprints gives the engine the blueprints that nodes run.
type blueprints struct{ store *store.Store }

// Runnable gives a blueprint that a user may run.
func (b blueprints) Runnable(ctx context.Context, userID, blueprintID string) (*blueprint.Definition, bool, error) {
	if !blueprint.IsUUID(blueprintID) {
		return nil, false, blueprint.Errorf(blueprint.CodeNotFound, "%q is no blueprint's id", blueprintID)
	}
	definition, access, err := b.store.Definition(ctx, blueprint.Principal{UserID: userID}, blueprintID)
	return definition, access >= blueprint.AccessManage, err
}
