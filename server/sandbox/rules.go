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

// maxRules is how many rules there may be.
const maxRules = 1000

// rule says what is answered to what fits it.
type rule struct {
	match    match
	times    int // 0 = always
	answer   answer
	answered int
	source   map[string]any // as it was given
}

// answer is what a rule says.
type answer struct {
	status int // 0 = whatever would be answered without the rule, or nothing when cut
	header http.Header
	body   any
	delay  time.Duration // in real time
	whole  bool          // of a call of a procedure: all calls of its request are refused
	cut    bool          // the connection breaks: half way through the answer, or before it
	pause  *blueprint.Await
	refuse string  // there is no connection, for this reason
	script *script // what a model answers
}

// answers reports whether a rule has an answer of its own.
func (a *answer) answers() bool { return a != nil && (a.status != 0 || a.cut || a.script != nil) }

// before reports whether an answer keeps a connection from coming about.
func (a *answer) before() bool { return a.pause != nil || a.refuse != "" }

func (a *answer) reply(to *asked) *reply {
	r := &reply{status: a.status, header: a.header, body: a.body}
	if to.said["id"] != nil && a.body != nil && a.status < 300 {
		r.body = to.result(a.body)
	}
	return r
}

// rules is the list that is in force.
type rules struct {
	mu   sync.Mutex
	list []*rule
}

func (s *rules) set(list []*rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = list
}

// take returns the answer of the first rule that fits, and counts it; nil when
// there is none.
func (s *rules) take(a *asked) *answer { return s.takeOf(a, nil) }

// takeOf is take for rules whose answers are such; nil = all.
func (s *rules) takeOf(a *asked, such func(*answer) bool) *answer {
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

// SetRules puts rules in the place of those there are: {"rules": [{"match",
// "times"?, "answer"}]} as a plain JSON value. Errors are CodeBadRequest and name
// what is wrong, as rules[0].answer.status; then nothing has changed.
func (s *Sandbox) SetRules(value any) error {
	list, err := readRules(value, s.Known)
	if err == nil {
		s.rules.set(list)
	}
	return err
}

// Rules returns the rules as they were given, each with how often it has answered.
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

// reply is an HTTP answer. The body is a plain JSON value; text goes as it is.
type reply struct {
	status int
	header http.Header
	body   any
}

func ok(body any) *reply { return &reply{status: http.StatusOK, body: body} }

// data returns the header and the bytes.
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

// response makes the answer to a request. One that is cut has half of its body,
// and without a status none comes at all.
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

// broken is the end of a connection in the middle.
type broken struct{}

// Read fails.
func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// shown returns the answer as the list of calls has it.
func (r *reply) shown(cut bool) (*blueprint.ExchangeResponse, int) {
	header, data := r.data()
	kept := data[:min(len(data), outbound.MaxTaped)]
	answer := outbound.ResponseOf(r.status, header, kept)
	answer.Cut = cut || len(kept) < len(data)
	return &answer, len(kept)
}

// match says which of what is asked a rule or an expectation is about. Empty
// members are about all; the others must all fit. A * in them stands for any
// text, also an empty one.
type match struct {
	procedure, route                    string         // of calls that come in
	host, nodeType, nodeID, executionID string         // of messages that go out
	method, path                        string         // of both, but procedures
	query                               map[string]any // of the address: what it holds at least
	body                                any            // likewise; nil = any
	rpc                                 string         // of messages to an MCP server; "" = a call of a tool
}

func (m *match) fits(a *asked) bool {
	switch {
	case m.procedure != "" || a.procedure != "":
		return m.procedure != "" && a.procedure != "" && glob(m.procedure, a.procedure)
	case m.route != "" || a.route != "":
		if m.route == "" || !glob(m.route, a.route) {
			return false
		}
	}
	if !m.spoken(a) || m.query != nil && (a.url == nil || !contains(flat(a.url.Query()), m.query)) || m.body != nil && !contains(either{a.request.Body, a.whole().Body}, m.body) {
		return false
	}
	return (m.host == "" || hostFits(m.host, a.host)) && (m.nodeType == "" || glob(m.nodeType, a.caller.NodeType)) &&
		(m.nodeID == "" || glob(m.nodeID, a.caller.Address)) && (m.executionID == "" || glob(m.executionID, a.caller.ExecutionID)) &&
		(m.method == "" || glob(strings.ToUpper(m.method), a.request.Method)) && (m.path == "" || glob(m.path, a.path))
}

// spoken reports whether a match is about what a message is for. What a node says to
// an MCP server before and after it calls a tool, or to get a token for it, is not
// what somebody means who names the node's type; nor are its tools what somebody
// means who scripts a model.
func (m *match) spoken(a *asked) bool {
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

// hostFits compares a pattern of a host, with a port or for any, to "host:port".
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

// glob reports whether a text fits a pattern in which each * stands for any text.
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

// matching returns a short text that fits a regular expression; false when none is
// found.
func matching(pattern string) (text string, fits bool) {
	const most = 1000
	compiled, err := regexp.Compile(pattern)
	if err != nil || len(pattern) > most {
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

// write writes the least that a part of an expression takes.
func write(out *strings.Builder, part *syntax.Regexp) {
	if out.Len() > maxLength {
		return
	}
	times := 1
	switch part.Op {
	case syntax.OpLiteral:
		out.WriteString(string(part.Rune))
	case syntax.OpCharClass:
		out.WriteRune(plainest(part.Rune))
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

// plainest returns a letter or a digit of a class when it has one.
func plainest(ranges []rune) rune {
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
