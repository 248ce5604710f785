package server

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/store"
)

// Blueprints gives the engine the blueprints that nodes run.
type Blueprints struct{ Store *store.Store }

// Runnable gives a blueprint that a user may run.
func (b Blueprints) Runnable(ctx context.Context, userID, blueprintID string) (*blueprint.Definition, bool, error) {
	if !blueprint.IsUUID(blueprintID) {
		return nil, false, blueprint.Errorf(blueprint.CodeNotFound, "%q is no blueprint's id", blueprintID)
	}
	definition, access, err := b.Store.Definition(ctx, blueprint.Principal{UserID: userID}, blueprintID)
	return definition, access >= blueprint.AccessManage, err
}
