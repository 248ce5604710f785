package trpc

import (
	"context"
	"net/http"
	"strings"

	"blueprintd/blueprint"
)

// Authenticator returns what a token gives access to. An unknown, revoked or
// expired token is a *blueprint.Error with CodeUnauthorized. It is called for
// every request, so that a revoked key fails at the next one.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (blueprint.Admission, error)
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
func (h *Handler) admit(ctx context.Context, token string, cost int) (blueprint.Admission, error) {
	if token == "" {
		return blueprint.Admission{}, blueprint.Errorf(blueprint.CodeUnauthorized, "%s", h.options.NoToken)
	}
	access, err := h.options.Authenticator.Authenticate(ctx, token)
	if err != nil {
		return blueprint.Admission{}, err
	}
	if cost == 0 || h.options.Limiter == nil {
		return access, nil
	}
	return access, h.options.Limiter.Take(limitKey(access.Principal), cost)
}

// InScope is CodeForbidden when access does not include a scope.
func InScope(access blueprint.Admission, scope blueprint.KeyScope) *blueprint.Error {
	if access.Scopes.Allow(scope) {
		return nil
	}
	return blueprint.Errorf(blueprint.CodeForbidden, "this API key lacks the scope %q; it has %s", scope, access.Scopes)
}

// limitKey names whose bucket a call empties: the key's, or the user's who
// came without one.
func limitKey(principal blueprint.Principal) string {
	if principal.KeyID != "" {
		return "key " + principal.KeyID
	}
	return "user " + principal.UserID
}
