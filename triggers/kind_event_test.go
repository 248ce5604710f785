package triggers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// paid is an event of blueprint a in organization o.
var paid = blueprint.Event{
	Name: "custom.paid", OrganizationID: "o", BlueprintID: "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa", ExecutionID: "exec_1_a", Key: "exec_1_a/emit",
	Data: map[string]any{"n": jsonNumber("1")}, At: blueprint.TimeOf(begin),
}

// listener creates a trigger in organization o that subscribes to paid.
func (m *memory) listener(change func(b *blueprint.Binding)) string {
	id := m.trigger(blueprint.TriggerEvent, map[string]any{"event": "custom.paid"}, begin)
	m.change(id, func(b *blueprint.Binding) {
		definition := *b.Definition
		definition.OrganizationID = "o"
		b.Definition = &definition
		if change != nil {
			change(b)
		}
	})
	return id
}

// A run that an event starts knows which secrets its input may contain, and so does a
// redelivered one and the ledger.
func TestEmitHidden(t *testing.T) {
	m := newMemory()
	m.listener(nil)
	s := newService(m, clock.NewVirtual(begin))
	event := paid
	event.Data, event.Hidden = map[string]any{"key": "a hidden value"}, []string{"a hidden value"}
	if delivered, err := s.Emit(t.Context(), event); delivered != 1 || err != nil {
		t.Fatal(delivered, err)
	}
	first := m.lastRow(t)
	if _, _, err := s.Redeliver(t.Context(), me, first.ID); err != nil {
		t.Fatal(err)
	}
	for i, request := range m.runs() {
		data := request.InputData.(map[string]any)["data"].(map[string]any)
		if data["key"] != "a hidden value" || !slices.Equal(request.Hidden, event.Hidden) {
			t.Errorf("run %d: %v, hidden %q; want key a hidden value and %v", i, data, request.Hidden, event.Hidden)
		}
	}
	if !slices.Equal(first.Delivery.Hidden, event.Hidden) {
		t.Errorf("the ledger hides %q, want %v", first.Delivery.Hidden, event.Hidden)
	}
}

func TestEmit(t *testing.T) {
	set := func(key string, value any) func(b *blueprint.Binding) {
		return func(b *blueprint.Binding) { b.Trigger.Config[key] = value }
	}
	cases := []struct {
		name     string
		change   func(b *blueprint.Binding)
		depth    int
		decision blueprint.Decision // "" = no row
		reason   string
	}{
		{"heard", nil, 0, "started", "received event custom.paid"},
		{"heard from this blueprint", set("blueprintId", strings.ToUpper(paid.BlueprintID)), 0, "started", "received event"},
		{"of another blueprint", set("blueprintId", creator), 0, "skipped", "listens to " + creator},
		{"of its own", func(b *blueprint.Binding) { b.Trigger.BlueprintID = paid.BlueprintID }, 0, "skipped", "its own executions"},
		{"of another name", set("event", "custom.paid2"), 0, "", ""},
		{"of another letter case", set("event", "custom.Paid"), 0, "", ""},
		{"no text", set("event", map[string]any{}), 0, "", ""},
		{"of another organization", func(b *blueprint.Binding) { b.Definition.OrganizationID = "p" }, 0, "", ""},
		{"inactive", func(b *blueprint.Binding) { b.Trigger.IsActive = false }, 0, "", ""},
		{"of another type", func(b *blueprint.Binding) { b.Trigger.Type = blueprint.TriggerAPI }, 0, "", ""},
		{"of somebody outside", func(b *blueprint.Binding) { b.Member = false }, 0, "", ""},
		{"lost access", func(b *blueprint.Binding) { b.CanManage = false }, 0, "refused", lostAccess.String()},
		{"the sixteenth", nil, 15, "started", ""},
		{"too deep", nil, 16, "refused", "a chain of 17 events"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			id := m.listener(c.change)
			event := paid
			event.Depth = c.depth
			delivered, err := newService(m, clock.NewVirtual(begin)).Emit(t.Context(), event)
			rows := m.snapshot()
			if want := c.decision == "started"; err != nil || (delivered == 1) != want || delivered > 1 || len(m.runs()) != delivered {
				t.Errorf("delivered %d, %v; want %v, at most 1 and length %v", delivered, err, want, delivered)
			}
			if c.decision == "" {
				if len(rows) > 0 {
					t.Errorf("rows %+v, want none", rows)
				}
				return
			}
			if len(rows) != 1 || !strings.Contains(rows[0].Reason, c.reason) {
				t.Fatalf("rows %+v, want one with the reason %q", rows, c.reason)
			}
			if diff := cmp.Diff([]any{id, blueprint.SourceEvent, paid.Key, c.decision}, []any{rows[0].TriggerID, rows[0].Source, rows[0].Key, rows[0].Decision}); diff != "" {
				t.Errorf("trigger, source, key and decision (-want +got):\n%s", diff)
			}
			if delivered == 0 {
				return
			}
			want := `{"at":"2026-03-02T09:00:00.000Z","blueprintId":"` + paid.BlueprintID + `","data":{"n":1},"event":"custom.paid","executionId":"exec_1_a"}`
			request := m.runs()[0]
			if got, _ := blueprint.Encode(request.InputData); string(got) != want || request.Trigger.Depth != c.depth+1 || request.Principal.UserID != creator || m.patience[0] != atOnce {
				t.Errorf("input %s, %+v; want %v, Depth %v, UserID %v and patience %v", got, request.Trigger, want, c.depth+1, creator, atOnce)
			}
		})
	}
}

