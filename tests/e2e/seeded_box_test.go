package e2e

import (
	"blueprintd/tests/process"
	"net"
	"net/http"
	"net/smtp"
	"strings"
	"testing"
)

// seededLetter is a mail with text, HTML and a file.
const seededLetter = `Message-ID: <SUBJECT@example.org>
From: =?utf-8?q?Ada_L=C3=B6we?= <Ada@Example.org>
To: "Flows, all" <x@flows.example.org>, ben@example.org
Subject: SUBJECT =?iso-8859-1?q?Gr=FC=DFe?=
Date: Wed, 1 May 2030 14:00:00 +0200
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Sch=F6n
--b
Content-Type: text/html

<p>x</p>
--b
Content-Type: text/html; name="page.html"
Content-Disposition: attachment; filename*=utf-8''%C3%BC.html
Content-Transfer-Encoding: base64

PHNjcmlwdD4=
--b--
`

// playInABox makes the same calls each time to a server with a sandbox.
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
		message := strings.ReplaceAll(strings.ReplaceAll(seededLetter, "SUBJECT", subject), "\n", "\r\n")
		if err := smtp.SendMail(smtpAddr, nil, "ada@example.org", []string{at(mailbox, "config.address").(string)}, []byte(message)); err != nil {
			r.T.Fatal(err)
		}
		r.look(triggers)
	}
	for _, step := range []string{"10s", "1h", "2d"} {
		r.call(http.MethodPost, "/clock/advance", `{"by": "`+step+`"}`)
		r.look(triggers)
		r.call(http.MethodGet, "/sandbox/calls", "")
	}
}

// TestSeededBox: requests to fake services, their responses, and received mail are the same
// on each server, byte for byte.
func TestSeededBox(t *testing.T) {
	first := sameEachTime(t, 90, func(t *testing.T, settings []string) []string {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		free.Close()
		p := process.ServeWith(t, settings, "--ephemeral", "--seed-ids", "7", "--clock", "virtual=2030-05-01T12:00:00Z", "--sandbox", "--smtp-addr", free.Addr().String())
		r := &recorded{Server: p}
		r.playInABox(free.Addr().String())
		p.Stop()
		return r.out
	})
	for _, kind := range []string{"ai-prompt", "mcp-tool", "send-slack", "send-email", "http-request"} {
		if !strings.Contains(strings.Join(first, "\n"), `"nodeType":"`+kind+`"`) {
			t.Errorf("nothing went out from %s, want %q in it", kind, `"nodeType":"`+kind+`"`)
		}
	}
}
