package store

import (
	"context"
	"fmt"
	"slices"

	"blueprintd/blueprint"
)

// mostCategories is how many categories an organization may have.
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
// CodeForbidden. "" is their personal workspace.
func homeOf(q *session, principal blueprint.Principal, organizationID string) (string, error) {
	if organizationID == "" {
		err := q.row(scopeOf["user"], []any{principal.UserID}, &organizationID)
		return organizationID, err
	}
	return organizationID, memberOf(q, principal, organizationID)
}

// Categories lists the categories of an organization, "" for the personal
// workspace, to its members, by name: CodeForbidden.
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

// CreateCategory creates a category of an organization, "" for the personal workspace,
// for its members: CodeForbidden. CodeConflict if there is one of that name,
// CodeBadRequest for too many.
func (s *Store) CreateCategory(ctx context.Context, principal blueprint.Principal, organizationID, name string) (made blueprint.Category, err error) {
	defer wrap(&err, "create category for user %s", principal.UserID)
	made = blueprint.Category{ID: s.drawn("category", principal.UserID).UUID(), Name: name, Slug: slug(name)}
	err = s.write(ctx, func(t *transaction) error {
		if made.OrganizationID, err = homeOf(t.session, principal, organizationID); err != nil {
			return err
		}
		if err := room(t, "categories of the organization", mostCategories, "SELECT count(*) FROM categories WHERE organization_id = ?", made.OrganizationID); err != nil {
			return err
		}
		_, err := t.exec("INSERT INTO categories (id, organization_id, name, slug) VALUES (?, ?, ?, ?)", made.ID, made.OrganizationID, name, made.Slug)
		if duplicate(err) {
			return blueprint.Errorf(blueprint.CodeConflict, "name: there is a category %s already", made.Slug)
		}
		if err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"category", made.ID, made.OrganizationID, map[string]any{"name": name}})
	})
	return made, err
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
// CodeNotFound, or CodeForbidden. Ids that are no category of the blueprint's
// organization are CodeBadRequest, with an issue for each.
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
		if err := knownCategories(t, organizationID, ids); err != nil {
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

// knownCategories refuses ids that are no category of an organization.
func knownCategories(t *transaction, organizationID string, ids []string) error {
	var issues []blueprint.Issue
	for i, id := range ids {
		var known bool
		err := t.row("SELECT EXISTS (SELECT 1 FROM categories WHERE id = ? AND organization_id = ?)", []any{id, organizationID}, &known)
		if err != nil {
			return err
		}
		if !known {
			issues = append(issues, blueprint.Issue{Path: []any{"categoryIds", i}, Message: fmt.Sprintf("the blueprint's organization has no category %s", id)})
		}
	}
	if len(issues) > 0 {
		return blueprint.InvalidInput(issues)
	}
	return nil
}
