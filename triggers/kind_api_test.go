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

func TestCall(t *testing.T) {
	ended := func(status blueprint.Status) *fakeRun {
		execution := &blueprint.Execution{Output: "out"}
		execution.Status = status
		return &fakeRun{execution: execution}
	}
	for _, test := range []struct {
		name   string
		who    blueprint.Principal
		kind   blueprint.TriggerType
		change func(*blueprint.Binding)
		input  any
		run    *fakeRun
		want   blueprint.Code
		status blueprint.Status // "" = its end is not known
	}{
		{name: "completed", who: me, run: ended(blueprint.StatusCompleted), status: blueprint.StatusCompleted},
		{name: "failed", who: manager, run: ended(blueprint.StatusFailed), status: blueprint.StatusFailed},
		{name: "paused", who: me, run: ended(blueprint.StatusPaused), status: blueprint.StatusPaused},
		{name: "too long", who: me, run: &fakeRun{never: true}},
		{name: "stranger", who: nobody, want: blueprint.CodeForbidden},
		{name: "another type", who: me, kind: blueprint.TriggerWebhook, want: blueprint.CodeNotFound},
		{name: "inactive", who: me, change: func(b *blueprint.Binding) { b.Trigger.IsActive = false }, want: blueprint.CodeBadRequest},
		{name: "creator lost access", who: manager, change: func(b *blueprint.Binding) { b.CanManage = false }, want: blueprint.CodeForbidden},
		{name: "schema", who: me, input: map[string]any{"n": "x"}, want: blueprint.CodeBadRequest},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMemory()
			if test.kind == "" {
				test.kind = blueprint.TriggerAPI
			}
			if test.input == nil {
				test.input = map[string]any{"n": jsonNumber("1")}
			}
			id := m.trigger(test.kind, map[string]any{"inputSchema": map[string]any{"properties": map[string]any{"n": map[string]any{"type": "number"}}}}, begin)
			if test.change != nil {
				m.change(id, test.change)
			}
			m.result = func(*blueprint.StartRequest) *fakeRun { return test.run }
			request := httptest.NewRequest("POST", "/mcp", nil)
			request.Header.Set("Authorization", "Bearer secret")
			request.Header.Set("X-Given", "yes")
			s := newService(m, clock.NewVirtual(begin), func(o *Options) { o.SyncTimeout = 20 * time.Millisecond })
			got, err := s.Call(t.Context(), test.who, strings.ToUpper(id), test.input, request)
			if blueprint.CodeOf(err) != test.want {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if err != nil {
				if len(m.runs()) != 0 {
					t.Error("a run was started")
				}
				return
			}
			row := m.lastRow(t)
			if row.Source != blueprint.SourceAPI || row.Decision != blueprint.DecisionStarted || got.ExecutionID != *row.ExecutionID {
				t.Errorf("%+v, row %+v; want Source %v, Decision %v and ExecutionID %v", got, row, blueprint.SourceAPI, blueprint.DecisionStarted, *row.ExecutionID)
			}
			if headers := m.runs()[0].Trigger.Headers; headers["x-given"] != "yes" || headers["authorization"] != nil {
				t.Errorf("headers %v, want x-given yes and authorization nil", headers)
			}
			terminal := test.status.Terminal()
			if got.Paused != (test.status == blueprint.StatusPaused) || (got.Ending != nil) != terminal || terminal && (got.Ending.Status != test.status || got.Ending.Output != "out") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A caller who leaves does not end the run.
func TestCallLeft(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerAPI, nil, begin)
	m.result = func(*blueprint.StartRequest) *fakeRun { return &fakeRun{never: true} }
	ctx, leave := context.WithCancel(t.Context())
	leave()
	got, err := newService(m, clock.NewVirtual(begin)).Call(ctx, me, id, map[string]any{}, httptest.NewRequest("POST", "/mcp", nil))
	if err != nil || got.Ending != nil || m.lastRow(t).Decision != blueprint.DecisionStarted {
		t.Errorf("%+v, %v; want Ending nil and Decision %v", got, err, blueprint.DecisionStarted)
	}
}
