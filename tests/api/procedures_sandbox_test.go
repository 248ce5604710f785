package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"blueprintd/server"
	"blueprintd/server/sandbox"
	"blueprintd/tests/servertest"
)

// inABox starts a server with a sandbox.
func inABox(o *server.Options) {
	o.Sandbox, o.Resolver = &server.SandboxOptions{}, sandbox.NoNames{}
}

// rules installs rules.
func putRules(t testing.TB, p servertest.Caller, text string) {
	t.Helper()
	if answer := p.Send(t, http.MethodPut, "/sandbox/rules", text); answer.Status != http.StatusOK {
		t.Fatalf("%s: %d %s, want %v", text, answer.Status, answer.Text, http.StatusOK)
	}
}

// calls returns the outbound calls.
func sandboxCalls(t testing.TB, p servertest.Caller, query string) []any {
	t.Helper()
	answer := p.Send(t, http.MethodGet, "/sandbox/calls"+query, "")
	list, ok := at(answer.Value, "calls").([]any)
	if answer.Status != http.StatusOK || !ok {
		t.Fatalf("%d %s, want %v", answer.Status, answer.Text, http.StatusOK)
	}
	return list
}

// execute runs one node and returns the response.
func execute(t testing.TB, p servertest.Caller, nodes ...any) servertest.Reply {
	t.Helper()
	return p.Call(t, "blueprint.execute", object{"id": p.Blueprint(t, "in a box", nodes...)})
}

