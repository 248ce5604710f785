package connections

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"blueprintd/blueprint"
)

// Default base URLs, as in the SDKs of the services.
const (
	openAI    = "https://api.openai.com/v1"
	anthropic = "https://api.anthropic.com"
	slackAPI  = "https://slack.com/api"
)

// anthropicVersion is the requested version of Anthropic's API.
const anthropicVersion = "2023-06-01"

// kind describes how connections of a type are opened and tested.
type kind struct {
	// baseURL returns the default address of the service; nil for none.
	baseURL func(config map[string]any) string
	// open sets the hosts and the authorizer of a connection.
	open func(s *Service, ctx context.Context, use blueprint.ConnectionUse, connection *blueprint.Connection, open *blueprint.OpenConnection) error
	// try makes the cheapest real call and describes the outcome; nil makes an HTTP request
	// to one of the hosts.
	try func(s *Service, ctx context.Context, open *blueprint.OpenConnection) (string, error)
}

// kinds are the connection types. init fills the map, because functions in it refer to it.
var kinds map[blueprint.ConnectionType]kind

func init() {
	kinds = map[blueprint.ConnectionType]kind{
		blueprint.ConnectionHTTP: {
			open: func(s *Service, ctx context.Context, use blueprint.ConnectionUse, connection *blueprint.Connection, open *blueprint.OpenConnection) error {
				return s.openAuth(ctx, use, connection, open, reach{of: connection, hosts: textsAt(open.Config, "hosts")})
			},
		},
		blueprint.ConnectionMCPServer: {
			open: func(s *Service, ctx context.Context, use blueprint.ConnectionUse, connection *blueprint.Connection, open *blueprint.OpenConnection) error {
				u, err := ownAddress(connection, textAt(open.Config, "url"))
				if err != nil {
					return err
				}
				return s.openAuth(ctx, use, connection, open, reachOf(connection, u))
			},
			try: (*Service).checkMCP,
		},
		blueprint.ConnectionAIProvider: {
			baseURL: func(config map[string]any) string {
				if textAt(config, "provider") == "anthropic" {
					return anthropic
				}
				return openAI
			},
			open: withToken(func(open *blueprint.OpenConnection) authorizer {
				open.Auth = "api_key"
				if textAt(open.Config, "provider") == "anthropic" {
					return both(withHeader("x-api-key", textAt(open.Config, "apiKey")), withHeader("anthropic-version", anthropicVersion))
				}
				return withHeader("Authorization", "Bearer "+textAt(open.Config, "apiKey"))
			}),
			try: (*Service).checkAI,
		},
		blueprint.ConnectionSlack: {
			baseURL: func(map[string]any) string { return slackAPI },
			open: withToken(func(open *blueprint.OpenConnection) authorizer {
				open.Auth = "bearer"
				return withHeader("Authorization", "Bearer "+textAt(open.Config, "botToken"))
			}),
			try: (*Service).checkSlack,
		},
		blueprint.ConnectionOAuth2: {
			open: func(s *Service, ctx context.Context, use blueprint.ConnectionUse, connection *blueprint.Connection, open *blueprint.OpenConnection) error {
				authorize, err := s.openOAuth(ctx, use, connection, open)
				if err != nil {
					return err
				}
				at := oauthReach(connection)
				open.Hosts, open.Authorize = at.hosts, at.guarded(authorize)
				return nil
			},
		},
		blueprint.ConnectionSMTP: {
			open: func(_ *Service, _ context.Context, _ blueprint.ConnectionUse, _ *blueprint.Connection, open *blueprint.OpenConnection) error {
				if textAt(open.Config, "password") != "" {
					open.Auth = "basic"
				}
				return nil
			},
			try: (*Service).checkSMTP,
		},
	}
}

// BaseURL returns the base URL of a connection's service, without a trailing slash; "" for
// types without one.
func BaseURL(of blueprint.ConnectionType, config map[string]any) string {
	base := textAt(config, "baseUrl")
	if known := kinds[of]; base == "" && known.baseURL != nil {
		base = known.baseURL(config)
	}
	return strings.TrimRight(base, "/")
}

// Open returns a connection for a node. The error is a *blueprint.Error with CodeNotFound
// if the user may not use such a connection, a *blueprint.MissingGrant if a version of the
// run may not, a *blueprint.Pause if the user must sign in first, and a *blueprint.Failure
// if the connection cannot be used. Any other error is internal.
func (s *Service) Open(ctx context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error) {
	connection, err := s.connection(ctx, use.Authority(), use.ConnectionID)
	if err != nil {
		return nil, s.orAskToSignIn(ctx, use, err)
	}
	config := connection.Config
	open := &blueprint.OpenConnection{
		ID: connection.ID, Name: connection.Name, Personal: !connection.NameVisible, Type: connection.Type, Config: config,
		Secrets: blueprint.ConnectionSecrets(connection.Type, config),
	}
	known, ok := kinds[connection.Type]
	if !ok {
		return nil, unusable("the %s has the unknown type %q", connection.Text(), connection.Type)
	}
	if err := known.open(s, ctx, use, connection, open); err != nil {
		return nil, err
	}
	return open, nil
}

// connection returns a connection that the principal may use.
func (s *Service) connection(ctx context.Context, authority blueprint.Authority, id string) (*blueprint.Connection, error) {
	if !blueprint.IsUUID(id) || authority.PrincipalID == "" {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "there is no such connection")
	}
	return s.Store.ConnectionForUse(ctx, authority, id)
}

// orAskToSignIn returns err, unless only a grant is missing and the user has not signed in
// for the connection. Then it asks the user to sign in, which also grants the versions of
// the run.
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

// ownAddress parses the URL of a connection, which was checked when it was stored.
func ownAddress(connection *blueprint.Connection, text string) (*url.URL, error) {
	if u := address(text); u != nil {
		return u, nil
	}
	return nil, unusable("the %s has no valid URL", connection.Text())
}

// withToken opens connections with a URL and one secret.
func withToken(authorize func(open *blueprint.OpenConnection) authorizer) func(*Service, context.Context, blueprint.ConnectionUse, *blueprint.Connection, *blueprint.OpenConnection) error {
	return func(_ *Service, _ context.Context, _ blueprint.ConnectionUse, connection *blueprint.Connection, open *blueprint.OpenConnection) error {
		u, err := ownAddress(connection, BaseURL(connection.Type, open.Config))
		if err != nil {
			return err
		}
		at := reachOf(connection, u)
		open.Hosts, open.Authorize = at.hosts, at.guarded(authorize(open))
		return nil
	}
}
