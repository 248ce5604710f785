package connections

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"blueprintd/blueprint"
)

// The addresses of services that a config need not name, as their own SDKs have
// them.
const (
	openAI    = "https://api.openai.com/v1"
	anthropic = "https://api.anthropic.com"
	slackAPI  = "https://slack.com/api"
)

// anthropicVersion is the version of the interface that Anthropic is asked for.
const anthropicVersion = "2023-06-01"

// BaseURL is the address under which the service of an ai-provider or slack
// connection is asked, without a slash at its end; "" for other types.
func BaseURL(kind blueprint.ConnectionType, config map[string]any) string {
	base := textAt(config, "baseUrl")
	switch {
	case base != "":
	case kind == blueprint.ConnectionSlack:
		base = slackAPI
	case kind == blueprint.ConnectionAIProvider && textAt(config, "provider") == "anthropic":
		base = anthropic
	case kind == blueprint.ConnectionAIProvider:
		base = openAI
	}
	return strings.TrimRight(base, "/")
}

// Open returns a connection as a node uses it: a *blueprint.Error with
// CodeNotFound when there is none that the user may use, a *blueprint.MissingGrant
// when a version of the run may not use it, a *blueprint.Pause when the user must
// sign in first, a *blueprint.Failure when it cannot be used. Any other error is
// the machine's.
func (s *Service) Open(ctx context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error) {
	connection, err := s.connection(ctx, use.Authority(), use.ConnectionID)
	if err != nil {
		return nil, s.orAskToSignIn(ctx, use, err)
	}
	config := connection.Config
	open := &blueprint.OpenConnection{
		ID: connection.ID, Name: connection.Name, Personal: !connection.Named, Type: connection.Type, Config: config,
		Secrets: blueprint.ConnectionSecrets(connection.Type, config),
	}
	switch connection.Type {
	case blueprint.ConnectionHTTP:
		err = s.openAuth(ctx, use, connection, open, reach{of: connection, hosts: textsAt(config, "hosts")})
	case blueprint.ConnectionMCPServer:
		var u *url.URL
		if u, err = ownAddress(connection, textAt(config, "url")); err == nil {
			err = s.openAuth(ctx, use, connection, open, reachOf(connection, u))
		}
	case blueprint.ConnectionAIProvider, blueprint.ConnectionSlack:
		var u *url.URL
		if u, err = ownAddress(connection, BaseURL(connection.Type, config)); err == nil {
			openToken(connection, open, reachOf(connection, u))
		}
	case blueprint.ConnectionOAuth2:
		var authorize authorizer
		if authorize, err = s.openOAuth(ctx, use, connection, open); err == nil {
			at := oauthReach(connection)
			open.Hosts, open.Authorize = at.hosts, at.guarded(authorize)
		}
	case blueprint.ConnectionSMTP:
		if textAt(config, "password") != "" {
			open.Auth = "basic"
		}
	default:
		err = unusable("the %s is of the type %q, which this program does not know", connection.Text(), connection.Type)
	}
	if err != nil {
		return nil, err
	}
	return open, nil
}

// connection reads a connection that the user may use.
func (s *Service) connection(ctx context.Context, authority blueprint.Authority, id string) (*blueprint.Connection, error) {
	if !blueprint.IsUUID(id) || authority.PrincipalID == "" {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "there is no such connection")
	}
	return s.Store.ConnectionForUse(ctx, authority, id)
}

// orAskToSignIn returns the error of a connection that may not be used, unless all
// that is missing is a grant of a user who has not signed in for it: then it asks
// the user to, and completing the sign-in grants the versions of the run.
func (s *Service) orAskToSignIn(ctx context.Context, use blueprint.ConnectionUse, err error) error {
	var missing *blueprint.MissingGrant
	if !errors.As(err, &missing) || missing.Version == "" {
		return err
	}
	user := blueprint.Authority{PrincipalID: use.UserID}
	connection, readErr := s.connection(ctx, user, use.ConnectionID)
	if readErr == nil && connection.Type != blueprint.ConnectionOAuth2 {
		auth, _ := connection.Config["auth"].(map[string]any)
		connection, readErr = s.connection(ctx, user, textAt(auth, "connectionId"))
	}
	if readErr != nil || connection.Type != blueprint.ConnectionOAuth2 {
		return err
	}
	c, clientErr := newOAuthClient(connection)
	if clientErr != nil || c.flow != flowCode {
		return err
	}
	if token, readErr := s.Store.Token(ctx, connection.ID, use.UserID); readErr != nil || token != nil {
		return err
	}
	return s.askToSignIn(ctx, c, use)
}

// ownAddress reads the address of a connection, which was checked when it was
// stored.
func ownAddress(connection *blueprint.Connection, text string) (*url.URL, error) {
	if u := address(text); u != nil {
		return u, nil
	}
	return nil, unusable("the %s has no address that can be reached", connection.Text())
}

// openToken opens a connection with one secret of its own.
func openToken(connection *blueprint.Connection, open *blueprint.OpenConnection, at reach) {
	var authorize authorizer
	switch {
	case connection.Type == blueprint.ConnectionSlack:
		open.Auth = "bearer"
		authorize = withHeader("Authorization", "Bearer "+textAt(open.Config, "botToken"))
	case textAt(open.Config, "provider") == "anthropic":
		open.Auth = "api_key"
		authorize = both(withHeader("x-api-key", textAt(open.Config, "apiKey")), withHeader("anthropic-version", anthropicVersion))
	default:
		open.Auth = "api_key"
		authorize = withHeader("Authorization", "Bearer "+textAt(open.Config, "apiKey"))
	}
	open.Hosts, open.Authorize = at.hosts, at.guarded(authorize)
}
