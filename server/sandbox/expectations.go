package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// expectation says what has to be asked before the end, and how often.
type expectation struct {
	match       match
	request     map[string]any // method, url, headers, body: as much of them as is given
	least, most int
	met         int
	near        []string // what fitted match and not request, the latest
	source      map[string]any
}

// maxNear bounds how many of these are reported.
const maxNear = 3

type expectations struct {
	mu   sync.Mutex
	list []*expectation
	all  int      // what was asked at all
	last []string // the latest of it
}

// Unmet is an expectation that was not met.
type Unmet struct {
	Expect   any    `json:"expect"` // as it was given
	Came     int    `json:"came"`   // how often it was met
	Problem  string `json:"problem"`
	Position int    `json:"index"` // in the list
}

// SetExpectations replaces the expectations and resets their counts: {"expect": [{"match",
// "times"?, "request"?}]} as a JSON value. Errors are those of SetRules.
func (s *Sandbox) SetExpectations(value any) error {
	list, err := readExpectations(value, s.Known)
	if err != nil {
		return err
	}
	e := &s.expectations
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list, e.all, e.last = list, 0, nil
	return nil
}

// Expectations returns them as they were given, each with how often it was met.
func (s *Sandbox) Expectations() []any {
	e := &s.expectations
	e.mu.Lock()
	defer e.mu.Unlock()
	out := []any{}
	for _, one := range e.list {
		shown := maps.Clone(one.source)
		shown["came"] = one.met
		out = append(out, shown)
	}
	return out
}

// Unmet returns the expectations that are not met (any more), in their order.
func (s *Sandbox) Unmet() []Unmet {
	e := &s.expectations
	e.mu.Lock()
	defer e.mu.Unlock()
	list := []Unmet{}
	for i, one := range e.list {
		if one.met < one.least || one.met > one.most {
			list = append(list, Unmet{Expect: one.source, Came: one.met, Position: i, Problem: e.problem(i, one)})
		}
	}
	return list
}

// problem describes an unmet expectation in a line. The caller holds e.mu.
func (e *expectations) problem(i int, one *expectation) string {
	written, _ := blueprint.Encode(map[string]any{"match": one.source["match"], "request": one.source["request"]})
	line := fmt.Sprintf("expect[%d] %s: expected %s, came %s", i, strings.Replace(string(written), `,"request":null`, "", 1), times(one.least, one.most), times(one.met, one.met))
	switch {
	case one.met > one.most:
	case len(one.near) > 0:
		line += "; with another request: " + strings.Join(one.near, "; ")
	case e.all == 0:
		line += "; nothing was asked at all"
	default:
		line += fmt.Sprintf("; of %d asked, the latest: %s", e.all, strings.Join(e.last, ", "))
	}
	return line
}

func times(least, most int) string {
	switch {
	case least == most && least == 1:
		return "once"
	case least == most:
		return count(least)
	case most == math.MaxInt:
		return "at least " + count(least)
	}
	return fmt.Sprintf("%d to %d times", least, most)
}

func count(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}

// saw counts what was asked.
func (e *expectations) saw(a *asked) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.list == nil {
		return
	}
	e.all++
	e.last = latest(e.last, a.brief())
	for _, one := range e.list {
		switch {
		case !one.match.fits(a):
		case one.request == nil || contains(seenRequest(a), one.request):
			one.met++
		default:
			one.near = latest(one.near, a.detail())
		}
	}
}

func latest(list []string, one string) []string {
	if list = append(list, one); len(list) > maxNear {
		list = slices.Delete(list, 0, 1)
	}
	return list
}

// brief names what was asked.
func (a *asked) brief() string {
	if a.procedure != "" {
		return a.procedure
	}
	shown := a.redacted()
	return shown.Method + " " + shown.URL
}

// withRequest is brief with the body.
func (a *asked) detail() string {
	shown := a.redacted().Body
	body, err := blueprint.Encode(shown)
	if err != nil || shown == nil {
		return a.brief()
	}
	return a.brief() + " " + blueprint.Shorten(string(body), maxSaid)
}

// seenRequest is the request as expectations see it: as it was sent, and as it is
// shown, with *** for what looks like a credential.
func seenRequest(a *asked) map[string]any {
	shown, sent := a.request, a.whole()
	headers := make(map[string]any, len(sent.Headers))
	for name, value := range sent.Headers {
		headers[name] = either{shown.Headers[name], value}
	}
	return map[string]any{"method": shown.Method, "url": either{shown.URL, sent.URL}, "headers": headers, "body": either{shown.Body, sent.Body}}
}

// either is a value that is compared in both of its forms.
type either struct{ shown, sent any }

// contains reports whether a value has all that another one has: the members of
// objects, the elements of lists in their places, texts with * for anything.
func contains(value, wanted any) bool {
	if two, ok := value.(either); ok {
		return contains(two.shown, wanted) || contains(two.sent, wanted)
	}
	switch want := wanted.(type) {
	case map[string]any:
		object, isObject := value.(map[string]any)
		for name, inner := range want {
			if has, given := object[name]; !given || !contains(has, inner) {
				return false
			}
		}
		return isObject
	case []any:
		list, _ := value.([]any)
		if len(list) != len(want) {
			return false
		}
		for i := range want {
			if !contains(list[i], want[i]) {
				return false
			}
		}
		return true
	case string:
		text, isText := value.(string)
		return isText && (text == want || glob(want, text))
	}
	return blueprint.Equal(value, wanted)
}

// maxBody is how much of the body of a request is looked at, in bytes.
const maxBody = 32 << 20

// asked is a request as rules, expectations and fakes see it: an outbound one, or an inbound
// one with procedure or route set.
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
	bare := outbound.WithoutCredentials(request)
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

// own reports whether the node that asks says what it means by its type.
func (a *asked) own() bool { return a.caller.NodeType != "http-request" }

// whole returns the request as it was sent, but for what a connection added to it.
func (a *asked) whole() blueprint.ExchangeRequest {
	if a.sent != nil {
		return *a.sent
	}
	return a.request
}

// typed returns headers as they stand.
func typed(header http.Header) map[string]string {
	out := make(map[string]string, len(header))
	for name, values := range header {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}

// shownHeaders returns the headers with "***" for credentials.
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

// shownBody returns a body as it may be shown.
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

// object returns the body when it is a JSON object; nil for anything else.
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
