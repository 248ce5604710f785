package rpc

import (
	"context"
	"net/http"
	"strings"

	"blueprintd/blueprint"
)

// Authenticator tells whom a token belongs to. An unknown or revoked token is
// a *blueprint.Error with CodeUnauthorized. It is asked anew for every request,
// so that a revoked key fails at the next one.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (blueprint.Principal, error)
}

// BearerToken gives the token of an Authorization header of the scheme
// Bearer, or "".
func BearerToken(r *http.Request) string { return bearer(r.Header.Get("Authorization")) }

func bearer(value string) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(value), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// token finds the token of a request. A subscription may carry it among the
// connection parameters; elsewhere a key has no business in an address.
func (h *Handler) token(r *request) string {
	token := h.options.Token(r.Request)
	if token == "" && h.bearer && r.isSubscription() {
		token = bearer(r.connection["authorization"])
	}
	return token
}

// admit authenticates a token and takes cost calls from its rate limit.
func (h *Handler) admit(ctx context.Context, token string, cost int) (blueprint.Principal, error) {
	if token == "" {
		return blueprint.Principal{}, blueprint.Errorf(blueprint.CodeUnauthorized, "%s", h.options.NoToken)
	}
	principal, err := h.options.Authenticator.Authenticate(ctx, token)
	if err != nil {
		return blueprint.Principal{}, err
	}
	if cost == 0 || h.options.Limiter == nil {
		return principal, nil
	}
	return principal, h.options.Limiter.Take(limitKey(principal), cost)
}

// limitKey names whose bucket a call empties: the key's, or the user's who
// came without one.
func limitKey(principal blueprint.Principal) string {
	if principal.KeyID != "" {
		return "key " + principal.KeyID
	}
	return "user " + principal.UserID
}
