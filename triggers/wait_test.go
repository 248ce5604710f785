package triggers

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

func ended(status blueprint.Status, output any, failure *blueprint.RunError) *fakeRun {
	return &fakeRun{execution: &blueprint.Execution{ExecutionStatus: blueprint.ExecutionStatus{Status: status}, Output: output, Failure: failure}}
}

func TestWebhookWaits(t *testing.T) {
	respond := func(r *blueprint.Response) *fakeRun {
		run := ended(blueprint.StatusFailed, nil, nil) // whatever follows
		run.response = r
		return run
	}
	cases := []struct {
		name    string
		run     *fakeRun
		status  int
		body    string // "ids" = the 202 answer
		kind    string
		headers map[string]string
	}{
		{name: "output", run: ended(blueprint.StatusCompleted, map[string]any{"a": jsonNumber("1.0")}, nil), status: 200, body: `{"a":1.0}`},
		{name: "no output", run: ended(blueprint.StatusCompleted, nil, nil), status: 200, body: `null`},
		{name: "text output", run: ended(blueprint.StatusCompleted, "<b>", nil), status: 200, body: `"<b>"`},
		{name: "paused", run: ended(blueprint.StatusPaused, nil, nil), status: 202, body: "ids"},
		{name: "the server stops", run: ended(blueprint.StatusRunning, nil, nil), status: 202, body: "ids"},
		{name: "no record", run: &fakeRun{}, status: 202, body: "ids"},
		{name: "outlasts", run: &fakeRun{never: true}, status: 202, body: "ids"},
		{name: "failed", run: ended(blueprint.StatusFailed, nil, &blueprint.RunError{NodeID: "n", Message: "no luck", Code: "timeout"}), status: 500,
			body: `{"error":{"code":"timeout","message":"no luck","nodeId":"n"},"executionId":"E","firingId":"F","success":false}`},
		{name: "cancelled", run: ended(blueprint.StatusFailed, nil, &blueprint.RunError{Message: "cancelled"}), status: 500,
			body: `{"error":{"code":"INTERNAL_SERVER_ERROR","message":"cancelled"},"executionId":"E","firingId":"F","success":false}`},
		{name: "failed without a reason", run: ended(blueprint.StatusFailed, nil, nil), status: 500,
			body: `{"error":{"code":"INTERNAL_SERVER_ERROR","message":"the run failed"},"executionId":"E","firingId":"F","success":false}`},
		{name: "respond JSON", run: respond(&blueprint.Response{Status: 201, Body: map[string]any{"ok": true}}), status: 201, body: `{"ok":true}`},
		{name: "respond text", run: respond(&blueprint.Response{Body: "héllo <b>"}), status: 200, body: "héllo <b>", kind: "text/plain; charset=utf-8"},
		{name: "respond null", run: respond(&blueprint.Response{Status: 200}), status: 200, body: "null"},
		{name: "respond a page", run: respond(&blueprint.Response{Status: 200, Body: "<h1>", Headers: map[string]string{"content-type": "text/html"}}), status: 200, body: "<h1>", kind: "text/html"},
		{name: "respond a number", run: respond(&blueprint.Response{Status: 404, Body: jsonNumber("12345678901234567890")}), status: 404, body: "12345678901234567890"},
		{name: "respond nothing", run: respond(&blueprint.Response{Status: 204, Body: "x"}), status: 204, body: "", kind: "-"},
		{name: "respond not modified", run: respond(&blueprint.Response{Status: 304, Body: "x"}), status: 304, body: "", kind: "-"},
		{name: "respond elsewhere", run: respond(&blueprint.Response{Status: 302, Body: "", Headers: map[string]string{"Location": "https://example.org/"}}), status: 302, body: "",
			kind: "text/plain; charset=utf-8", headers: map[string]string{"Location": "https://example.org/"}},
		{name: "respond no status", run: respond(&blueprint.Response{Status: 100, Body: "x"}), status: 500},
		{name: "respond 600", run: respond(&blueprint.Response{Status: 600, Body: "x"}), status: 500},
		{name: "respond -1", run: respond(&blueprint.Response{Status: -1, Body: "x"}), status: 500},
		{name: "respond headers", run: respond(&blueprint.Response{Body: "x", Headers: map[string]string{
			"X-Mine": "1", "x-content-type-options": "none", "CONTENT-SECURITY-POLICY": "none", "Content-Security-Policy-Report-Only": "x", "Set-Cookie": "a=b", "connection": "close",
			"Keep-Alive": "1", "Transfer-Encoding": "chunked", "Content-Length": "1000", "Upgrade": "h2c", "Trailer": "X", "TE": "trailers", "Proxy-Authenticate": "x",
			"Strict-Transport-Security": "x", "Clear-Site-Data": "*", "Alt-Svc": "x", " Connection ": "close", "Trailer:X-Late": "1", "": "x", "a b": "1", "X-Ünder": "1",
			"x-inj": "a\r\nSet-Cookie: b", "Service-Worker-Allowed": "/", "Refresh": "1", "Access-Control-Allow-Origin": "*", "WWW-Authenticate": "Basic",
		}}), status: 200, body: "x", kind: "text/plain; charset=utf-8", headers: map[string]string{"X-Mine": "1", "X-Inj": "a\r\nSet-Cookie: b"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			m.result = func(*blueprint.StartRequest) *fakeRun { return c.run }
			id := m.trigger(blueprint.TriggerWebhook, map[string]any{"respond": "wait", "secret": "s"}, begin)
			patience := time.Minute
			if c.run.never {
				patience = time.Millisecond
			}
			s := newService(m, clock.NewVirtual(begin), func(o *Options) { o.SyncTimeout = patience })
			w := deliver(s, id, delivery{body: "{}", headers: []string{"X-Signature: " + hexMAC("s", "{}")}})
			row := m.lastRow(t)
			want := strings.NewReplacer(`"E"`, `"`+*row.ExecutionID+`"`, `"F"`, `"`+row.ID+`"`).Replace(c.body)
			switch {
			case c.body == "ids":
				object := answer(t, w)
				if w.Code != 202 || object["executionId"] != *row.ExecutionID || object["firingId"] != row.ID {
					t.Errorf("answer %d %v, want 202, executionId %v and firingId %v", w.Code, object, *row.ExecutionID, row.ID)
				}
			case c.status == 500 && c.body == "":
				checkError(t, w, blueprint.CodeInternal)
			case c.status == 500:
				got, _ := blueprint.Encode(answer(t, w))
				if w.Code != 500 || string(got) != want {
					t.Errorf("answer %d %s, want %s", w.Code, got, want)
				}
			case w.Code != c.status || w.Body.String() != want:
				t.Errorf("answer %d %q, want %d %q", w.Code, w.Body, c.status, want)
			}
			header := w.Header()
			if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Content-Security-Policy") != "sandbox" {
				t.Errorf("headers %v, want X-Content-Type-Options nosniff and Content-Security-Policy sandbox", header)
			}
			kind := c.kind
			if kind == "" {
				kind = "application/json"
			}
			if got := header.Get("Content-Type"); got != kind && kind != "-" || kind == "-" && got != "" {
				t.Errorf("content type %q, want %q", got, kind)
			}
			for name := range header {
				if name != "Content-Type" && name != "Content-Length" && name != "X-Content-Type-Options" && name != "Content-Security-Policy" && c.headers[name] != header.Get(name) {
					t.Errorf("header %s: %q", name, header.Get(name))
				}
			}
			for name, value := range c.headers {
				if header.Get(name) != value {
					t.Errorf("header %s: %q, want %q", name, header.Get(name), value)
				}
			}
			if m.patience[0] != atEnd {
				t.Errorf("patience %s, want %v", m.patience[0], atEnd)
			}
		})
	}
}

