package connections

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"blueprintd/blueprint"
)

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
	// Not the refresh token: it is sent only to the token endpoint and is not stored
	// with the run.
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
