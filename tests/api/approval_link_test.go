package api

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// An inbox is a service that keeps the texts which runs send to it.
type inbox struct {
	*httptest.Server
	mu    sync.Mutex
	texts []string
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	i := &inbox{}
	i.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		i.mu.Lock()
		defer i.mu.Unlock()
		i.texts = append(i.texts, string(body))
	}))
	t.Cleanup(i.Close)
	return i
}

// link returns the path of the only link of the newest text.
func (i *inbox) link(t *testing.T) string {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.texts) == 0 {
		t.Fatal("nothing was sent")
	}
	at := strings.Index(i.texts[len(i.texts)-1], "/answer/")
	if at < 0 {
		t.Fatalf("no link in %q", i.texts[len(i.texts)-1])
	}
	return i.texts[len(i.texts)-1][at:]
}

// notify is a node that sends the link of another one.
func (i *inbox) notify(id, question string) any {
	return node(id, "http-request", object{"method": "POST", "url": i.URL, "body": "Answer at {{nodes." + question + ".link}}"})
}

func allowLoopback(o *server.Options) {
	o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// press answers a link with the values of its form.
func press(t *testing.T, c servertest.Caller, path string, values url.Values) servertest.Reply {
	t.Helper()
	_, ticket := openForm(t, c, path)
	values.Set("_ticket", ticket)
	return sendForm(t, c, path, values)
}

// says checks the status and the text of a page.
func says(t *testing.T, page servertest.Reply, status int, text string) {
	t.Helper()
	if page.Status != status || !strings.Contains(html.UnescapeString(page.Text), text) {
		t.Errorf("the page: %d %s, want %d and %q", page.Status, page.Text, status, text)
	}
}

// TestApprovalLink sends a link before its question is asked, opens it as a mail scanner and a
// person do, and answers once.
func TestApprovalLink(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, allowLoopback)
	ada, stranger := s.NewUser(t, "ada"), servertest.Caller{Server: s}
	mail := newInbox(t)
	nodes := []any{
		node("text", "template", object{"text": "Answer at {{nodes.gate.link}}"}), node("notify", "http-request", object{"method": "POST", "url": mail.URL, "body": "{{input.text}}"}),
		node("rest", "wait", object{"durationMs": 60_000}),
		node("gate", "approval-gate", object{"prompt": "Pay <b>{{inputData.sum}}</b>?\n\nIt is for prints."}), node("after", "template", object{"text": "{{nodes.gate.output}}"}),
	}
	run := ada.Launch(t, ada.Blueprint(t, "Pay", nodes...), object{"sum": 90, "private": "of nobody's business"}, nodes...)
	s.Advance(t, "0s")
	link := mail.link(t)
	says(t, stranger.Send(t, http.MethodGet, link, ""), http.StatusOK, "Not asked yet")
	says(t, sendForm(t, stranger, link, url.Values{"_decision": {"approve"}}), http.StatusConflict, "Not asked yet")
	s.Advance(t, "2m")

	page, _ := openForm(t, stranger, link)
	says(t, page, http.StatusOK, "Pay <b>90</b>?")
	if strings.Contains(page.Text, "nobody's business") || strings.Contains(page.Text, "<b>") || strings.Contains(page.Text, run) {
		t.Errorf("the page shows more than the question: %s", page.Text)
	}
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
	} {
		t.Run(name, func(t *testing.T) {
			if got := page.Header.Get(name); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	if policy := page.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || !strings.Contains(policy, "form-action 'self'") {
		t.Errorf("the policy is %q", policy)
	}
	if head := stranger.Send(t, http.MethodHead, link, ""); head.Status != http.StatusOK || head.Text != "" {
		t.Errorf("HEAD: %d %q", head.Status, head.Text)
	}
	if put := stranger.Send(t, http.MethodPut, link, ""); put.Status != http.StatusMethodNotAllowed || put.Header.Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("PUT: %d %v", put.Status, put.Header)
	}
	for name, values := range map[string]url.Values{"without a ticket": {"_decision": {"approve"}}, "another ticket": {"_decision": {"approve"}, "_ticket": {"AAAA"}}} {
		t.Run(name, func(t *testing.T) {
			if got := sendForm(t, stranger, link, values); got.Status != http.StatusBadRequest {
				t.Errorf("%d %s", got.Status, got.Text)
			}
		})
	}
	says(t, press(t, stranger, link, url.Values{"comment": {"hm"}}), http.StatusBadRequest, "Choose Approve or Reject.")
	if record := ada.Record(t, run); record["status"] != "paused" {
		t.Fatalf("opening the link answered it: %s", servertest.Encoded(t, record))
	}

	says(t, press(t, stranger, link, url.Values{"_decision": {"approve"}, "comment": {"fine\r\nby me"}}), http.StatusOK, "Your answer: Approved.")
	s.Advance(t, "0s")
	record := ada.Record(t, run)
	want := servertest.Decoded(t, `{"approved": true, "comment": "fine\nby me"}`)
	if diff := cmp.Diff(want, at(record["steps"].([]any)[3], "output")); diff != "" || record["status"] != "completed" {
		t.Errorf("the output of the gate, in a run that is %v (-want +got):\n%s", record["status"], diff)
	}
	for _, again := range []servertest.Reply{stranger.Send(t, http.MethodGet, link, ""), sendForm(t, stranger, link, url.Values{"_decision": {"reject"}})} {
		says(t, again, http.StatusGone, "Already answered")
	}

	token := strings.TrimPrefix(link, "/answer/")
	entries := servertest.Encoded(t, at(ada.OK(t, "auditLog.list", object{"organizationId": organizationOf(t, ada, run)}), "entries"))
	has(t, "the audit log", entries, `"action":"execution.answerByLink"`, `"madeByNode":"text"`, `"via":"link"`, `"nodeId":"gate"`, `"link":"`, run)
	shown := servertest.Encoded(t, record)
	has(t, "the run", shown, "answered with the approval link ", "/answer/***")
	for name, text := range map[string]string{"the audit log": entries, "the run": shown, "the listing": servertest.Encoded(t, ada.OK(t, "execution.listRecentExecutions", nil))} {
		t.Run(name, func(t *testing.T) {
			if in := servertest.Found(text, token); in != nil {
				t.Errorf("it shows the link in the forms %v: %s", in, text)
			}
		})
	}
}

// organizationOf returns the organization of a run.
func organizationOf(t *testing.T, c servertest.Caller, run string) any {
	t.Helper()
	for _, log := range at(c.OK(t, "execution.listRecentExecutions", nil), "logs").([]any) {
		if at(log, "executionData.executionId") == run {
			return at(log, "organizationId")
		}
	}
	t.Fatal("the run is not listed")
	return nil
}

// TestApprovalLinkTampering opens links that were not made for their question. All answers are
// the same.
func TestApprovalLinkTampering(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, allowLoopback)
	ada, stranger := s.NewUser(t, "ada"), servertest.Caller{Server: s}
	mail := newInbox(t)
	nodes := []any{mail.notify("notify", "gate"), node("gate", "approval-gate", object{"prompt": "Sure?"})}
	id := ada.Blueprint(t, "t", nodes...)
	ada.Launch(t, id, nil, nodes...)
	s.Advance(t, "0s")
	link := mail.link(t)
	want := stranger.Send(t, http.MethodGet, "/answer/x", "")
	says(t, want, http.StatusNotFound, "This link is not valid")
	token := strings.TrimPrefix(link, "/answer/")
	wrong := []string{"", token + "A", token + "=", token[:len(token)-1], token[1:], token + "/", token + "/x", strings.Repeat("A", 9000), "AAAA"}
	for i := range token {
		other := byte('A')
		if token[i] == other {
			other = 'B'
		}
		wrong = append(wrong, token[:i]+string(other)+token[i+1:])
	}
	for _, token := range wrong {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			got := stranger.Send(t, method, "/answer/"+token, "_decision=approve", "Content-Type", "application/x-www-form-urlencoded")
			if got.Status != want.Status || got.Text != want.Text || !cmp.Equal(got.Header["Content-Security-Policy"], want.Header["Content-Security-Policy"]) {
				t.Errorf("%s %.200q: %d %s", method, token, got.Status, got.Text)
			}
		}
	}
	openForm(t, stranger, link) // still open
}

