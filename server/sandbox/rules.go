package sandbox

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

const maxRules = 1000

// rule answers the requests that match.
type rule struct {
	match    match
	times    int // 0 = always
	answer   answer
	answered int
	source   map[string]any // as in SetRules
}

type answer struct {
	status int // 0 = the answer without the rule, or none if cut
	header http.Header
	body   any
	delay  time.Duration // in real time
	whole  bool          // for procedures: refuses all calls of the request
	cut    bool          // closes the connection: halfway through the answer, or before it
	pause  *blueprint.Await
	refuse string  // fails to connect, with this reason
	script *script // the answer of a model
}

// answers reports whether a rule has an answer of its own.
func (a *answer) answers() bool { return a != nil && (a.status != 0 || a.cut || a.script != nil) }

// before reports whether an answer prevents the connection.
func (a *answer) before() bool { return a.pause != nil || a.refuse != "" }

func (a *answer) reply(to *received) *reply {
	r := &reply{status: a.status, header: a.header, body: a.body}
	if to.message["id"] != nil && a.body != nil && a.status < 300 {
		r.body = to.result(a.body)
	}
	return r
}

type rules struct {
	mu   sync.Mutex
	list []*rule
}

// take returns the answer of the first matching rule and counts it, nil for none.
func (s *rules) take(a *received) *answer { return s.takeOf(a, nil) }

// takeOf is take for rules whose answer satisfies such; nil accepts all.
func (s *rules) takeOf(a *received, such func(*answer) bool) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.list {
		if (r.times == 0 || r.answered < r.times) && (such == nil || such(&r.answer)) && r.match.fits(a) && r.answer.script.fits(a) {
			r.answered++
			return &r.answer
		}
	}
	return nil
}

// SetRules replaces the rules: {"rules": [{"match", "times"?, "answer"}]} as a JSON value. On
// an error, CodeBadRequest with paths such as rules[0].answer.status, nothing has changed.
func (s *Sandbox) SetRules(value any) error {
	list, err := readRules(value, s.Known)
	if err == nil {
		s.setRules(list)
	}
	return err
}

func (s *Sandbox) setRules(list []*rule) {
	s.rules.mu.Lock()
	defer s.rules.mu.Unlock()
	s.rules.list = list
}

// Rules returns the rules as they were set, each with how often it has answered.
func (s *Sandbox) Rules() []any {
	s.rules.mu.Lock()
	defer s.rules.mu.Unlock()
	out := []any{}
	for _, r := range s.rules.list {
		shown := maps.Clone(r.source)
		shown["answered"] = r.answered
		out = append(out, shown)
	}
	return out
}

// reply is an HTTP response. The body is a JSON value; a string is sent as text.
type reply struct {
	status int
	header http.Header
	body   any
}

func ok(body any) *reply { return &reply{status: http.StatusOK, body: body} }

// data returns the headers and the encoded body.
func (r *reply) data() (http.Header, []byte) {
	header := r.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if header.Get("Content-Type") == "" && r.body != nil {
		header.Set("Content-Type", "application/json")
		if _, isText := r.body.(string); isText {
			header.Set("Content-Type", "text/plain; charset=utf-8")
		}
	}
	return header, outbound.BodyBytes(header.Get("Content-Type"), r.body)
}

// response returns the response to a request. If cut, it breaks after half of the body, or
// there is none if the status is 0.
func (r *reply) response(request *http.Request, cut bool) (*http.Response, error) {
	if cut && r.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	header, data := r.data()
	length := len(data)
	header.Set("Content-Length", strconv.Itoa(length))
	var body io.Reader = bytes.NewReader(data)
	if cut {
		body = io.MultiReader(bytes.NewReader(data[:length/2]), broken{})
	}
	if request.Method == http.MethodHead || r.status == http.StatusNoContent || r.status == http.StatusNotModified {
		body = http.NoBody
	}
	return &http.Response{
		Status: strconv.Itoa(r.status) + " " + http.StatusText(r.status), StatusCode: r.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(body), ContentLength: int64(length), Request: request,
	}, nil
}

