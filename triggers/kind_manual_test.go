package triggers

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

var (
	me      = blueprint.Principal{UserID: creator, KeyID: "k"}
	manager = blueprint.Principal{UserID: "33333333-3333-4333-8333-333333333333"}
	nobody  = blueprint.Principal{UserID: stranger}
)

var allTypes = []blueprint.TriggerType{
	blueprint.TriggerManual, blueprint.TriggerScheduled, blueprint.TriggerWebhook, blueprint.TriggerEmail, blueprint.TriggerSlack, blueprint.TriggerEvent, blueprint.TriggerAPI,
}

func TestFireEveryType(t *testing.T) {
	for _, kind := range allTypes {
		m := newMemory()
		id := m.trigger(kind, nil, begin)
		s := newService(m, clock.NewVirtual(begin))
		for _, who := range []blueprint.Principal{me, manager} {
			execution, firing, err := s.Fire(t.Context(), who, strings.ToUpper(id), map[string]any{"a": "b"}, false)
			row := m.lastRow(t)
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if diff := cmp.Diff([]any{*row.ExecutionID, row.ID, blueprint.SourceManual, row.ID, blueprint.DecisionStarted}, []any{execution, firing, row.Source, row.Key, row.Decision}); diff != "" {
				t.Errorf("%s: execution, firing, source, key and decision (-want +got):\n%s", kind, diff)
			}
			request := m.runs()[len(m.runs())-1]
			want := map[string]any{"a": "b"}
			if !blueprint.Equal(request.InputData, want) || request.Principal.UserID != creator || request.Trigger.Type != kind || request.Trigger.ID != id {
				t.Errorf("%s: request %+v, want %v, UserID %v, Type %v and ID %v", kind, request, want, creator, kind, id)
			}
		}
		if s.Started() != 2 {
			t.Errorf("%s: %d started, want 2", kind, s.Started())
		}
	}
}