// TestApprovalLinkOfAForm answers a human node through the form of its schema.
func TestApprovalLinkOfAForm(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, allowLoopback)
	ada, stranger := s.NewUser(t, "ada"), servertest.Caller{Server: s}
	mail := newInbox(t)
	for name, test := range map[string]struct {
		schema string
		wrong  url.Values
		issue  string
		values url.Values
		want   string
	}{
		"fields": {
			`{"type":"object","properties":{"n":{"type":"integer","minimum":1,"title":"Copies"},"paper":{"type":"string","enum":["matt","glossy"]},"more":{"type":"object","properties":{"x":{"type":"integer"}}}},"required":["n"]}`,
			url.Values{"n": {"0"}, "more": {`{"x":1}`}}, "Must be", url.Values{"n": {"3"}, "paper": {"matt"}, "more": {`{"x": 1}`}}, `{"n":3,"paper":"matt","more":{"x":1}}`,
		},
		"a number":          {`{"type":"integer","minimum":1}`, url.Values{"answer": {"no"}}, "Must be", url.Values{"answer": {"7"}}, `7`},
		"a list":            {`{"type":"array","items":{"type":"integer"}}`, url.Values{"answer": {`["x"]`}}, "Must be", url.Values{"answer": {"[1, 2]"}}, `[1,2]`},
		"a name of its own": {`{"type":"object","properties":{"_ticket":{"type":"string"}},"required":["_ticket"]}`, url.Values{"answer": {"{}"}}, "Required", url.Values{"answer": {`{"_ticket":"x"}`}}, `{"_ticket":"x"}`},
		"nothing":           {``, url.Values{"answer": {""}}, "Required", url.Values{"answer": {"x"}}, `"x"`},
		"no schema":         {``, nil, "", url.Values{"answer": {"by train"}}, `"by train"`},
	} {
		t.Run(name, func(t *testing.T) {
			config := object{"prompt": "How many?"}
			if test.schema != "" {
				config["schema"] = servertest.Decoded(t, test.schema)
			}
			nodes := []any{mail.notify("notify", "ask"), node("ask", "human", config)}
			run := ada.Launch(t, ada.Blueprint(t, "t", nodes...), nil, nodes...)
			s.Advance(t, "0s")
			link := mail.link(t)
			if test.wrong != nil {
				got := press(t, stranger, link, test.wrong)
				says(t, got, http.StatusBadRequest, test.issue)
				for _, sent := range test.wrong {
					says(t, got, http.StatusBadRequest, sent[0])
				}
			}
			says(t, press(t, stranger, link, test.values), http.StatusOK, "Thank you")
			s.Advance(t, "0s")
			record := ada.Record(t, run)
			if diff := cmp.Diff(servertest.Decoded(t, test.want), at(record["steps"].([]any)[1], "output")); diff != "" {
				t.Errorf("the output (-want +got):\n%s", diff)
			}
		})
	}
}

