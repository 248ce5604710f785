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

// oauthClient is what an oauth2 connection says.
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
		return nil, unusable("the %s has no tokenUrl that secrets could go to", connection.Text())
	case c.flow == flowCode && (c.authorization == nil || !isSafe(c.authorization)):
		return nil, unusable("the %s has no authorizationUrl where people could sign in", connection.Text())
	case c.flow != flowCode && c.flow != flowClient:
		return nil, unusable("the %s has no flow that this program knows", connection.Text())
	}
	return c, nil
}

// oauthReach is where the tokens of an oauth2 connection may go when no other
// connection says so. A service often has its interface beside its sign-in, so
// without hosts those of the sign-in count.
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

// config is the client as the library has it.
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