func TestFireRefused(t *testing.T) {
	cases := []struct {
		name   string
		who    blueprint.Principal
		change func(*blueprint.Binding)
		input  any
		fail   error
		want   blueprint.Code
		reason string // "" = no row
	}{
		{name: "stranger", who: nobody, want: blueprint.CodeForbidden},
		{name: "inactive", who: me, change: func(b *blueprint.Binding) { b.Trigger.IsActive = false }, want: blueprint.CodeBadRequest, reason: "not active"},
		{name: "inactive for a stranger", who: nobody, change: func(b *blueprint.Binding) { b.Trigger.IsActive = false }, want: blueprint.CodeForbidden},
		{name: "creator lost access", who: manager, change: func(b *blueprint.Binding) { b.CanManage = false }, want: blueprint.CodeForbidden, reason: "no longer manage"},
		{name: "schema", who: me, input: map[string]any{"n": "x"}, want: blueprint.CodeBadRequest, reason: "inputData.n"},
		{name: "schema, no object", who: me, input: "x", want: blueprint.CodeBadRequest, reason: "inputData"},
		{name: "bad schema", who: me, change: func(b *blueprint.Binding) { b.Trigger.Config = map[string]any{"inputSchema": "x"} }, want: blueprint.CodeBadRequest, reason: "inputSchema"},
		{name: "no nodes", who: me, fail: blueprint.Errorf(blueprint.CodeBadRequest, "no nodes"), want: blueprint.CodeBadRequest, reason: "no nodes"},
		{name: "queue full", who: me, fail: unavailable(3 * time.Second), want: blueprint.CodeUnavailable, reason: "queue is full"},
		{name: "internal error", who: me, fail: io.ErrUnexpectedEOF, want: blueprint.CodeInternal, reason: "internal error"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(blueprint.TriggerAPI, map[string]any{"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "number"}}}}, begin)
			if c.change != nil {
				m.change(id, c.change)
			}
			if c.input == nil {
				c.input = map[string]any{"n": jsonNumber("1")}
			}
			if c.fail != nil {
				m.refuseStart = func(*blueprint.StartRequest) error { return c.fail }
			}
			_, _, err := newService(m, clock.NewVirtual(begin)).Fire(t.Context(), c.who, id, c.input, false)
			if blueprint.CodeOf(err) != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
			rows := m.snapshot()
			switch {
			case len(m.runs()) > 0:
				t.Error("a run was started")
			case c.reason == "" && len(rows) > 0:
				t.Errorf("rows %+v", rows)
			case c.reason != "" && (len(rows) != 1 || rows[0].Decision != blueprint.DecisionRefused || rows[0].Source != blueprint.SourceManual || !strings.Contains(rows[0].Reason, c.reason)):
				t.Errorf("rows %+v", rows)
			}
		})
	}
	m := newMemory()
	if _, _, err := newService(m, clock.NewVirtual(begin)).Fire(t.Context(), me, creator, nil, false); blueprint.CodeOf(err) != blueprint.CodeNotFound {
		t.Errorf("unknown trigger: %v, want %v", err, blueprint.CodeNotFound)
	}
}

// call sends a request to the API address, with errors written as main does.
func call(s *Service, who blueprint.Principal, id string, d delivery) *httptest.ResponseRecorder {
	if d.method == "" {
		d.method = http.MethodPost
	}
	r := httptest.NewRequest(d.method, "/", strings.NewReader(d.body))
	r.SetPathValue("triggerId", id)
	for _, line := range d.headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	if err := s.Serve(KindOf(blueprint.TriggerAPI), w, r, who); err != nil {
		var shown *blueprint.Error
		if !errors.As(err, &shown) {
			shown = blueprint.Errorf(blueprint.CodeInternal, "internal error")
		}
		writeError(w, shown)
	}
	return w
}

func TestAPI(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerAPI, map[string]any{"label": "x"}, begin)
	s := newService(m, clock.NewVirtual(begin))
	for body, want := range map[string]string{`{"a":1.0}`: `{"a":1.0}`, "": "{}", "[1]": "[1]"} {
		t.Run(body, func(t *testing.T) {
			w := call(s, me, strings.ToUpper(id), delivery{body: body, headers: []string{"Authorization: Bearer key", "X-One: 1"}})
			row := m.lastRow(t)
			object := answer(t, w)
			accepted := map[string]any{"success": true, "executionId": *row.ExecutionID, "firingId": row.ID}
			if diff := cmp.Diff(accepted, object); w.Code != 202 || diff != "" {
				t.Errorf("status %d, want 202; answer (-want +got):\n%s", w.Code, diff)
			}
			if row.Source != blueprint.SourceAPI || row.Decision != blueprint.DecisionStarted || row.BodyHash != "" {
				t.Errorf("row %+v, want Source %v, Decision %v and BodyHash nothing", row, blueprint.SourceAPI, blueprint.DecisionStarted)
			}
			request := m.runs()[len(m.runs())-1]
			got, _ := blueprint.Encode(request.InputData)
			if string(got) != want || request.Trigger.Headers["x-one"] != "1" || request.Trigger.Headers["authorization"] != nil {
				t.Errorf("request %+v %s, want %v, x-one 1 and authorization nil", request.Trigger, got, want)
			}
		})
	}
}