// TestApprovalLinkEnds are questions that a link does not answer any more.
func TestApprovalLinkEnds(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, allowLoopback)
	ada, stranger := s.NewUser(t, "ada"), servertest.Caller{Server: s}
	mail := newInbox(t)
	for name, test := range map[string]struct {
		config object
		end    func(run string)
		says   string
	}{
		"cancelled": {object{}, func(run string) { ada.OK(t, "execution.cancel", object{"executionId": run}) }, "No longer asked"},
		"answered elsewhere": {object{}, func(run string) {
			ada.OK(t, "execution.resume", object{"executionId": run, "input": object{"approved": false}})
		}, "Already answered"},
		"expired":           {object{"expiresMs": 60_000}, func(string) { s.Advance(t, "2m") }, "Too late"},
		"expired, approved": {object{"expiresMs": 60_000, "onExpire": "approve"}, func(string) { s.Advance(t, "2m") }, "Too late"},
		"the link alone":    {object{"linkExpiresMs": 60_000}, func(string) { s.Advance(t, "2m") }, "Too late"},
		"after a week":      {object{}, func(string) { s.Advance(t, "7d") }, "Too late"},
	} {
		t.Run(name, func(t *testing.T) {
			test.config["prompt"] = "Sure?"
			nodes := []any{mail.notify("notify", "gate"), node("gate", "approval-gate", test.config)}
			run := ada.Launch(t, ada.Blueprint(t, "t", nodes...), nil, nodes...)
			s.Advance(t, "59s")
			link := mail.link(t)
			_, ticket := openForm(t, stranger, link)
			test.end(run)
			s.Advance(t, "0s")
			says(t, stranger.Send(t, http.MethodGet, link, ""), http.StatusGone, test.says)
			says(t, sendForm(t, stranger, link, url.Values{"_ticket": {ticket}, "_decision": {"approve"}}), http.StatusGone, test.says)
		})
	}
}

