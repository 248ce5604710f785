package trpc

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"blueprintd/blueprint"
)

// Authenticator returns what a token gives access to. An unknown, revoked or
// expired token is a *blueprint.Error with CodeUnauthorized. It is called for
// every request, so that a revoked key fails at the next one.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (blueprint.Admission, error)
}

// bearerToken returns the token of an Authorization header of the scheme
// Bearer, or "".
func bearerToken(r *http.Request) string { return bearer(r.Header.Get("Authorization")) }

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

// mostAgent is how many characters of what a browser says of itself are kept.
const mostAgent = 300

// Visitor tells where a call comes from.
func (c *Caller) Visitor() blueprint.SignInClient {
	return blueprint.SignInClient{Address: c.from.address, Network: c.from.network, Agent: AgentOf(c.Request)}
}

// AgentOf returns what the browser of a request says of itself, as lists show it.
func AgentOf(r *http.Request) string {
	agent := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(r.UserAgent(), "")))
	return string(agent[:min(len(agent), mostAgent)])
}

// origin is where a request comes from. The address is such that one person has
// one: of IPv6 the network, for that is what people are given. The network is
// what a provider or a company has many of.
type origin struct{ address, network string }

func originOf(address netip.Addr) origin {
	address = address.WithZone("")
	if address.Is6() {
		return origin{within(address, 64), within(address, 48)}
	}
	return origin{address.String(), within(address, 24)}
}

func within(address netip.Addr, bits int) string {
	return netip.PrefixFrom(address, bits).Masked().String()
}

// Proxies are the networks of those who are believed when they say for whom they
// speak. Each of them adds the address of its client to X-Forwarded-For, or sets
// it to that alone; what stands there before the first who is no proxy counts
// for nothing.
type Proxies []netip.Prefix

func (p Proxies) trust(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(of netip.Prefix) bool { return of.Contains(address.WithZone("")) })
}

// client returns the address that a request comes from, with or without proxies
// between; silent tells that the last of them does not say.
func (p Proxies) client(r *http.Request, peer netip.Addr) (address netip.Addr, silent bool) {
	if !p.trust(peer) {
		return peer, false
	}
	address = peer
	told := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(told) - 1; i >= 0 && p.trust(address); i-- {
		next, ok := parseAddress(told[i])
		if !ok {
			return address, true
		}
		address = next
	}
	return address, false
}

// parseAddress reads an address, also one with a port.
func parseAddress(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if with, err := netip.ParseAddrPort(text); err == nil {
		return with.Addr().Unmap(), true
	}
	if inner, found := strings.CutPrefix(text, "["); found {
		text = strings.TrimSuffix(inner, "]")
	}
	address, err := netip.ParseAddr(text)
	return address.Unmap(), err == nil
}

// originOf tells where a request comes from, and the log once that a proxy does
// not.
func (h *Handler) originOf(r *http.Request) origin {
	peer, ok := parseAddress(r.RemoteAddr)
	if !ok {
		return origin{r.RemoteAddr, r.RemoteAddr}
	}
	address, silent := h.options.Proxies.client(r, peer)
	if silent {
		h.silent.Do(func() {
			h.options.Logger.Warn("a proxy does not say for whom it speaks: all who come through it count as one who signs in", "proxy", address, "hint", "have it add the address of its client to X-Forwarded-For")
		})
	}
	return originOf(address)
}