// broken is the end of a broken connection.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// shown returns the answer for the list of calls.
func (r *reply) shown(cut bool) (*blueprint.ExchangeResponse, int) {
	header, data := r.data()
	kept := data[:min(len(data), outbound.MaxTaped)]
	answer := outbound.ResponseOf(r.status, header, kept)
	answer.Cut = cut || len(kept) < len(data)
	return &answer, len(kept)
}

// match selects the requests of a rule or an expectation. All non-empty members must fit. A *
// matches any text, including none.
type match struct {
	procedure, route                    string         // of inbound calls
	host, nodeType, nodeID, executionID string         // of outbound requests
	method, path                        string         // of both, except procedures
	query                               map[string]any // parameters that the URL must have
	body                                any            // members that the body must have; nil = any
	rpc                                 string         // of requests to an MCP server; "" = tools/call
}

func (m *match) fits(a *received) bool {
	switch {
	case m.procedure != "" || a.procedure != "":
		return m.procedure != "" && a.procedure != "" && glob(m.procedure, a.procedure)
	case m.route != "" || a.route != "":
		if m.route == "" || !glob(m.route, a.route) {
			return false
		}
	}
	if !m.applies(a) || m.query != nil && (a.url == nil || !contains(flat(a.url.Query()), m.query)) || m.body != nil && !contains(bothForms{a.request.Body, a.whole().Body}, m.body) {
		return false
	}
	return (m.host == "" || hostFits(m.host, a.host)) && (m.nodeType == "" || glob(m.nodeType, a.caller.NodeType)) &&
		(m.nodeID == "" || glob(m.nodeID, a.caller.Address)) && (m.executionID == "" || glob(m.executionID, a.caller.ExecutionID)) &&
		(m.method == "" || glob(strings.ToUpper(m.method), a.request.Method)) && (m.path == "" || glob(m.path, a.path))
}

// applies reports whether a match selects requests with the purpose of a. A match by node
// type selects neither the protocol messages to an MCP server around a call of a tool nor the
// token requests for it, and a match for a model does not select calls of tools.
func (m *match) applies(a *received) bool {
	named := m.host != "" || m.path != ""
	switch {
	case a.mcp && m.rpc == "":
		return a.rpc == toolCall && (named || m.nodeType == "" || a.caller.NodeType == kindTool)
	case m.rpc != "":
		return a.mcp && glob(m.rpc, a.rpc)
	case a.token && m.nodeType != "":
		return named || a.caller.NodeType != kindTool
	}
	return true
}

// hostFits reports whether a pattern, with or without a port, matches "host:port".
func hostFits(pattern, host string) bool {
	pattern, host = strings.ToLower(pattern), strings.ToLower(host)
	return glob(pattern, host) || glob(pattern, (&url.URL{Host: host}).Hostname())
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// glob reports whether a text matches a pattern in which each * matches any text.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	rest, found := strings.CutPrefix(text, parts[0])
	if !found || len(parts) == 1 {
		return found && rest == ""
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return len(rest) >= len(last) && strings.HasSuffix(rest, last)
}

// matching returns a short text that matches a regular expression, false if none was found.
func matching(pattern string) (text string, fits bool) {
	const maximum = 1000
	compiled, err := regexp.Compile(pattern)
	if err != nil || len(pattern) > maximum {
		return "", false
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var out strings.Builder
	write(&out, parsed)
	return out.String(), out.Len() <= maxLength && compiled.MatchString(out.String())
}

// write writes a minimal match of a part of an expression.
func write(out *strings.Builder, part *syntax.Regexp) {
	if out.Len() > maxLength {
		return
	}
	times := 1
	switch part.Op {
	case syntax.OpLiteral:
		out.WriteString(string(part.Rune))
	case syntax.OpCharClass:
		out.WriteRune(preferredRune(part.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte('x')
	case syntax.OpStar, syntax.OpQuest:
		return
	case syntax.OpRepeat:
		times = part.Min
	case syntax.OpAlternate:
		write(out, part.Sub[0])
		return
	}
	for range times {
		for _, inner := range part.Sub {
			write(out, inner)
		}
	}
}

// preferredRune returns a letter or a digit of a class if it has one.
func preferredRune(ranges []rune) rune {
	for _, wanted := range "a0Ax1-_" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= wanted && wanted <= ranges[i+1] {
				return wanted
			}
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return ranges[0]
}
