package sandbox

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// maxBody is how much of the body of a request is looked at, in bytes.
const maxBody = 32 << 20

// asked is one thing that somebody wants, as rules, expectations and fakes see
// it: a message that goes out, or a call that came in (procedure or route set).
type asked struct {
	procedure string
	route     string
	path      string
	host      string // with its port, when the address has one
	caller    outbound.Caller
	tool      string                     // that the node wants of an MCP server
	mcp       bool                       // this is for one
	rpc       string                     // and the method of the message, "" = none
	token     bool                       // this asks for a token
	said      map[string]any             // the message
	request   blueprint.ExchangeRequest  // as it may be shown, but for the secrets of the run
	sent      *blueprint.ExchangeRequest // with what only looks like a credential; nil = the same
	header    http.Header                // as it was sent
	url       *url.URL                   // as it may be shown
	body      []byte
}

// askedOf takes a request apart and closes its body.
func askedOf(request *http.Request) (*asked, error) {
	var body []byte
	if request.Body != nil {
		defer request.Body.Close()
		var err error
		if body, err = io.ReadAll(io.LimitReader(request.Body, maxBody)); err != nil {
			return nil, err
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return nil, err
		}
	}
	bare := outbound.Bare(request)
	address := *bare.URL
	address.User = nil
	a := &asked{
		caller: outbound.CallerOf(request.Context()), path: address.Path, host: strings.ToLower(address.Host), header: request.Header, url: &address, body: body,
		request: outbound.RequestOf(bare, nil),
	}
	if h, ok := request.Context().Value(holderKey{}).(*holder); ok {
		a.tool = h.tool
	}
	a.request.Body, a.request.Cut = shownBody(request.Header.Get("Content-Type"), body), len(body) > outbound.MaxTaped
	a.sent = &blueprint.ExchangeRequest{Method: bare.Method, URL: address.String(), Headers: shownHeaders(request.Header, typed(bare.Header)), Body: a.request.Body, Cut: a.request.Cut}
	a.request.Headers = shownHeaders(request.Header, a.request.Headers)
	a.token = knownGrant(tokenForm(request.Header.Get("Content-Type"), body))
	if a.own() && a.caller.NodeType != "send-slack" && !a.token {
		message := a.object()
		if a.mcp = isMCP(a, message); a.mcp {
			a.said = message
			a.rpc, _ = message["method"].(string)
		}
	}
	return a, nil
}

// own tells whether the node that asks says what it means by its type.
func (a *asked) own() bool { return a.caller.NodeType != "http-request" }

// whole gives the request as it was sent, but for what a connection added to it.
func (a *asked) whole() blueprint.ExchangeRequest {
	if a.sent != nil {
		return *a.sent
	}
	return a.request
}

// typed gives headers as they stand.
func typed(header http.Header) map[string]string {
	out := make(map[string]string, len(header))
	for name, values := range header {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}

// shownHeaders gives the headers that may be shown, and "***" for those that
// were added to prove who sends them.
func shownHeaders(sent http.Header, shown map[string]string) map[string]string {
	out := make(map[string]string, len(sent))
	for name := range sent {
		name = strings.ToLower(name)
		value, known := shown[name]
		if !known && name != "anthropic-version" { // which proves nothing
			value = hidden
		} else if !known {
			value = sent.Get(name)
		}
		out[name] = value
	}
	return out
}

// hidden stands for a secret.
const hidden = "***"

// secretFields are the secrets in a request for a token (RFC 6749, 7523, 7636).
var secretFields = []string{"client_secret", "refresh_token", "code", "code_verifier", "client_assertion", "assertion", "password"}

// shownBody gives a body as it may be shown.
func shownBody(contentType string, body []byte) any {
	if len(body) > outbound.MaxTaped {
		body = bytes.ToValidUTF8(body[:outbound.MaxTaped], nil)
	}
	if form := tokenForm(contentType, body); form != nil {
		for _, name := range secretFields {
			if form.Has(name) {
				form.Set(name, hidden)
			}
		}
		return form.Encode()
	}
	return blueprint.BodyValue(contentType, body)
}

// tokenForm reads the form of a request for a token; nil for anything else.
func tokenForm(contentType string, body []byte) url.Values {
	if !strings.HasPrefix(strings.ToLower(contentType), "application/x-www-form-urlencoded") {
		return nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || !form.Has("grant_type") {
		return nil
	}
	return form
}

// object gives the body when it is a JSON object; nil for anything else.
func (a *asked) object() map[string]any {
	if !blueprint.IsJSONType(a.header.Get("Content-Type")) {
		return nil
	}
	value, err := blueprint.Decode(a.body)
	if err != nil {
		return nil
	}
	object, _ := value.(map[string]any)
	return object
}
