package sandbox

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// fake answers a request without a rule.
func (s *Sandbox) fake(a *received) *reply {
	own := a.own()
	mailSession := a.request.Method == http.MethodPost
	object := a.object()
	switch {
	case mailSession && a.token:
		return s.token(a)
	case a.mcp:
		return s.mcp(a, a.message)
	case chatOf(a, object) != nil:
		return chatOf(a, object)(s, a, object, nil)
	case own && a.request.Method == http.MethodGet && strings.HasSuffix(a.path, "/models"):
		return models()
	case slackMethod(a) != "" && (own || strings.HasSuffix(a.host, "slack.com")):
		return s.answerSlack(a, object)
	}
	return echo(a)
}

func echo(a *received) *reply {
	return ok(map[string]any{
		"method": a.request.Method, "url": a.url.String(), "headers": texts(a.request.Headers), "query": flat(a.url.Query()), "body": a.request.Body,
	})
}

func texts(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for name, value := range m {
		out[name] = value
	}
	return out
}

// flat returns single values as strings and repeated ones as lists.
func flat(values url.Values) map[string]any {
	out := make(map[string]any, len(values))
	for name, list := range values {
		if out[name] = list[0]; len(list) > 1 {
			several := make([]any, len(list))
			for i, one := range list {
				several[i] = one
			}
			out[name] = several
		}
	}
	return out
}

// NoNames is a DNS resolver without any names, for the checks of mail senders.
type NoNames struct{}

func (NoNames) missing(name string) error {
	return &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (n NoNames) LookupTXT(_ context.Context, name string) ([]string, error) {
	return nil, n.missing(name)
}

func (n NoNames) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	return nil, n.missing(name)
}

func (n NoNames) LookupIPAddr(_ context.Context, name string) ([]net.IPAddr, error) {
	return nil, n.missing(name)
}

func (n NoNames) LookupAddr(_ context.Context, name string) ([]string, error) {
	return nil, n.missing(name)
}

// Known are the names that rules and expectations may use. An empty list allows any name.
type Known struct {
	NodeTypes, Procedures []string
	Subscriptions         []string // procedures that respond with a stream
}

// names checks the names in a match and normalizes the node type.
func (r *reader) names(m *match, path []any) {
	m.nodeType = strings.ReplaceAll(m.nodeType, "_", "-")
	one := func(member, what, name string, known []string) {
		if name != "" && len(known) > 0 && !strings.Contains(name, "*") && !slices.Contains(known, name) {
			r.wrong("there is no "+what+" of this name"+blueprint.DidYouMean(name, known), append(slices.Clone(path), member)...)
		}
	}
	one("nodeType", "node type", m.nodeType, r.known.NodeTypes)
	one("procedure", "procedure", m.procedure, r.known.Procedures)
	if strings.Contains(m.host, "/") {
		r.wrong("must be only a host, such as api.example.org or localhost:8080; put the rest into path", append(slices.Clone(path), "host")...)
	}
}

// mail reports whether a match selects only mails.
func (m *match) mail() bool {
	return m.nodeType == "send-email" || strings.EqualFold(m.method, methodMail)
}