// TestFakes runs a node of each type that reaches the outside, with connections that look
// real.
func TestFakes(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, inABox)
	connection := func(kind string, config object) string {
		return s.Root.IDOf(t, "connection.create", object{"name": kind, "type": kind, "config": config})
	}
	const canary = "canary-of-the-box"
	openAI := connection("ai-provider", object{"provider": "openai", "apiKey": canary})
	anthropic := connection("ai-provider", object{"provider": "anthropic", "apiKey": canary})
	tools := connection("mcp-server", object{"url": "https://mcp.example.com/mcp", "auth": object{"type": "bearer", "token": canary}})
	slack := connection("slack", object{"botToken": canary})
	mailbox := func(port int, tls string) string {
		return connection("smtp", object{"host": "mail.example.com", "port": port, "username": "u", "password": canary, "tls": tls, "from": "Shop <shop@example.com>"})
	}
	starttls, first, none := mailbox(587, "starttls"), mailbox(4465, "tls"), connection("smtp", object{"host": "mail.example.com", "port": 25, "tls": "none", "from": "shop@example.com"})
	oauth := connection("oauth2", object{"flow": "client_credentials", "tokenUrl": "https://id.example.com/token", "clientId": "c", "clientSecret": canary, "hosts": []any{"api.example.com"}})
	key := connection("http", object{"auth": object{"type": "header", "name": "X-Secret", "value": canary}, "hosts": []any{"api.example.com"}})
	schema := object{"type": "object", "properties": object{"n": object{"type": "integer", "minimum": 3}, "w": object{"enum": []any{"a", "b"}}}, "required": []any{"n", "w"}}
	letter := func(id string) object {
		return object{"connectionId": id, "to": "ada@example.org", "subject": "Grüße", "text": "Hello.\n.dot"}
	}
	for _, test := range []struct {
		name, kind string
		config     object
		path, want string // of the output
	}{
		{"echo", "http-request", object{"url": "https://api.example.com/x?a=1", "method": "POST", "body": object{"n": 1}}, "body.body.n", "1"},
		{"echo of the method", "http-request", object{"url": "http://10.0.0.1/x"}, "body.method", `"GET"`},
		{"echo of the query", "http-request", object{"url": "https://api.example.com/x?a=1"}, "body.query.a", `"1"`},
		{"key", "http-request", object{"url": "https://api.example.com/x", "connectionId": key}, "body.headers.x-secret", `"***"`},
		{"oauth", "http-request", object{"url": "https://api.example.com/x", "connectionId": oauth}, "body.headers.authorization", `"***"`},
		{"openai", "ai-prompt", object{"connectionId": openAI, "model": "gpt", "prompt": "say hi"}, "text", `"The sandbox answers: say hi"`},
		{"openai by schema", "ai-prompt", object{"connectionId": openAI, "model": "gpt", "prompt": "say hi", "responseSchema": schema}, "json", `{"n":3,"w":"a"}`},
		{"anthropic", "ai-prompt", object{"connectionId": anthropic, "model": "claude", "prompt": "say hi"}, "text", `"The sandbox answers: say hi"`},
		{"anthropic by schema", "ai-prompt", object{"connectionId": anthropic, "model": "claude", "prompt": "say hi", "responseSchema": schema}, "json", `{"n":3,"w":"a"}`},
		{"with tools", "ai-prompt", object{"connectionId": openAI, "model": "gpt", "prompt": "x", "mcpConnectionIds": []any{tools}}, "text", `"The sandbox answers: x"`},
		{"mcp", "mcp-tool", object{"connectionId": tools, "tool": "any_tool_at_all", "arguments": object{"q": "x"}}, "", `{"arguments":{"q":"x"},"name":"any_tool_at_all"}`},
		{"slack", "send-slack", object{"connectionId": slack, "channel": "#general", "text": "hi"}, "", `{"channel":"C0GENERAL","ts":"1903867200.000001"}`},
		{"slack again", "send-slack", object{"connectionId": slack, "channel": "C0123456789", "text": "hi"}, "", `{"channel":"C0123456789","ts":"1903867200.000002"}`},
		{"mail with STARTTLS", "send-email", letter(starttls), "messageId", ""},
		{"mail with TLS", "send-email", letter(first), "messageId", ""},
		{"mail without", "send-email", letter(none), "messageId", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.Root.Send(t, http.MethodDelete, "/sandbox", "")
			answer := execute(t, s.Root, node("it", test.kind, test.config))
			output := at(answer.Payload(), "result.output")
			if test.path != "" {
				output = at(output, test.path)
			}
			if got := servertest.Encoded(t, output); test.want != "" && got != test.want || output == nil {
				t.Errorf("got %s, want %s: %s", got, test.want, answer.Text)
			}
			calls := sandboxCalls(t, s.Root, "?nodeType="+test.kind)
			if len(calls) == 0 {
				t.Fatal("no call is listed")
			}
			last := calls[len(calls)-1].(object)
			if last["nodeId"] != "it" || last["executionId"] != at(answer.Payload(), "executionId") || at(last, "response.status") == nil || last["at"] != "2030-05-01T12:00:00.000Z" {
				t.Errorf("listed is %s", servertest.Encoded(t, last))
			}
			if text := servertest.Encoded(t, calls); strings.Contains(text, canary) {
				t.Errorf("the list reveals a secret: %s, want no %q", text, canary)
			}
			if test.kind == "send-email" && (at(last, "request.method") != "MAIL" || at(last, "request.headers.subject") != "Grüße" || !strings.Contains(at(last, "request.body").(string), "Hello.\n.dot") || at(last, "request.headers.to") != "ada@example.org") {
				t.Errorf("the mail is %s", servertest.Encoded(t, last))
			}
		})
	}
	for _, id := range []string{openAI, anthropic, tools, slack, starttls, first, none, oauth, key} {
		if answer := s.Root.OK(t, "connection.test", object{"id": id}); at(answer, "ok") != true {
			t.Errorf("a connection does not work: %s, want ok true", servertest.Encoded(t, answer))
		}
	}
}

