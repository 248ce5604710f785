package main

import "blueprintd/tests/process"

// Names of the shapes that subscribe to system events, each filtered to one shape.
const (
	observed         = "observed" // its executions are observed
	listenerPrefix   = "on-"
	executionEvents  = "execution."
	blueprintUpdated = "blueprint.updated"
)

// listenerShapes returns the observed shape and the shapes that subscribe to its events.
func listenerShapes(ledger string) []*shape {
	listener := func(event, of string) *shape {
		before := process.Node("before", "set", object{"values": object{"kept": "{{execution.id}}", "of": "{{inputData.executionId ?? null}}", "version": "{{inputData.data.version ?? null}}"}})
		return &shape{name: listenerPrefix + event, startEvent: event, eventFilter: of, spared: true, nodes: []any{before, lastNode}}
	}
	return []*shape{
		{name: observed, weight: 3, modes: []string{""}, nodes: []any{firstNode, callOf(ledger, "call", "call", "doomed"), lastNode}},
		listener(executionEvents+"completed", observed), listener(executionEvents+"failed", observed), listener(blueprintUpdated, edited),
	}
}

// undelivered returns the number of system events, of those known to clients, that are not
// delivered yet. Each kind of event is counted separately.
func (h *history) undelivered(has func(shape string) bool) (missing int) {
	ends, received := map[string]int{}, map[string]int{}
	all := h.all()
	for _, r := range all {
		switch {
		case r.shape == nil:
		case r.shape.name == observed:
			ends[executionEvents+r.status]++
		case r.shape.eventFilter != "":
			received[r.shape.startEvent]++
		}
	}
	h.count(func(n *counts) { ends[blueprintUpdated] = n.Updates })
	for event, n := range ends {
		if has(listenerPrefix + event) {
			missing += max(0, n-received[event])
		}
	}
	return missing
}

// checkListeners compares delivered events with what happened: each end of a run of the
// observed shape, and each change of the edited shape, starts exactly one run of its
// listener. The number of changes is between acknowledged and sent.
func (h *history) checkListeners(has func(shape string) bool, acknowledged, tried int) {
	received := map[string]string{} // event and its subject -> run
	versions := 0
	for _, r := range h.all() {
		if r.shape == nil || r.shape.eventFilter == "" {
			continue
		}
		output, done := r.output("before")
		of := process.At(output, "of")
		if r.shape.startEvent == blueprintUpdated {
			of = process.At(output, "version")
			versions++
		}
		what, _ := of.(string)
		if !done || what == "" {
			h.violated("I7", r.id, "it received %s without its subject: %v", r.shape.startEvent, output)
			continue
		}
		if other := received[r.shape.startEvent+" "+what]; other != "" {
			h.violated("I7", r.id, "%s of %s started it and %s", r.shape.startEvent, what, other)
		}
		received[r.shape.startEvent+" "+what] = r.id
		if of := h.runs[what]; r.shape.startEvent != blueprintUpdated && (of == nil || of.shape == nil || of.shape.name != observed || executionEvents+of.status != r.shape.startEvent) {
			h.violated("I7", r.id, "it received %s of %s, which did not end that way", r.shape.startEvent, what)
		}
	}
	for _, r := range h.all() {
		if r.shape != nil && r.shape.name == observed && has(listenerPrefix+executionEvents+r.status) && received[executionEvents+r.status+" "+r.id] == "" {
			h.violated("I7", r.id, "it is %s, and no run was started by that event", r.status)
		}
	}
	if has(listenerPrefix+blueprintUpdated) && (versions < acknowledged || versions > tried) {
		h.violated("I7", "", "%d changes of a blueprint were acknowledged, %d were sent, and %d were delivered", acknowledged, tried, versions)
	}
	h.count(func(n *counts) { n.EndEvents, n.ChangeEvents = len(received)-versions, versions })
}
