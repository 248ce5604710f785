package triggers

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"blueprintd/blueprint"
)

type eventConfig struct {
	Event     eventName `key:"event" doc:"the event; an emit-event node publishes custom.<name>; by default every event except custom ones"`
	Blueprint uuid      `key:"blueprintId" doc:"only events about this blueprint"`
}

func eventKind() *Kind {
	return define[eventConfig](blueprint.TriggerEvent, Kind{
		Title:       "Event",
		Description: "Reacts to events of this server, for example a failed run, a published blueprint or a custom event.",
		Input:       `inputData is {"event", "at", "blueprintId", "executionId", "data"}.`,
		NeverFired:  "see that the event of its config happens in the same organization, and not only in the blueprint's own runs",
		aliases:     map[string]string{"eventtype": "event"},
		guard: func(key string) string {
			if guards(key, "filter", "from") {
				return `"event" or "blueprintId"`
			}
			return ""
		},
	})
}

// eventName is a service event or a custom event.
type eventName string

func (eventName) check(c *checker, f *field) {
	text, ok := c.text(f.key, blueprint.MaxEventName)
	if ok && !blueprint.IsCustomEvent(text) && !slices.Contains(blueprint.ServiceEvents, text) {
		c.refuse("must be "+strings.Join(blueprint.ServiceEvents, ", ")+", or custom.<name>, with a name of letters, digits, _, . and -, as an emit-event node raises it", f.key)
	}
}

func (eventName) schema(*field) map[string]any {
	events := make([]any, 0, len(blueprint.ServiceEvents)+2)
	for _, event := range blueprint.ServiceEvents {
		events = append(events, map[string]any{"const": event})
	}
	return map[string]any{"anyOf": append(events, map[string]any{"type": "null"}, map[string]any{"type": "string", "pattern": `^custom\.[A-Za-z0-9_.-]+$`})}
}

// Emit publishes a custom event: every active event trigger of the organization that
// listens to its name starts its blueprint, once for each Key. It returns how many runs
// were started, now or by an earlier call with the same Key. When it returns they are
// durable, and each subscribed trigger has a row in the ledger.
//
// An error (CodeUnavailable, CodeInternal) means that some runs could not be
// started for now. A call with the same Key then starts only these.
func (t *Service) Emit(ctx context.Context, e blueprint.Event) (delivered int, err error) {
	ids, err := t.Store.Listeners(ctx, e.OrganizationID, e.Name)
	if err != nil {
		return 0, err
	}
	var batch []*activation
	flush := func() {
		started, failed := t.startEvents(ctx, batch)
		delivered, err, batch = delivered+started, errors.Join(err, failed), nil
	}
	for _, id := range ids {
		a, failed := t.eventActivation(ctx, &e, id)
		switch {
		case failed != nil:
			err = errors.Join(err, failed)
		case a == nil:
		case a.firing.Decision != "":
			t.record(ctx, a.firing)
		default:
			if batch = append(batch, a); len(batch) == maxBatch {
				flush()
			}
		}
	}
	flush()
	return delivered, err
}

// eventActivation returns the activation of an event for one trigger. It is nil if
// the trigger is no longer subscribed, or if its chain of events is exhausted and
// the ledger already says so. If its firing has a decision, it starts nothing.
// Otherwise it counts as a run of the chain until chains.unstarted is called.
func (t *Service) eventActivation(ctx context.Context, e *blueprint.Event, triggerID string) (*activation, error) {
	binding, err := t.Store.Binding(ctx, triggerID)
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound: // deleted concurrently
		return nil, nil
	case err != nil:
		return nil, err
	case binding.Definition.OrganizationID != e.OrganizationID || !binding.Trigger.IsActive || !binding.Trigger.MatchesEvent(e.Name):
		return nil, nil
	case !binding.Member && !strings.EqualFold(e.BlueprintID, binding.Trigger.BlueprintID): // no access to events of other blueprints
		return nil, nil
	}
	a := &activation{
		binding: binding, firing: t.newFiring(binding.Trigger.ID, blueprint.SourceEvent),
		keyed: true, patience: atOnce, depth: e.Depth + 1, root: cmp.Or(e.Root, e.Key),
	}
	a.firing.Key = e.Key
	a.firing.SetReason(blueprint.NewReason(blueprint.ReasonEvent, "event", e.Name))
	if why := eventFilter(e, binding); why.Code != "" { // without the delivery, as there may be many of these
		decide(a.firing, blueprint.DecisionSkipped, why)
		return a, nil
	}
	input := map[string]any{"event": e.Name, "at": e.At.String(), "data": e.Data}
	for name, id := range map[string]string{"blueprintId": e.BlueprintID, "executionId": e.ExecutionID} {
		if id != "" {
			input[name] = id
		}
	}
	a.input, a.hidden, a.firing.Delivery = input, e.Hidden, inputDelivery(input)
	a.firing.Delivery.Hidden = e.Hidden
	if !binding.CanManage {
		decide(a.firing, blueprint.DecisionRefused, lostAccess)
		return a, nil
	}
	if a.depth > blueprint.MaxEventDepth {
		decide(a.firing, blueprint.DecisionRefused, blueprint.NewReason(blueprint.ReasonEventDepth, "depth", a.depth))
		return a, nil
	}
	switch grown, first := t.chains.grow(a.root, triggerID); {
	case grown:
	case first:
		decide(a.firing, blueprint.DecisionRefused, blueprint.NewReason(blueprint.ReasonEventRuns, "event", a.root))
	default:
		t.counts.unheard.Add(1)
		return nil, nil
	}
	return a, nil
}