// TestApprovalLinkInItems sends a link for each item of a for-each node.
func TestApprovalLinkInItems(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, allowLoopback)
	ada, stranger := s.NewUser(t, "ada"), servertest.Caller{Server: s}
	mail := newInbox(t)
	each := node("each", "for-each", object{"items": []any{"a", "b"}, "concurrency": 2, "nodes": []any{
		mail.notify("notify", "gate"), node("gate", "approval-gate", object{"prompt": "Take {{item}}?"}), node("took", "template", object{"text": "{{item}} {{nodes.gate.output.approved}}"}),
	}})
	run := ada.Launch(t, ada.Blueprint(t, "t", each), nil, each)
	s.Advance(t, "0s")
	links := map[string]string{} // by question
	for _, text := range mail.texts {
		link := text[strings.Index(text, "/answer/"):]
		page, _ := openForm(t, stranger, link)
		for _, item := range []string{"a", "b"} {
			if strings.Contains(page.Text, "Take "+item+"?") {
				links[item] = link
			}
		}
	}
	if len(links) != 2 || links["a"] == links["b"] {
		t.Fatalf("the links: %v", links)
	}
	_, ticket := openForm(t, stranger, links["a"])
	if got := sendForm(t, stranger, links["b"], url.Values{"_ticket": {ticket}, "_decision": {"approve"}}); got.Status != http.StatusBadRequest {
		t.Errorf("the ticket of another link: %d %s", got.Status, got.Text)
	}
	says(t, press(t, stranger, links["b"], url.Values{"_decision": {"approve"}}), http.StatusOK, "Thank you")
	s.Advance(t, "0s")
	openForm(t, stranger, links["a"])
	says(t, press(t, stranger, links["a"], url.Values{"_decision": {"approve"}}), http.StatusOK, "Thank you")
	s.Advance(t, "0s")
	if record := ada.Record(t, run); record["status"] != "completed" {
		t.Errorf("in the end: %s", servertest.Encoded(t, record))
	}
}