func TestAPIRefused(t *testing.T) {
	cases := []struct {
		name   string
		who    blueprint.Principal
		id     string
		kind   blueprint.TriggerType
		change func(*blueprint.Binding)
		delivery
		want   blueprint.Code
		reason string
	}{
		{name: "GET", delivery: delivery{method: "GET"}, want: blueprint.CodeMethodNotSupported},
		{name: "malformed id", id: "x", want: blueprint.CodeBadRequest},
		{name: "unknown id", id: stranger, want: blueprint.CodeNotFound},
		{name: "stranger", who: nobody, want: blueprint.CodeForbidden},
		{name: "webhook", kind: blueprint.TriggerWebhook, want: blueprint.CodeNotFound},
		{name: "webhook of a stranger", kind: blueprint.TriggerWebhook, who: nobody, want: blueprint.CodeForbidden},
		{name: "inactive", change: func(b *blueprint.Binding) { b.Trigger.IsActive = false }, want: blueprint.CodeBadRequest, reason: "not active"},
		{name: "access lost", who: manager, change: func(b *blueprint.Binding) { b.CanManage = false }, want: blueprint.CodeForbidden, reason: "no longer"},
		{name: "too large", delivery: delivery{body: `"` + strings.Repeat("x", 200) + `"`}, want: blueprint.CodePayloadTooLarge, reason: "larger"},
		{name: "form", delivery: delivery{body: "a=1", headers: []string{"Content-Type: application/x-www-form-urlencoded"}}, want: blueprint.CodeUnsupportedMedia, reason: "JSON"},
		{name: "no JSON", delivery: delivery{body: "{"}, want: blueprint.CodeBadRequest, reason: "unexpectedly"},
		{name: "key twice", delivery: delivery{headers: []string{"Idempotency-Key: a", "Idempotency-Key: b"}}, want: blueprint.CodeBadRequest, reason: "more than once"},
		{name: "schema", delivery: delivery{body: `{}`}, want: blueprint.CodeBadRequest, reason: "inputData"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			if c.kind == "" {
				c.kind = blueprint.TriggerAPI
			}
			if c.who.UserID == "" {
				c.who = me
			}
			id := m.trigger(c.kind, map[string]any{"inputSchema": map[string]any{"required": []any{"n"}}}, begin)
			if c.change != nil {
				m.change(id, c.change)
			}
			if c.id == "" {
				c.id = id
			}
			w := call(newService(m, clock.NewVirtual(begin), func(o *Options) { o.MaxBody = 100 }), c.who, c.id, c.delivery)
			checkError(t, w, c.want)
			rows := m.snapshot()
			switch {
			case len(m.runs()) > 0:
				t.Error("a run was started")
			case c.reason == "" && len(rows) > 0:
				t.Errorf("rows %+v", rows)
			case c.reason != "" && (len(rows) != 1 || rows[0].Decision != blueprint.DecisionRefused || rows[0].Source != blueprint.SourceAPI || !strings.Contains(rows[0].Reason, c.reason)):
				t.Errorf("rows %+v", rows)
			}
		})
	}
}

func TestAPIIdempotency(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerAPI, nil, begin)
	s := newService(m, clock.NewVirtual(begin))
	key := []string{"Idempotency-Key: 7"}
	if w := call(s, me, id, delivery{body: `{"a":1,"b":2}`, headers: key}); w.Code != 202 {
		t.Fatalf("%d %s, want 202", w.Code, w.Body)
	}
	first := m.lastRow(t)
	for _, body := range []string{`{"a":1,"b":2}`, ` { "b" : 2, "a" : 1 } `} {
		w := call(s, me, id, delivery{body: body, headers: key})
		object := answer(t, w)
		if w.Code != 200 || object["executionId"] != *first.ExecutionID || object["firingId"] != first.ID {
			t.Errorf("%s: %d %v, want 200, executionId %v and firingId %v", body, w.Code, object, *first.ExecutionID, first.ID)
		}
		if row := m.lastRow(t); row.Decision != blueprint.DecisionDuplicate || *row.ExecutionID != *first.ExecutionID {
			t.Errorf("row %+v, want Decision %v and ExecutionID %v", row, blueprint.DecisionDuplicate, *first.ExecutionID)
		}
	}
	checkError(t, call(s, me, id, delivery{body: `{"a":1,"b":2.0}`, headers: key}), blueprint.CodeConflict)
	if row := m.lastRow(t); row.Decision != blueprint.DecisionRefused || row.Key != "7" || row.ExecutionID != nil {
		t.Errorf("row %+v, want Decision %v, Key 7 and ExecutionID nil", row, blueprint.DecisionRefused)
	}
	m.refuseStart = func(*blueprint.StartRequest) error { return unavailable(0) }
	if w := call(s, me, id, delivery{body: `{"a":1,"b":2}`, headers: key}); w.Code != 200 {
		t.Errorf("while the queue is full: %d %s, want 200", w.Code, w.Body)
	}
	w := call(s, me, id, delivery{body: `{}`, headers: []string{"Idempotency-Key: 8"}})
	checkError(t, w, blueprint.CodeUnavailable)
	m.refuseStart = nil
	if w := call(s, me, id, delivery{body: `{}`, headers: []string{"webhook-id: 7"}}); w.Code != 202 {
		t.Errorf("another header is no key here: %d %s, want 202", w.Code, w.Body)
	}
	if len(m.runs()) != 2 || m.patience[0] != atOnce || m.patience[1] != soon {
		t.Errorf("%d runs, patience %v; want 2, %v and %v", len(m.runs()), m.patience, atOnce, soon)
	}
}
