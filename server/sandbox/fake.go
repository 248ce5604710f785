package sandbox

import (
	"net/http"
	"net/url"
	"strings"
)

// fake answers what no rule does, by what is asked and who asks.
func (s *Sandbox) fake(a *asked) *reply {
	own := a.own()
	post := a.request.Method == http.MethodPost
	object := a.object()
	switch {
	case post && a.token:
		return s.token(a)
	case a.mcp:
		return s.mcp(a, a.said)
	case chatOf(a, object) != nil:
		return chatOf(a, object)(s, a, object, nil)
	case own && a.request.Method == http.MethodGet && strings.HasSuffix(a.path, "/models"):
		return models()
	case slackMethod(a) != "" && (own || strings.HasSuffix(a.host, "slack.com")):
		return s.answerSlack(a, object)
	}
	return echo(a)
}

// echo tells a request what it was.
func echo(a *asked) *reply {
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

// flat gives a text for what stands once and a list for what stands more often.
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
