package trpc

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"unicode"

	"blueprintd/blueprint"
)

// Authenticator returns the access of a token, or CodeUnauthorized if it is unknown,
// revoked or expired. It is called for each request, so a key stops working once revoked.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (blueprint.Admission, error)
}

// bearerToken returns the token of an Authorization header of the scheme Bearer, or "".
func bearerToken(r *http.Request) string { return bearer(r.Header.Get("Authorization")) }

func bearer(value string) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(value), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// token returns the token of a request. Only a subscription may carry it in the URL,
// among the connection parameters.
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

// InScope returns CodeForbidden if access does not include a scope.
func InScope(access blueprint.Admission, scope blueprint.KeyScope) *blueprint.Error {
	if access.Scopes.Allow(scope) {
		return nil
	}
	return blueprint.Errorf(blueprint.CodeForbidden, "this API key lacks the scope %q; it has %s", scope, access.Scopes)
}

// limitKey returns the bucket of a principal: that of its key, else of the user.
func limitKey(principal blueprint.Principal) string {
	if principal.KeyID != "" {
		return "key " + principal.KeyID
	}
	return "user " + principal.UserID
}

// maxAgent is the maximal length of a stored User-Agent, in characters.
const maxAgent = 300

// SignInClient returns the origin of a call.
func (c *Caller) SignInClient() blueprint.SignInClient {
	return blueprint.SignInClient{Address: c.from.address, Network: c.from.network, Agent: AgentOf(c.Request)}
}

// AgentOf returns the User-Agent of a request, printable and at most 300 characters.
func AgentOf(r *http.Request) string {
	agent := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(r.UserAgent(), "")))
	return string(agent[:min(len(agent), maxAgent)])
}

// origin is where a request comes from. The address identifies one subscriber: for IPv6
// it is the /64, as assigned. The network is the surrounding /48, or /24 for IPv4.
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

// Proxies are the networks of trusted proxies. Each appends the address of its client to
// X-Forwarded-For, or replaces the header. Only entries from the last untrusted one count.
type Proxies []netip.Prefix

func (p Proxies) trust(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(of netip.Prefix) bool { return of.Contains(address.WithZone("")) })
}

// client returns the address of the client, behind any trusted proxies. silent reports
// that a trusted proxy did not name its client.
func (p Proxies) client(r *http.Request, peer netip.Addr) (address netip.Addr, silent bool) {
	address = peer
	forwarded := strings.Split(strings.Join(r.Header.Values(forwardedFor), ","), ",")
	for i := len(forwarded) - 1; i >= 0 && p.trust(address); i-- {
		next, ok := parseAddress(forwarded[i])
		if !ok {
			return address, true
		}
		address = next
	}
	return address, false
}

const forwardedFor = "X-Forwarded-For"

// Clients finds the clients of requests, behind trusted proxies. It logs once if a trusted
// proxy does not name its clients, and once if one that is not trusted does.
type Clients struct {
	Proxies Proxies
	Logger  *slog.Logger

	silent, untrusted sync.Once
}

// Network returns the network of the client of a request.
func (c *Clients) Network(r *http.Request) string { return c.originOf(r).address }

// originOf returns the origin of a request. A nil c trusts no proxies and logs nothing.
func (c *Clients) originOf(r *http.Request) origin {
	peer, ok := parseAddress(r.RemoteAddr)
	if !ok {
		return origin{r.RemoteAddr, r.RemoteAddr}
	}
	if c == nil {
		return originOf(peer)
	}
	address, silent := c.Proxies.client(r, peer)
	switch {
	case silent:
		c.silent.Do(func() {
			c.Logger.Warn("proxy sends no X-Forwarded-For: its clients share one sign-in limit", "proxy", address, "hint", "have it add the address of its client to X-Forwarded-For")
		})
	case !c.Proxies.trust(peer) && r.Header.Get(forwardedFor) != "":
		c.untrusted.Do(func() {
			hint := "if this is your proxy, name its address or network, so that its clients do not share one sign-in limit: --trusted-proxy " + netip.PrefixFrom(peer.WithZone(""), peer.BitLen()).String()
			if peer.IsLoopback() {
				hint = "set --public-url, which also trusts the proxies on this machine"
			}
			c.Logger.Warn("X-Forwarded-For ignored: its sender is not a trusted proxy", "sender", peer, "hint", hint)
		})
	}
	return originOf(address)
}

// parseAddress parses an address with or without a port.
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

// takeOpen takes calls of public procedures from the limit of the request's device if it
// is known, else of its address, so that others at the address cannot use up the calls of
// a known device.
func (h *Handler) takeOpen(r *request, cost int) error {
	if cost == 0 || h.options.PublicLimiter == nil {
		return nil
	}
	if h.options.Device != nil {
		if device := h.options.Device(r.Request); device != "" {
			return h.options.PublicLimiter.Take("device "+device, cost)
		}
	}
	return h.options.PublicLimiter.Take("address "+r.from.address, cost)
}
