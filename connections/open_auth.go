package connections

import (
	"context"
	"net/http"

	"blueprintd/blueprint"
)

// openAuth opens a connection that has an auth object in its config.
func (s *Service) openAuth(ctx context.Context, use blueprint.ConnectionUse, connection *blueprint.Connection, open *blueprint.OpenConnection, at reach) error {
	auth, _ := connection.Config["auth"].(map[string]any)
	var authorize authorizer
	switch kind := textAt(auth, "type"); kind {
	case "none", "":
		at.open = true
	case "bearer":
		open.Auth = kind
		authorize = withHeader("Authorization", "Bearer "+textAt(auth, "token"))
	case "basic":
		open.Auth = kind
		authorize = withBasic(textAt(auth, "username"), textAt(auth, "password"))
	case "header":
		open.Auth = "api_key"
		authorize = withHeader(textAt(auth, "name"), textAt(auth, "value"))
	case "query":
		open.Auth = "api_key"
		authorize = withQuery(textAt(auth, "name"), textAt(auth, "value"))
	case "oauth2":
		named, err := s.named(ctx, use, connection, textAt(auth, "connectionId"))
		if err != nil {
			return err
		}
		if authorize, err = s.openOAuth(ctx, use, named, open); err != nil {
			return err
		}
		if !mayChooseHosts(connection, named, use.UserID) {
			authorize = oauthReach(named).guarded(authorize)
		}
	default:
		return unusable("the %s has an auth of the unknown type %q", connection.Text(), kind)
	}
	open.Hosts, open.Authorize = at.hosts, at.guarded(authorize)
	return nil
}

// named returns the oauth2 connection that another one names.
func (s *Service) named(ctx context.Context, use blueprint.ConnectionUse, by *blueprint.Connection, id string) (*blueprint.Connection, error) {
	named, err := s.connection(ctx, use.Authority(), id)
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound:
		return nil, unusable("the %s refers to an oauth2 connection that this run may not use", by.Text())
	case err != nil:
		return nil, s.orAskToSignIn(ctx, use, err)
	case named.Type != blueprint.ConnectionOAuth2:
		return nil, unusable("the %s refers to the %s for its sign-in, which has type %s, not oauth2", by.Text(), named.Text(), named.Type)
	}
	return named, nil
}

// mayChooseHosts reports whether the hosts of the naming connection alone decide where the
// tokens of oauth may go. They do if both have the same owner and the creator of oauth was
// the last to set the whole config of both, since admins of an organization may change
// connections of others. They also do if the naming connection and the token are the user's
// own; a token of the client credentials flow belongs to its connection.
func mayChooseHosts(by, oauth *blueprint.Connection, userID string) bool {
	personal := by.OrganizationID == nil && by.CreatedBy == userID
	if personal && textAt(oauth.Config, "flow") == flowCode {
		return true
	}
	sameOwner := by.OrganizationID == nil && oauth.OrganizationID == nil ||
		by.OrganizationID != nil && oauth.OrganizationID != nil && *by.OrganizationID == *oauth.OrganizationID
	return sameOwner && by.ConfiguredBy == oauth.CreatedBy && oauth.ConfiguredBy == oauth.CreatedBy
}

func both(first, second authorizer) authorizer {
	return func(ctx context.Context, request *http.Request) error {
		if err := first(ctx, request); err != nil {
			return err
		}
		return second(ctx, request)
	}
}
