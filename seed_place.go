package main

import (
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/folder"
)

// known refuses somebody whom the file does not list, so that a seed that
// cannot be stored is found before there is a database.
func (r *seedReader) known(email string, path ...any) {
	if email == "" || slices.ContainsFunc(r.seed.users, func(u seedUser) bool { return sameEmail(u.email, email) }) {
		return
	}
	var all []string
	for _, user := range r.seed.users {
		all = append(all, user.email)
	}
	r.wrong("is nobody of this file; list them under users"+blueprint.DidYouMean(email, all), path...)
}

// ownerOf gives whose a thing without an owner is, as far as the file knows:
// that of the server's owner.
func (r *seedReader) ownerOf(email string) string {
	if email == "" && len(r.seed.users) > 0 {
		email = r.seed.users[0].email
	}
	return strings.ToLower(email)
}

func (r *seedReader) organization(name string) *seedOrganization {
	for i := range r.seed.organizations {
		if r.seed.organizations[i].name == name {
			return &r.seed.organizations[i]
		}
	}
	return nil
}

func (o *seedOrganization) has(email string) bool {
	return slices.ContainsFunc(o.members, func(m seedMember) bool { return sameEmail(m.email, email) })
}

// place reads to whom something belongs: a user of the file, and perhaps an
// organization of it, of which they are a member.
func (r *seedReader) place(object map[string]any, path []any) (owner, organization string) {
	owner, organization = r.email(object, path, "owner", false), r.text(object, path, "organization", false, 200)
	r.known(owner, append(slices.Clone(path), "owner")...)
	if organization == "" {
		return owner, ""
	}
	o := r.organization(organization)
	switch {
	case o == nil:
		r.wrong(fmt.Sprintf("the seed file has no organization %q", organization), append(slices.Clone(path), "organization")...)
	case owner == "":
		owner = o.owner
	case !o.has(owner):
		r.wrong("is no member of "+organization, append(slices.Clone(path), "owner")...)
	}
	return owner, organization
}

func (r *seedReader) connection(name string) *seedConnection {
	for i := range r.seed.connections {
		if r.seed.connections[i].name == name {
			return &r.seed.connections[i]
		}
	}
	return nil
}

// refer refuses a name that is of no connection of the file, or of one that its
// user may not use.
func (r *seedReader) refer(owner, name string, path []any) {
	c := r.connection(name)
	switch {
	case c == nil:
		var all []string
		for _, c := range r.seed.connections {
			all = append(all, c.name)
		}
		r.wrong(fmt.Sprintf("the seed file has no connection %q", name)+blueprint.DidYouMean(name, all), path...)
	case c.organization == "" && r.ownerOf(c.owner) != r.ownerOf(owner):
		r.wrong(fmt.Sprintf("the connection %q is another user's own; give it an organization of both", name), path...)
	case c.organization != "":
		if o := r.organization(c.organization); o != nil && owner != "" && !o.has(owner) {
			r.wrong(fmt.Sprintf("the connection %q is for members of %s, to whom %s does not belong", name, c.organization, owner), path...)
		}
	}
}

// connected gives a copy of a config, or of what holds configs, with the ids of
// connections in the place of {"$connection": name}.
func connected(value any, path []any, id func(name string, path []any) string) any {
	return folder.Replace(value, path, func(to folder.Reference) any {
		if to.Key != folder.ConnectionKey {
			return to.Back()
		}
		return id(to.Name, to.Path)
	})
}
