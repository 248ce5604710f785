// Package connections opens the connections of nodes, signs users in to other services, and
// tests connections.
//
// # Opening
//
// Open returns a connection with its secrets and a function that adds the credentials to a
// request. That function is where a secret leaves the program. It refuses a request to a
// host that the connection does not allow, and one over plain http unless it goes to this
// machine or the connection's own address begins with http://. Allowed hosts:
//
//	ai-provider, mcp-server, slack   the host and port of its own address
//	http                             its hosts
//	oauth2                           its hosts, or else the hosts of its
//	                                 authorizationUrl and tokenUrl, at their
//	                                 ports when they name any
//
// A connection whose auth is of type oauth2 names another connection, which the run's
// principal must be able to use too. The author of the naming connection must not be able
// to send tokens to a host of their own, and admins of an organization may change the
// connections of others. So its hosts suffice only if both connections have the same owner
// and the creator of the oauth2 connection was the last to set the whole config of both, or
// if the token and the naming connection are both the principal's own. Otherwise a host must
// be one of the oauth2 connection's too.
//
// This machine is localhost or a loopback address. Names below localhost are not: a
// resolver may return any address for them.
//
// # Signing in
//
// The authorization code flow (RFC 6749, with PKCE, RFC 7636) needs the user. A node without
// a token ends with a *blueprint.Pause whose URL is /oauth/start with a ticket: 32 random
// bytes, found by their hash and stored encrypted, bound to the connection, the user and the
// node, so that a repeated pause has the same URL. It is valid for 30 days and until the
// sign-in is done. If too many nodes wait for a user and a connection, the next ones share a
// URL that resumes none of them.
//
// The page at that URL shows the user what they are about to allow and which account
// receives it, and leads to the service with a state (32 random bytes, known by its hash,
// valid once for 10 minutes) and a verifier that stays here. The link of the page carries a
// proof for a cookie; only a process with the server's key can create either. It is valid
// only for a same-origin request if the browser sends Sec-Fetch-Site. Over https the cookie
// has the prefix __Host-. The cookie binds the callback to the browser that began, against
// login CSRF. Programs are redirected without the page and need no cookie; a browser is
// recognized by its User-Agent, which pages cannot change.
//
// /oauth/callback consumes the state, checks iss if present (RFC 9207), exchanges the code,
// stores the token and resumes the runs of the user that wait for the connection. After a
// denial the runs stay paused and the URL stays valid.
//
// # Tokens
//
// A token belongs to a user and a connection with its addresses, client, scopes and hosts:
// if one of them changes, the user must sign in again. It is refreshed shortly before it
// expires, and by Renew if a service refuses it. Concurrent refreshes of a token are one,
// also in several processes on one database; the new token is stored before it is used,
// because services revoke the old one. After invalid_grant the token is deleted and the user
// must sign in again. Tokens of the client credentials flow are kept in memory.
//
// Redirects of a token endpoint are not followed. Of its answers only standard error codes
// are shown.
package connections
