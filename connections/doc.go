// Package connections opens the connections that nodes use, signs people in to
// other services, and tries connections out.
//
// # Opening
//
// Open gives a connection as a node uses it: its config with the secrets, and a
// function that adds the credentials to one request. That function is the place
// where a secret leaves the program, so it is strict: a request to a host that
// the connection does not name gets nothing and is refused, and so is one over
// plain http, unless it goes to this machine or the connection's own address
// begins with http://. Where a connection leads:
//
//	ai-provider, mcp-server, slack   the host and port of its own address
//	http                             its hosts
//	oauth2                           its hosts, or else the hosts of its
//	                                 authorizationUrl and tokenUrl, at their
//	                                 ports when they name any
//
// A connection whose auth is of type oauth2 names another one, which the run's
// principal must be able to use as well. Whoever writes the naming one must not
// be able to have tokens sent to a host of their own, and admins of an organization
// may change what others made. So its hosts count alone only when both have the
// same owner and the maker of the oauth2 connection answers for the whole config of
// both: whoever last said all of it does, nobody once somebody else changed a part.
// They count alone, too, when the token and the naming connection are both the
// principal's own. Else a host must be one of the oauth2 connection's as well.
//
// This machine is localhost or a loopback address. Other names are not, not even
// those below localhost: a resolver may say that they are anywhere.
//
// # Signing in
//
// The authorization code flow (RFC 6749, with PKCE, RFC 7636) needs a person. A
// node that finds no token ends with a *blueprint.Pause whose address is
// /oauth/start with a ticket: 32 random bytes that the store finds by their hash
// and keeps encrypted, bound to the connection, the user and the node, so that a
// node that asks again gives the same address. It is good for as long as a person
// may take to find it (30 days) and until the sign-in is done; all that is
// short-lived is made when it is visited. When very many wait for one user and
// connection, the next ones share an address that wakes none of them: such a run
// must be resumed.
//
// There the person reads what they are about to allow and whose account here gets
// it, and goes on to the service with a state (32 random bytes, known by its hash,
// 10 minutes, once) and a verifier that stays here. The link of that page has a
// proof that only this process can make, for a cookie that only it can make, and
// counts only when a browser that says where it comes from says from here; over
// https no neighbour of the host can lay the cookie (__Host-). The
// cookie binds the way back to the browser that left, so that nobody can be
// tricked into finishing what somebody else began. Programs, which no page can
// trick, are sent on without the page and need no cookie; browsers are told
// apart by the name that they cannot lay down.
//
// /oauth/callback takes the state, looks at iss where it is given (RFC 9207),
// exchanges the code, stores the token and lets every run of that user go on
// that waits for this connection. A denial changes nothing: the runs stay paused
// and the address stays good.
//
// # Tokens
//
// A token belongs to one user and one connection, and to the addresses, client,
// scopes and hosts that the connection had then: when one of them changes, the
// person is asked again. It is refreshed shortly before it expires, and by Renew
// when a service refuses it. Refreshes of the same token are one; what comes back
// is stored before it is used, because services withdraw the old one. A grant
// that was withdrawn (invalid_grant) is forgotten, and the person asked again.
// Tokens of the client credentials flow are kept in memory alone.
//
// Redirects of a token address are not followed. Nothing that a service answers
// to a token request is shown but error codes of the standard.
package connections
