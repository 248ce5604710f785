package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// Versions lists every version of a blueprint, newest first, with its secrets.
// It needs AccessManage: CodeNotFound, or CodeForbidden.
func (s *Store) Versions(ctx context.Context, principal blueprint.Principal, id string) (list []blueprint.BlueprintVersion, err error) {
	defer wrap(&err, "versions of blueprint %s for user %s", id, principal.UserID)
	err = s.read(ctx, func(q *session) error {
		if _, err := accessTo(q, principal.UserID, id, blueprint.AccessManage); err != nil {
			return err
		}
		return collect(q, &list, versionQuery+" ORDER BY v.seq DESC", []any{id}, s.scanVersion)
	})
	return list, err
}

const versionQuery = `SELECT v.blueprint_id, v.version, v.created_at, v.created_by, v.content_version, c.map, c.variables, c.sealed_variables
	FROM blueprint_versions v JOIN blueprint_contents c ON c.blueprint_id = v.blueprint_id AND c.version = v.content_version
	WHERE v.blueprint_id = ?`

func (s *Store) scanVersion(scan scanner) (v blueprint.BlueprintVersion, err error) {
	var id, contentVersion string
	var mapText, variables, sealed []byte
	if err := scan(&id, &v.Version, &v.CreatedAt, &v.CreatedBy, &contentVersion, &mapText, &variables, &sealed); err != nil {
		return v, err
	}
	v.BlueprintMap, v.EnvironmentVariables, err = s.content(id, contentVersion, mapText, variables, sealed)
	return v, err
}

// VersionContent returns the content of one version of a blueprint, with its secrets, to
// a user who can manage it: CodeNotFound, or CodeForbidden.
func (s *Store) VersionContent(ctx context.Context, principal blueprint.Principal, id, version string) (v *blueprint.BlueprintVersion, err error) {
	defer wrap(&err, "version %s of blueprint %s for user %s", version, id, principal.UserID)
	return readValue(ctx, s, func(q *session) (*blueprint.BlueprintVersion, error) {
		if _, err := accessTo(q, principal.UserID, id, blueprint.AccessManage); err != nil {
			return nil, err
		}
		v, err := s.scanVersion(q.first(versionQuery+" AND v.version = ?", id, version))
		return &v, orNotFound(err, "version", version)
	})
}

// Definition returns the newest version of a blueprint, with its secrets, and the access
// of the principal, at least AccessView: CodeNotFound, or CodeForbidden. The definition may be shared and must not be
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

// DefinitionVersion returns one version of a blueprint with its true secrets,
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
	return readValue(ctx, s, func(q *session) (*blueprint.Definition, error) { return s.readDefinition(q, id, version) })
}

// readDefinition reads and caches one version.
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
	if err != nil {
		return nil, orNotFound(err, "blueprint", fmt.Sprintf("%s, version %s,", id, version))
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

// nextVersion returns the version after a change: the one that was asked for,
// when it is higher than the present; else a higher minor number when the map
// or the variables changed, and a higher patch number when only the rest did.
func nextVersion(present string, asked *string, content bool) (string, error) {
	now, ok := parseVersion(present)
	if !ok {
		return "", fmt.Errorf("the stored version %q is malformed", present)
	}
	switch {
	case asked != nil:
		next, ok := parseVersion(*asked)
		if !ok {
			return "", versionIssue(`must be three numbers such as "1.2.0"`)
		}
		if slices.Compare(next[:], now[:]) <= 0 {
			return "", versionIssue("must be higher than the present " + present)
		}
		return next.String(), nil
	case content:
		return version{now[0], now[1] + 1, 0}.String(), nil
	default:
		return version{now[0], now[1], now[2] + 1}.String(), nil
	}
}

// version is a blueprint's version number: major, minor, patch.
type version [3]uint64

// parseVersion reads "1.2.3": three numbers without leading zeros, of at most
// nine digits each, and nothing else.
func parseVersion(text string) (v version, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) != len(v) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil || len(part) > 9 || strconv.FormatUint(n, 10) != part {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

func versionIssue(message string) error {
	return &blueprint.Error{
		Code: blueprint.CodeBadRequest, Message: "version: " + message,
		Issues: []blueprint.Issue{{Path: []any{"version"}, Message: message}},
	}
}
