package api

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/smtp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// noNames is a DNS without any name.
type noNames struct{}

func (noNames) missing(name string) error {
	return &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}
func (n noNames) LookupTXT(_ context.Context, name string) ([]string, error) {
	return nil, n.missing(name)
}
func (n noNames) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	return nil, n.missing(name)
}
func (n noNames) LookupIPAddr(_ context.Context, name string) ([]net.IPAddr, error) {
	return nil, n.missing(name)
}
func (n noNames) LookupAddr(_ context.Context, name string) ([]string, error) {
	return nil, n.missing(name)
}

func withMail(o *server.Options) {
	o.SMTPAddr, o.MailDomain, o.Resolver = "127.0.0.1:0", "flows.example.org", noNames{}
}

// mail sends a message by SMTP and returns the reply of the server.
func sendMail(t testing.TB, s *servertest.Server, to, message string) error {
	t.Helper()
	return smtp.SendMail(s.SMTPAddress(), nil, "ada@example.org", []string{to}, []byte(strings.ReplaceAll(message, "\n", "\r\n")))
}

// mailbox creates an email trigger and returns its id and address.
func mailbox(t testing.TB, p servertest.Caller, blueprintID string, config object) (id, address string) {
	t.Helper()
	made := p.OK(t, "blueprintTriggers.create", object{"blueprintId": blueprintID, "triggerType": "email", "config": config})
	return at(made, "id").(string), at(made, "config.address").(string)
}

// firings returns the ledger of a trigger, newest row first.
func firings(t testing.TB, p servertest.Caller, triggerID string) []any {
	t.Helper()
	return at(p.OK(t, "blueprintTriggers.history", object{"triggerId": triggerID}), "firings").([]any)
}

const letter = `Message-ID: <one@example.org>
From: =?utf-8?q?Ada_L=C3=B6we?= <Ada@Example.org>
To: "Flows, all" <x@flows.example.org>, ben@example.org
Subject: =?iso-8859-1?q?Gr=FC=DFe?=
Date: Mon, 2 Mar 2026 10:30:00 +0100
X-Twice: first
X-Twice: second
Authentication-Results: flows.example.org; dmarc=pass
Authentication-Results: mx.elsewhere.example; spf=pass
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
Content-Type: text/html; name="../p\age.html"
Content-Disposition: attachment; filename*=utf-8''%C3%BC%2F..%2Fpage.html
Content-Transfer-Encoding: base64

PHNjcmlwdD4=
--b--
`

// TestMail sends a mail and checks its run, its ledger row and its file.
func TestMail(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, withMail)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	id := ada.Blueprint(t, "letters", object{"id": "x", "type": "set", "title": "x", "config": object{"values": object{"said": "{{inputData.subject}}"}}})
	trigger, address := mailbox(t, ada, id, object{"address": "mine@example.org"})
	local, domain, _ := strings.Cut(address, "@")
	if domain != "flows.example.org" || len(local) < 26 || strings.Trim(local, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		t.Errorf("address %s, want flows.example.org, length at least 26 and nothing", address)
	}
	if err := sendMail(t, s, strings.ToUpper(address), letter); err != nil {
		t.Fatal(err)
	}
	row := firings(t, ada, trigger)[0]
	servertest.Shape(t, "firing", row, fmt.Sprintf(`{"id": "<any>", "triggerId": %q, "source": "email", "key": "<one@example.org>", "dueAt": null, "receivedAt": "<any>", "decision": "started", "reason": "a mail from Ada@Example.org", "executionId": "<any>"}`, trigger))
	run := at(row, "executionId").(string)
	ada.Await(t, run, blueprint.StatusCompleted)
	input := runInput(t, ada, run)
	servertest.Shape(t, "input", input, `{"messageId": "<one@example.org>", "from": {"address": "Ada@Example.org", "name": "Ada Löwe"},
		"to": [{"address": "x@flows.example.org", "name": "Flows, all"}, {"address": "ben@example.org", "name": ""}], "subject": "Grüße", "text": "Schön", "html": "<p>x</p>",
		"date": "2026-03-02T09:30:00.000Z", "headers": "<any>", "attachments": [{"id": "<any>", "filename": "page.html", "contentType": "text/html", "size": 8, "url": "<any>"}]}`)
	headers := at(input, "headers")
	servertest.Shape(t, "twice", at(headers, "x-twice"), `["first", "second"]`)
	servertest.Shape(t, "results", at(headers, "authentication-results"), `["flows.example.org; spf=none smtp.helo=localhost smtp.mailfrom=ada@example.org; dkim=none; dmarc=none header.from=example.org", "mx.elsewhere.example; spf=pass"]`)

	file := at(input, "attachments").([]any)[0]
	path, ours := strings.CutPrefix(at(file, "url").(string), s.Host)
	if !ours || path != "/files/"+at(file, "id").(string) {
		t.Errorf("url %v", at(file, "url"))
	}
	got := ada.Send(t, http.MethodGet, path, "")
	if got.Status != http.StatusOK || got.Text != "<script>" {
		t.Errorf("%d %q, want 200 and <script>", got.Status, got.Text)
	}
	policy, _, _ := strings.Cut(got.Header.Get("Content-Security-Policy"), ";")
	headers = []string{got.Header.Get("Content-Type"), got.Header.Get("Content-Disposition"), got.Header.Get("X-Content-Type-Options"), policy}
	if diff := cmp.Diff([]string{"application/octet-stream", "attachment; filename=page.html", "nosniff", "sandbox"}, headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if head := ada.Send(t, http.MethodHead, path, ""); head.Status != http.StatusOK || head.Text != "" || head.Header.Get("Content-Length") != "8" || head.Header.Get("Content-Disposition") != got.Header.Get("Content-Disposition") {
		t.Errorf("HEAD: %d %q %v", head.Status, head.Text, head.Header)
	}
	for name, one := range map[string]struct {
		who    servertest.Caller
		path   string
		status int
	}{
		"nobody": {servertest.Caller{Server: s}, path, 401}, "a stranger": {ben, path, 404}, "an unknown file": {ada, "/files/" + strings.Repeat("a", 32), 404}, "no file": {ada, "/files/..%2Fx", 404},
	} {
		t.Run(name, func(t *testing.T) {
			if got := one.who.Send(t, http.MethodGet, one.path, ""); got.Status != one.status {
				t.Errorf("%d %s, want %v", got.Status, got.Text, one.status)
			}
		})
	}

	if err := sendMail(t, s, address, letter); err != nil { // again: no new run
		t.Error(err)
	}
	servertest.Shape(t, "again", firings(t, ada, trigger)[0], `{"id": "<any>", "triggerId": "<any>", "source": "email", "key": "<one@example.org>", "dueAt": null, "receivedAt": "<any>", "decision": "duplicate", "reason": "<any>", "executionId": "`+run+`"}`)
	again := ada.OK(t, "blueprintTriggers.redeliver", object{"firingId": at(row, "id")})
	ada.Await(t, at(again, "executionId").(string), blueprint.StatusCompleted)
	second := at(runInput(t, ada, at(again, "executionId").(string)), "attachments").([]any)[0]
	if at(second, "id") == at(file, "id") {
		t.Error("a redelivery has files of its own")
	}
	if got := ada.Send(t, http.MethodGet, "/files/"+at(second, "id").(string), ""); got.Text != "<script>" {
		t.Errorf("%d %q, want <script>", got.Status, got.Text)
	}
}

