package triggers

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"slices"
)

type eventConfig struct {
	Event     eventName `key:"event" doc:"which one; custom.<name> is what an emit-event node raises; every event but custom ones when left out"`
	Blueprint uuid      `key:"blueprintId" doc:"only about this blueprint"`
}

func eventKind() *Kind {
	return define(definition[eventConfig]{
		of:          blueprint.TriggerEvent,
		description: "Fires on an event of this server.",
		neverFired:  "see that the event of its config happens in the same organization, and not only in the blueprint's own runs",
		meant:       map[string]string{"eventtype": "event"},
		guard: func(key string) string {
			if guards(key, "filter", "from") {
				return `"event" or "blueprintId"`
			}
			return ""
		},
	})
}

// eventName is an event of the server, or one that a blueprint may raise.
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

// Emit raises an event: every active event trigger of its organization that
// listens to its name starts its blueprint, once for each Key of an event,
// however often it is raised. It returns the number of runs that were started,
// now or when the event was raised before. What was started is durable when it
// returns, and each trigger that was asked has a row in the ledger.
//
// An error means that some could not be started for a reason that may pass
// (CodeUnavailable, CodeInternal): raised again under the same Key, the event
// reaches these and nobody twice.
func (t *Service) Emit(ctx context.Context, e blueprint.Event) (delivered int, err error) {
	ids, err := t.Store.Listeners(ctx, e.OrganizationID, e.Name)
	if err != nil {
		return 0, err
	}
	var batch []*activation
	for _, id := range ids {
		a, failed := t.hearing(ctx, &e, id)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		if a == nil {
			continue
		}
		if a.firing.Decision != "" {
			t.record(ctx, a.firing)
			continue
		}
		if batch = append(batch, a); len(batch) == maxBatch {
			started, failed := t.hear(ctx, batch)
			delivered, err, batch = delivered+started, errors.Join(err, failed), nil
		}
	}
	started, failed := t.hear(ctx, batch)
	return delivered + started, errors.Join(err, failed)
}

// hearing makes an activation of an event for one trigger; nil when that does not
// listen to it any more, or its ledger said before that no more of what the event
// began in starts. One whose firing has a decision starts nothing. Any other is
// counted for the chain: who cannot start it gives it back with unstarted.
func (t *Service) hearing(ctx context.Context, e *blueprint.Event, triggerID string) (*activation, error) {
	binding, err := t.Store.Binding(ctx, triggerID)
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound: // deleted a moment ago
		return nil, nil
	case err != nil:
		return nil, err
	case binding.Definition.OrganizationID != e.OrganizationID || !binding.Trigger.IsActive || !binding.Trigger.MatchesEvent(e.Name):
		return nil, nil
	case !binding.Member && !strings.EqualFold(e.BlueprintID, binding.Trigger.BlueprintID): // what others do is not for its ears
		return nil, nil
	}
	a := &activation{
		binding: binding, firing: t.newFiring(binding.Trigger.ID, blueprint.SourceEvent),
		keyed: true, patience: atOnce, depth: e.Depth + 1, root: cmp.Or(e.Root, e.Key),
	}
	a.firing.Key = e.Key
	a.firing.SetReason(blueprint.NewReason(blueprint.ReasonEvent, "event", e.Name))
	if why := apart(e, binding); why.Code != "" { // there may be many of these: they do not keep what came
		decide(a.firing, blueprint.DecisionSkipped, why)
		return a, nil
	}
	input := map[string]any{"event": e.Name, "at": e.At.String(), "data": e.Data}
	for name, id := range map[string]string{"blueprintId": e.BlueprintID, "executionId": e.ExecutionID} {
		if id != "" {
			input[name] = id
		}
	}
	a.input, a.hidden, a.firing.Delivery = input, e.Hidden, said(input)
	a.firing.Delivery.Hidden = e.Hidden
	if !binding.CanManage {
		decide(a.firing, blueprint.DecisionRefused, lostAccess)
		return a, nil
	}
	if a.depth > blueprint.MaxEventDepth {
		decide(a.firing, blueprint.DecisionRefused, blueprint.NewReason(blueprint.ReasonEventDepth, "depth", a.depth))
		return a, nil
	}
	switch grows, tell := t.chains.grow(a.root, triggerID); {
	case grows:
	case tell:
		decide(a.firing, blueprint.DecisionRefused, blueprint.NewReason(blueprint.ReasonEventRuns, "event", a.root))
	default:
		t.counts.unheard.Add(1)
		return nil, nil
	}
	return a, nil
}

