package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/triggers"
)

// clientCall is a request of a client. It waits in its own goroutine.
type clientCall struct {
	number  int
	name    string
	process *process
	check   func() // checks the response, in the world's goroutine
}

// request makes a request. do may block; the function that it returns checks the response once
// all goroutines are idle, unless the process has crashed.
func (w *world) request(name string, do func(p *process) (after func())) {
	w.requests++
	c := &clientCall{number: w.requests, name: name, process: w.pickReady()}
	c.process.openRequests++
	w.tracef("client %d%s: %s", c.number, c.process, name)
	p := c.process
	go func() {
		c.check = do(p)
		w.inbox.add(func(in *inbox) { in.calls = append(in.calls, c) })
	}()
}

// accepted records that a run was acknowledged to a client.
func (w *world) accepted(id string) {
	if w.disk.stored(id) == nil {
		w.fail("I1: run %s was acknowledged, but is not on the disk", w.nameOf(id))
		return
	}
	w.acknowledged[id] = true
}

// refused records an error, which fails the test unless it is expected.
func (w *world) refused(err error, codes ...blueprint.Code) {
	code := blueprint.CodeOf(err)
	w.tracef("  refused: %s", code)
	if code == blueprint.CodeUnavailable || code == blueprint.CodeTooManyRequests && w.maxQueued < 10_000 || w.permanentRefusals > 0 {
		return
	}
	for _, known := range codes {
		if code == known {
			return
		}
	}
	w.fail("a client received %v", err)
}

// start starts a run: some clients wait for its acknowledgement, some for its end.
func (w *world) start() {
	b := w.blueprints[w.IntN(w.clients)]
	request := &blueprint.StartRequest{
		Definition: b.definition, Principal: owner, CanManage: true, InputData: map[string]any{"n": json.Number(fmt.Sprint(w.requests))},
	}
	urgency := []engine.Urgency{engine.AtOnce, engine.Soon, engine.AtEnd}[w.IntN(3)]
	waits := w.chance(50)
	w.request(fmt.Sprintf("start %s", b.definition.BlueprintID[34:]), func(p *process) func() {
		handle, err := p.keepHandle(p.engine.Start(request, urgency))
		if err == nil && !waits {
			err = handle.Accepted(context.Background())
		}
		if err != nil {
			return func() { w.refused(err) }
		}
		if !waits {
			return func() { w.accepted(handle.ID) }
		}
		x, err := handle.Wait(context.Background())
		if err != nil {
			return func() { w.refused(err) }
		}
		return func() {
			w.accepted(handle.ID)
			if h := w.histories[handle.ID]; h != nil && !(w.cluster != nil && h.holder != p.id && !x.Status.Terminal()) { // one that was declared dead may not know that
				w.checkView(h, x, 0)
				if x.Status.Terminal() && !h.terminal {
					w.fail("I1: the end of %s was reported, but is not on the disk", h.name)
				}
			}
		}
	})
}

// responseRecorder is the response of a fired trigger.
type responseRecorder struct {
	status int
	body   strings.Builder
	header http.Header
}

func (a *responseRecorder) Header() http.Header                { return a.header }
func (a *responseRecorder) WriteHeader(status int)             { a.status = status }
func (a *responseRecorder) Write(data []byte) (n int, _ error) { return a.body.Write(data) }

// deliver calls a trigger with one of a few keys, which repeat.
func (w *world) deliver() {
	key := fmt.Sprintf("key%d", w.IntN(3))
	body := []string{`{"a":1}`, `{"a":1}`, `{"a":1}`, `{"a":2}`}[w.IntN(4)]
	w.request("deliver "+key+" "+body, func(p *process) func() {
		request, _ := http.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		request.SetPathValue("triggerId", w.api)
		request.Header.Set("Idempotency-Key", key)
		answer := &responseRecorder{header: http.Header{}}
		err := p.triggers.Serve(triggers.KindOf(blueprint.TriggerAPI), answer, request, owner)
		return func() {
			if err != nil {
				w.refused(err, blueprint.CodeConflict)
				return
			}
			var fired struct{ ExecutionID string }
			if err := json.Unmarshal([]byte(answer.body.String()), &fired); err != nil || fired.ExecutionID == "" {
				w.fail("I7: the delivery of %s is answered %d %s", key, answer.status, answer.body.String())
				return
			}
			w.count(fmt.Sprint("deliveries answered ", answer.status))
			w.tracef("  %d %s", answer.status, w.nameOf(fired.ExecutionID))
			if first := w.keys[key]; first != "" && first != fired.ExecutionID {
				w.fail("I7: the key %s started %s and %s", key, w.nameOf(first), w.nameOf(fired.ExecutionID))
			}
			w.keys[key] = fired.ExecutionID
			w.accepted(fired.ExecutionID)
		}
	})
}

