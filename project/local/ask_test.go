package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/project"
	"blueprintd/project/local"
)

// asking waits for a form and for an approval side by side, and then for another approval,
// which expires after an hour.
const asking = `{"nodes": [
	{"id": "form", "type": "human", "title": "Form", "config": {"prompt": "How many?", "schema": {"type": "integer"}}},
	{"id": "side", "type": "approval-gate", "title": "Side", "config": {"prompt": "Really?"}},
	{"id": "last", "type": "approval-gate", "title": "Last", "config": {"prompt": "Print {{nodes.form.output}}?", "expiresMs": 3600000, "onExpire": "reject"}},
	{"id": "done", "type": "template", "title": "Done", "config": {"text": "done"}}],
	"edges": [{"source": "form", "target": "last"}, {"source": "last", "target": "done", "sourceHandle": "approved"}]}`

// TestAsk answers the questions of a run, on a real and on a virtual clock.
func TestAsk(t *testing.T) {
	yes, no := map[string]any{"approved": true}, map[string]any{"approved": false}
	for _, c := range []struct {
		name    string
		answers []any // nil for no answer
		asked   []string
		status  map[string]blueprint.Status // by the clock
	}{
		{"all", []any{2, yes, yes}, []string{"form: How many?", "side: Really?", "last: Print 2?"}, map[string]blueprint.Status{"real": "completed", "virtual": "completed"}},
		{"a refused answer", []any{"two", 2, no, "yes", yes}, []string{"form: How many?", "form: input: must be a whole number", "side: Really?", "last: Print 2?", `last: input: must be an object such as {"approved": true}`},
			map[string]blueprint.Status{"real": "completed", "virtual": "completed"}},
		{"none", []any{nil}, []string{"form: How many?"}, map[string]blueprint.Status{"real": "paused", "virtual": "paused"}},
		{"none to the last, which expires", []any{2, yes, nil}, []string{"form: How many?", "side: Really?", "last: Print 2?"}, map[string]blueprint.Status{"real": "paused", "virtual": "completed"}},
	} {
		for name, status := range c.status {
			t.Run(c.name+", "+name, func(t *testing.T) {
				var asked []string
				ask := func(_ context.Context, a *blueprint.AwaitingInput, problem string) (any, bool) {
					if asked = append(asked, a.NodeID+": "+a.Prompt); problem != "" {
						asked[len(asked)-1] = a.NodeID + ": " + problem
					}
					answer := c.answers[len(asked)-1]
					if number, is := answer.(int); is {
						answer = json.Number(strconv.Itoa(number))
					}
					return answer, answer != nil
				}
				var at clock.Clock = clock.Real{}
				if name == "virtual" {
					at = clock.NewVirtual(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
				}
				recording, err := newRun(t, asking, at, ask).Do(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.asked, asked); diff != "" || recording.Status != status {
					t.Errorf("the run is %s, want %s; it asked (-want +got):\n%s", recording.Status, status, diff)
				}
			})
		}
	}
}

// TestAskBelow answers the question of a run that the run started.
func TestAskBelow(t *testing.T) {
	const child = "00000000-0000-4000-8000-000000000002"
	parent := `{"nodes": [{"id": "child", "type": "blueprint", "title": "Child", "config": {"blueprintId": "` + child + `"}}]}`
	for name, at := range map[string]clock.Clock{"real": clock.Real{}, "virtual": clock.NewVirtual(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			run := newRun(t, parent, at, func(_ context.Context, a *blueprint.AwaitingInput, _ string) (any, bool) {
				asked = append(asked, a.NodeID)
				return map[string]any{"approved": true}, true
			})
			below := newRun(t, `{"nodes": [{"id": "sure", "type": "approval-gate", "title": "Sure", "config": {"prompt": "Sure?", "expiresMs": 1000}}]}`, at, nil).Definition
			below.BlueprintID = child
			run.Others = map[string]*blueprint.Definition{child: below}
			recording, err := run.Do(t.Context())
			if err != nil || recording.Status != blueprint.StatusCompleted || !slices.Equal(asked, []string{"sure"}) {
				t.Errorf("%v, asked %q, %s: %s; want a completed run that asked sure", err, asked, recording.Status, recording.FailureText())
			}
		})
	}
}

// TestAskInterrupted checks that the end of the context cancels a run that asks.
func TestAskInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	recording, err := newRun(t, asking, clock.Real{}, func(context.Context, *blueprint.AwaitingInput, string) (any, bool) {
		interrupt()
		return nil, false
	}).Do(ctx)
	if err != nil || recording.Status != blueprint.StatusFailed || !strings.Contains(recording.FailureText(), "interrupted") {
		t.Errorf("%v, %+v; want a failed run that was interrupted", err, recording)
	}
}

// newRun returns a run of a map.
func newRun(t *testing.T, m string, at clock.Clock, ask func(context.Context, *blueprint.AwaitingInput, string) (any, bool)) *local.Run {
	t.Helper()
	text := fmt.Sprintf(`{"title": "Asking", "blueprint_map": %s}`, m)
	b, issues, err := project.ReadFile(&project.Inputs{Stdin: strings.NewReader(text)}, "-")
	if bad := project.Errors(issues); err != nil || len(bad) > 0 {
		t.Fatal(err, bad)
	}
	return &local.Run{Definition: project.Definition("00000000-0000-4000-8000-000000000001", b), Input: map[string]any{}, Clock: at, IDs: ids.New(nil), Errors: io.Discard, Ask: ask}
}
