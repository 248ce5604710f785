package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"blueprintd/blueprint"
)

// listed selects the blueprints of each scope of user ?1.
var listed = map[blueprint.Scope]string{
	blueprint.ScopeOwn: "b.created_by = ?1",
	blueprint.ScopeShared: `b.created_by <> ?1 AND (
		b.id IN (SELECT c.blueprint_id FROM collaborators c WHERE c.user_id = ?1)
		OR b.organization_id IN (SELECT m.organization_id FROM memberships m WHERE m.user_id = ?1))`,
	blueprint.ScopePublic: "b.created_by <> ?1 AND b.visibility = 'public'",
}

// ListBlueprints returns a page of blueprints, newest first, and the number of all of
// them. Secrets of blueprints that the principal may not manage are null.
func (s *Store) ListBlueprints(ctx context.Context, principal blueprint.Principal, filter blueprint.BlueprintFilter) (list []blueprint.Blueprint, total int, err error) {
	defer wrap(&err, "list blueprints for user %s", principal.UserID)
	filter.Scope = cmp.Or(filter.Scope, blueprint.ScopeOwn)
	inScope, known := listed[filter.Scope]
	if !known {
		return nil, 0, blueprint.Errorf(blueprint.CodeBadRequest, "scope: must be own, shared or public")
	}
	where := " WHERE b.deleted_at IS NULL AND " + inScope
	args := []any{principal.UserID, filter.Status, fold(filter.Search), filter.Source}
	where += " AND (?2 = '' OR b.status = ?2) AND (?3 = '' OR instr(b.title_fold, ?3) > 0 OR instr(b.description_fold, ?3) > 0)" +
		" AND (?4 = '' OR substr(b.source, 1, length(?4)) = ?4 AND " + mayManage + ")"
	list = []blueprint.Blueprint{}
	err = s.read(ctx, func(q *session) error {
		if err := q.row("SELECT count(*) FROM blueprints b"+where, args, &total); err != nil {
			return err
		}
		query := "SELECT " + blueprintColumns + blueprintTables + where + " ORDER BY b.created_at DESC, b.id DESC LIMIT ?5 OFFSET ?6"
		return q.each(query, append(args, filter.Limit, (filter.Page-1)*filter.Limit), func(scan scanner) error {
			row, err := s.scanBlueprint(scan)
			if err == nil {
				list = append(list, row.seen())
			}
			return err
		})
	})
	return list, total, err
}

// GetBlueprint returns a blueprint to a user who may see it: CodeNotFound, or
// CodeForbidden. Its secrets are null for a user who may not manage it.
func (s *Store) GetBlueprint(ctx context.Context, principal blueprint.Principal, id string) (details blueprint.BlueprintDetails, err error) {
	defer wrap(&err, "get blueprint %s for user %s", id, principal.UserID)
	const query = "SELECT " + blueprintColumns + `, o.name, o.slug,
		EXISTS (SELECT 1 FROM favorites f WHERE f.blueprint_id = b.id AND f.user_id = ?1)` +
		blueprintTables + " JOIN organizations o ON o.id = b.organization_id WHERE b.id = ?2 AND b.deleted_at IS NULL"
	err = s.read(ctx, func(q *session) error {
		var organization blueprint.Label
		row, err := s.scanBlueprint(also(q.first(query, principal.UserID, id), &organization.Name, &organization.Slug, &details.IsFavorited))
		if err != nil {
			return orNotFound(err, "blueprint", id)
		}
		if err := needs(row.Access, blueprint.AccessSee); err != nil {
			return err
		}
		details.Blueprint = row.seen()
		details.CanManage = row.Access >= blueprint.AccessManage
		details.IsOwner = row.CreatedBy == principal.UserID
		organization.ID = row.OrganizationID
		details.Organizations = []blueprint.Label{organization}
		details.Categories, err = categoriesOf(q, id)
		return err
	})
	return details, err
}

// blueprintColumns selects a blueprint as user ?1 sees it, for scanBlueprint.
const blueprintColumns = `b.id, b.title, b.description, b.status, b.visibility, b.version, b.tags, b.created_by,
	b.organization_id, b.created_at, b.updated_at, b.rating_sum, b.rating_count, mine.rating,
	coalesce(b.source, ''), coalesce(b.synced_version, ''),
	v.content_version, v.meaning_version, v.author, v.budget, content.map, content.variables, content.sealed_variables, ` + accessLevel + ` AS access`

// blueprintTables joins what blueprintColumns selects from.
const blueprintTables = ` FROM blueprints b
	JOIN blueprint_versions v ON v.blueprint_id = b.id AND v.version = b.version
	JOIN blueprint_contents content ON content.blueprint_id = b.id AND content.version = v.content_version
	LEFT JOIN ratings mine ON mine.blueprint_id = b.id AND mine.user_id = ?1 `

