package sandbox

import (
	"net/url"
	"strings"
)

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

// spoken tells whether a match is about what a message is for. What a node says to
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

// glob tells whether a text fits a pattern in which each * stands for any text.
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