// input returns the input of a run.
func runInput(t testing.TB, p servertest.Caller, run string) any {
	t.Helper()
	return at(at(p.Record(t, run), "steps").([]any)[0], "input")
}

// TestMailFilters checks that filtered mail leaves a row, and that a refused sender gets an error.
func TestMailFilters(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, withMail, func(o *server.Options) { o.MaxMail = 3000 })
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "letters", object{"id": "x", "type": "set", "title": "x", "config": object{"values": object{}}})
	for _, test := range []struct {
		config           string
		from             string
		decision, reason string
	}{
		{`{"allowFrom": ["ADA@example.ORG"]}`, "Ada <ada@example.org>", "started", "a mail from"},
		{`{"allowFrom": ["@example.org"], "attachments": "ignore"}`, "ada@EXAMPLE.org", "started", "a mail from"},
		{`{"allowFrom": ["@ample.org"]}`, "ada@example.org", "skipped", "allowFrom: ada@example.org is not on the list"},
		{`{"allowFrom": ["@example.org"]}`, "ada@sub.example.org", "skipped", "allowFrom"},
		{`{"allowFrom": ["ada@example.org"]}`, `"ada@example.org" <eve@example.com>`, "skipped", "allowFrom: eve@example.com"},
		{`{"allowFrom": ["ada@example.org"]}`, "ada@example.org, eve@example.com", "skipped", "allowFrom: eve@example.com"},
		{`{"allowFrom": ["ada@example.org"]}`, "ada@example.org\nFrom: eve@example.com", "skipped", "allowFrom: eve@example.com"},
		{`{"allowFrom": []}`, "ada@example.org", "skipped", "allowFrom"},
		{`{"requireAuth": true}`, "ada@example.org", "skipped", "requireAuth"},
		{`{"requireAuth": false}`, "ada@example.org", "started", ""},
	} {
		t.Run(test.config+" "+test.from, func(t *testing.T) {
			trigger, address := mailbox(t, ada, id, servertest.Decoded(t, test.config).(object))
			if err := sendMail(t, s, address, "From: "+test.from+"\n\nhello\n"); err != nil {
				t.Errorf("%+v: %v", test, err)
				return
			}
			row := firings(t, ada, trigger)[0]
			if reason := at(row, "reason").(string); at(row, "decision") != test.decision || !strings.HasPrefix(reason, test.reason) {
				t.Errorf("%+v: %v %s, want %v and %q at the start", test, at(row, "decision"), reason, test.decision, test.reason)
			}
		})
	}
	trigger, address := mailbox(t, ada, id, object{})
	changed := ada.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "isActive": false, "config": object{"address": "x@example.org", "attachments": "ignore"}})
	if at(changed, "config.address") != address {
		t.Errorf("%v, want config.address %v", changed, address)
	}
	if err := sendMail(t, s, address, "\nhello\n"); err == nil || !strings.HasPrefix(err.Error(), "550") {
		t.Errorf("an inactive trigger: %v, want an error and \"550\" at the start", err)
	}
	if row := firings(t, ada, trigger)[0]; at(row, "decision") != "refused" || at(row, "reason") != "the trigger is not active" {
		t.Errorf("%v, want decision refused and reason the trigger is not active", row)
	}
	nothing := func(what string) {
		t.Helper()
		row := firings(t, ada, trigger)[0]
		told := ada.Refused(t, blueprint.CodeBadRequest, "blueprintTriggers.redeliver", object{"firingId": at(row, "id")})
		if !strings.Contains(told, "it was not received: ask the sender to send it again") {
			t.Errorf("%s: %s, want \"it was not received: ask the sender to send it again\" in it", what, told)
		}
	}
	nothing("inactive")
	ada.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "isActive": true})
	nothing("inactive then")
	if err := sendMail(t, s, address, "\n"+strings.Repeat(strings.Repeat("x", 98)+"\n", 31)); err == nil || !strings.HasPrefix(err.Error(), "552") {
		t.Errorf("a mail that is too large: %v, want an error and \"552\" at the start", err)
	}
	row := firings(t, ada, trigger)[0]
	if at(row, "decision") != "refused" || at(row, "reason") != "the message is too large" {
		t.Errorf("%v, want decision refused and reason the message is too large", row)
	}
	nothing("too large")
	servertest.Shape(t, "too large", at(ada.OK(t, "blueprintTriggers.explain", object{"firingId": at(row, "id")}), "delivery.size"), "3102")
	ada.OK(t, "blueprintTriggers.delete", object{"triggerId": trigger})
	if err := sendMail(t, s, address, "\nhello\n"); err == nil || !strings.HasPrefix(err.Error(), "550") {
		t.Errorf("a deleted trigger: %v, want an error and \"550\" at the start", err)
	}
}

