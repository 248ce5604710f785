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

// expectation is a kind of request that has to be made before the end, and how often.
type expectation struct {
	match            match
	request          map[string]any // members that method, url, headers and body must have
	minimum, maximum int
	met              int
	near             []string // latest requests that fit match but not request
	source           map[string]any
}

const maxNear = 3

type expectations struct {
	mu   sync.Mutex
	list []*expectation
	all  int      // number of requests
	last []string // the latest requests
}

// Unmet is an expectation that was not met.
type Unmet struct {
	Expect   any    `json:"expect"` // as in SetExpectations
	Came     int    `json:"came"`   // number of matching requests
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

// Expectations returns the expectations as they were set, each with how often it was met.
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

// Unmet returns the expectations that are not met, in their order.
func (s *Sandbox) Unmet() []Unmet {
	e := &s.expectations
	e.mu.Lock()
	defer e.mu.Unlock()
	list := []Unmet{}
	for i, one := range e.list {
		if one.met < one.minimum || one.met > one.maximum {
			list = append(list, Unmet{Expect: one.source, Came: one.met, Position: i, Problem: e.problem(i, one)})
		}
	}
	return list
}

// problem describes an unmet expectation in a line. The caller holds e.mu.
func (e *expectations) problem(i int, one *expectation) string {
	written, _ := blueprint.Encode(map[string]any{"match": one.source["match"], "request": one.source["request"]})
	line := fmt.Sprintf("expect[%d] %s: want %s, got %s", i, strings.Replace(string(written), `,"request":null`, "", 1), times(one.minimum, one.maximum), times(one.met, one.met))
	switch {
	case one.met > one.maximum:
	case len(one.near) > 0:
		line += "; near misses: " + strings.Join(one.near, "; ")
	case e.all == 0:
		line += "; there were no requests"
	default:
		line += fmt.Sprintf("; the latest of %d requests: %s", e.all, strings.Join(e.last, ", "))
	}
	return line
}

func times(minimum, maximum int) string {
	switch {
	case minimum == maximum && minimum == 1:
		return "once"
	case minimum == maximum:
		return count(minimum)
	case maximum == math.MaxInt:
		return "at least " + count(minimum)
	}
	return fmt.Sprintf("%d to %d times", minimum, maximum)
}

func count(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}

func (e *expectations) observe(a *received) {
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

func (a *received) brief() string {
	if a.procedure != "" {
		return a.procedure
	}
	shown := a.redacted()
	return shown.Method + " " + shown.URL
}

// detail is brief with the body.
func (a *received) detail() string {
	shown := a.redacted().Body
	body, err := blueprint.Encode(shown)
	if err != nil || shown == nil {
		return a.brief()
	}
	return a.brief() + " " + blueprint.Shorten(string(body), maxRepeated)
}

// seenRequest returns a request for comparison with an expectation: as it was sent, and as it
// is shown, with *** for values that look like credentials.
func seenRequest(a *received) map[string]any {
	shown, sent := a.request, a.whole()
	headers := make(map[string]any, len(sent.Headers))
	for name, value := range sent.Headers {
		headers[name] = bothForms{shown.Headers[name], value}
	}
	return map[string]any{"method": shown.Method, "url": bothForms{shown.URL, sent.URL}, "headers": headers, "body": bothForms{shown.Body, sent.Body}}
}

// bothForms is a value that may match in either form.
type bothForms struct{ shown, sent any }

// contains reports whether value has everything that wanted has: the members of objects, the
// elements of lists by position, strings with * for any text.
func contains(value, wanted any) bool {
	if two, ok := value.(bothForms); ok {
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

// maxBody limits the part of a body that is read, in bytes.
const maxBody = 32 << 20

// received is a request to match against rules and expectations: an outbound one, or an inbound
// one with procedure or route set.
type received struct {
	procedure string
	route     string
	path      string
	host      string // with the port, if the URL has one
	caller    outbound.Caller
	tool      string                     // the tool that the node calls
	mcp       bool                       // the request is for an MCP server
	rpc       string                     // method of the MCP message, "" = none
	token     bool                       // the request is for an OAuth token
	message   map[string]any             // the MCP message
	request   blueprint.ExchangeRequest  // redacted, except for the secrets of the run
	sent      *blueprint.ExchangeRequest // including values that only look like credentials; nil = request
	header    http.Header                // as it was sent
	url       *url.URL                   // redacted
	body      []byte
}

// parseRequest reads a request and closes its body.
func parseRequest(request *http.Request) (*received, error) {
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
	a := &received{
		caller: outbound.CallerOf(request.Context()), path: address.Path, host: strings.ToLower(address.Host), header: request.Header, url: &address, body: body,
		request: outbound.RequestOf(bare, nil),
	}
	if h, ok := request.Context().Value(pauseKey{}).(*pauseSlot); ok {
		a.tool = h.tool
	}
	a.request.Body, a.request.Cut = shownBody(request.Header.Get("Content-Type"), body), len(body) > outbound.MaxTaped
	a.sent = &blueprint.ExchangeRequest{Method: bare.Method, URL: address.String(), Headers: shownHeaders(request.Header, typed(bare.Header)), Body: a.request.Body, Cut: a.request.Cut}
	a.request.Headers = shownHeaders(request.Header, a.request.Headers)
	form := tokenForm(request.Header.Get("Content-Type"), body)
	a.token = slices.Contains([]string{"client_credentials", "refresh_token", "authorization_code"}, form.Get("grant_type"))
	if a.own() && a.caller.NodeType != "send-slack" && !a.token {
		message := a.object()
		if a.mcp = isMCP(a, message); a.mcp {
			a.message = message
			a.rpc, _ = message["method"].(string)
		}
	}
	return a, nil
}

// own reports whether the type of the requesting node determines the protocol.
func (a *received) own() bool { return a.caller.NodeType != "http-request" }

// whole returns the request as it was sent, without the credentials of its connection.
func (a *received) whole() blueprint.ExchangeRequest {
	if a.sent != nil {
		return *a.sent
	}
	return a.request
}

// typed returns the first value of each header.
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
		if !known && name != "anthropic-version" { // not a credential
			value = masked
		} else if !known {
			value = sent.Get(name)
		}
		out[name] = value
	}
	return out
}

const masked = "***"

// secretFields are the secrets in a request for a token (RFC 6749, 7523, 7636).
var secretFields = []string{"client_secret", "refresh_token", "code", "code_verifier", "client_assertion", "assertion", "password"}

// shownBody returns a redacted body.
func shownBody(contentType string, body []byte) any {
	if len(body) > outbound.MaxTaped {
		body = bytes.ToValidUTF8(body[:outbound.MaxTaped], nil)
	}
	if form := tokenForm(contentType, body); form != nil {
		for _, name := range secretFields {
			if form.Has(name) {
				form.Set(name, masked)
			}
		}
		return form.Encode()
	}
	return blueprint.BodyValue(contentType, body)
}

// tokenForm returns the form of a token request, nil for any other request.
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

// object returns the body if it is a JSON object, nil otherwise.
func (a *received) object() map[string]any {
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
