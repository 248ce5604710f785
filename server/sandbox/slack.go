package sandbox

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

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