// apart returns why a trigger has nothing to do with an event of the name that
// it listens to, without a code when it has.
func apart(e *blueprint.Event, b *blueprint.Binding) (why blueprint.Reason) {
	wanted := string(read[eventConfig](b.Trigger.Config).Blueprint)
	switch {
	case b.Trigger.BlueprintID == e.BlueprintID && ofRun(e.Name):
		return blueprint.NewReason(blueprint.ReasonOwnRun)
	case wanted != "" && !strings.EqualFold(wanted, e.BlueprintID):
		return blueprint.NewReason(blueprint.ReasonOfBlueprint, "got", e.BlueprintID, "wanted", wanted)
	}
	return why
}

// ofRun reports whether an event is one that runs cause, and that a blueprint which
// heard its own would cause again and again.
func ofRun(name string) bool {
	return blueprint.IsCustomEvent(name) || strings.HasPrefix(name, "execution.")
}

// noWait has ended: ticks and events come again later rather than keep others
// waiting.
var noWait = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// hear starts a batch: first all runs are begun, then they are waited for, so
// that they share commits. It returns how many there are.
func (t *Service) hear(ctx context.Context, batch []*activation) (started int, err error) {
	runs, failures := make([]Run, len(batch)), make([]error, len(batch))
	for i, a := range batch {
		runs[i], failures[i] = t.begin(noWait, a)
	}
	for i, a := range batch {
		_, failed := t.finish(ctx, a, runs[i], failures[i])
		if failed != nil {
			t.chains.unstarted(a.root)
		}
		var duplicate *blueprint.DuplicateFiringError
		if failed == nil || errors.As(failed, &duplicate) {
			started++
			continue
		}
		decision, why := t.unheard(a, failed)
		decide(a.firing, decision, why)
		t.record(ctx, a.firing)
		if answer := shown(failed); isPassing(answer) || answer.Code == blueprint.CodeInternal {
			err = answer // one of them is enough to try again
		}
	}
	return started, err
}

// unheard tells what becomes of a firing whose run could not be started.
func (t *Service) unheard(a *activation, err error) (decision blueprint.Decision, why blueprint.Reason) {
	if isLeftOut(err) {
		return blueprint.DecisionSkipped, shown(crowded(err)).FiringReason()
	}
	return blueprint.DecisionRefused, t.failure(a.firing.TriggerID, err).FiringReason()
}

// maxChains is how many chains of events are remembered at least, those that grew
// last; there may be twice as many.
const maxChains = 10_000

// chains counts the runs that events led to, by the key of the first event of
// each chain: that runs cause events, and events runs, must end however many
// listen. The count is in memory: a chain that outlives a restart is counted anew,
// and ends by its depth at the latest. It is safe for concurrent use, and its zero
// value is ready for use.
type chains struct {
	mu          sync.Mutex
	now, before map[string]*chain
}

// chain is what one event led to.
type chain struct {
	runs    int
	refused map[string]bool // the triggers whose ledger says that it led to too many
}

// grow counts a run that a chain is to start for a trigger. When that would be
// one too many, tell says whether the trigger's ledger has no word of it yet.
func (c *chains) grow(root, triggerID string) (grows, tell bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.of(root)
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

// unstarted takes back a run that was counted and could not be started.
func (c *chains) unstarted(root string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.of(root); one.runs > 0 {
		one.runs--
	}
}

// of returns a chain, and keeps it from being forgotten for a while. c.mu is held.
func (c *chains) of(root string) *chain {
	one := c.now[root]
	if one != nil {
		return one
	}
	if one = c.before[root]; one == nil {
		one = &chain{}
	}
	if c.now == nil || len(c.now) >= maxChains {
		c.now, c.before = map[string]*chain{}, c.now
	}
	c.now[root] = one
	return one
}
