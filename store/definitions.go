package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"blueprintd/blueprint"
)

// Definition gives the newest version of a blueprint, with its true secrets,
// and what the principal may do with it: at least AccessView, else
// CodeForbidden; CodeNotFound. The definition may be shared and must not be
// changed.
func (s *Store) Definition(ctx context.Context, principal blueprint.Principal, id string) (_ *blueprint.Definition, access blueprint.Access, err error) {
	defer wrap(&err, "definition of blueprint %s for user %s", id, principal.UserID)
	granted, err := remember(ctx, s, s.access, principal.UserID+" "+id, func(q *session) (grant, error) {
		return accessTo(q, principal.UserID, id, blueprint.AccessView)
	})
	if err != nil {
		return nil, blueprint.AccessNone, err
	}
	definition, err := s.definition(ctx, id, granted.version)
	return definition, granted.access, err
}

// DefinitionVersion gives one version of a blueprint with its true secrets,
// even of a deleted one; CodeNotFound when there is none. It asks for no
// principal: it is for the engine alone, which goes on with runs that were
// allowed when they began. The definition must not be changed.
func (s *Store) DefinitionVersion(ctx context.Context, id, version string) (_ *blueprint.Definition, err error) {
	defer wrap(&err, "definition of blueprint %s, version %s", id, version)
	return s.definition(ctx, id, version)
}

func (s *Store) definition(ctx context.Context, id, version string) (definition *blueprint.Definition, err error) {
	if definition, ok := s.definitions.get(id+" "+version, 0); ok {
		return definition, s.usable()
	}
	err = s.read(ctx, func(q *session) error {
		definition, err = s.readDefinition(q, id, version)
		return err
	})
	return definition, err
}

// readDefinition reads and remembers one version.
func (s *Store) readDefinition(q *session, id, version string) (*blueprint.Definition, error) {
	key := id + " " + version
	if definition, ok := s.definitions.get(key, 0); ok {
		return definition, nil
	}
	const query = `SELECT b.organization_id, v.title, v.content_version, v.meaning_version, v.author, v.budget, c.map, c.variables, c.sealed_variables
		FROM blueprints b JOIN blueprint_versions v ON v.blueprint_id = b.id
		JOIN blueprint_contents c ON c.blueprint_id = b.id AND c.version = v.content_version
		WHERE b.id = ? AND v.version = ?`
	definition := &blueprint.Definition{BlueprintID: id, Version: version, Ref: blueprint.VersionRef{BlueprintID: id}}
	var contentVersion string
	var budget, mapText, plain, sealed []byte
	err := q.row(query, []any{id, version}, &definition.OrganizationID, &definition.Title, &contentVersion, &definition.Ref.Version, &definition.Ref.Author, &budget, &mapText, &plain, &sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, notFound("blueprint", fmt.Sprintf("%s, version %s,", id, version))
	}
	if err != nil {
		return nil, err
	}
	if definition.Budget, err = decodeBudget(budget, id); err != nil {
		return nil, err
	}
	m, variables, err := s.content(id, contentVersion, mapText, plain, sealed)
	if err != nil {
		return nil, err
	}
	if definition.Map, definition.Variables, err = parse(m, variables); err != nil {
		return nil, err
	}
	s.definitions.put(key, 0, definition)
	return definition, nil
}