// TestSandboxCallShape checks that a call has every member of its shape, whatever was sent and
// answered.
func TestSandboxCallShape(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, inABox)
	get := node("it", "http-request", object{"url": "https://api.example.com/a"})
	for name, test := range map[string]struct {
		rules       string
		node        any
		body, reply string // JSON of the bodies
		closed      bool   // there is no response
	}{
		"no body":       {`{"rules":[{"match":{"host":"*"},"answer":{"status":204}}]}`, get, `""`, `""`, false},
		"JSON":          {`{"rules":[{"match":{"host":"*"},"answer":{"body":{"made":true}}}]}`, node("it", "http-request", object{"method": "POST", "url": "https://api.example.com/a", "body": object{"a": 1}}), `{"a":1}`, `{"made":true}`, false},
		"text":          {`{"rules":[{"match":{"host":"*"},"answer":{"body":"<made>"}}]}`, node("it", "http-request", object{"method": "POST", "url": "https://api.example.com/a", "body": "<a>"}), `"<a>"`, `"<made>"`, false},
		"closed":        {`{"rules":[{"match":{"host":"*"},"answer":{"close":true}}]}`, get, `""`, "", true},
		"no connection": {`{"rules":[{"match":{"host":"*"},"answer":{"error":"the cable is out"}}]}`, get, `""`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			putRules(t, s.Root, test.rules)
			execute(t, s.Root, test.node)
			calls := sandboxCalls(t, s.Root, "?limit=1")
			if len(calls) != 1 {
				t.Fatalf("the calls are %v, want one", calls)
			}
			last := calls[0].(object)
			for _, key := range []string{"at", "executionId", "nodeId", "nodeType", "request", "response"} {
				if _, is := last[key]; !is {
					t.Errorf("no %s in %s", key, servertest.Encoded(t, last))
				}
			}
			complete := func(key, body string) {
				part, _ := last[key].(object)
				if _, headers := part["headers"].(object); !headers || servertest.Encoded(t, part["body"]) != body {
					t.Errorf("%s is %s, want headers and the body %s", key, servertest.Encoded(t, part), body)
				}
			}
			complete("request", test.body)
			if !test.closed {
				complete("response", test.reply)
			} else if last["response"] != nil || last["error"] == nil {
				t.Errorf("the call is %s, want response null and an error", servertest.Encoded(t, last))
			}
		})
	}
}

