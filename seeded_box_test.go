package main

import (
	"blueprintd/server"
	"net"
	"net/http"
	"net/smtp"
	"strings"
	"testing"
)

// playInABox makes the same calls as ever to a server whose outside is made up.
func (r *recorded) playInABox(smtpAddr string) {
	connect := func(kind string, config object) string {
		return at(r.tell("connection.create", object{"name": kind, "type": kind, "config": config}), "id").(string)
	}
	model := connect("ai-provider", object{"provider": "openai", "apiKey": "key-of-the-model"})
	tools := connect("mcp-server", object{"url": "https://mcp.example.com/mcp", "auth": object{"type": "bearer", "token": "token-of-the-tools"}})
	slack := connect("slack", object{"botToken": "token-of-slack"})
	post := connect("smtp", object{"host": "mail.example.com", "port": 25, "tls": "none", "from": "shop@example.com"})
	schema := object{"type": "object", "properties": object{"n": object{"type": "integer"}}, "required": []any{"n"}}
	nodes := []any{
		node("ask", "ai-prompt", object{"connectionId": model, "model": "gpt", "prompt": "say {{inputData.subject}}", "responseSchema": schema, "mcpConnectionIds": []any{tools}}),
		node("use", "mcp-tool", object{"connectionId": tools, "tool": "look", "arguments": object{"q": 1}}),
		node("tell", "send-slack", object{"connectionId": slack, "channel": "#general", "text": "hi"}),
		node("mail", "send-email", object{"connectionId": post, "to": "ada@example.org", "subject": "Grüße", "text": "Hello", "html": "<b>Hello</b>"}),
		node("get", "http-request", object{"method": "POST", "url": "https://api.example.com/x", "multipart": []any{object{"name": "n", "value": "1"}}}, "retry", object{"maxAttempts": 3}),
		node("all", "merge", object{}),
	}
	edges := []any{}
	for _, from := range []string{"ask", "use", "tell", "mail", "get"} {
		edges = append(edges, edge(from, "all"))
	}
	all := r.make("all", object{"nodes": nodes, "edges": edges})
	each := r.make("each", object{"nodes": []any{node("loop", "for-each", object{"items": "1..5", "concurrency": 5, "nodes": nodes[:5]})}})
	mailbox := r.tell("blueprintTriggers.create", object{"blueprintId": all, "triggerType": "email", "config": object{}})
	triggers := []string{at(mailbox, "id").(string), r.trigger(each, "scheduled", object{"cron": "0 */6 * * *"}), r.trigger(all, "event", object{"event": "execution.failed"})}
	r.call(http.MethodPut, "/sandbox/rules", `{"rules": [{"match": {"host": "api.example.com"}, "times": 7, "answer": {"status": 503}}]}`)
	r.tell("blueprint.execute", object{"id": all})
	for _, subject := range []string{"first", "second"} {
		message := strings.ReplaceAll(strings.Replace(letter, "<one@", "<"+subject+"@", 1), "\n", "\r\n")
		if err := smtp.SendMail(smtpAddr, nil, "ada@example.org", []string{at(mailbox, "config.address").(string)}, []byte(message)); err != nil {
			r.t.Fatal(err)
		}
		r.look(triggers)
	}
	for _, step := range []string{"10s", "1h", "2d"} {
		r.call(http.MethodPost, "/clock/advance", `{"by": "`+step+`"}`)
		r.look(triggers)
		r.call(http.MethodGet, "/sandbox/calls", "")
	}
}

// TestSeededBox: what goes to made-up services, what they answer, and mail that
// comes, is the same from one server to the next, byte for byte.
func TestSeededBox(t *testing.T) {
	first := sameEachTime(t, 90, func() []string {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		free.Close()
		p := startServer(t, "--ephemeral", "--seed-ids", "7", "--clock", "virtual=2030-05-01T12:00:00Z", "--sandbox", "--smtp-addr", free.Addr().String())
		r := &recorded{process: p}
		r.playInABox(free.Addr().String())
		p.stop()
		return r.out
	})
	for _, kind := range []string{"ai-prompt", "mcp-tool", "send-slack", "send-email", "http-request"} {
		if !strings.Contains(strings.Join(first, "\n"), `"nodeType":"`+kind+`"`) {
			t.Errorf("nothing went out from %s", kind)
		}
	}
}

// TestSeededFirstKey: the key and the link that a first start shows follow from
// the seed too.
func TestSeededFirstKey(t *testing.T) {
	known := map[string]int64{}
	for _, seed := range []int64{1, 2, 1, 2, -1} {
		s := newService(t, atNoon, func(o *server.Options) { o.APIKey, o.SeedIDs = "", &seed })
		shown := s.Bootstrap.APIKey + " " + s.Bootstrap.Setup
		if was, ok := known[shown]; ok && was != seed || !strings.HasPrefix(shown, "bpd_") {
			t.Errorf("seed %d shows %s, as seed %d", seed, shown, was)
		}
		known[shown] = seed
		(person{service: s, authorization: "Bearer " + s.Bootstrap.APIKey}).ok(t, "apiKey.list", nil)
	}
	if len(known) != 3 {
		t.Errorf("three seeds show %d keys", len(known))
	}
}