// TestApprovalLinkOfAUser copies a link on the page of a run. It permits what its user may do
// when it is opened.
func TestApprovalLinkOfAUser(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	stranger := servertest.Caller{Server: s}
	person := setUpAda(t, s)
	nodes := []any{node("gate", "approval-gate", object{"prompt": "Sure?"}), node("next", "wait", object{"durationMs": 60_000})}
	run := s.Root.Launch(t, s.Root.Blueprint(t, "t", nodes...), nil, nodes...)
	s.Advance(t, "0s")
	made := person.OK(t, "execution.link", object{"executionId": run, "nodeId": "gate"})
	if until, err := time.Parse(time.RFC3339, at(made, "expiresAt").(string)); err != nil || !until.Equal(servertest.Noon.Add(7*24*time.Hour)) {
		t.Errorf("it expires at %v", at(made, "expiresAt"))
	}
	address, err := url.Parse(at(made, "url").(string))
	if err != nil {
		t.Fatal(err)
	}
	person.Refused(t, blueprint.CodeConflict, "is not waiting", "execution.link", object{"executionId": run, "nodeId": "next"})
	person.Refused(t, blueprint.CodeNotFound, "", "execution.link", object{"executionId": s.IDs.ExecutionID(servertest.Noon), "nodeId": "gate"})
	says(t, press(t, stranger, address.Path, url.Values{"_decision": {"reject"}}), http.StatusOK, "Thank you")
	entries := servertest.Encoded(t, at(s.Root.OK(t, "auditLog.list", object{"organizationId": organizationOf(t, s.Root, run)}), "entries"))
	has(t, "the audit log", entries, `"action":"execution.link"`, `"action":"execution.answerByLink"`, `"madeByUser":"`+s.Root.ID+`"`)
	if strings.Contains(entries, strings.TrimPrefix(address.Path, "/answer/")) {
		t.Errorf("the audit log has the link: %s", entries)
	}
}

