package store

import (
	"encoding/json"
	"fmt"

	"blueprintd/blueprint"
)

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

// blueprintRow is a blueprint with its true secrets, and what its reader may do.
type blueprintRow struct {
	blueprint.Blueprint
	access         blueprint.Access
	contentVersion string
	ref            blueprint.VersionRef
}

func (s *Store) scanBlueprint(scan func(...any) error, more ...any) (row blueprintRow, err error) {
	var ratingSum float64
	var tags, budget, mapText, variables, sealed []byte
	into := []any{
		&row.ID, &row.Title, &row.Description, &row.Status, &row.Visibility, &row.Version, &tags, &row.CreatedBy,
		&row.OrganizationID, &row.CreatedAt, &row.UpdatedAt, &ratingSum, &row.RatingCount, &row.UserRating, &row.Source, &row.SyncedVersion,
		&row.contentVersion, &row.ref.Version, &row.ref.Author, &budget, &mapText, &variables, &sealed, &row.access,
	}
	if err := scan(append(into, more...)...); err != nil {
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

// seen gives the blueprint without what its reader may not see.
func (row *blueprintRow) seen() blueprint.Blueprint {
	if row.access < blueprint.AccessManage {
		row.EnvironmentVariables = blueprint.RedactVariables(row.EnvironmentVariables)
		row.Source, row.SyncedVersion = "", ""
	}
	return row.Blueprint
}

// encodeBudget gives the column of a budget: NULL for one that bounds nothing.
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

// variablesPlace names what sealed variables are bound to.
func variablesPlace(id, version string) string {
	return "blueprint_contents/" + id + "/" + version + "/variables"
}

// insertContent stores a map and variables under the version that brings them.
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

// parse reads a map and variables as the engine needs them. What is wrong with
// them is CodeBadRequest.
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
