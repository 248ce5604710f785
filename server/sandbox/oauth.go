package sandbox

import (
	"net/url"
	"slices"
)

// knownGrant tells whether a form asks for a token.
func knownGrant(form url.Values) bool {
	return slices.Contains([]string{"client_credentials", "refresh_token", "authorization_code"}, form.Get("grant_type"))
}

// tokenLife is how long a token is good, in seconds.
const tokenLife = 3600

// token gives a token to whoever asks for one.
func (s *Sandbox) token(a *asked) *reply {
	form, _ := url.ParseQuery(string(a.body)) // it was read before
	// A connection may ask for several nodes at once, so its own name tells who asks.
	caller := a.caller
	caller.ExecutionID, caller.Address = "", form.Get("client_id")+" "+a.host
	source := s.stream("token", &caller)
	answer := map[string]any{"access_token": "sandbox-" + source.Token(32), "token_type": "Bearer", "expires_in": tokenLife}
	if form.Get("grant_type") != "client_credentials" {
		answer["refresh_token"] = "sandbox-refresh-" + source.Token(32)
	}
	if scope := form.Get("scope"); scope != "" {
		answer["scope"] = scope
	}
	return ok(answer)
}
