package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// ListBlueprints returns a page of blueprints, newest first, and their total number.
// Secrets of blueprints that the principal may not manage are null.
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
// CodeForbidden. Its secrets are null unless the user may manage it.
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

// encodeBudget returns the column value of a budget: NULL if it has no limits.
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
		return nil, nil, fmt.Errorf("variables of blueprint %s are not an array", id)
	}
	return m, variables, nil
}

// variablesPlace returns the name that sealed variables are bound to.
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

// parse decodes a map and variables for the engine. Invalid content is CodeBadRequest.
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

// Versions lists every version of a blueprint with its secrets, newest first. It needs
// AccessManage: CodeNotFound, or CodeForbidden.
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

const versionQuery = `SELECT v.blueprint_id, v.version, v.title, v.created_at, v.created_by, v.content_version, c.map, c.variables, c.sealed_variables
	FROM blueprint_versions v JOIN blueprint_contents c ON c.blueprint_id = v.blueprint_id AND c.version = v.content_version
	WHERE v.blueprint_id = ?`

func (s *Store) scanVersion(scan scanner) (v blueprint.BlueprintVersion, err error) {
	var id, contentVersion string
	var mapText, variables, sealed []byte
	if err := scan(&id, &v.Version, &v.Title, &v.CreatedAt, &v.CreatedBy, &contentVersion, &mapText, &variables, &sealed); err != nil {
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

// DefinitionVersion returns one version of a blueprint with its secrets, even of a deleted
// blueprint; CodeNotFound if there is none. It takes no principal: only the engine calls
// it, to continue runs that were allowed when they began. It must not be changed.
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

// nextVersion returns the version after a change: the requested one, if it is higher than
// the current one; otherwise the next minor version if the map or the variables changed,
// and the next patch version if only other fields did.
func nextVersion(present string, asked *string, content bool) (string, error) {
	now, ok := parseVersion(present)
	if !ok {
		return "", fmt.Errorf("the stored version %q is malformed", present)
	}
	switch {
	case asked != nil:
		next, ok := parseVersion(*asked)
		if !ok {
			return "", blueprint.FieldErrorf("version", `must be three numbers of at most nine digits, such as "1.2.0"`)
		}
		if slices.Compare(next[:], now[:]) <= 0 {
			return "", blueprint.FieldErrorf("version", "must be higher than the present %s", present)
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

// mostCategories is the maximum number of categories of an organization.
const mostCategories = 1_000

const categoryColumns = "c.id, c.name, c.slug, c.organization_id FROM categories c"

func categoriesBy(q *session, where string, args ...any) (list []blueprint.Category, err error) {
	err = collect(q, &list, "SELECT "+categoryColumns+where+" ORDER BY c.name, c.id", args, fields(func(c *blueprint.Category) []any {
		return []any{&c.ID, &c.Name, &c.Slug, &c.OrganizationID}
	}))
	return list, err
}

func categoriesOf(q *session, id string) ([]blueprint.Label, error) {
	const query = `SELECT c.id, c.name, c.slug FROM blueprint_categories x JOIN categories c ON c.id = x.category_id
		WHERE x.blueprint_id = ? ORDER BY c.name, c.id`
	list := []blueprint.Label{}
	err := collect(q, &list, query, []any{id}, fields(func(label *blueprint.Label) []any {
		return []any{&label.ID, &label.Name, &label.Slug}
	}))
	return list, err
}

// homeOf returns the id of an organization of which the principal must be a member:
// CodeForbidden. "" means the personal workspace.
func homeOf(q *session, principal blueprint.Principal, organizationID string) (string, error) {
	if organizationID == "" {
		err := q.row(scopeOf["user"], []any{principal.UserID}, &organizationID)
		return organizationID, err
	}
	return organizationID, memberOf(q, principal, organizationID)
}

// Categories lists the categories of an organization ("" for the personal workspace) by
// name. The principal must be a member: CodeForbidden.
func (s *Store) Categories(ctx context.Context, principal blueprint.Principal, organizationID string) (list []blueprint.Category, err error) {
	defer wrap(&err, "categories for user %s", principal.UserID)
	err = s.read(ctx, func(q *session) error {
		home, err := homeOf(q, principal, organizationID)
		if err != nil {
			return err
		}
		list, err = categoriesBy(q, " WHERE c.organization_id = ?", home)
		return err
	})
	return list, err
}

// CreateCategory creates a category of an organization ("" for the personal workspace). The
// principal must be a member: CodeForbidden. CodeConflict if the name exists,
// CodeBadRequest if there are too many.
func (s *Store) CreateCategory(ctx context.Context, principal blueprint.Principal, organizationID, name string) (made blueprint.Category, err error) {
	defer wrap(&err, "create category for user %s", principal.UserID)
	made = blueprint.Category{ID: s.drawn("category", principal.UserID).UUID(), Name: name, Slug: categorySlug(name)}
	err = s.write(ctx, func(t *transaction) error {
		if made.OrganizationID, err = homeOf(t.session, principal, organizationID); err != nil {
			return err
		}
		if err := room(t, "categories of the organization", mostCategories, "SELECT count(*) FROM categories WHERE organization_id = ?", made.OrganizationID); err != nil {
			return err
		}
		const insert = "INSERT INTO categories (id, organization_id, name, slug) VALUES (?, ?, ?, ?) ON CONFLICT (organization_id, slug) DO NOTHING"
		inserted, err := t.exec(insert, made.ID, made.OrganizationID, name, made.Slug)
		if err != nil {
			return err
		}
		if inserted == 0 {
			var existing string
			if err := t.row("SELECT name FROM categories WHERE organization_id = ? AND slug = ?", []any{made.OrganizationID, made.Slug}, &existing); err != nil {
				return err
			}
			return blueprint.Errorf(blueprint.CodeConflict, "name: there is a category %s already", existing)
		}
		return s.audit(ctx, t, subject{"category", made.ID, made.OrganizationID, map[string]any{"name": name}})
	})
	return made, err
}

// categorySlug is slug, or the bytes of a name without letters and digits, such as an emoji,
// in hexadecimal: different names must differ.
func categorySlug(name string) string {
	if !strings.ContainsFunc(name, inSlug) {
		return fmt.Sprintf("%x", name)
	}
	return slug(name)
}

// DeleteCategory deletes a category and removes it from its blueprints. It is for the members of its organization: CodeNotFound, or CodeForbidden.
func (s *Store) DeleteCategory(ctx context.Context, principal blueprint.Principal, id string) (err error) {
	defer wrap(&err, "delete category %s for user %s", id, principal.UserID)
	return s.write(ctx, func(t *transaction) error {
		var organizationID, name string
		err := t.row("SELECT organization_id, name FROM categories WHERE id = ?", []any{id}, &organizationID, &name)
		if err != nil {
			return orNotFound(err, "category", id)
		}
		member, err := isMember(t.session, principal, organizationID)
		if err != nil {
			return err
		}
		if !member {
			return forbidden("you are not a member of the category's organization")
		}
		if _, err := t.exec("DELETE FROM blueprint_categories WHERE category_id = ?", id); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM categories WHERE id = ?", id); err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"category", id, organizationID, map[string]any{"name": name}})
	})
}

// SetCategories replaces the categories of a blueprint. It needs AccessManage:
// CodeNotFound, or CodeForbidden; so are the ids of unknown categories, and of those of
// organizations that the principal is not a member of. Other ids that are not categories of
// the blueprint's organization are CodeBadRequest, with an issue for each.
func (s *Store) SetCategories(ctx context.Context, principal blueprint.Principal, blueprintID string, ids []string) (list []blueprint.Category, err error) {
	defer wrap(&err, "set the categories of blueprint %s for user %s", blueprintID, principal.UserID)
	const of = " JOIN blueprint_categories x ON x.category_id = c.id WHERE x.blueprint_id = ?"
	err = s.write(ctx, func(t *transaction) error {
		if _, err := accessTo(t.session, principal.UserID, blueprintID, blueprint.AccessManage); err != nil {
			return err
		}
		_, organizationID, err := homeOfBlueprint(t.session, blueprintID)
		if err != nil {
			return err
		}
		if err := knownCategories(t, principal, organizationID, ids); err != nil {
			return err
		}
		before, err := categoriesBy(t.session, of, blueprintID)
		if err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM blueprint_categories WHERE blueprint_id = ?", blueprintID); err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := t.exec("INSERT INTO blueprint_categories (blueprint_id, category_id) VALUES (?, ?) ON CONFLICT DO NOTHING", blueprintID, id); err != nil {
				return err
			}
		}
		if list, err = categoriesBy(t.session, of, blueprintID); err != nil {
			return err
		}
		if slices.Equal(before, list) {
			return t.unchanged(ctx)
		}
		return s.audit(ctx, t, subject{"blueprint", blueprintID, organizationID, map[string]any{"categories": slugs(list), "categoriesBefore": slugs(before)}})
	})
	return list, err
}

func slugs(list []blueprint.Category) []string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Slug
	}
	return names
}

// knownCategories returns an error for ids that are not categories of an organization: the
// most hidden one first, CodeNotFound, CodeForbidden or CodeBadRequest.
func knownCategories(t *transaction, principal blueprint.Principal, organizationID string, ids []string) error {
	var issues []blueprint.Issue
	var foreign error
	for i, id := range ids {
		var home string
		err := t.row("SELECT organization_id FROM categories WHERE id = ?", []any{id}, &home)
		if err != nil {
			return orNotFound(err, "category", id)
		}
		if home == organizationID {
			continue
		}
		member, err := isMember(t.session, principal, home)
		if err != nil {
			return err
		}
		if !member {
			foreign = forbidden("you are not a member of the category's organization")
		}
		issues = append(issues, blueprint.Issue{Path: []any{"categoryIds", i}, Message: fmt.Sprintf("the blueprint's organization has no category %s", id)})
	}
	if foreign == nil && len(issues) > 0 {
		return blueprint.InvalidInput(issues)
	}
	return foreign
}

// ImportRun inserts a run and its blueprint, read from a file, with the same ids, version
// and times, into a database that is used only for reading. It returns the complete row of
// the run. A run that has not ended has no journal, so no engine may load it. CodeConflict
// if the blueprint or the run exists already.
func (s *Store) ImportRun(ctx context.Context, principal blueprint.Principal, given blueprint.ImportedRun) (row blueprint.ExecutionRow, err error) {
	row = given.Row
	defer wrap(&err, "import execution %s", row.ID)
	if !s.options.Ephemeral {
		return row, fmt.Errorf("runs can only be imported into a database in memory")
	}
	b, now := given.Blueprint, row.CreatedAt
	b.Status, b.Source, b.Budget = "", "", nil
	row.UserID, row.LogID = principal.UserID, s.options.IDs.ULID(now.Time())
	err = s.write(ctx, func(t *transaction) error {
		if row.OrganizationID, err = homeOf(t.session, principal, ""); err != nil {
			return err
		}
		b.OrganizationID = row.OrganizationID
		ref := blueprint.VersionRef{BlueprintID: row.BlueprintID, Version: row.BlueprintVersion, Author: principal.UserID}
		if err := s.insertBlueprint(t, b, ref, now); err != nil {
			return err
		}
		commit := &blueprint.JournalCommit{Row: row}
		if row.Status.Terminal() {
			commit.Record = []byte{} // the contents of the file are shown instead
		}
		_, err = s.beginExecution(t, commit)
		return err
	})
	return row, err
}

// OwnOrganization returns the id of an organization that a user created, by its name;
// CodeNotFound. Like OwnConnection and OwnBlueprint, it is for seeds.
func (s *Store) OwnOrganization(ctx context.Context, userID, name string) (id string, err error) {
	return s.own(ctx, "organization", name, "SELECT id FROM organizations WHERE created_by = ? AND name = ? AND personal = 0 ORDER BY created_at, id LIMIT 1", userID, name)
}

// OwnConnection returns the id of a connection that a user made in an organization,
// "" for their own, by its name; CodeNotFound.
func (s *Store) OwnConnection(ctx context.Context, userID, organizationID, name string) (id string, err error) {
	return s.own(ctx, "connection", name, "SELECT id FROM connections WHERE created_by = ? AND coalesce(organization_id, '') = ? AND name = ? ORDER BY created_at, id LIMIT 1",
		userID, organizationID, name)
}

// OwnBlueprint returns the id of a blueprint that a user made in an organization,
// "" for the personal workspace, by its title; CodeNotFound.
func (s *Store) OwnBlueprint(ctx context.Context, userID, organizationID, title string) (id string, err error) {
	const query = `SELECT b.id FROM blueprints b JOIN organizations o ON o.id = b.organization_id
		WHERE b.created_by = ?1 AND b.title = ?3 AND b.deleted_at IS NULL AND (b.organization_id = ?2 OR ?2 = '' AND o.personal = 1) ORDER BY b.seq LIMIT 1`
	return s.own(ctx, "blueprint", title, query, userID, organizationID, title)
}

// own returns the id of the first row of a query; CodeNotFound for none.
func (s *Store) own(ctx context.Context, what phrase, name, query string, args ...any) (id string, err error) {
	defer wrap(&err, "look for %s", what)
	err = s.readRow(ctx, query, args, &id)
	return id, orNotFound(err, what, name)
}

// HasKey reports whether a user has a key that is not revoked, without using it.
func (s *Store) HasKey(ctx context.Context, userID, token string) (has bool, err error) {
	defer wrap(&err, "look for a key of user %s", userID)
	hash := sha256.Sum256([]byte(token))
	err = s.readRow(ctx, "SELECT EXISTS (SELECT 1 FROM api_keys WHERE hash = ? AND user_id = ? AND revoked_at IS NULL)", []any{hash[:], userID}, &has)
	return has, err
}