// TestMailFileIsSentOn: a run may send the files of its own mail, and no others.
func TestMailFileIsSentOn(t *testing.T) {
	t.Parallel()
	var got []string
	outside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		part, header, err := r.FormFile("f")
		if err != nil {
			t.Error(err)
			return
		}
		content, _ := io.ReadAll(part)
		got = append(got, header.Filename+"|"+header.Header.Get("Content-Type")+"|"+string(content))
	}))
	defer outside.Close()
	s := servertest.New(t, servertest.AtNoon, withMail, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	ada := s.NewUser(t, "ada")
	run := func(fileID, message string, wanted blueprint.Status) (input any, problem string) {
		id := ada.Blueprint(t, "letters", object{"id": "x", "type": "http-request", "title": "x", "config": object{
			"method": "POST", "url": outside.URL, "multipart": []any{object{"name": "f", "fileId": fileID}},
		}})
		trigger, address := mailbox(t, ada, id, object{})
		if err := sendMail(t, s, address, message); err != nil {
			t.Fatal(err)
		}
		execution := at(firings(t, ada, trigger)[0], "executionId").(string)
		record := ada.Await(t, execution, wanted)
		return runInput(t, ada, execution), servertest.Encoded(t, record)
	}
	first, _ := run("{{inputData.attachments[0].id}}", letter, blueprint.StatusCompleted)
	if len(got) != 1 || got[0] != "page.html|text/html|<script>" {
		t.Errorf("%q, want length 1 and page.html|text/html|<script>", got)
	}
	theirs := at(at(first, "attachments").([]any)[0], "id").(string)
	_, problem := run("{{inputData.subject}}", "Subject: "+theirs+"\n\n", blueprint.StatusFailed)
	if !strings.Contains(problem, "is not the id of a file that arrived with the delivery that started this run") || len(got) != 1 {
		t.Errorf("%s, %q; want \"is not the id of a file that arrived with the delivery that started this run\" in it and length 1", problem, got)
	}
}

// TestForgedMessageID: a mail with the Message-ID of another sender's mail does not block
// the latter.
func TestForgedMessageID(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, withMail)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "letters", object{"id": "x", "type": "set", "title": "x", "config": object{"values": object{}}})
	trigger, address := mailbox(t, ada, id, object{})
	for _, author := range []string{"eve", "ada", "ada", "eve"} {
		if err := sendMail(t, s, address, "Message-ID: <1@example.org>\nFrom: "+author+"@example.org\n\nHello\n"); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, row := range firings(t, ada, trigger) {
		key, _, _ := strings.Cut(at(row, "key").(string), ":")
		got = append(got, fmt.Sprint(at(row, "decision"), " ", key))
	}
	if want := "duplicate <1@example.org>, duplicate <1@example.org> sha256, started <1@example.org> sha256, started <1@example.org>"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %v", got, want)
	}
}
