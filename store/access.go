package store

import (
	"blueprintd/blueprint"
)

// accessLevel is the only expression that decides what a user may do with blueprint b:
// its value is the blueprint.Access of user ?1. A creator who has left the organization
// still sees the blueprint, but has no other rights of a creator.
const accessLevel = `CASE
	WHEN b.created_by = ?1 AND EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = b.organization_id AND m.user_id = ?1) THEN 5
	WHEN EXISTS (SELECT 1 FROM collaborators c WHERE c.blueprint_id = b.id AND c.user_id = ?1 AND c.role = 'admin')
	  OR EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = b.organization_id AND m.user_id = ?1 AND m.role IN ('admin', 'owner')) THEN 4
	WHEN EXISTS (SELECT 1 FROM collaborators c WHERE c.blueprint_id = b.id AND c.user_id = ?1)
	  OR EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = b.organization_id AND m.user_id = ?1) THEN 3
	WHEN b.visibility = 'public' THEN 2
	WHEN b.created_by = ?1 THEN 1
	ELSE 0 END`

// Conditions on a blueprint b for user ?1.
const (
	mayManage = "(" + accessLevel + ") >= 3"
	mayStart  = "(" + accessLevel + ") >= 2"
	maySee    = "(" + accessLevel + ") >= 1"
)

// needs returns CodeForbidden when an access level is lower than needed.
func needs(have, need blueprint.Access) error {
	if have >= need && have != blueprint.AccessNone {
		return nil
	}
	switch need {
	case blueprint.AccessManage:
		return forbidden("this needs the right to manage the blueprint")
	case blueprint.AccessAdmin, blueprint.AccessOwner:
		return forbidden("only the blueprint's creator and its admins may do this")
	}
	return forbidden("you have no access to this blueprint")
}

// accessTo returns the level of a user on a blueprint that is not deleted and its
// newest version. CodeNotFound when there is none, CodeForbidden when the level
// is lower than needed.
func accessTo(q *session, userID, id string, need blueprint.Access) (grant, error) {
	var g grant
	const query = "SELECT b.version, " + accessLevel + " FROM blueprints b WHERE b.id = ?2 AND b.deleted_at IS NULL"
	err := q.row(query, []any{userID, id}, &g.version, &g.access)
	if err != nil {
		return g, orNotFound(err, "blueprint", id)
	}
	return g, needs(g.access, need)
}

// grant is a user's level on a blueprint and the version it now has.
type grant struct {
	access  blueprint.Access
	version string
}