// blueprintRow is a blueprint with its secrets, and the rights of its reader.
type blueprintRow struct {
	blueprint.Blueprint
	contentVersion string
	ref            blueprint.VersionRef
}

func (s *Store) scanBlueprint(scan scanner) (row blueprintRow, err error) {
	var ratingSum float64
	var tags, budget, mapText, variables, sealed []byte
	err = scan(
		&row.ID, &row.Title, &row.Description, &row.Status, &row.Visibility, &row.Version, &tags, &row.CreatedBy,
		&row.OrganizationID, &row.CreatedAt, &row.UpdatedAt, &ratingSum, &row.RatingCount, &row.UserRating, &row.Source, &row.SyncedVersion,
		&row.contentVersion, &row.ref.Version, &row.ref.Author, &budget, &mapText, &variables, &sealed, &row.Access,
	)
	if err != nil {
		return row, err
	}
	row.ref.BlueprintID = row.ID
	row.AverageRating = average(ratingSum, row.RatingCount)
	if err := json.Unmarshal(tags, &row.Tags); err != nil {
		return row, fmt.Errorf("tags of blueprint %s: %w", row.ID, err)
	}
	if row.Budget, err = decodeBudget(budget, row.ID); err != nil {
		return row, err
	}
	row.BlueprintMap, row.EnvironmentVariables, err = s.content(row.ID, row.contentVersion, mapText, variables, sealed)
	return row, err
}

// seen returns the blueprint as its reader may see it.
func (row *blueprintRow) seen() blueprint.Blueprint {
	if row.Access < blueprint.AccessManage {
		row.EnvironmentVariables = blueprint.RedactVariables(row.EnvironmentVariables)
		row.Source, row.SyncedVersion = "", ""
	}
	return row.Blueprint
}

// encodeBudget returns the column of a budget: NULL for one without limits.
func encodeBudget(b *blueprint.Budget) (any, error) {
	if !b.Limits() {
		return nil, nil
	}
	data, err := blueprint.Encode(b)
	return string(data), err
}

func decodeBudget(data []byte, id string) (b *blueprint.Budget, err error) {
	if data == nil {
		return nil, nil
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("budget of blueprint %s: %w", id, err)
	}
	return b, nil
}

func average(sum float64, count int) float64 {
	if count == 0 {
		return 0
	}
	return min(sum/float64(count), 5)
}

// content decodes a map and its variables.
func (s *Store) content(id, version string, mapText, plain, sealed []byte) (m any, variables []any, err error) {
	if mapText != nil {
		if m, err = decode(mapText, "map of blueprint "+id); err != nil {
			return nil, nil, err
		}
	}
	value, err := s.unseal(plain, sealed, variablesPlace(id, version))
	if err != nil {
		return nil, nil, err
	}
	variables, ok := value.([]any)
	if !ok {
		return nil, nil, fmt.Errorf("variables of blueprint %s are no array", id)
	}
	return m, variables, nil
}

// variablesPlace returns what sealed variables are bound to.
func variablesPlace(id, version string) string {
	return "blueprint_contents/" + id + "/" + version + "/variables"
}

// insertContent stores a map and variables under the version that introduces them.
func (s *Store) insertContent(t *transaction, id, version string, m any, variables []any) error {
	var mapText any
	if m != nil {
		data, err := blueprint.Encode(m)
		if err != nil {
			return fmt.Errorf("map: %w", err)
		}
		mapText = string(data)
	}
	plain, sealed, err := s.sealable(variables, blueprint.HoldsSecretVariable(variables), variablesPlace(id, version))
	if err != nil {
		return err
	}
	const insert = "INSERT INTO blueprint_contents (blueprint_id, version, map, variables, sealed_variables) VALUES (?, ?, ?, ?, ?)"
	_, err = t.exec(insert, id, version, mapText, plain, sealed)
	return err
}

// parse decodes a map and variables for the engine. Problems are CodeBadRequest.
func parse(m any, variables []any) (parsed *blueprint.Map, declared []blueprint.Variable, err error) {
	var issues []blueprint.Issue
	under := func(name string, list []blueprint.Issue) {
		for _, issue := range list {
			issue.Path = append([]any{name}, issue.Path...)
			issues = append(issues, issue)
		}
	}
	if m != nil {
		var found []blueprint.Issue
		parsed, found = blueprint.ParseMap(m)
		under("blueprint_map", found)
	}
	declared, found := blueprint.ParseVariables(variables)
	under("environment_variables", found)
	if len(issues) == 0 {
		return parsed, declared, nil
	}
	return nil, nil, blueprint.InvalidInput(issues)
}