func TestEmitAgain(t *testing.T) {
	m := newMemory()
	for range 2*maxBatch + 3 {
		m.listener(nil)
	}
	s := newService(m, clock.NewVirtual(begin))
	fails := 0
	m.refuseStart = func(request *blueprint.StartRequest) error {
		if fails++; fails%5 == 0 {
			return unavailable(3 * time.Second)
		}
		return nil
	}
	delivered, err := s.Emit(t.Context(), paid)
	var known *blueprint.Error
	if !errors.As(err, &known) || known.Code != blueprint.CodeUnavailable || known.RetryAfter != 3*time.Second {
		t.Fatalf("%v, want %s with three seconds", err, blueprint.CodeUnavailable)
	}
	if runs := len(m.runs()); delivered != runs || delivered == 0 {
		t.Fatalf("%d delivered, want as many as the %d runs", delivered, runs)
	}
	m.refuseStart = nil
	for range 2 {
		if delivered, err = s.Emit(t.Context(), paid); err != nil || delivered != 2*maxBatch+3 || len(m.runs()) != delivered {
			t.Errorf("again: %d delivered, %d runs, %v; want %v and %v", delivered, len(m.runs()), err, 2*maxBatch+3, delivered)
		}
	}
	seen := map[string]bool{}
	for _, request := range m.runs() {
		if seen[request.Trigger.ID] {
			t.Errorf("trigger %s started twice", request.Trigger.ID)
		}
		seen[request.Trigger.ID] = true
	}
	other := paid
	other.Key = "exec_1_a/emit2"
	if delivered, err = s.Emit(t.Context(), other); err != nil || len(m.runs()) != 2*delivered {
		t.Errorf("another event: %d delivered, %d runs, %v; want %v", delivered, len(m.runs()), err, 2*delivered)
	}
}