// TestApprovalLinkOfAFormerUser removes a user who copied a link, and refuses links to questions
// that a user may answer without seeing them.
func TestApprovalLinkOfAFormerUser(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, stranger := setUpAda(t, s), servertest.Caller{Server: s}
	other := s.NewUser(t, "bo")
	path, err := s.Accounts.NewLink(t.Context(), other.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(path, "token=")
	bo := &browser{Server: s}
	bo.OK(t, "session.setup", object{"token": token, "email": "bo@example.org", "name": "Bo", "password": "another long password"})

	nodes := []any{node("gate", "approval-gate", object{"prompt": "Sure?"}), node("ask", "human", object{"prompt": "How many?"})}
	organization := s.Root.IDOf(t, "organization.create", object{"name": "Team"})
	id := s.Root.IDOf(t, "blueprint.create", object{"title": "t", "organization_id": organization, "blueprint_map": object{"nodes": nodes}})
	s.Root.OK(t, "collaborator.add", object{"blueprintId": id, "email": "bo@example.org", "role": "editor"})
	run := s.Root.Launch(t, id, nil, nodes...)
	s.Advance(t, "0s")
	made, err := url.Parse(at(bo.OK(t, "execution.link", object{"executionId": run, "nodeId": "gate"}), "url").(string))
	if err != nil {
		t.Fatal(err)
	}
	_, ticket := openForm(t, stranger, made.Path)
	for _, step := range []struct {
		name     string
		change   func()
		mayShare bool
	}{
		{"removed", func() { s.Root.OK(t, "collaborator.remove", object{"blueprintId": id, "userId": other.ID}) }, false},
		{"a member", func() {
			s.Root.OK(t, "organization.addMember", object{"organizationId": organization, "email": "bo@example.org", "role": "member"})
		}, true},
		{"a former member", func() {
			s.Root.OK(t, "organization.removeMember", object{"organizationId": organization, "userId": other.ID})
		}, false},
	} {
		step.change()
		again := bo.Call(t, "execution.link", object{"executionId": run, "nodeId": "gate"})
		if step.mayShare {
			openForm(t, stranger, made.Path)
			if again.Status != http.StatusOK {
				t.Errorf("%s: a new link: %d %s", step.name, again.Status, again.Text)
			}
			continue
		}
		says(t, stranger.Send(t, http.MethodGet, made.Path, ""), http.StatusNotFound, "This link is not valid")
		says(t, sendForm(t, stranger, made.Path, url.Values{"_ticket": {ticket}, "_decision": {"approve"}}), http.StatusNotFound, "This link is not valid")
		if again.Status != http.StatusForbidden && again.Status != http.StatusNotFound {
			t.Errorf("%s: a new link: %d %s", step.name, again.Status, again.Text)
		}
	}

	// The run of a user who may only start the blueprint shows its data to no user else.
	s.Root.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	private := other.Launch(t, id, nil, nodes...)
	s.Advance(t, "0s")
	bo.Refused(t, blueprint.CodeForbidden, "you may not share this question", "execution.link", object{"executionId": private, "nodeId": "gate"})
	s.Root.OK(t, "execution.resume", object{"executionId": private, "nodeId": "gate", "input": object{"approved": true}})
	s.Advance(t, "0s")
	ada.Refused(t, blueprint.CodeForbidden, "only the user who started the run may share", "execution.link", object{"executionId": private, "nodeId": "ask"})
	bo.OK(t, "execution.link", object{"executionId": private, "nodeId": "ask"})
}

// TestApprovalLinksAtOnce answers a link and the run itself concurrently: one answer counts.
func TestApprovalLinksAtOnce(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, allowLoopback)
	ada, stranger := s.NewUser(t, "ada"), servertest.Caller{Server: s}
	mail := newInbox(t)
	nodes := []any{mail.notify("notify", "gate"), node("gate", "approval-gate", object{"prompt": "Sure?"}), node("then", "wait", object{"durationMs": 1000})}
	run := ada.Launch(t, ada.Blueprint(t, "t", nodes...), nil, nodes...)
	s.Advance(t, "0s")
	link := mail.link(t)
	_, ticket := openForm(t, stranger, link)
	var taken [9]bool
	var all sync.WaitGroup
	for i := range taken {
		all.Go(func() {
			if i == 0 {
				taken[i] = ada.Call(t, "execution.resume", object{"executionId": run, "nodeId": "gate", "input": object{"approved": true}}).Status == http.StatusOK
				return
			}
			taken[i] = sendForm(t, stranger, link, url.Values{"_ticket": {ticket}, "_decision": {"approve"}}).Status == http.StatusOK
		})
	}
	all.Wait()
	count := 0
	for _, one := range taken {
		if one {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%d answers were taken: %v", count, taken)
	}
}

// TestApprovalLinkLimit sends more answers than the limit of a network.
func TestApprovalLinkLimit(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, allowLoopback)
	ada, stranger := s.NewUser(t, "ada"), servertest.Caller{Server: s}
	mail := newInbox(t)
	nodes := []any{mail.notify("notify", "ask"), node("ask", "human", object{"prompt": "How many?", "schema": object{"type": "integer"}})}
	ada.Launch(t, ada.Blueprint(t, "t", nodes...), nil, nodes...)
	s.Advance(t, "0s")
	link := mail.link(t)
	for i := range 11 {
		want := http.StatusBadRequest
		if i == 10 {
			want = http.StatusTooManyRequests
		}
		got := press(t, stranger, link, url.Values{"answer": {"x"}})
		if got.Status != want {
			t.Errorf("answer %d: %d %s", i, got.Status, got.Text)
		}
		says(t, got, want, `value="x"`)
		if i == 10 && got.Header.Get("Retry-After") != "60" {
			t.Errorf("Retry-After: %v", got.Header)
		}
	}
	s.Advance(t, "1m")
	says(t, press(t, stranger, link, url.Values{"answer": {"5"}}), http.StatusOK, "Thank you")
}

