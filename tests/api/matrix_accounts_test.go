package api

import "slices"

var (
	// Organizations: who administers them, and who is in them.
	organized = membership.with("ours", "fff ff f.. f")
	rated     = executed
	sorted    = membership.with("unknown", "nnn nn nnn n")
	everybody = grid{"ours": "... .. ... ."}
)

func guestOf(column string) string { return "guest-" + column }

func byOrganization(x *target, _ string) object { return object{"organizationId": x.organization} }

// sortedInto assigns another list of categories to a blueprint for each column that follows
// another one.
func sortedInto(x *target, column string) object {
	ids := []any{x.category}
	if x.kind != "theirs" && slices.Index(columns, column)%2 == 0 {
		ids = []any{}
	}
	return object{"id": x.blueprint, "categoryIds": ids}
}

// accountRows are the rows of organizations and of ratings and the like. A user added in a
// column is removed in the next row.
var accountRows = []row{
	{name: "auditLog.list", input: nothing, fresh: true, grid: grid{"ours": "--- -- --- x", "theirs": "x-- -- --- -"}},
	{name: "auditLog.list", how: "of an organization", fresh: true, input: byOrganization, grid: grid{
		"ours":      "fff ff fxx f",
		"theirs":    "xff ff fff f",
		"unknown":   "fff ff fff f",
		"malformed": "bbb bb bbb b",
	}},

	{name: "organization.list", input: nothing, grid: grid{"ours": "--- -- ... ."}},
	{name: "organization.create", grid: anybody, input: func(*target, string) object { return object{"name": "made"} }},
	{name: "organization.update", grid: organized, input: func(x *target, column string) object {
		return object{"organizationId": x.organization, "name": "mark-of-the-team by " + column}
	}},
	{name: "organization.members", grid: membership, input: byOrganization},
	{name: "organization.addMember", how: "a member", grid: organized.with("theirs", "bff ff fff f"), input: func(x *target, column string) object {
		return object{"organizationId": x.organization, "email": guestOf(column) + "@example.org", "role": "member"}
	}},
	{name: "organization.addMember", how: "an admin", grid: organized.with("ours", "fff ff ff. f").with("theirs", "bff ff fff f"), input: func(x *target, column string) object {
		return object{"organizationId": x.organization, "email": guestOf(column) + "@example.org", "role": "admin"}
	}},
	// The stranger is the last owner of their workspace.
	{name: "organization.removeMember", grid: organized.with("theirs", "cff ff fff f"), input: func(x *target, column string) object {
		id := x.guests[column].ID
		if x.kind == "theirs" {
			id = x.owner.ID
		}
		return object{"organizationId": x.organization, "userId": id}
	}},
	{name: "user.update", grid: anybody, input: func(_ *target, column string) object { return object{"name": column + " the second"} }},

	{name: "collaborator.list", grid: managed, input: byBlueprint},
	{name: "collaborator.add", grid: administered, input: func(x *target, column string) object {
		return object{"blueprintId": x.blueprint, "email": guestOf(column) + "@example.org", "role": "editor"}
	}},
	{name: "collaborator.remove", grid: administered, input: func(x *target, column string) object {
		return object{"blueprintId": x.blueprint, "userId": x.guests[column].ID}
	}},
	{name: "collaborator.remove", how: "oneself", spoils: true, input: func(x *target, column string) object {
		return object{"blueprintId": x.blueprint, "userId": x.people[column].ID}
	}, grid: administered.with("ours", "fff .. nnn n").with("public", "nnn .. nnn n").with("theirs", "nff ff fff f")},

	{name: "category.list", grid: membership, input: byOrganization},
	{name: "category.list", how: "at home", grid: everybody, input: nothing},
	{name: "category.create", how: "in an organization", grid: membership, input: func(x *target, column string) object {
		return object{"organizationId": x.organization, "name": "made by " + column}
	}},
	{name: "category.create", how: "at home", grid: anybody, input: func(*target, string) object { return object{"name": "at home"} }},
	{name: "blueprint.setCategories", grid: managed, input: sortedInto},
	{name: "category.delete", grid: sorted, spoils: true, input: func(x *target, _ string) object { return object{"id": x.category} }},

	{name: "blueprint.rate", grid: rated, input: func(x *target, column string) object {
		return object{"id": x.blueprint, "rating": 0.5 + float64(slices.Index(columns, column))/2}
	}},
	{name: "blueprint.favorite", grid: rated, input: byID},
	{name: "blueprint.unfavorite", grid: rated, input: byID},
}