func TestEmitFails(t *testing.T) {
	cases := []struct {
		name   string
		change func(m *memory)
		want   blueprint.Code // "" = what cannot run is its own affair
	}{
		{"cannot read", func(m *memory) { m.readError = fmt.Errorf("broken") }, blueprint.CodeInternal},
		{"cannot run", func(m *memory) {
			m.refuseStart = func(*blueprint.StartRequest) error {
				return blueprint.Errorf(blueprint.CodeBadRequest, "no nodes")
			}
		}, ""},
		{"disk", func(m *memory) {
			m.refuse = func(f *blueprint.Firing) error {
				if f.Decision == blueprint.DecisionStarted {
					return fmt.Errorf("broken")
				}
				return nil
			}
		}, blueprint.CodeInternal},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			m.listener(nil)
			c.change(m)
			delivered, err := newService(m, clock.NewVirtual(begin)).Emit(t.Context(), paid)
			if delivered != 0 || blueprint.CodeOf(err) != c.want || len(m.runs()) > 0 {
				t.Errorf("%d delivered, %v; want 0, %v and none", delivered, err, c.want)
			}
			if rows := m.snapshot(); m.readError == nil && (len(rows) != 1 || rows[0].Decision != blueprint.DecisionRefused) {
				t.Errorf("rows %+v", rows)
			}
		})
	}
}

// A chain of events leads to so many runs and no more, which each ledger says
// once; runs that could not be started do not count.
func TestChains(t *testing.T) {
	m := newMemory()
	ids := []string{m.listener(nil), m.listener(nil)}
	s := newService(m, clock.NewVirtual(begin))
	raise := func(n int, root string) int {
		t.Helper()
		e := paid
		e.Key, e.Root = fmt.Sprint("k", n), root
		delivered, err := s.Emit(t.Context(), e)
		if blueprint.CodeOf(err) == blueprint.CodeInternal {
			t.Fatalf("%v, want other than %v", err, blueprint.CodeInternal)
		}
		return delivered
	}
	m.refuseStart = func(*blueprint.StartRequest) error { return unavailable(0) }
	raise(0, "root")
	m.refuseStart = nil
	raise(0, "") // another one
	before := len(m.snapshot())
	for n := range blueprint.MaxEventRuns {
		want := 2
		if n >= blueprint.MaxEventRuns/2 {
			want = 0
		}
		if got := raise(n+1, "root"); got != want {
			t.Fatalf("event %d started %d, want %v", n, got, want)
		}
	}
	rows := m.snapshot()[before:]
	last := rows[blueprint.MaxEventRuns:]
	if len(last) != 2 || last[0].TriggerID != ids[0] || last[1].TriggerID != ids[1] {
		t.Fatalf("rows %+v, want one of each of %v", last, ids)
	}
	if want := "root led to 1000 runs"; last[0].Decision != blueprint.DecisionRefused || !strings.Contains(last[0].Reason, want) {
		t.Errorf("row %+v, want a refusal with %q", last[0], want)
	}
	if got := s.Stats().Unheard; got != blueprint.MaxEventRuns-2 {
		t.Errorf("%d unheard, want %d", got, blueprint.MaxEventRuns-2)
	}
	if request := m.runs()[0]; request.Trigger.Root != "k0" || request.Trigger.Depth != 1 {
		t.Errorf("the first %+v, want Root k0 and Depth 1", request.Trigger)
	}
	if request := m.runs()[2]; request.Trigger.Root != "root" {
		t.Errorf("another %+v, want Root root", request.Trigger)
	}
	raise(0, "") // twice: not counted as a second run
	if one := s.chains.get("k0"); one.runs != 2 {
		t.Errorf("%d runs, want 2", one.runs)
	}
}

// Only so many chains are remembered, those that grew last.
func TestChainsAreBounded(t *testing.T) {
	var c chains
	for range blueprint.MaxEventRuns {
		c.grow("busy", "t")
	}
	for n := range 5 * maxChains {
		c.grow(fmt.Sprint(n), "t")
		if n%1000 == 0 {
			if grows, _ := c.grow("busy", "t"); grows {
				t.Fatalf("forgotten after %d", n)
			}
		}
	}
	if kept := len(c.current) + len(c.previous); kept > 2*maxChains {
		t.Errorf("%d are kept, want at most %v", kept, 2*maxChains)
	}
}
