package simulation

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// maxRuns is the maximum depth of nested runs, including the first.
const maxRuns = 16

// blueprintSource is the engine's source of the blueprints that nodes run.
type blueprintSource struct{ *process }

func (s blueprintSource) Runnable(_ context.Context, _, id string) (*blueprint.Definition, bool, error) {
	definition, err := journal(s).DefinitionVersion(context.Background(), id, "")
	return definition, true, err
}

// connections opens the connections of nodes after a sign-in.
type connections struct{ *process }

func (d connections) Open(_ context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error) {
	if !d.world.disk.isSigned(use.ExecutionID + "/" + use.Address) {
		return nil, &blueprint.Pause{Await: blueprint.Await{Kind: blueprint.AwaitOAuth, Prompt: "Sign in", URL: "https://login.example/"}}
	}
	return &blueprint.OpenConnection{ID: use.ConnectionID, Type: blueprint.ConnectionOAuth2, SignIn: true}, nil
}

// childCalled records that an attempt waits for a run.
func (w *world) childCalled(h *history, here at, child string) {
	w.count("runs called")
	switch {
	case h.calls[here] != "":
		w.fail("I11: %s starts a second run for %s, attempt %d", h.name, here.place, here.attempt)
	case h.script.node(here.place).runs == "":
		w.fail("I11: %s starts a run for %s, which calls none", h.name, here.place)
	}
	h.calls[here] = child
	h.model = nil
}

// childStarted checks that a new run on the disk is one for which another one waits.
func (w *world) childStarted(h *history, parent string) {
	w.count("children")
	h.parent = w.histories[parent]
	if h.parent == nil {
		w.fail("I11: %s is started by a run that does not exist", h.name)
		return
	}
	for _, child := range h.parent.calls {
		if child == h.id {
			h.depth = h.parent.depth + 1
			h.parent.model = nil
			return
		}
	}
	w.fail("I11: %s is started by %s, which has no call of it", h.name, h.parent.name)
}

// returned returns the result of a run for its parent, nil until it has ended.
func (w *world) returned(child string) *returned {
	h := w.histories[child]
	switch {
	case child == "":
		return nil
	case w.disk.stored(child) != nil:
		return h.returned
	case w.damaged[child]:
		return &returned{failure: &blueprint.Failure{Message: errDamaged.Error()}}
	default:
		return nil
	}
}

// childEnded records the result of an ended run for its parent.
func (w *world) childEnded(h *history, x *blueprint.Execution) {
	h.returned = &returned{output: x.Output, tokens: x.Telemetry.TotalTokensUsed, acted: w.checkActed(h)}
	if x.Status != blueprint.StatusCompleted && x.Failure != nil {
		h.returned.failure = &blueprint.Failure{Code: "run_failed", Message: "the run " + h.id + " failed: " + x.Failure.Message, Permanent: h.returned.acted}
		if x.Failure.Code == "run_failed" { // with nested runs, the cause of the innermost one
			h.returned.failure.Message = x.Failure.Message
		}
	}
	if h.parent != nil {
		h.parent.model = nil
		w.count("children that have ended")
	}
}

// checkConcurrency checks that a for-each node has no more concurrent items than allowed.
func (w *world) checkConcurrency(h *history, v *visit) {
	for _, loop := range containers(v.task.Address) {
		items := []int{}
		for _, other := range append(slices.Clone(w.visits), v) {
			rest, within := strings.CutPrefix(other.task.Address, loop)
			if other.task.ExecutionID != h.id || other.process != v.process || other.life != h.processes {
				continue
			}
			if !within || !strings.HasPrefix(rest, "[") {
				continue
			}
			if _, item, _, _ := cut(rest); !slices.Contains(items, item) {
				items = append(items, item)
			}
		}
		if most := h.script.blueprint.find(loop).most; len(items) > most {
			w.fail("I3: %s runs %d items of %s concurrently, but the maximum is %d", h.name, len(items), loop, most)
		}
	}
}

// maxOrphanTime is how long a run may continue after its parent has ended.
const maxOrphanTime = 30 * time.Second

// checkParent checks that a run that starts something still has a waiting parent, or had one
// until a moment ago. A process that has just started, or could not read the disk, is
// allowed the same time.
func (w *world) checkParent(h *history) {
	p := h.parent
	if p == nil || !p.terminal || h.suspended || len(w.processes) == 0 {
		return
	}
	since := p.endedAt
	for _, later := range []time.Time{w.begunOf(h), w.readableSince} {
		if later.After(since) {
			since = later
		}
	}
	if late := w.now().Sub(since); late > maxOrphanTime {
		w.fail("I11: %s has ended, but %s still runs %s later", p.name, h.name, late)
	}
}

// mayCancel reports whether the engine itself may have cancelled a run, because no run
// waits for it any longer, or because the first of those above it has ended.
func (h *history) mayCancel() bool {
	if h.parent == nil {
		return false
	}
	first := h.parent
	for first.parent != nil {
		first = first.parent
	}
	return h.parent.terminal || h.parent.halts || first.terminal
}

// isBlocked reports whether a run waits for one that cannot continue before the next start.
func (w *world) isBlocked(h *history) bool {
	return slices.ContainsFunc(w.order, func(child *history) bool {
		if child.terminal || !child.suspended {
			return false
		}
		for up := child; up != nil; up = up.parent {
			if up == h || h.group != "" && up.group == h.group {
				return true
			}
		}
		return false
	})
}

// checkActed reports whether an ended run ran a node with effect "once", according to its
// record, and compares that with its nodes.
func (w *world) checkActed(h *history) bool {
	var record struct {
		Acted bool `json:"acted"`
		Steps []struct {
			Acted bool `json:"acted"`
		} `json:"s"`
	}
	plain, err := sealer.Open(h.record, secret.RecordPlace(h.id))
	if err == nil {
		err = json.Unmarshal(plain, &record)
	}
	if err != nil {
		w.fail("I5: the record of %s cannot be read: %v", h.name, err)
	}
	acted := record.Acted
	for i := range record.Steps {
		acted = acted || record.Steps[i].Acted
	}
	last := ""
	may := h.script.blueprint.has(func(n *node) bool { return n.effect() == blueprint.EffectOnce || n.runs != "" })
	for _, address := range slices.Sorted(maps.Keys(h.once)) {
		here := h.once[address]
		if o := h.script.outcome(here.place, here.attempt); o.ending != fails || !o.failure.NotSent {
			last = address
		}
	}
	for _, child := range h.calls {
		if r := w.returned(child); r != nil && r.acted {
			last = "a run that it started"
		}
	}
	switch {
	case h.retries != "": // its record includes the steps of another run
	case acted && !may:
		w.fail("I4: the record of %s says that it acted, but no node of it can", h.name)
	case !acted && last != "":
		w.fail("I4: %s of %s acted, but the record does not say so", last, h.name)
	}
	return acted
}
