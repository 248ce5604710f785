package sandbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
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

// channels are the listed channels, id and name. Any other channel exists too.
var channels = [][2]string{{"C0GENERAL", "general"}, {"C0RANDOM", "random"}, {"C0ORDERS", "orders"}, {"C0ALERTS", "alerts"}}

// The bot and its workspace.
const (
	slackTeam = "T0SANDBOX"
	slackBot  = "B0SANDBOX"
	slackUser = "U0SANDBOX"
)

// slackMethod returns the method of the Web API of a request, "" for an unknown one.
func slackMethod(a *received) string {
	method := path.Base(a.path)
	if !slices.Contains([]string{"chat.postMessage", "auth.test", "conversations.list", "conversations.info"}, method) {
		return ""
	}
	return method
}

func (s *Sandbox) answerSlack(a *received, object map[string]any) *reply {
	refuse := func(name string) *reply { return ok(map[string]any{"ok": false, "error": name}) }
	arguments := object
	if arguments == nil {
		form := a.url.Query()
		if strings.HasPrefix(a.header.Get("Content-Type"), "application/x-www-form-urlencoded") {
			if posted, err := url.ParseQuery(string(a.body)); err == nil {
				form = posted
			}
		}
		arguments = flat(form)
	}
	if a.header.Get("Authorization") == "" && arguments["token"] == nil {
		return refuse("not_authed")
	}
	name, _ := arguments["channel"].(string)
	switch method := slackMethod(a); {
	case method == "auth.test":
		return ok(map[string]any{
			"ok": true, "url": "https://sandbox.slack.com/", "team": "Sandbox", "team_id": slackTeam, "user": "sandbox", "user_id": slackUser, "bot_id": slackBot,
		})
	case method == "conversations.list":
		list := []any{}
		for _, channel := range channels {
			list = append(list, channelOf(channel[0]))
		}
		return ok(map[string]any{"ok": true, "channels": list, "response_metadata": map[string]any{"next_cursor": ""}})
	case name == "":
		return refuse("channel_not_found")
	case method == "conversations.info":
		return ok(map[string]any{"ok": true, "channel": channelOf(name)})
	case arguments["text"] == nil && arguments["blocks"] == nil:
		return refuse("no_text")
	default:
		id, ts := channelID(name), fmt.Sprintf("%d.%06d", s.Clock.Now().Unix(), s.messages.Add(1))
		message := map[string]any{"type": "message", "ts": ts, "bot_id": slackBot, "user": slackUser, "team": slackTeam}
		for _, member := range []string{"text", "blocks", "thread_ts"} {
			if arguments[member] != nil {
				message[member] = arguments[member]
			}
		}
		return ok(map[string]any{"ok": true, "channel": id, "ts": ts, "message": message})
	}
}

// channelID returns the id of a channel given its id or name.
func channelID(name string) string {
	bare, named := strings.CutPrefix(name, "#")
	for _, channel := range channels {
		if channel[1] == bare {
			return channel[0]
		}
	}
	if !named && strings.ToUpper(name) == name {
		return name
	}
	letters := strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, strings.ToUpper(bare))
	return "C0" + letters
}

func channelOf(id string) map[string]any {
	id = channelID(id)
	name := strings.ToLower(strings.TrimPrefix(id, "C0"))
	return map[string]any{"id": id, "name": name, "is_channel": true, "is_archived": false, "is_member": true, "is_private": false}
}
