package api

import (
	"fmt"
	"strings"
	"testing"

	"blueprintd/tests/servertest"
)

// TestEveryKindOfNodeIsRecorded records a node of each type that calls services, and checks
// the requests and responses.
func TestEveryKindOfNodeIsRecorded(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, inABox)
	connection := func(kind string, config object) string {
		return s.Root.IDOf(t, "connection.create", object{"name": kind, "type": kind, "config": config})
	}
	const canary = "canary-of-the-tape"
	model := connection("ai-provider", object{"provider": "openai", "apiKey": canary})
	tools := connection("mcp-server", object{"url": "https://mcp.example.com/mcp", "auth": object{"type": "bearer", "token": canary}})
	slack := connection("slack", object{"botToken": canary})
	post := connection("smtp", object{"host": "mail.example.com", "port": 587, "username": "u", "password": canary, "tls": "starttls", "from": "Shop <shop@example.com>"})
	for _, test := range []struct {
		kind   string
		config object
		sent   []string // somewhere in the requests
		came   []string // somewhere in the responses
	}{
		{"http-request", object{"url": "https://api.example.com/x", "method": "POST", "body": object{"n": 7}}, []string{`"n":7`, `"method":"POST"`}, []string{`"status":200`}},
		{"ai-prompt", object{"connectionId": model, "model": "gpt", "prompt": "say hi"}, []string{"say hi"}, []string{"The sandbox answers: say hi"}},
		{"mcp-tool", object{"connectionId": tools, "tool": "any", "arguments": object{"q": "asked"}}, []string{`"initialize"`, `"asked"`}, []string{"protocolVersion", "asked"}},
		{"send-slack", object{"connectionId": slack, "channel": "#general", "text": "hi there"}, []string{"hi there", "chat.postMessage"}, []string{`"ok":true`}},
		{"send-email", object{"connectionId": post, "to": "Ada <ada@example.org>", "cc": "ben@example.org", "subject": "Grüße", "text": "Hello."},
			[]string{`"method":"MAIL"`, `"url":"smtp://mail.example.com:587"`, `"subject":"Grüße"`, `"cc":"ben@example.org"`, "ada@example.org", `"body":"Hello."`}, []string{`"status":250`}},
	} {
		t.Run(test.kind, func(t *testing.T) {
			id := s.Root.Blueprint(t, "taped", node("it", test.kind, test.config))
			answer := s.Root.Call(t, "blueprint.execute", object{"id": id, "record": true})
			run, _ := at(answer.Payload(), "executionId").(string)
			if at(answer.Payload(), "success") != true {
				t.Fatalf("%v, want success true", answer.Text)
			}
			list := at(s.Root.OK(t, "execution.getExchanges", object{"executionId": run}), "exchanges").([]any)
			var sent, came string
			for _, x := range list {
				sent, came = sent+servertest.Encoded(t, at(x, "request")), came+servertest.Encoded(t, at(x, "response"))
				if at(x, "nodeId") != "it" || at(x, "nodeType") != test.kind || at(x, "executionId") != run {
					t.Errorf("whose is %s, want nodeId it, nodeType %v and executionId %v", servertest.Encoded(t, x), test.kind, run)
				}
			}
			for _, word := range test.sent {
				if !strings.Contains(sent, word) {
					t.Errorf("%s is not in what was sent: %s", word, sent)
				}
			}
			for _, word := range test.came {
				if !strings.Contains(came, word) {
					t.Errorf("%s is not in what came: %s", word, came)
				}
			}
			if strings.Contains(sent+came, canary) {
				t.Errorf("a secret is on the tape: %s %s, want no %q", sent, came, canary)
			}
		})
	}
}

// TestATriggerThatRecords fires triggers whose runs are recorded by their config, by the
// caller, and not at all.
func TestATriggerThatRecords(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, inABox)
	id := s.Root.Blueprint(t, "fired", node("it", "http-request", object{"url": "https://api.example.com/"}))
	for _, test := range []struct {
		config, input object
		want          bool
	}{
		{object{}, object{}, false}, {object{"record": true}, object{}, true}, {object{"record": false}, object{}, false}, {object{}, object{"record": true}, true},
	} {
		t.Run(fmt.Sprint(test.config, " ", test.input), func(t *testing.T) {
			trigger := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual", "config": test.config})
			test.input["triggerId"] = trigger
			run := at(s.Root.OK(t, "blueprintTriggers.fire", test.input), "executionId")
			s.Advance(t, "0s")
			answer := s.Root.OK(t, "execution.getExchanges", object{"executionId": run})
			if at(answer, "recorded") != test.want || (len(at(answer, "exchanges").([]any)) == 1) != test.want {
				t.Errorf("%v %v: %s, want it recorded: %v", test.config, test.input, servertest.Encoded(t, answer), test.want)
			}
		})
	}
}
