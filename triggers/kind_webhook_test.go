package triggers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
)

// delivery is a request to a webhook. Header lines are "name: value", and one
// name may stand in several.
type delivery struct {
	method  string // "" = POST
	path    string // "" = the trigger's
	headers []string
	body    string
	chunked bool // the length is not told
}

// deliver sends a delivery through a real mux and gives the answer.
func deliver(s *Service, id string, d delivery) *httptest.ResponseRecorder {
	if d.method == "" {
		d.method = http.MethodPost
	}
	if d.path == "" {
		d.path = "/webhooks/blueprint/" + id
	}
	var body io.Reader = strings.NewReader(d.body)
	if d.chunked {
		body = io.MultiReader(body)
	}
	r := httptest.NewRequest(d.method, d.path, body)
	for _, line := range d.headers {
		name, value, _ := strings.Cut(line, ":")
		name = http.CanonicalHeaderKey(name)
		r.Header[name] = append(r.Header[name], strings.TrimSpace(value))
	}
	w := httptest.NewRecorder()
	mux := http.NewServeMux()
	mux.Handle("/webhooks/blueprint/{triggerId}", s.Handler(blueprint.TriggerWebhook))
	mux.Handle("/webhooks/slack/{triggerId}", s.Handler(blueprint.TriggerSlack))
	mux.ServeHTTP(w, r)
	return w
}

// answer reads a JSON answer.
func answer(t testing.TB, w *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	value, err := blueprint.Decode(w.Body.Bytes())
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		t.Fatalf("answer %d %q is no JSON object: %v", w.Code, w.Body, err)
	}
	return object
}

// checkError checks the form of an error answer.
func checkError(t testing.TB, w *httptest.ResponseRecorder, code blueprint.Code) {
	t.Helper()
	object := answer(t, w)
	failure, _ := object["error"].(map[string]any)
	if message, _ := failure["message"].(string); message == "" {
		t.Errorf("answer %v, want a message", object)
	}
	if diff := cmp.Diff([]any{code.HTTPStatus(), false, string(code), 2}, []any{w.Code, object["success"], failure["code"], len(object)}); diff != "" {
		t.Errorf("status, success, code and number of fields (-want +got):\n%s\nanswer %v", diff, object)
	}
	if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("headers %v, want X-Content-Type-Options nosniff and Content-Type application/json", w.Header())
	}
}