func TestWebhookCallerLeaves(t *testing.T) {
	m := newMemory()
	m.result = func(*blueprint.StartRequest) *fakeRun { return &fakeRun{never: true} }
	id := m.trigger(blueprint.TriggerWebhook, map[string]any{"respond": "wait"}, begin)
	s := newService(m, clock.NewVirtual(begin), func(o *Options) { o.SyncTimeout = time.Hour })
	gone, leave := context.WithCancel(context.Background())
	leave()
	r := httptest.NewRequestWithContext(gone, "POST", "/", strings.NewReader("{}"))
	r.SetPathValue("triggerId", id)
	s.Handler(blueprint.TriggerWebhook).ServeHTTP(httptest.NewRecorder(), r)
	if row := m.lastRow(t); row.Decision != blueprint.DecisionStarted || s.Started() != 1 {
		t.Errorf("row %+v, want Decision %v and Started 1", row, blueprint.DecisionStarted)
	}
}

func TestWaitIsAChoice(t *testing.T) {
	for _, respond := range []any{nil, "accept", "WAIT", true} {
		m := newMemory()
		m.result = func(*blueprint.StartRequest) *fakeRun { return &fakeRun{never: true} }
		id := m.trigger(blueprint.TriggerWebhook, map[string]any{"respond": respond}, begin)
		if w := deliver(newService(m, clock.NewVirtual(begin)), id, delivery{}); w.Code != 202 {
			t.Errorf("%v: %d, want 202", respond, w.Code)
		}
	}
}

// A sender that proved nothing learns of a failed run no more than its id.
func TestFailureTellsStrangersNothing(t *testing.T) {
	m := newMemory()
	m.result = func(*blueprint.StartRequest) *fakeRun {
		return &fakeRun{execution: &blueprint.Execution{ExecutionStatus: blueprint.ExecutionStatus{Status: blueprint.StatusFailed}, Failure: &blueprint.RunError{NodeID: "call", Message: "http://10.0.0.7/internal answered 500", Code: "http_status"}}}
	}
	id := m.trigger(blueprint.TriggerWebhook, map[string]any{"respond": "wait"}, begin)
	w := deliver(newService(m, clock.NewVirtual(begin)), id, delivery{body: "{}"})
	got, _ := blueprint.Encode(answer(t, w))
	want := `{"error":{"code":"INTERNAL_SERVER_ERROR","message":"the run failed"},"executionId":"` + *m.lastRow(t).ExecutionID + `","success":false}`
	if w.Code != 500 || string(got) != want {
		t.Errorf("answer %d %s, want %s", w.Code, got, want)
	}
}
