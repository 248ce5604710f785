package connections

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"blueprintd/blueprint"
)

// The flows of an oauth2 connection.
const (
	flowCode   = "authorization_code"
	flowClient = "client_credentials"
)

// oauthClient is the parsed config of an oauth2 connection.
type oauthClient struct {
	connection    *blueprint.Connection
	flow          string
	authorization *url.URL // nil for client credentials
	token         *url.URL
	id, secret    string
	scopes        []string
}

// newOAuthClient reads a config, which was checked when it was stored.
func newOAuthClient(connection *blueprint.Connection) (*oauthClient, error) {
	config := connection.Config
	c := &oauthClient{
		connection: connection, flow: textAt(config, "flow"), authorization: address(textAt(config, "authorizationUrl")), token: address(textAt(config, "tokenUrl")),
		id: textAt(config, "clientId"), secret: textAt(config, "clientSecret"), scopes: textsAt(config, "scopes"),
	}
	switch {
	case c.token == nil || !isSafe(c.token):
		return nil, unusable("the %s has no secure tokenUrl", connection.Text())
	case c.flow == flowCode && (c.authorization == nil || !isSafe(c.authorization)):
		return nil, unusable("the %s has no secure authorizationUrl", connection.Text())
	case c.flow != flowCode && c.flow != flowClient:
		return nil, unusable("the %s has an unknown flow", connection.Text())
	}
	return c, nil
}

// oauthReach returns the hosts to which the tokens of an oauth2 connection may be sent,
// unless another connection decides. By default these are the hosts of the sign-in, because
// services often have their API there.
func oauthReach(connection *blueprint.Connection) reach {
	return reach{of: connection, hosts: blueprint.OAuthHosts(connection.Config)}
}

// fingerprint returns a hash of the client, its addresses, scopes and hosts, to which the
// user consented.
func (c *oauthClient) fingerprint() string {
	hosts, scopes := slices.Clone(textsAt(c.connection.Config, "hosts")), slices.Clone(c.scopes)
	slices.Sort(hosts)
	slices.Sort(scopes)
	parts := []string{c.flow, textAt(c.connection.Config, "authorizationUrl"), textAt(c.connection.Config, "tokenUrl"), c.id, strings.Join(hosts, " "), strings.Join(scopes, " ")}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// config returns the client as an oauth2.Config.
func (c *oauthClient) config(redirect string, how oauth2.AuthStyle) *oauth2.Config {
	config := &oauth2.Config{
		ClientID: c.id, ClientSecret: c.secret, RedirectURL: redirect, Scopes: c.scopes,
		Endpoint: oauth2.Endpoint{TokenURL: c.token.String(), AuthStyle: how},
	}
	if c.authorization != nil {
		config.Endpoint.AuthURL = c.authorization.String()
	}
	return config
}
