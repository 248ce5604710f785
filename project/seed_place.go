package project

import (
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// known refuses users that the file does not list, so that an invalid seed is found
// before the database is created.
func (r *SeedReader) known(email string, path ...any) {
	if email == "" || slices.ContainsFunc(r.Seed.Users, func(u seedUser) bool { return SameEmail(u.Email, email) }) {
		return
	}
	var all []string
	for _, user := range r.Seed.Users {
		all = append(all, user.Email)
	}
	r.wrong("unknown user; list all users under users"+blueprint.DidYouMean(email, all), path...)
}

// OwnerOf returns the owner of an entry in lower case: email, or if that is empty the
// first user, who is the server's owner.
func (r *SeedReader) OwnerOf(email string) string {
	if email == "" && len(r.Seed.Users) > 0 {
		email = r.Seed.Users[0].Email
	}
	return strings.ToLower(email)
}

func (r *SeedReader) organization(name string) *SeedOrganization {
	for i := range r.Seed.Organizations {
		if r.Seed.Organizations[i].Name == name {
			return &r.Seed.Organizations[i]
		}
	}
	return nil
}

func (o *SeedOrganization) has(email string) bool {
	return slices.ContainsFunc(o.Members, func(m seedMember) bool { return SameEmail(m.Email, email) })
}

// place reads the owner and the organization of an entry. The owner must be a member.
func (r *SeedReader) place(object map[string]any, path []any) (owner, organization string) {
	owner, organization = r.email(object, path, "owner", false), r.text(object, path, "organization", false, 200)
	r.known(owner, below(path, "owner")...)
	if organization == "" {
		return owner, ""
	}
	o := r.organization(organization)
	switch {
	case o == nil:
		r.wrong(fmt.Sprintf("the seed file has no organization %q", organization), below(path, "organization")...)
	case owner == "":
		owner = o.Owner
	case !o.has(owner):
		r.wrong("is not a member of "+organization, below(path, "owner")...)
	}
	return owner, organization
}

func (r *SeedReader) connection(name string) *SeedConnection {
	for i := range r.Seed.Connections {
		if r.Seed.Connections[i].Name == name {
			return &r.Seed.Connections[i]
		}
	}
	return nil
}

// refer refuses the name of an unknown connection, or of one that the owner of an entry
// may not use.
func (r *SeedReader) refer(owner, name string, path []any) {
	c := r.connection(name)
	switch {
	case c == nil:
		var all []string
		for _, c := range r.Seed.Connections {
			all = append(all, c.Name)
		}
		r.wrong(fmt.Sprintf("the seed file has no connection %q", name)+blueprint.DidYouMean(name, all), path...)
	case c.Organization == "" && r.OwnerOf(c.Owner) != r.OwnerOf(owner):
		r.wrong(fmt.Sprintf("the connection %q belongs to another user; give it an organization of both users", name), path...)
	case c.Organization != "":
		if o := r.organization(c.Organization); o != nil && owner != "" && !o.has(owner) {
			r.wrong(fmt.Sprintf("the connection %q belongs to %s, of which %s is not a member", name, c.Organization, owner), path...)
		}
	}
}

// Connected returns a copy of a value at a path with references to connections replaced
// by ids.
func Connected(value any, path []any, id func(name string, path []any) string) any {
	return Replace(value, path, func(to Reference) any {
		if to.Key != ConnectionKey {
			return to.Back()
		}
		return id(to.Name, to.Path)
	})
}