// TestAuthenticationMethodsUsed checks that a method counts only when something was sent with it.
func TestAuthenticationMethodsUsed(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, inABox)
	bearer := s.Root.IDOf(t, "connection.create", object{"name": "h", "type": "http", "config": object{"auth": object{"type": "bearer", "token": "canary-canary-canary"}, "hosts": []any{"api.example.com"}}})
	post := s.Root.IDOf(t, "connection.create", object{"name": "m", "type": "smtp", "config": object{"host": "mail.example.com", "port": 587, "tls": "starttls", "username": "u", "password": "canary-canary-canary", "from": "shop@example.com"}})
	login := s.Root.IDOf(t, "connection.create", object{"name": "o", "type": "oauth2", "config": object{"flow": "client_credentials", "tokenUrl": "https://id.example.com/token", "clientId": "c", "clientSecret": "s", "scopes": []any{"a"}}})
	get := func(host string) any {
		return node("it", "http-request", object{"url": "https://" + host + "/", "connectionId": bearer})
	}
	letter := node("it", "send-email", object{"connectionId": post, "to": "ada@example.org", "subject": "s", "text": "t"})
	const none = `{"rules":[]}`
	for name, test := range map[string]struct {
		rules string
		node  any
		want  string
	}{
		"a request":                          {none, get("api.example.com"), `["bearer"]`},
		"a refused request":                  {`{"rules":[{"match":{"host":"*"},"answer":{"status":500}}]}`, get("api.example.com"), `["bearer"]`},
		"another host":                       {none, get("elsewhere.example.com"), `[]`},
		"an oauth2 connection without hosts": {none, node("it", "http-request", object{"url": "https://api.example.com/", "connectionId": login}), `["oauth2"]`},
		"no connection to the host":          {`{"rules":[{"match":{"host":"*"},"answer":{"error":"down"}}]}`, get("api.example.com"), `[]`},
		"another host after one of its own":  {`{"rules":[{"match":{"host":"api.example.com"},"answer":{"status":302,"headers":{"Location":"https://elsewhere.example.com/"}}}]}`, get("api.example.com"), `["bearer"]`},
		"a mail":                             {none, letter, `["basic"]`},
		"a refused mail":                     {`{"rules":[{"match":{"method":"MAIL"},"answer":{"status":554}}]}`, letter, `["basic"]`},
		"no connection to the mail server":   {`{"rules":[{"match":{"method":"MAIL"},"answer":{"error":"down"}}]}`, letter, `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			putRules(t, s.Root, test.rules)
			answer := execute(t, s.Root, test.node)
			log := s.Root.Log(t, at(answer.Payload(), "executionId").(string))
			if got := servertest.Encoded(t, at(log, "authenticationMethodsUsed")); got != test.want {
				t.Errorf("authenticationMethodsUsed %s, want %s\n%s", got, test.want, answer.Text)
			}
		})
	}
}

// TestSandboxRules responds to, breaks and delays outbound requests.
func TestSandboxRules(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, inABox)
	slack := s.Root.IDOf(t, "connection.create", object{"name": "s", "type": "slack", "config": object{"botToken": "xoxb-x"}})
	post := s.Root.IDOf(t, "connection.create", object{"name": "m", "type": "smtp", "config": object{"host": "mail.example.com", "port": 25, "tls": "none", "from": "shop@example.com"}})
	get := func(more ...any) any {
		return node("it", "http-request", object{"url": "https://api.example.com/a/b?c=d"}, more...)
	}
	letter := node("it", "send-email", object{"connectionId": post, "to": "ada@example.org", "subject": "s", "text": "t"})
	for _, test := range []struct {
		name, rules string
		node        any
		want        string // part of the response
	}{
		{"status and body", `{"rules":[{"match":{"host":"api.example.com"},"answer":{"status":201,"headers":{"X-A":"b"},"body":{"made":true}}}]}`, get(), `"made":true`},
		{"only the body", `{"rules":[{"match":{"host":"*.example.com"},"answer":{"body":"text"}}]}`, get(), `"body":"text"`},
		{"another host", `{"rules":[{"match":{"host":"example.com"},"answer":{"status":500}}]}`, get(), `"method":"GET"`},
		{"host and path", `{"rules":[{"match":{"host":"api.example.com","path":"/a/*","method":"get","nodeId":"it","nodeType":"http-request"},"answer":{"status":404}}]}`, get(), "answered 404"},
		{"by the query", `{"rules":[{"match":{"host":"*","query":{"c":"d*"}},"answer":{"status":404}}]}`, get(), "answered 404"},
		{"another query", `{"rules":[{"match":{"host":"*","query":{"c":"e"}},"answer":{"status":404}}]}`, get(), `"method":"GET"`},
		{"by the body", `{"rules":[{"match":{"body":{"text":"x"}},"answer":{"body":{"ok":false,"error":"is_archived"}}}]}`, node("it", "send-slack", object{"connectionId": slack, "channel": "C1", "text": "x"}), "is_archived"},
		{"mail by the body", `{"rules":[{"match":{"body":"t*"},"answer":{"status":554,"body":"no spam"}}]}`, letter, "554 no spam"},
		{"another path", `{"rules":[{"match":{"host":"api.example.com","path":"/b/*"},"answer":{"status":404}}]}`, get(), `"method":"GET"`},
		{"no connection", `{"rules":[{"match":{"host":"*"},"answer":{"error":"the cable is out"}}]}`, get(), "cannot connect to api.example.com: the cable is out"},
		{"cut", `{"rules":[{"match":{"host":"*"},"answer":{"close":true}}]}`, get(), "closed the connection before"},
		{"cut half way", `{"rules":[{"match":{"host":"*"},"answer":{"status":200,"body":{"a":"b"},"close":true}}]}`, get(), "closed the connection before"},
		{"late", `{"rules":[{"match":{"host":"*"},"answer":{"delayMs":600000}}]}`, get("timeoutMs", 50), "timeoutMs of 50"},
		{"late and then the fake", `{"rules":[{"match":{"host":"*"},"answer":{"delayMs":5}}]}`, get(), `"method":"GET"`},
		{"once, retried", `{"rules":[{"match":{"host":"*"},"times":1,"answer":{"status":503}}]}`, get("retry", object{"maxAttempts": 2, "delayMs": 1}), `"method":"GET"`},
		{"slack's own error", `{"rules":[{"match":{"nodeType":"send-slack"},"answer":{"status":200,"body":{"ok":false,"error":"is_archived"}}}]}`, node("it", "send-slack", object{"connectionId": slack, "channel": "C1", "text": "x"}), "is_archived"},
		{"mail refused", `{"rules":[{"match":{"host":"mail.example.com"},"answer":{"status":554,"body":"no spam"}}]}`, letter, "554 no spam"},
		{"mail cut", `{"rules":[{"match":{"host":"mail.example.com"},"answer":{"close":true}}]}`, letter, "may have been sent"},
		{"no mail server", `{"rules":[{"match":{"method":"MAIL"},"answer":{"error":"down"}}]}`, letter, "down"},
	} {
		t.Run(test.name, func(t *testing.T) {
			putRules(t, s.Root, test.rules)
			if answer := execute(t, s.Root, test.node); !strings.Contains(answer.Text, test.want) {
				t.Errorf("want %s, got %s", test.want, answer.Text)
			}
		})
	}
	for _, asks := range []any{get(), letter} {
		putRules(t, s.Root, `{"rules":[{"match":{"nodeId":"it"},"answer":{"pause":{"prompt":"Shall it?"}}}]}`)
		paused := execute(t, s.Root, asks).Payload()
		id, _ := at(paused, "executionId").(string)
		waiting := s.Root.Await(t, id, "paused")
		if at(waiting, "awaitingInput.prompt") != "Shall it?" || at(waiting, "awaitingInput.kind") != "human" {
			t.Fatalf("it waits for %s, want awaitingInput.prompt Shall it? and awaitingInput.kind human", servertest.Encoded(t, waiting))
		}
		s.Root.OK(t, "execution.resume", object{"executionId": id, "input": object{"yes": true}})
		if done := s.Root.Await(t, id, "completed"); !strings.Contains(servertest.Encoded(t, done), `"output":{"yes":true}`) {
			t.Errorf("it ended with %s, want \"output\":{\"yes\":true} in it", servertest.Encoded(t, done))
		}
	}
}

// TestRulesMeanTheTool: a rule for a node that calls a tool or sends a mail applies to
// that, not to the surrounding protocol.
func TestRulesMeanTheTool(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, inABox)
	tools := s.Root.IDOf(t, "connection.create", object{"name": "t", "type": "mcp-server", "config": object{"url": "https://mcp.example.com/mcp"}})
	call := node("it", "mcp-tool", object{"connectionId": tools, "tool": "x"})
	post := s.Root.IDOf(t, "connection.create", object{"name": "m", "type": "smtp", "config": object{"host": "mail.example.com", "port": 25, "tls": "none", "from": "shop@example.com"}})
	letter := node("it", "send-email", object{"connectionId": post, "to": "ada@example.org", "subject": "s", "text": "t"})
	openAI := s.Root.IDOf(t, "connection.create", object{"name": "o", "type": "ai-provider", "config": object{"provider": "openai", "apiKey": "k"}})
	anthropic := s.Root.IDOf(t, "connection.create", object{"name": "a", "type": "ai-provider", "config": object{"provider": "anthropic", "apiKey": "k"}})
	prompt := func(connection string) any {
		return node("it", "ai-prompt", object{"connectionId": connection, "model": "m", "prompt": "x", "mcpConnectionIds": []any{tools}})
	}
	for _, test := range []struct {
		rules string
		node  any
		test  string // the connection that is tested first
		want  []string
	}{
		{`{"match":{"nodeType":"mcp_tool"},"times":1,"answer":{"status":500}}`, call, tools, []string{"answered 500", `"name":"x"`}},
		{`{"match":{"host":"mcp.example.com"},"times":1,"answer":{"body":{"n":1}}}`, call, tools, []string{`"output":{"n":1}`, `"name":"x"`}},
		{`{"match":{"nodeType":"mcp-tool"},"answer":{"body":{"content":[{"type":"text","text":"no"}],"isError":true}}}`, call, "", []string{"tool_failed"}},
		{`{"match":{"nodeType":"mcp-tool"},"answer":{"body":{"jsonrpc":"2.0","id":4711,"result":{}}}}`, call, "", []string{"an unknown request id"}},
		{`{"match":{"nodeType":"mcp-tool","rpc":"initialize"},"times":1,"answer":{"status":403}}`, call, "", []string{"answered 403", `"name":"x"`}},
		{`{"match":{"nodeType":"ai-prompt"},"answer":{"text":"hi","usage":{"inputTokens":7}}}`, prompt(openAI), "", []string{`"text":"hi"`, `"inputTokens":7`}},
		{`{"match":{"nodeType":"ai-prompt"},"times":1,"answer":{"json":{"n":1}}}`, prompt(anthropic), anthropic, []string{`"text":"{\"n\":1}"`, "The sandbox answers"}},
		{`{"match":{"nodeType":"ai-prompt"},"answer":{"toolCalls":[{"name":"echo","arguments":{"a":1}}]}},{"match":{"nodeType":"ai-prompt"},"answer":{"text":"used"}}`, prompt(openAI), "", []string{`"text":"used"`}},
		{`{"match":{"nodeType":"ai-prompt"},"answer":{"toolCalls":[{"name":"echo"}]}},{"match":{"nodeType":"ai-prompt"},"answer":{"text":"used"}}`, prompt(anthropic), "", []string{`"text":"used"`}},
		{`{"match":{"nodeType":"send-email"},"times":1,"answer":{"status":554,"body":"no spam"}}`, letter, post, []string{"554 no spam", `"messageId"`}},
		{`{"match":{"host":"mail.example.com"},"times":1,"answer":{"status":451}}`, letter, post, []string{"451", `"messageId"`}},
	} {
		t.Run(test.rules, func(t *testing.T) {
			putRules(t, s.Root, `{"rules":[`+test.rules+`]}`)
			if test.test != "" {
				if tried := s.Root.OK(t, "connection.test", object{"id": test.test}); at(tried, "ok") != true {
					t.Errorf("the connection does not work: %s, want ok true", servertest.Encoded(t, tried))
				}
			}
			for _, want := range test.want {
				if answer := execute(t, s.Root, test.node); !strings.Contains(answer.Text, want) {
					t.Errorf("want %s, got %s", want, answer.Text)
				}
			}
			if used := servertest.Encoded(t, sandboxCalls(t, s.Root, "?nodeType=ai-prompt")); strings.Contains(test.rules, "toolCalls") && !strings.Contains(used, `"method":"tools/call"`) {
				t.Errorf("the tool was not called: %s", used)
			}
		})
	}
}

// TestBadRules: the error names the field, and nothing changes.
func TestBadRules(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, inABox)
	putRules(t, s.Root, `{"rules":[{"match":{"host":"kept"},"answer":{"status":418}}]}`)
	for _, test := range []struct{ rules, want string }{
		{`{}`, "rules: must be an array"},
		{`{"rules":[{}]}`, "rules[0].match: required; rules[0].answer: required"},
		{`{"rules":[{"match":{},"answer":{}}]}`, "rules[0].match: must not be empty"},
		{`{"rules":[{"match":{"hots":"x"},"answer":{"status":200}}]}`, "rules[0].match.hots: unknown key"},
		{`{"rules":[{"match":{"host":5},"answer":{"status":200}}]}`, "rules[0].match.host: must be a string"},
		{`{"rules":[{"match":{"host":"a"},"answer":{"status":200}},{"match":{"host":"x"},"times":0,"answer":{"status":"200"}}]}`, "rules[1].times: must be a whole number from 1; rules[1].answer.status: must be a status"},
		{`{"rules":[{"match":{"procedure":"x*","host":"y"},"answer":{"status":503}}]}`, "rules[0].match.host: cannot be used together with procedure"},
		{`{"rules":[{"match":{"procedure":"x*"},"answer":{"status":502}}]}`, "rules[0].answer.status: must be a status of procedures"},
		{`{"rules":[{"match":{"procedure":"x*"},"answer":{"pause":"p"}}]}`, "rules[0].answer.pause: is only for outbound requests"},
		{`{"rules":[{"match":{"host":"x"},"answer":{"pause":{}}}]}`, "rules[0].answer.pause.prompt: required"},
		{`{"rules":[{"match":{"host":"x"},"answer":{"error":"e","status":200}}]}`, "rules[0].answer.error: must be the only member"},
		{`{"rules":[{"match":{"host":"x"},"answer":{"status":200,"headers":{"a b":"c","d":"e\nf"}}}]}`, "rules[0].answer.headers"},
		{`{"rules":[{"match":{"route":"nowhere"},"answer":{"status":500}}]}`, "rules[0].match.route: must be one of webhooks, v1, mcp"},
		{`{"rules":[{"match":{"nodeType":"mcp-tol"},"answer":{"status":500}}]}`, `rules[0].match.nodeType: there is no node type of this name; did you mean "mcp-tool"?`},
		{`{"rules":[{"match":{"procedure":"blueprint.crate"},"answer":{"status":503}}]}`, `rules[0].match.procedure: there is no procedure of this name; did you mean "blueprint.create"?`},
		{`{"rules":[{"match":{"host":"https://a.example"},"answer":{"status":503}}]}`, "rules[0].match.host: must be only a host"},
		{`{"rules":[{"match":{"nodeType":"send_email"},"answer":{"status":250}}]}`, "rules[0].answer.status: must be from 400 to 599 for a mail"},
		{`{"rules":[{"match":{"procedure":"blueprint.list"},"answer":{"status":204}}]}`, "rules[0].answer.status: must be a status of procedures"},
		{`{"rules":[{"match":{"procedure":"execution.subscribe"},"answer":{"body":1}}]}`, "rules[0].answer.body: cannot be used for a subscription"},
		{`{"rules":[{"match":{"host":"x"},"answer":{"status":429,"whole":true}},{"match":{"procedure":"blueprint.list"},"answer":{"body":1,"whole":true}},{"match":{"procedure":"blueprint.list"},"answer":{"status":429,"close":true,"whole":true}}]}`,
			"rules[0].answer.whole: requires a procedure and a status from 400, without close: it refuses the whole batch; rules[1].answer.whole: requires a procedure and a status from 400, without close: it refuses the whole batch; rules[2].answer.whole"},
		{`[`, "JSON"},
	} {
		t.Run(test.want, func(t *testing.T) {
			answer := s.Root.Send(t, http.MethodPut, "/sandbox/rules", test.rules)
			if message, _ := at(answer.Value, "error.message").(string); answer.Status != http.StatusBadRequest || !strings.Contains(message, test.want) {
				t.Errorf("%s: %d %s, want %v and %q in it", test.rules, answer.Status, answer.Text, http.StatusBadRequest, test.want)
			}
		})
	}
	shown := s.Root.Send(t, http.MethodGet, "/sandbox/rules", "")
	servertest.Shape(t, "kept", shown.Value, `{"rules": [{"match": {"host": "kept"}, "answer": {"status": 418}, "answered": 0}]}`)
}

// TestApprovalLinksOfTheSandbox reads the links that nodes sent, which the calls mask, and
// answers with one. Only the server's owner reads them, with a key that may answer.
func TestApprovalLinksOfTheSandbox(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, inABox, servertest.AtNoon)
	mailer := s.Root.IDOf(t, "connection.create", object{"name": "mail", "type": "smtp", "config": object{"host": "mail.example.com", "port": 25, "tls": "none", "from": "shop@example.com"}})
	execute(t, s.Root,
		node("post", "http-request", object{"method": "POST", "url": "https://api.example.com/", "body": object{"text": "<{{nodes.gate.link}}|Approve>"}}),
		node("mail", "send-email", object{"connectionId": mailer, "to": "a@example.com", "subject": "s", "text": "Answer at {{nodes.gate.link}}.", "html": "<a href=\"{{nodes.gate.link}}\">Answer</a>"}),
		node("plain", "http-request", object{"url": "https://api.example.com/"}),
		node("gate", "approval-gate", object{"prompt": "Pay?"}))
	reader := s.Root
	reader.Authorization = "Bearer " + at(s.Root.OK(t, "apiKey.create", object{"name": "reader", "scopes": []any{"read", "run"}}), "key").(string)
	for name, caller := range map[string]servertest.Caller{"a key without the scope admin": reader, "another user": s.NewUser(t, "ada")} {
		t.Run(name, func(t *testing.T) {
			if answer := caller.Send(t, http.MethodGet, "/sandbox/calls", ""); answer.Status != http.StatusOK || strings.Contains(answer.Text, "approvalLinks") {
				t.Errorf("%d %s, want %v and no links", answer.Status, answer.Text, http.StatusOK)
			}
		})
	}
	list := sandboxCalls(t, s.Root, "")
	if len(list) != 3 {
		t.Fatalf("the calls are %v, want three", list)
	}
	var found []string
	for i, want := range []int{1, 1, 0} {
		links, _ := at(list[i], "approvalLinks").([]any)
		if len(links) != want {
			t.Fatalf("the links of call %d are %v, want %d of them", i, links, want)
		}
		for _, link := range links {
			found = append(found, link.(string))
		}
	}
	for _, link := range found {
		if text := fmt.Sprint(at(list[0], "request"), at(list[1], "request")); strings.Contains(text, link) || !strings.Contains(text, "/answer/***") {
			t.Errorf("the requests are %s, want the links masked", text)
		}
	}
	path := found[1][strings.Index(found[1], "/answer/"):]
	says(t, press(t, servertest.Caller{Server: s}, path, url.Values{"_decision": {"approve"}}), http.StatusOK, "Your answer: Approved.")
	id := at(list[0], "executionId").(string)
	if e := s.Root.OK(t, "execution.getExecutionStatus", object{"executionId": id}); at(e, "status") != "completed" {
		t.Errorf("the run is %v, want completed", e)
	}
}

// TestTheSameBoxTwice: with a seed and a clock that stands still, the fakes return the same
// bytes again.
func TestTheSameBoxTwice(t *testing.T) {
	t.Parallel()
	story := func() string {
		seed := int64(7)
		s := servertest.New(t, inABox, servertest.AtNoon, func(o *server.Options) { o.SeedIDs = &seed })
		ask := s.Root.IDOf(t, "connection.create", object{"name": "a", "type": "ai-provider", "config": object{"provider": "openai", "apiKey": "k"}})
		tell := s.Root.IDOf(t, "connection.create", object{"name": "s", "type": "slack", "config": object{"botToken": "k"}})
		oauth := s.Root.IDOf(t, "connection.create", object{"name": "o", "type": "oauth2", "config": object{"flow": "client_credentials", "tokenUrl": "https://id.example.com/token", "clientId": "c", "clientSecret": "s", "hosts": []any{"api.example.com"}}})
		execute(t, s.Root, node("a", "ai-prompt", object{"connectionId": ask, "model": "m", "prompt": "p"}), node("b", "send-slack", object{"connectionId": tell, "channel": "#orders", "text": "{{nodes.a.output.text}}"}), node("c", "http-request", object{"url": "https://api.example.com/", "connectionId": oauth}))
		return s.Root.Send(t, http.MethodGet, "/sandbox/calls", "").Text
	}
	if a, b := story(), story(); a != b || !strings.Contains(a, "chatcmpl-") {
		t.Errorf("%s\n%s", a, b)
	}
}