// TestApprovalLinkReferences are uses of links that validation reports.
func TestApprovalLinkReferences(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	gate := node("gate", "approval-gate", object{"prompt": "Sure?"})
	for name, test := range map[string]struct {
		nodes []any
		want  string
	}{
		"before":      {[]any{node("t", "template", object{"text": "{{nodes.gate.link}}"}), gate}, ""},
		"expression":  {[]any{node("t", "transform", object{"expression": "nodes.gate.link"}), gate}, ""},
		"after":       {[]any{gate, node("t", "template", object{"text": "{{nodes.gate.link}}"})}, "is answered before this node runs"},
		"no question": {[]any{node("t", "template", object{"text": "{{nodes.u.link}}"}), node("u", "template", object{"text": "x"})}, "only human and approval-gate nodes have a link"},
		"no node":     {[]any{node("t", "template", object{"text": "{{nodes.gat.link}}"}), gate}, "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			issues, err := json.Marshal(at(s.Root.OK(t, "blueprint.validate", object{"blueprint_map": object{"nodes": test.nodes}}), "issues"))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(issues); test.want == "" && got != "[]" || !strings.Contains(got, test.want) {
				t.Errorf("the issues: %s, want %q", got, test.want)
			}
		})
	}
}

// TestApprovalLinkAfterRejection rejects a link in an item of a for-each node with retry: the
// decision stands, and nothing asks again.
func TestApprovalLinkAfterRejection(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, allowLoopback)
	ada, stranger := s.NewUser(t, "ada"), servertest.Caller{Server: s}
	mail := newInbox(t)
	for name, inner := range map[string]func(body []any) []any{
		"an item": func(body []any) []any { return body },
		"an item of an item": func(body []any) []any {
			return []any{node("inner", "for-each", object{"items": []any{"x"}, "nodes": body})}
		},
	} {
		t.Run(name, func(t *testing.T) {
			body := []any{mail.notify("notify", "gate"), node("gate", "approval-gate", object{"prompt": "Take {{item}}?"}), node("took", "template", object{"text": "taken"})}
			each := node("each", "for-each", object{"items": []any{"a"}, "nodes": inner(body)})
			each["retry"] = object{"maxAttempts": 2, "delayMs": 1000}
			run := ada.Launch(t, ada.Blueprint(t, "t", each), nil, each)
			s.Advance(t, "0s")
			link := mail.link(t)
			says(t, press(t, stranger, link, url.Values{"_decision": {"reject"}}), http.StatusOK, "Thank you")
			s.Advance(t, "1h")
			says(t, stranger.Send(t, http.MethodGet, link, ""), http.StatusGone, "Already answered")
			if record := ada.Record(t, run); record["status"] != "failed" || len(mail.texts) == 0 {
				t.Errorf("after the rejection: %s", servertest.Encoded(t, record))
			}
		})
	}
}

// TestApprovalLinkOfABrokenQuestion opens the link of a node that fails before it asks.
func TestApprovalLinkOfABrokenQuestion(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, allowLoopback)
	ada, stranger := s.NewUser(t, "ada"), servertest.Caller{Server: s}
	mail := newInbox(t)
	nodes := []any{mail.notify("notify", "gate"), node("gate", "approval-gate", object{"prompt": "Pay {{inputData.sum}}?"})}
	run := ada.Launch(t, ada.Blueprint(t, "t", nodes...), nil, nodes...)
	s.Advance(t, "1m")
	if record := ada.Record(t, run); record["status"] != "failed" {
		t.Fatalf("the run: %s", servertest.Encoded(t, record))
	}
	says(t, stranger.Send(t, http.MethodGet, mail.link(t), ""), http.StatusGone, "No longer asked")
}