// eventFilter returns why a trigger skips an event; its code is "" if it does not.
func eventFilter(e *blueprint.Event, b *blueprint.Binding) (why blueprint.Reason) {
	wanted := string(read[eventConfig](b.Trigger.Config).Blueprint)
	causedByRuns := blueprint.IsCustomEvent(e.Name) || strings.HasPrefix(e.Name, "execution.")
	switch {
	case b.Trigger.BlueprintID == e.BlueprintID && causedByRuns: // would start itself forever
		return blueprint.NewReason(blueprint.ReasonOwnRun)
	case wanted != "" && !strings.EqualFold(wanted, e.BlueprintID):
		return blueprint.NewReason(blueprint.ReasonOfBlueprint, "got", e.BlueprintID, "wanted", wanted)
	}
	return why
}

// noWait is a context that has ended: ticks and events are retried, and do not wait.
var noWait = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// startBatch starts the runs of a batch before it waits for any, so that they share
// commits. It returns the error of each.
func (t *Service) startBatch(ctx context.Context, batch []*activation) []error {
	runs, errs := make([]Run, len(batch)), make([]error, len(batch))
	for i, a := range batch {
		runs[i], errs[i] = t.begin(noWait, a)
	}
	for i, a := range batch {
		if _, errs[i] = t.finish(ctx, a, runs[i], errs[i]); errs[i] != nil {
			t.chains.unstarted(a.root)
		}
	}
	return errs
}

// startEvents starts a batch of Emit and records what could not be started.
func (t *Service) startEvents(ctx context.Context, batch []*activation) (started int, err error) {
	for i, failed := range t.startBatch(ctx, batch) {
		var duplicate *blueprint.DuplicateFiringError
		if failed == nil || errors.As(failed, &duplicate) {
			started++
			continue
		}
		a := batch[i]
		decision, why := t.notStartedReason(a, failed)
		decide(a.firing, decision, why)
		t.record(ctx, a.firing)
		if answer := shown(failed); isTemporary(answer) || answer.Code == blueprint.CodeInternal {
			err = answer
		}
	}
	return started, err
}

func (t *Service) notStartedReason(a *activation, err error) (blueprint.Decision, blueprint.Reason) {
	if isLimited(err) {
		return blueprint.DecisionSkipped, shown(limitError(err)).FiringReason()
	}
	return blueprint.DecisionRefused, t.failure(a.firing.TriggerID, err).FiringReason()
}

// maxChains is the size of a generation of chains; the two most recent ones are kept.
const maxChains = 10_000

// chains counts the runs of each chain of events, by the key of its first event, and limits
// them: runs cause events, and events cause runs, so their number must be bounded
// regardless of the number of subscribed triggers. A restart resets the counts; the depth
// of a chain still bounds it. Its zero value is ready for concurrent use.
type chains struct {
	mu                sync.Mutex
	current, previous map[string]*chain
}

type chain struct {
	runs    int
	refused map[string]bool // triggers with a row that says that the chain is exhausted
}

// grow counts a run that a chain is to start for a trigger. If the chain is
// exhausted, first reports whether the trigger's ledger does not say so yet.
func (c *chains) grow(root, triggerID string) (grown, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.get(root)
	if one.runs < blueprint.MaxEventRuns {
		one.runs++
		return true, false
	}
	if one.refused[triggerID] || len(one.refused) >= blueprint.MaxEventRuns {
		return false, false
	}
	if one.refused == nil {
		one.refused = map[string]bool{}
	}
	one.refused[triggerID] = true
	return false, true
}

// unstarted uncounts a run that could not be started.
func (c *chains) unstarted(root string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.get(root); one.runs > 0 {
		one.runs--
	}
}

// get returns a chain and moves it to the current generation. c.mu is held.
func (c *chains) get(root string) *chain {
	one := c.current[root]
	if one != nil {
		return one
	}
	if one = c.previous[root]; one == nil {
		one = &chain{}
	}
	if c.current == nil || len(c.current) >= maxChains {
		c.current, c.previous = map[string]*chain{}, c.current
	}
	c.current[root] = one
	return one
}
