package main

import (
	"context"

	"blueprintd/blueprint"
)

// sown finds a blueprint of the seed that is there, or was: what people have
// deleted is not made again, nor what they have given another title. CodeNotFound.
func (w *sower) sown(ctx context.Context, given *seedBlueprint) (id string, deleted bool, err error) {
	owner, err := w.user(ctx, given.owner)
	if err != nil {
		return "", false, err
	}
	home := w.homes[given.organization]
	id, err = w.store.OwnBlueprint(ctx, owner.ID, home, given.title)
	if blueprint.CodeOf(err) == blueprint.CodeNotFound {
		return w.store.SownBlueprint(ctx, owner.ID, home, given.title)
	}
	return id, false, err
}

// staysDeleted tells whether a connection of the seed that is not there was deleted
// by somebody, and nothing that is still to be made names it.
func (w *sower) staysDeleted(ctx context.Context, ownerID string, given *seedConnection) (bool, error) {
	deleted, err := w.store.SownConnectionDeleted(ctx, ownerID, w.homes[given.organization], given.name)
	if err != nil || !deleted {
		return false, err
	}
	for i := range w.seed.connections { // one that names it stands behind it
		of := &w.seed.connections[i]
		if !names(given.name, of.config) {
			continue
		}
		owner, err := w.user(ctx, of.owner)
		if err != nil {
			return false, err
		}
		_, err = w.store.OwnConnection(ctx, owner.ID, w.homes[of.organization], of.name)
		if blueprint.CodeOf(err) != blueprint.CodeNotFound {
			if err != nil {
				return false, err
			}
			continue
		}
		if stays, err := w.staysDeleted(ctx, owner.ID, of); err != nil || !stays {
			return false, err
		}
	}
	for i := range w.seed.blueprints {
		of := &w.seed.blueprints[i]
		values := []any{of.m}
		for _, t := range of.triggers {
			values = append(values, t.config)
		}
		if !names(given.name, values...) {
			continue
		}
		if _, _, err := w.sown(ctx, of); blueprint.CodeOf(err) == blueprint.CodeNotFound {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return true, nil
}

// names tells whether one of the values holds {"$connection": name}.
func names(name string, values ...any) (found bool) {
	for _, value := range values {
		connected(value, nil, func(other string, _ []any) string {
			found = found || other == name
			return anyConnection
		})
	}
	return found
}