// TestApprovalLinkCopiedLate copies a link after those that nodes sent have expired.
func TestApprovalLinkCopiedLate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config object
		after  string
		until  time.Duration // from the question
	}{
		"by default":          {object{}, "8d", 15 * 24 * time.Hour},
		"with linkExpiresMs":  {object{"linkExpiresMs": 3_600_000}, "2h", 3 * time.Hour},
		"not beyond its time": {object{"linkExpiresMs": 3_600_000, "expiresMs": 9_000_000}, "2h", 150 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servertest.New(t, servertest.AtNoon)
			stranger, person := servertest.Caller{Server: s}, setUpAda(t, s)
			test.config["prompt"] = "Sure?"
			nodes := []any{node("gate", "approval-gate", test.config)}
			run := s.Root.Launch(t, s.Root.Blueprint(t, "t", nodes...), nil, nodes...)
			s.Advance(t, "0s")
			began := servertest.Noon
			s.Advance(t, test.after)
			made := person.OK(t, "execution.link", object{"executionId": run, "nodeId": "gate"})
			until, err := time.Parse(time.RFC3339, at(made, "expiresAt").(string))
			if late := until.Sub(began.Add(test.until)); err != nil || late < -time.Second || late > time.Second {
				t.Errorf("it expires at %v, %v; want %v", until, err, began.Add(test.until))
			}
			address, err := url.Parse(at(made, "url").(string))
			if err != nil {
				t.Fatal(err)
			}
			openForm(t, stranger, address.Path)
			s.Advance(t, test.until.String())
			says(t, stranger.Send(t, http.MethodGet, address.Path, ""), http.StatusGone, "Too late")
		})
	}
}

// TestApprovalLinkTooLong sends an answer beyond the limit.
func TestApprovalLinkTooLong(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, allowLoopback)
	ada, stranger := s.NewUser(t, "ada"), servertest.Caller{Server: s}
	mail := newInbox(t)
	nodes := []any{mail.notify("notify", "ask"), node("ask", "human", object{"prompt": "How?"})}
	ada.Launch(t, ada.Blueprint(t, "t", nodes...), nil, nodes...)
	s.Advance(t, "0s")
	link := mail.link(t)
	typed := strings.Repeat("ж & ", 1<<17) // in a form, more than is accepted
	long := press(t, stranger, link, url.Values{"answer": {typed}})
	says(t, long, http.StatusRequestEntityTooLarge, "The answer is too long.")
	says(t, long, http.StatusRequestEntityTooLarge, typed) // to be shortened
	says(t, press(t, stranger, link, url.Values{"answer": {strings.Repeat("x", 5<<20)}}), http.StatusRequestEntityTooLarge, "The answer is too long.")
	says(t, press(t, stranger, link, url.Values{"answer": {"short"}}), http.StatusOK, "Thank you")
}

// TestApprovalLinkTellsAnswersFromExpiry opens the links of questions that ended with and
// without an answer, where the output does not tell.
func TestApprovalLinkTellsAnswersFromExpiry(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, allowLoopback)
	ada, stranger := s.NewUser(t, "ada"), servertest.Caller{Server: s}
	expires := object{"prompt": "?", "expiresMs": 60_000}
	continues := object{"prompt": "?", "expiresMs": 60_000, "onExpire": "continue"}
	for name, test := range map[string]struct {
		kind   string
		config object
		answer any // nil waits for the expiry
		says   string
	}{
		"an answer that looks expired":     {"human", continues, object{"expired": true}, "Already answered"},
		"no answer, and the run continues": {"human", continues, nil, "Too late"},
		"no answer, and the run fails":     {"human", expires, nil, "Too late"},
		"a rejection":                      {"approval-gate", expires, object{"approved": false, "expired": true}, "Already answered"},
		"no decision, which rejects":       {"approval-gate", object{"prompt": "?", "expiresMs": 60_000, "onExpire": "reject"}, nil, "Too late"},
	} {
		t.Run(name, func(t *testing.T) {
			mail := newInbox(t)
			nodes := []any{mail.notify("notify", "gate"), node("gate", test.kind, test.config)}
			run := ada.Launch(t, ada.Blueprint(t, "t", nodes...), nil, nodes...)
			s.Advance(t, "0s")
			if test.answer == nil {
				s.Advance(t, "2m")
			} else {
				ada.OK(t, "execution.resume", object{"executionId": run, "input": test.answer})
				s.Advance(t, "0s")
			}
			says(t, stranger.Send(t, http.MethodGet, mail.link(t), ""), http.StatusGone, test.says)
		})
	}
}