// fire fires a trigger manually, or redelivers a firing.
func (w *world) fire() {
	again := w.chance(50) && len(w.firings) > 0
	var first blueprint.Firing
	if again {
		first = w.firings[w.IntN(len(w.firings))]
	}
	w.request(fmt.Sprintf("fire (again: %v)", again), func(p *process) func() {
		var id string
		var err error
		if again {
			id, _, err = p.triggers.Redeliver(context.Background(), owner, first.ID)
		} else {
			id, _, err = p.triggers.Fire(context.Background(), owner, w.api, map[string]any{"by": "hand"}, false)
		}
		return func() {
			if err != nil {
				w.refused(err, blueprint.CodeBadRequest)
				return
			}
			w.accepted(id)
		}
	})
}

// view reads a run.
func (w *world) view(h *history) {
	before := h.shown
	w.request("view "+h.name, func(p *process) func() {
		stored, err := journal{p}.Load(context.Background(), h.id)
		var x *blueprint.Execution
		if err == nil {
			x, err = p.engine.View(context.Background(), stored)
		}
		return func() {
			if err != nil {
				w.refused(err)
				return
			}
			w.tracef("  %s %d %%", x.Status, x.Progress)
			if !x.Status.Terminal() && h.terminal {
				return // the run has ended since it was read
			}
			w.checkView(h, x, before)
		}
	})
}

// resume answers a question of a run.
func (w *world) resume(h *history, node string) {
	var input any = "right"
	wrong := h.questions[node] != blueprint.AwaitOAuth && !w.calm && w.chance(20)
	switch {
	case wrong:
		input = wrongAnswer
	case h.questions[node] == blueprint.AwaitUnknownOutcome:
		input = h.script.decision(at{h.place(node), h.attempt[node]})
	case h.questions[node] == blueprint.AwaitBudget:
		input = map[string]any{"calls": json.Number("1")}
	case h.questions[node] == blueprint.AwaitOAuth:
		w.signIn(h, node)
		return
	}
	kind, ctx := h.questions[node], w.commandContext()
	if !wrong {
		h.sent[node]++
	}
	w.request(fmt.Sprintf("answer %s of %s: %s", node, h.name, text(input)), func(p *process) func() {
		err := p.engine.Resume(ctx, blueprint.ResumeAnswer{ExecutionID: h.id, NodeID: node, Input: input, UserID: owner.UserID, CanManage: true})
		return func() {
			switch {
			case wrong && err == nil:
				w.fail("%s accepts a wrong answer to %s", h.name, node)
			case err != nil:
				w.refused(err, blueprint.CodeConflict, blueprint.CodeBadRequest)
			case kind == blueprint.AwaitHuman || kind == blueprint.AwaitUnknownOutcome:
				w.answered(h, node)
			}
		}
	})
}

// signIn signs in for a connection of a node.
func (w *world) signIn(h *history, node string) {
	ctx := w.commandContext()
	w.request(fmt.Sprintf("sign in for %s of %s", node, h.name), func(p *process) func() {
		p.world.disk.sign(h.id + "/" + node)
		err := p.engine.SignedIn(ctx, h.id, node)
		return func() {
			if err != nil {
				w.refused(err)
			}
		}
	})
}

// cancel cancels a run.
func (w *world) cancel(h *history) {
	h.cancels = true
	ctx := w.commandContext()
	w.request("cancel "+h.name, func(p *process) func() {
		err := p.engine.Cancel(ctx, h.id, "simulated")
		return func() {
			switch {
			case err != nil:
				w.refused(err, blueprint.CodeConflict)
			case !h.terminal && !h.cancelled:
				w.fail("I23: the cancellation of %s was acknowledged, but is not on the disk", h.name)
			}
		}
	})
}

// retry retries an ended run.
func (w *world) retry(h *history) {
	h.retried = true
	if w.chance(40) {
		h.from = h.script.blueprint.nodes[w.IntN(len(h.script.blueprint.nodes))].ID
		if x, err := w.viewer.View(w.ctx, w.disk.stored(h.id)); err == nil && w.chance(50) {
			h.from = x.Steps[w.IntN(len(x.Steps))].NodeID
		}
	}
	w.request(fmt.Sprintf("retry %s from %q", h.name, h.from), func(p *process) func() {
		handle, err := p.keepHandle(p.engine.Retry(context.Background(), w.disk.stored(h.id), h.from, owner, true))
		if err == nil {
			err = handle.Accepted(context.Background())
		}
		return func() {
			if err != nil {
				w.refused(err, blueprint.CodeBadRequest)
				return
			}
			w.accepted(handle.ID)
		}
	})
}
