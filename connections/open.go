package connections

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"

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
				return s.openAuth(ctx, use, connection, open, reach{of: connection, hosts: blueprint.TextsOf(open.Config["hosts"])})
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
				at := directReach(connection)
				open.Hosts, open.AnyHost, open.Authorize = at.hosts, at.any, at.guarded(authorize)
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

func (s *Service) connection(ctx context.Context, authority blueprint.Authority, id string) (*blueprint.Connection, error) {
	if !blueprint.IsUUID(id) || authority.PrincipalID == "" {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "there is no such connection")
	}
	return s.Store.ConnectionForUse(ctx, authority, id)
}

// orAskToSignIn returns err, unless only a grant is missing and the user has not signed in
// for the connection. Then it asks for a sign-in, which also grants the run's versions.
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

// openOAuth returns the authorizer of an oauth2 connection and completes open. If a
// sign-in is needed, the error is a *blueprint.Pause.
func (s *Service) openOAuth(ctx context.Context, use blueprint.ConnectionUse, connection *blueprint.Connection, open *blueprint.OpenConnection) (authorizer, error) {
	c, err := newOAuthClient(connection)
	if err != nil {
		return nil, err
	}
	if c.flow == flowCode {
		err := s.Store.Authorize(ctx, use.Authority(), blueprint.Resource{Kind: blueprint.ResourceSignIn, ID: connection.ID})
		if err != nil {
			return nil, s.orAskToSignIn(ctx, use, err)
		}
	}
	session := &session{service: s, client: c, use: use}
	if err := session.renew(ctx, ""); err != nil {
		return nil, err
	}
	open.Auth, open.SignIn, open.Renew = "oauth2", c.flow == flowCode, session.Renew
	if c.secret != "" {
		open.Secrets = append(open.Secrets, c.secret)
	}
	// Not the refresh token, which only the token endpoint receives, never the run.
	open.Secrets = append(open.Secrets, session.token.Access)
	return session.authorize, nil
}

// session is the token of one attempt of a node.
type session struct {
	service *Service
	client  *oauthClient
	use     blueprint.ConnectionUse

	mu    sync.Mutex
	token token
}

// authorize adds the token, after refreshing an expired one.
func (n *session) authorize(ctx context.Context, request *http.Request) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.token.alive(n.service.Clock.Now()) {
		if err := n.renewLocked(ctx, ""); err != nil {
			var pause *blueprint.Pause
			if errors.As(err, &pause) { // only the next attempt of a running node can pause
				return &blueprint.Failure{Code: codeToken, Message: "the sign-in ended while the node was running: " + pause.Await.Prompt, NotSent: true}
			}
			return err
		}
	}
	request.Header.Set("Authorization", "Bearer "+n.token.Access)
	return nil
}

// Renew requests another token after a service refused the current one.
func (n *session) Renew(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.renewLocked(ctx, n.token.Access)
}

func (n *session) renew(ctx context.Context, refused string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.renewLocked(ctx, refused)
}

func (n *session) renewLocked(ctx context.Context, refused string) error {
	before := n.token
	t, err := n.service.current(ctx, n.client, n.use.UserID, refused)
	if errors.Is(err, errSignIn) {
		ask := n.service.askToSignIn(ctx, n.client, n.use)
		// A sign-in from now on resumes this run. Check again for one that
		// completed just before, which would not.
		if t, err = n.service.current(ctx, n.client, n.use.UserID, refused); err != nil {
			return ask
		}
	}
	if err != nil {
		return err
	}
	n.token = t
	if n.use.OnSecret != nil && before.Access != "" && before.Access != t.Access {
		n.use.OnSecret(t.Access)
	}
	return nil
}
