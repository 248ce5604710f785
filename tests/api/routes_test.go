package api

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"blueprintd/tests/servertest"
)

// TestTrailingSlash calls the addresses of triggers with and without a trailing slash: the
// responses are the same.
func TestTrailingSlash(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "T", node("t", "template", object{"text": "x"}))
	create := func(kind string, config object) string {
		return ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": config})
	}
	open, signed, slack, api := create("webhook", object{}), create("webhook", object{"secret": "s3cret"}), create("slack", object{"signingSecret": "s3cret"}), create("api", object{})
	nobody := servertest.Caller{Server: s}
	for _, c := range []struct {
		who    servertest.Caller
		path   string
		status int
	}{
		{nobody, "/webhooks/blueprint/" + open, 202},
		{nobody, "/webhooks/blueprint/" + strings.ToUpper(open), 202},
		{nobody, "/webhooks/blueprint/" + signed, 401},
		{nobody, "/webhooks/blueprint/" + id, 404},
		{nobody, "/webhooks/slack/" + slack, 401},
		{nobody, "/webhooks/slack/" + id, 404},
		{nobody, "/webhooks/blueprint", 404},
		{nobody, "/webhooks/x/y/z", 404},
		{nobody, "/v1/triggers/" + api + "/fire", 401},
		{ada, "/v1/triggers/" + api + "/fire", 202},
		{ada, "/v1/triggers/" + id + "/fire", 404},
	} {
		t.Run(caseName(fmt.Sprint(c.path, " ", c.status)), func(t *testing.T) {
			for _, slash := range []string{"", "/"} {
				if got := c.who.Send(t, "POST", c.path+slash, "{}"); got.Status != c.status {
					t.Errorf("%s: %d %s, want %d", c.path+slash, got.Status, got.Text, c.status)
				}
			}
		})
	}
}

// TestContentEncoding sends encoded bodies to every route.
func TestContentEncoding(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "T", node("t", "template", object{"text": "x"}))
	hook := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook"})
	api := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "api"})
	for _, c := range []struct{ method, path, part string }{
		{"POST", "/api/trpc/blueprint.create", `"code":"UNSUPPORTED_MEDIA_TYPE"`},
		{"GET", "/api/trpc/blueprint.list", `"code":"UNSUPPORTED_MEDIA_TYPE"`},
		{"POST", "/api/trpc/blueprint.create?batch=1", `"code":"UNSUPPORTED_MEDIA_TYPE"`},
		{"POST", "/webhooks/blueprint/" + hook, `"success":false`},
		{"POST", "/v1/triggers/" + api + "/fire", `"code":"UNSUPPORTED_MEDIA_TYPE"`},
		{"POST", "/mcp", `"code":"UNSUPPORTED_MEDIA_TYPE"`},
		{"POST", "/clock/advance", `"code":"UNSUPPORTED_MEDIA_TYPE"`},
		{"GET", "/files/x", `"code":"UNSUPPORTED_MEDIA_TYPE"`},
	} {
		t.Run(caseName(c.path), func(t *testing.T) {
			got := ada.Send(t, c.method, c.path, `{"json":{"title":"x"}}`, "Content-Encoding", "gzip")
			if got.Status != 415 || !strings.Contains(got.Text, c.part) {
				t.Errorf("%s %s: %d %s, want 415 and %q in it", c.method, c.path, got.Status, got.Text, c.part)
			}
		})
	}
	for _, path := range []string{"/healthz", "/readyz"} { // they read no body
		if got := ada.Send(t, "GET", path, "", "Content-Encoding", "br"); got.Status != 200 {
			t.Errorf("%s: %d %s, want 200", path, got.Status, got.Text)
		}
	}
	if got := ada.Send(t, "POST", "/webhooks/blueprint/"+hook, "{}", "Content-Encoding", "identity"); got.Status != 202 {
		t.Errorf("identity: %d %s, want 202", got.Status, got.Text)
	}
	if total := at(ada.OK(t, "blueprint.list", object{}), "pagination.total"); servertest.Encoded(t, total) != "1" {
		t.Errorf("%v blueprints, want 1", total)
	}
}

// TestCompressedAnswers reads large responses with gzip and without.
func TestCompressedAnswers(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada := s.NewUser(t, "ada")
	long := strings.Repeat("a long text ", 1000)
	id := ada.Blueprint(t, "T", node("t", "template", object{"text": long}))
	hook := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"respond": "wait"}})
	publishTool(t, ada, "Tool", object{"inputSchema": object{"description": long}}, node("t", "template", object{"text": "x"}))
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/trpc/node.types", ""},
		{"GET", "/openapi.json", ""},
		{"POST", "/webhooks/blueprint/" + hook, "{}"},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`},
	} {
		t.Run(caseName(c.path), func(t *testing.T) {
			headers := []string{"Accept", "application/json, text/event-stream", "Accept-Encoding"}
			plain := ada.Send(t, c.method, c.path, c.body, append(headers, "identity")...)
			packed := ada.Send(t, c.method, c.path, c.body, append(headers, "gzip")...)
			reader, err := gzip.NewReader(bytes.NewReader([]byte(packed.Text)))
			if err != nil {
				t.Fatalf("%v, %v", err, packed.Header)
			}
			text, err := io.ReadAll(reader)
			if err != nil || string(text) != plain.Text || plain.Status != packed.Status {
				t.Errorf("%v, %d and %d bytes, packed %d and %d bytes; want the same", err, plain.Status, len(plain.Text), packed.Status, len(text))
			}
			if encoding, vary := plain.Header.Get("Content-Encoding"), packed.Header.Get("Vary"); encoding != "" || vary == "" {
				t.Errorf("encoding %q of the plain one, Vary %q of the packed one; want none and one", encoding, vary)
			}
		})
	}
}