func TestWebhookRefusals(t *testing.T) {
	const json = "Content-Type: application/json"
	big := `"` + strings.Repeat("x", 100) + `"`
	cases := []struct {
		name   string
		change func(*blueprint.Binding)
		config map[string]any
		delivery
		want   blueprint.Code
		reason string // part of the row's reason; "-" = no row
	}{
		{name: "GET", delivery: delivery{method: "GET"}, want: blueprint.CodeMethodNotSupported, reason: "-"},
		{name: "PUT", delivery: delivery{method: "PUT"}, want: blueprint.CodeMethodNotSupported, reason: "-"},
		{name: "malformed id", delivery: delivery{path: "/webhooks/blueprint/x"}, want: blueprint.CodeNotFound, reason: "-"},
		{name: "unknown id", delivery: delivery{path: "/webhooks/blueprint/" + creator}, want: blueprint.CodeNotFound, reason: "-"},
		{name: "inactive", change: func(b *blueprint.Binding) { b.Trigger.IsActive = false }, want: blueprint.CodeNotFound, reason: "not active"},
		{name: "access lost", change: func(b *blueprint.Binding) { b.CanManage = false }, want: blueprint.CodeNotFound, reason: "no longer manage"},
		{name: "another type", change: func(b *blueprint.Binding) { b.Trigger.Type = blueprint.TriggerAPI }, want: blueprint.CodeNotFound, reason: "type api"},
		{name: "too large", delivery: delivery{body: big}, want: blueprint.CodePayloadTooLarge, reason: "larger than 101"},
		{name: "too large, unknown length", delivery: delivery{body: big, chunked: true}, want: blueprint.CodePayloadTooLarge, reason: "larger"},
		{name: "too large before the content type", delivery: delivery{body: big, headers: []string{"Content-Type: text/plain"}}, want: blueprint.CodePayloadTooLarge, reason: "larger"},
		{name: "text", delivery: delivery{body: "{}", headers: []string{"Content-Type: text/plain"}}, want: blueprint.CodeUnsupportedMedia, reason: "must be JSON"},
		{name: "form", delivery: delivery{body: "a=1", headers: []string{"Content-Type: application/x-www-form-urlencoded"}}, want: blueprint.CodeUnsupportedMedia, reason: "must be JSON"},
		{name: "no type at all in the type", delivery: delivery{body: "{}", headers: []string{"Content-Type: ;"}}, want: blueprint.CodeUnsupportedMedia, reason: "must be JSON"},
		{name: "jsonp", delivery: delivery{body: "{}", headers: []string{"Content-Type: application/jsonp"}}, want: blueprint.CodeUnsupportedMedia, reason: "must be JSON"},
		{name: "two types", delivery: delivery{body: "{}", headers: []string{json, json}}, want: blueprint.CodeUnsupportedMedia, reason: "must be JSON"},
		{name: "gzip", delivery: delivery{body: "{}", headers: []string{json, "Content-Encoding: gzip"}}, want: blueprint.CodeUnsupportedMedia, reason: "uncompressed"},
		{name: "identity and gzip", delivery: delivery{body: "{}", headers: []string{"Content-Encoding: identity", "Content-Encoding: gzip"}}, want: blueprint.CodeUnsupportedMedia, reason: "uncompressed"},
		{name: "type before signature", config: map[string]any{"secret": "s"}, delivery: delivery{body: "{}", headers: []string{"Content-Type: text/plain"}}, want: blueprint.CodeUnsupportedMedia, reason: "JSON"},
		{name: "signature before JSON", config: map[string]any{"secret": "s"}, delivery: delivery{body: "{"}, want: blueprint.CodeUnauthorized, reason: "missing"},
		{name: "empty secret", config: map[string]any{"secret": ""}, delivery: delivery{body: "{}"}, want: blueprint.CodeUnauthorized, reason: "cannot be used"},
		{name: "blank secret", config: map[string]any{"secret": " \t"}, delivery: delivery{body: "{}"}, want: blueprint.CodeUnauthorized, reason: "cannot be used"},
		{name: "a number as secret", config: map[string]any{"secret": jsonNumber("1")}, delivery: delivery{body: "{}"}, want: blueprint.CodeUnauthorized, reason: "cannot be used"},
		{name: "cut off", delivery: delivery{body: `{"a":`}, want: blueprint.CodeBadRequest, reason: "ends unexpectedly"},
		{name: "no JSON", delivery: delivery{body: `hello`}, want: blueprint.CodeBadRequest, reason: "malformed"},
		{name: "two values", delivery: delivery{body: `{}{}`}, want: blueprint.CodeBadRequest, reason: "followed by more"},
		{name: "blank", delivery: delivery{body: " "}, want: blueprint.CodeBadRequest, reason: "unexpectedly"},
		{name: "invalid UTF-8", delivery: delivery{body: "\"\xff\""}, want: blueprint.CodeBadRequest, reason: "UTF-8"},
		{name: "UTF-16", delivery: delivery{body: "\xfe\xff\x00{\x00}"}, want: blueprint.CodeBadRequest, reason: "UTF-8"},
		{name: "deep", delivery: delivery{body: strings.Repeat("[", 50) + strings.Repeat("]", 50)}, want: blueprint.CodeBadRequest, reason: "deeper", config: map[string]any{"deep": true}},
		{name: "key twice", delivery: delivery{body: "{}", headers: []string{"Idempotency-Key: a", "Idempotency-Key: a"}}, want: blueprint.CodeBadRequest, reason: "more than once"},
		{name: "key too long", delivery: delivery{body: "{}", headers: []string{"X-GitHub-Delivery: " + strings.Repeat("k", 256)}}, want: blueprint.CodeBadRequest, reason: "longer than 255"},
		{name: "key of bytes", delivery: delivery{body: "{}", headers: []string{"webhook-id: \xff"}}, want: blueprint.CodeBadRequest, reason: "UTF-8"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(blueprint.TriggerWebhook, c.config, begin)
			if c.change != nil {
				m.change(id, c.change)
			}
			if c.config["deep"] == true {
				c.body = strings.Repeat("[", 129) + strings.Repeat("]", 129)
			}
			limit := int64(101)
			if len(c.body) > 200 {
				limit = 1000
			}
			s := newService(m, clock.NewVirtual(begin), func(o *Options) { o.MaxBody = limit })
			w := deliver(s, id, c.delivery)
			checkError(t, w, c.want)
			if (w.Header().Get("Allow") == "POST") != (c.want == blueprint.CodeMethodNotSupported) {
				t.Errorf("Allow %q, want %v", w.Header().Get("Allow"), c.want)
			}
			if len(m.runs()) != 0 {
				t.Error("a run was started")
			}
			rows := m.snapshot()
			if c.reason == "-" {
				if len(rows) != 0 {
					t.Errorf("rows %v, want none", rows)
				}
				return
			}
			if len(rows) != 1 || !strings.Contains(rows[0].Reason, c.reason) || rows[0].Key == "" {
				t.Fatalf("rows %+v, want one with a key and the reason %q", rows, c.reason)
			}
			want := rows[0]
			want.Decision, want.ExecutionID, want.Source, want.ReceivedAt = blueprint.DecisionRefused, nil, blueprint.SourceWebhook, blueprint.TimeOf(begin)
			if diff := cmp.Diff(want, rows[0]); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnavailableWebhooksAnswerAlike(t *testing.T) {
	m := newMemory()
	s := newService(m, clock.NewVirtual(begin))
	inactive := m.trigger(blueprint.TriggerWebhook, nil, begin)
	m.change(inactive, func(b *blueprint.Binding) { b.Trigger.IsActive = false })
	lost := m.trigger(blueprint.TriggerWebhook, nil, begin)
	m.change(lost, func(b *blueprint.Binding) { b.CanManage = false })
	want := deliver(s, creator, delivery{body: "{}"})
	for _, id := range []string{inactive, lost, m.trigger(blueprint.TriggerManual, nil, begin), "nonsense"} {
		if w := deliver(s, id, delivery{body: "{}"}); w.Code != want.Code || w.Body.String() != want.Body.String() {
			t.Errorf("%s: %d %s, want %v", id, w.Code, w.Body, want)
		}
	}
}

// unread fails the test when it is read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestWebhookUnknownTriggerIsNotRead(t *testing.T) {
	m := newMemory()
	s := newService(m, clock.NewVirtual(begin))
	for _, id := range []string{creator, m.trigger(blueprint.TriggerSlack, nil, begin)} {
		r := httptest.NewRequest("POST", "/webhooks/blueprint/"+id, unread{t})
		r.SetPathValue("triggerId", id)
		w := httptest.NewRecorder()
		s.Handler(blueprint.TriggerWebhook).ServeHTTP(w, r)
		checkError(t, w, blueprint.CodeNotFound)
	}
}

// What comes to a trigger that is off is kept for the day it is on again.
func TestWebhookInactiveTriggerKeepsDeliveries(t *testing.T) {
	m := newMemory()
	inactive := m.trigger(blueprint.TriggerWebhook, nil, begin)
	m.change(inactive, func(b *blueprint.Binding) { b.Trigger.IsActive = false })
	s := newService(m, clock.NewVirtual(begin))
	checkError(t, deliver(s, inactive, delivery{body: `{"n":1}`, headers: []string{"Authorization: Bearer x", "X-Signature: ab", "X-Kept: yes"}}), blueprint.CodeNotFound)
	d := m.rows[0].Delivery
	if string(d.Body) != `{"n":1}` || d.Size != 7 {
		t.Errorf("kept %q of %d bytes, want {\"n\":1} of 7", d.Body, d.Size)
	}
	got := []any{d.Header["x-kept"], d.Header["authorization"], d.Header["x-signature"], d.Proof["x-signature"]}
	if diff := cmp.Diff([]any{[]string{"yes"}, []string(nil), []string(nil), []string{"ab"}}, got); diff != "" {
		t.Errorf("x-kept, authorization, signature and its proof (-want +got):\n%s", diff)
	}
}

// The stored bodies of refused deliveries, which any client can send, are bounded.
func TestRefusedBodiesAreBounded(t *testing.T) {
	m := newMemory()
	s := newService(m, clock.NewVirtual(begin))
	id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": "s"}, begin)
	kept := 0
	for range 20 {
		deliver(s, id, delivery{body: `"` + strings.Repeat("x", 1<<20) + `"`})
	}
	for i := range m.rows {
		kept += len(m.rows[i].Delivery.Body)
		if d := m.rows[i].Delivery; d.Size != 1<<20+2 || d.IsComplete() != (d.Body != nil) {
			t.Errorf("row %d: size %d, kept %v", i, d.Size, d.IsComplete())
		}
	}
	if len(m.rows) != 20 || kept < 15<<20 || kept > byteBurst {
		t.Errorf("%d rows, %d bytes kept; want 20, at least %v and at most %v", len(m.rows), kept, 15<<20, byteBurst)
	}
}

func TestWebhookStarts(t *testing.T) {
	cases := []struct {
		name string
		delivery
		want string // inputData
	}{
		{"object", delivery{body: `{"b":1,"a":[1.10,1e400,12345678901234567890]}`}, `{"a":[1.10,1e400,12345678901234567890],"b":1}`},
		{"empty", delivery{}, `{}`},
		{"array", delivery{body: `[1]`}, `[1]`},
		{"string", delivery{body: `"x\u0000y"`}, `"x\u0000y"`},
		{"number", delivery{body: `7`}, `7`},
		{"null", delivery{body: ` null `}, `null`},
		{"byte order mark", delivery{body: "\ufeff{}"}, `{}`},
		{"mark only", delivery{body: "\ufeff"}, `{}`},
		{"depth", delivery{body: strings.Repeat("[", 128) + strings.Repeat("]", 128)}, strings.Repeat("[", 128) + strings.Repeat("]", 128)},
		{"repeated key", delivery{body: `{"a":1,"a":2}`}, `{"a":2}`},
		{"brackets in a string", delivery{body: `"` + strings.Repeat("[", 300) + `"`}, `"` + strings.Repeat("[", 300) + `"`},
		{"charset", delivery{body: "{}", headers: []string{"Content-Type: application/json; charset=utf-8"}}, `{}`},
		{"case", delivery{body: "{}", headers: []string{"Content-Type: Application/JSON"}}, `{}`},
		{"suffix", delivery{body: "{}", headers: []string{"Content-Type: application/cloudevents+json"}}, `{}`},
		{"bad parameter", delivery{body: "{}", headers: []string{"Content-Type: application/json; charset"}}, `{}`},
		{"empty type", delivery{body: "{}", headers: []string{"Content-Type:"}}, `{}`},
		{"identity", delivery{body: "{}", headers: []string{"Content-Encoding: Identity"}}, `{}`},
		{"chunked", delivery{body: `{"a":1}`, chunked: true}, `{"a":1}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": nil}, begin)
			s := newService(m, clock.NewVirtual(begin))
			w := deliver(s, id, c.delivery)
			row := m.lastRow(t)
			object := answer(t, w)
			want := map[string]any{"success": true, "executionId": *row.ExecutionID, "firingId": row.ID}
			if diff := cmp.Diff(want, object); w.Code != 202 || diff != "" {
				t.Errorf("status %d, want 202; answer (-want +got):\n%s", w.Code, diff)
			}
			if row.Decision != blueprint.DecisionStarted || row.Key != row.ID || row.Reason == "" {
				t.Errorf("row %+v, want Decision %v, Key %v and Reason not empty", row, blueprint.DecisionStarted, row.ID)
			}
			request := m.runs()[0]
			got, err := blueprint.Encode(request.InputData)
			if err != nil || string(got) != c.want {
				t.Errorf("inputData %s, want %s", got, c.want)
			}
			if !request.CanManage || request.Principal.UserID != creator || request.Definition == nil {
				t.Errorf("request %+v, want a definition that %s can manage", request, creator)
			}
			if request.Trigger.ID != id || request.Trigger.Type != blueprint.TriggerWebhook {
				t.Errorf("trigger %+v, want webhook %s", request.Trigger, id)
			}
			if m.patience[0] != soon {
				t.Errorf("patience %s, want %v", m.patience[0], soon)
			}
			if s.Started() != 1 {
				t.Errorf("started %d, want 1", s.Started())
			}
		})
	}
}

func TestWebhookBodyLimit(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	const limit = 1 << 20
	s := newService(m, clock.NewVirtual(begin), func(o *Options) { o.MaxBody = limit })
	for size, want := range map[int]int{limit - 1: 202, limit: 202, limit + 1: 413, 2 * limit: 413} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			body := `"` + strings.Repeat("x", size-2) + `"`
			for _, chunked := range []bool{false, true} {
				if w := deliver(s, id, delivery{body: body, chunked: chunked}); w.Code != want {
					t.Errorf("%d bytes, chunked %v: %d, want %d", size, chunked, w.Code, want)
				}
			}
		})
	}
}

func TestWebhookHeaders(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	s := newService(m, clock.NewVirtual(begin))
	deliver(s, id, delivery{body: "{}", headers: []string{
		"X-One: 1", "x-many: a", "X-Many: b", "Authorization: Bearer k", "Proxy-Authorization: p", "Cookie: c", "X-Webhook-Signature: s", "X-Signature: s",
		"X-Hub-Signature: sha1=s", "X-Hub-Signature-256: s", "Webhook-Signature: s", "Webhook-Id: id", "Webhook-Timestamp: 1", "X-Latin: caf\xe9", "Idempotency-Key: key",
	}})
	got := m.runs()[0].Trigger.Headers
	want := map[string]any{
		"x-one": "1", "x-many": "a, b", "webhook-id": "id", "webhook-timestamp": "1", "x-latin": "caf\uFFFD", "idempotency-key": "key", "host": "example.com",
	}
	if !blueprint.Equal(got, want) {
		t.Errorf("headers %v, want %v", got, want)
	}
}

func TestWebhookDuplicates(t *testing.T) {
	for _, respond := range []any{nil, "accept", "wait"} {
		for _, header := range []string{"Webhook-Id", "X-GitHub-Delivery", "Idempotency-Key"} {
			m := newMemory()
			id := m.trigger(blueprint.TriggerWebhook, map[string]any{"respond": respond}, begin)
			s := newService(m, clock.NewVirtual(begin))
			bad := deliver(s, id, delivery{body: "{", headers: []string{header + ": 17"}})
			checkError(t, bad, blueprint.CodeBadRequest)
			if row := m.lastRow(t); row.Key != "17" {
				t.Errorf("the row of a refused delivery has the key %q, want 17", row.Key)
			}
			deliver(s, id, delivery{body: `{"n":1}`, headers: []string{header + ": 17"}})
			first := m.lastRow(t)
			if first.Decision != blueprint.DecisionStarted || first.Key != "17" {
				t.Fatalf("a refused delivery used up its id: %+v, want Decision %v and Key 17", first, blueprint.DecisionStarted)
			}
			for range 3 {
				w := deliver(s, id, delivery{body: `{"n":2}`, headers: []string{header + ": 17"}})
				object := answer(t, w)
				if w.Code != 200 || object["success"] != true || object["executionId"] != *first.ExecutionID || object["firingId"] != first.ID {
					t.Errorf("answer %d %v, want the ids of %+v", w.Code, object, first)
				}
				row := m.lastRow(t)
				if row.Decision != blueprint.DecisionDuplicate || row.Key != "17" || *row.ExecutionID != *first.ExecutionID {
					t.Errorf("row %+v, want a duplicate of 17 with run %s", row, *first.ExecutionID)
				}
				if row.ID == first.ID || !strings.Contains(row.Reason, first.ID) {
					t.Errorf("row %s with reason %q, want another than %s, which it names", row.ID, row.Reason, first.ID)
				}
			}
			if other := m.trigger(blueprint.TriggerWebhook, nil, begin); deliver(s, other, delivery{headers: []string{header + ": 17"}}).Code != 202 {
				t.Error("the key of one trigger counts for another")
			}
			if m.patience[0] != atOnce || len(m.runs()) != 2 || s.Started() != 2 {
				t.Errorf("patience %v, %d runs, %d started; want %v, 2 and 2", m.patience, len(m.runs()), s.Started(), atOnce)
			}
		}
	}
}

func TestWebhookDeliveryIDOrder(t *testing.T) {
	cases := []struct {
		headers []string
		want    string
	}{
		{[]string{"Idempotency-Key: c", "X-GitHub-Delivery: b", "webhook-id: a"}, "a"},
		{[]string{"Idempotency-Key: c", "X-GitHub-Delivery: b"}, "b"},
		{[]string{"webhook-id:", "X-GitHub-Delivery:", "Idempotency-Key: c"}, "c"},
		{[]string{"webhook-id: " + strings.Repeat("é", 127)}, strings.Repeat("é", 127)},
		{[]string{"webhook-id:   spaces around  "}, "spaces around"},
	}
	for _, c := range cases {
		t.Run(strings.Join(c.headers, ", "), func(t *testing.T) {
			m := newMemory()
			id := m.trigger(blueprint.TriggerWebhook, nil, begin)
			deliver(newService(m, clock.NewVirtual(begin)), id, delivery{headers: c.headers})
			if got := m.lastRow(t); got.Key != c.want || got.Decision != blueprint.DecisionStarted {
				t.Errorf("%q: row %+v, want Key %v and Decision %v", c.headers, got, c.want, blueprint.DecisionStarted)
			}
		})
	}
}

func TestWebhookRunnerRefuses(t *testing.T) {
	cases := []struct {
		name    string
		err     error
		atStart bool
		want    blueprint.Code
		message string
		retry   string
	}{
		{"queue full", unavailable(2500 * time.Millisecond), true, blueprint.CodeUnavailable, "the queue is full", "3"},
		{"disk full", unavailable(0), false, blueprint.CodeUnavailable, "the queue is full", "1"},
		{"no nodes", blueprint.Errorf(blueprint.CodeBadRequest, "the blueprint has no nodes to execute"), true, blueprint.CodeBadRequest, "no nodes", ""},
		{"deleted in between", blueprint.Errorf(blueprint.CodeNotFound, "blueprint b not found"), false, blueprint.CodeNotFound, "no webhook here", ""},
		{"internal error", io.ErrUnexpectedEOF, true, blueprint.CodeInternal, "internal error", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": "s"}, begin)
			var log bytes.Buffer
			s := newService(m, clock.NewVirtual(begin), logTo(&log))
			if c.atStart {
				m.refuseStart = func(*blueprint.StartRequest) error { return c.err }
			} else {
				m.refuse = func(f *blueprint.Firing) error {
					if f.Decision == blueprint.DecisionStarted {
						return c.err
					}
					return nil
				}
			}
			w := deliver(s, id, delivery{body: "{}", headers: []string{"Idempotency-Key: k", "X-Signature: " + hexMAC("s", "{}")}})
			checkError(t, w, c.want)
			if !strings.Contains(w.Body.String(), c.message) || w.Header().Get("Retry-After") != c.retry {
				t.Errorf("answer %s, headers %v; want %q in it and Retry-After %v", w.Body, w.Header(), c.message, c.retry)
			}
			if row := m.lastRow(t); row.Decision != blueprint.DecisionRefused || row.ExecutionID != nil || row.Key != "k" || !strings.Contains(row.Reason, c.message) {
				t.Errorf("row %+v, want Decision %v, ExecutionID nil, Key k and %q in it", row, blueprint.DecisionRefused, c.message)
			}
			if (c.want == blueprint.CodeInternal) != strings.Contains(log.String(), "unexpected EOF") {
				t.Errorf("log %s, want %v", log.String(), c.want)
			}
			// It comes again once the trouble is over, and what has run before is known even during trouble.
			m.refuse, m.refuseStart = nil, nil
			if w := deliver(s, id, delivery{body: "{}", headers: []string{"Idempotency-Key: k", "X-Signature: " + hexMAC("s", "{}")}}); w.Code != 202 {
				t.Errorf("again: %d %s, want 202", w.Code, w.Body)
			}
			m.refuseStart = func(*blueprint.StartRequest) error { return c.err }
			if w := deliver(s, id, delivery{body: "{}", headers: []string{"Idempotency-Key: k", "X-Signature: " + hexMAC("s", "{}")}}); w.Code != 200 {
				t.Errorf("a third time: %d %s, want 200", w.Code, w.Body)
			}
			if s.Started() != 1 {
				t.Errorf("started %d, want 1", s.Started())
			}
		})
	}
}

func TestWebhookStoreUnavailable(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	s := newService(m, clock.NewVirtual(begin))
	m.readError = unavailable(time.Second)
	w := deliver(s, id, delivery{})
	checkError(t, w, blueprint.CodeUnavailable)
	if w.Header().Get("Retry-After") != "1" {
		t.Errorf("headers %v, want Retry-After 1", w.Header())
	}
	m.readError = nil
	m.refuse = func(*blueprint.Firing) error { return unavailable(time.Second) }
	checkError(t, deliver(s, id, delivery{body: "{"}), blueprint.CodeBadRequest) // though its row is lost
}

// broken is a body that ends with an error.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

type timeout struct{ error }

func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

func TestWebhookBodyEndsEarly(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	s := newService(m, clock.NewVirtual(begin))
	for _, c := range []struct {
		err  error
		want blueprint.Code
	}{{io.ErrUnexpectedEOF, blueprint.CodeClientClosed}, {timeout{io.ErrClosedPipe}, blueprint.CodeTimeout}} {
		t.Run(string(c.want), func(t *testing.T) {
			r := httptest.NewRequest("POST", "/", io.MultiReader(strings.NewReader(`{"a":`), broken{c.err}))
			r.SetPathValue("triggerId", strings.ToUpper(id))
			w := httptest.NewRecorder()
			s.Handler(blueprint.TriggerWebhook).ServeHTTP(w, r)
			checkError(t, w, c.want)
			if row := m.lastRow(t); row.Decision != blueprint.DecisionRefused {
				t.Errorf("row %+v, want Decision %v", row, blueprint.DecisionRefused)
			}
		})
	}
}

func TestRefusedDeliveriesDoNotFillTheLedger(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	s := newService(m, v)
	id, other := m.trigger(blueprint.TriggerWebhook, nil, begin), m.trigger(blueprint.TriggerWebhook, nil, begin)
	for range rowBurst + 500 {
		checkError(t, deliver(s, id, delivery{body: "{"}), blueprint.CodeBadRequest)
	}
	if rows := m.snapshot(); len(rows) != rowBurst {
		t.Fatalf("%d rows, want %v", len(rows), rowBurst)
	}
	deliver(s, other, delivery{body: "{"})
	deliver(s, id, delivery{body: "{}"})
	if rows := m.snapshot(); len(rows) != rowBurst+2 || rows[rowBurst].TriggerID != other || rows[rowBurst+1].Decision != blueprint.DecisionStarted {
		t.Fatalf("%d rows: others must not suffer", len(rows))
	}
	if err := v.Advance(t.Context(), begin.Add(countDelay)); err != nil {
		t.Fatal(err)
	}
	row := m.lastRow(t)
	if row.TriggerID != id || row.Decision != blueprint.DecisionRefused || !strings.HasPrefix(row.Reason, "500 more deliveries started no run") || !strings.Contains(row.Reason, "JSON ends unexpectedly") {
		t.Errorf("row %+v, want TriggerID %v, Decision %v, \"500 more deliveries started no run\" at the start and \"JSON ends unexpectedly\" in it", row, id, blueprint.DecisionRefused)
	}
	for range rowRate + 7 {
		deliver(s, id, delivery{body: "{"})
	}
	if rows := m.snapshot(); len(rows) != rowBurst+3+rowRate {
		t.Errorf("%d rows after a minute, want %v", len(rows), rowBurst+3+rowRate)
	}
	s.stopThrottle()
	if row := m.lastRow(t); !strings.HasPrefix(row.Reason, "7 more") {
		t.Errorf("the count was not kept at the end: %+v, want \"7 more\" at the start", row)
	}
	deliver(s, id, delivery{body: "{"})
	if err := v.Advance(t.Context(), begin.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	deliver(s, id, delivery{body: "{"})
	if rows := m.snapshot(); len(rows) != rowBurst+3+rowRate+1+1 {
		t.Errorf("%d rows at the end, want %v", len(rows), rowBurst+3+rowRate+1+1)
	}
}

func TestReasonsAreBounded(t *testing.T) {
	for _, text := range []string{strings.Repeat("é", 1000), strings.Repeat("x", 300+1), strings.Repeat("日", 100) + "x"} {
		got := shorten(text)
		if len(got) > 300 || !strings.HasSuffix(got, "…") || !strings.HasPrefix(text, strings.TrimSuffix(got, "…")) {
			t.Errorf("%d bytes: %q, want at most 300, \"…\" at the end and %q at the start", len(got), got, strings.TrimSuffix(got, "…"))
		}
	}
	if text := strings.Repeat("x", 300); shorten(text) != text {
		t.Error("a reason that fits was changed")
	}
}

func jsonNumber(text string) any { return json.Number(text) }

// A delivery is judged and run by the trigger as it is, whatever is known of it
// from before.
func TestDeliveryByWhatHolds(t *testing.T) {
	const old, present = "an old secret of this trigger", "the present secret of it"
	const body = `{"n": 1}`
	signed := func(secret string) []string {
		return []string{"X-Webhook-Signature: " + hexMAC(secret, body)}
	}
	guarded := func(secret string) map[string]any { return map[string]any{"secret": secret} }
	for _, test := range []struct {
		name    string
		config  map[string]any // of which it is known
		change  func(b *blueprint.Binding)
		headers []string
		full    bool // the runner takes nothing
		status  int
		version string // of the run
	}{
		{name: "nothing has changed", status: http.StatusAccepted, version: "1.0.0"},
		{name: "the blueprint", change: func(b *blueprint.Binding) {
			b.Definition = &blueprint.Definition{BlueprintID: "b", Version: "2.0.0"}
		}, status: http.StatusAccepted, version: "2.0.0"},
		{name: "switched off", change: func(b *blueprint.Binding) { b.Trigger.IsActive = false }, status: http.StatusNotFound},
		{name: "of another type", change: func(b *blueprint.Binding) { b.Trigger.Type = blueprint.TriggerManual }, status: http.StatusNotFound},
		{name: "a right", change: func(b *blueprint.Binding) { b.CanManage = false }, status: http.StatusNotFound},
		{name: "the secret, used", config: guarded(old), change: func(b *blueprint.Binding) { b.Trigger.Config = guarded(present) }, headers: signed(present), status: http.StatusAccepted, version: "1.0.0"},
		{name: "the secret, the old one used", config: guarded(old), change: func(b *blueprint.Binding) { b.Trigger.Config = guarded(present) }, headers: signed(old), status: http.StatusUnauthorized},
		{name: "nothing has changed, the secret is wrong", config: guarded(present), headers: signed(old), status: http.StatusUnauthorized},
		{name: "nothing has changed, no room", full: true, status: http.StatusServiceUnavailable},
		{name: "switched off, no room", full: true, change: func(b *blueprint.Binding) { b.Trigger.IsActive = false }, status: http.StatusNotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(blueprint.TriggerWebhook, test.config, begin)
			m.recent = map[string]*blueprint.Binding{id: m.bindings[id]}
			if test.change != nil {
				m.change(id, test.change)
			}
			if test.full {
				m.refuseStart = func(*blueprint.StartRequest) error {
					return blueprint.Errorf(blueprint.CodeUnavailable, "no room")
				}
			}
			w := deliver(newService(m, clock.NewVirtual(begin)), id, delivery{body: body, headers: test.headers})
			if w.Code != test.status {
				t.Fatalf("answer %d %s, want %d", w.Code, w.Body, test.status)
			}
			var versions []string
			for _, request := range m.runs() {
				versions = append(versions, request.Definition.Version)
			}
			if got := strings.Join(versions, " "); got != test.version {
				t.Errorf("runs of %q, want %q", got, test.version)
			}
			rows := m.snapshot()
			if len(rows) != 1 || test.name != "of another type" && string(rows[0].Delivery.Body) != body {
				t.Errorf("%d rows in the ledger: %+v", len(rows), rows)
			}
		})
	}
}

// The trigger is deleted between the cached lookup and the delivery.
func TestDeliveryToWhatIsDeleted(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	m.recent = map[string]*blueprint.Binding{id: m.bindings[id]}
	m.remove(id)
	if w := deliver(newService(m, clock.NewVirtual(begin)), id, delivery{body: `{}`}); w.Code != http.StatusNotFound {
		t.Errorf("answer %d %s, want %v", w.Code, w.Body, http.StatusNotFound)
	}
	if runs := m.runs(); len(runs) != 0 {
		t.Errorf("%d runs, want 0", len(runs))
	}
}

// Where ids are drawn from a seed, nothing depends on what is known from before.
func TestSeededDeliveryAsksAtOnce(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	m.recent = map[string]*blueprint.Binding{id: m.bindings[id]}
	s := newService(m, clock.NewVirtual(begin), func(o *Options) { o.IDs = ids.Seeded(1) })
	if w := deliver(s, id, delivery{body: `{}`}); w.Code != http.StatusAccepted {
		t.Fatalf("answer %d %s, want %v", w.Code, w.Body, http.StatusAccepted)
	}
	if runs := m.runs(); len(runs) != 1 || runs[0].Generation != 0 {
		t.Errorf("runs %+v, want length 1 and Generation 0", runs)
	}
}

func TestStale(t *testing.T) {
	if !isStale(errors.Join(errors.New("commit"), &blueprint.StaleError{})) || isStale(errors.New("other")) || isStale(nil) {
		t.Error("a stale run is recognized only by its error")
	}
}

// What is kept for triggers does not grow with all triggers that ever were.
func TestWhatIsKeptForTriggersIsBounded(t *testing.T) {
	watch := clock.NewVirtual(begin)
	s := newService(newMemory(), watch)
	refuse := func(trigger string) bool {
		return s.mayRecord(&blueprint.Firing{TriggerID: trigger, Source: "webhook"}, blueprint.NewReason(blueprint.ReasonInactive))
	}
	for range rowBurst + 1 {
		refuse("attacked")
	}
	for i := range 5 * minSweep {
		if i%minSweep == 0 { // the others have all rows to spare again
			if err := watch.Advance(t.Context(), watch.Now().Add(countDelay/rowRate+time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		refuse(fmt.Sprint("trigger ", i))
	}
	if got := len(s.throttle.buckets); got > 3*minSweep {
		t.Errorf("%d buckets, want at most %v", got, 3*minSweep)
	}
	if b := s.throttle.buckets["attacked"]; b == nil || b.rows > rowBurst/2 {
		t.Error("a trigger without rows to spare was forgotten")
	}

	for i := range 2*maxSchemas + 10 {
		trigger := blueprint.Trigger{ID: fmt.Sprint(i), Config: map[string]any{"inputSchema": map[string]any{"type": "object"}}}
		if err := s.schemas.check(&blueprint.Binding{Trigger: trigger}, "inputSchema", map[string]any{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(s.schemas.compiled); got > maxSchemas {
		t.Errorf("%d compiled schemas, want at most %v", got, maxSchemas)
	}
}
