package main

import "blueprintd/tests/process"

// Names of the shapes that subscribe to system events, each filtered to one shape.
const (
	spoken  = "spoken" // its executions are observed
	listens = "on-"
	ended   = "execution."
	updated = "blueprint.updated"
)

// listenerShapes returns the observed shape and the shapes that subscribe to its events.
func listenerShapes(ledger string) []*shape {
	listener := func(event, of string) *shape {
		before := process.Node("before", "set", object{"values": object{"kept": "{{execution.id}}", "of": "{{inputData.executionId ?? null}}", "version": "{{inputData.data.version ?? null}}"}})
		return &shape{name: listens + event, startEvent: event, narrowed: of, spared: true, nodes: []any{before, lastNode}}
	}
	return []*shape{
		{name: spoken, weight: 3, modes: []string{""}, nodes: []any{firstNode, callOf(ledger, "call", "call", "doomed"), lastNode}},
		listener(ended+"completed", spoken), listener(ended+"failed", spoken), listener(updated, edited),
	}
}

// undelivered returns the number of system events, of those known to clients, that are not
// delivered yet. Each kind of event is counted separately.
func (b *book) undelivered(has func(shape string) bool) (missing int) {
	ends, heard := map[string]int{}, map[string]int{}
	all := b.all()
	for _, r := range all {
		switch {
		case r.shape == nil:
		case r.shape.name == spoken:
			ends[ended+r.status]++
		case r.shape.narrowed != "":
			heard[r.shape.startEvent]++
		}
	}
	b.count(func(n *counts) { ends[updated] = n.Updates })
	for event, n := range ends {
		if has(listens + event) {
			missing += max(0, n-heard[event])
		}
	}
	return missing
}

// judgeListeners compares delivered events with what happened: each end of a run of the
// spoken shape, and each change of the edited shape, starts exactly one run of its
// listener. The number of changes is between acknowledged and tried.
func (b *book) judgeListeners(has func(shape string) bool, acknowledged, tried int) {
	heard := map[string]string{} // event and its subject -> run
	versions := 0
	for _, r := range b.all() {
		if r.shape == nil || r.shape.narrowed == "" {
			continue
		}
		output, done := r.output("before")
		of := process.At(output, "of")
		if r.shape.startEvent == updated {
			of = process.At(output, "version")
			versions++
		}
		what, _ := of.(string)
		if !done || what == "" {
			b.violated("I7", r.id, "it received %s without its subject: %v", r.shape.startEvent, output)
			continue
		}
		if other := heard[r.shape.startEvent+" "+what]; other != "" {
			b.violated("I7", r.id, "%s of %s started it and %s", r.shape.startEvent, what, other)
		}
		heard[r.shape.startEvent+" "+what] = r.id
		if of := b.runs[what]; r.shape.startEvent != updated && (of == nil || of.shape == nil || of.shape.name != spoken || ended+of.status != r.shape.startEvent) {
			b.violated("I7", r.id, "it received %s of %s, which did not end so", r.shape.startEvent, what)
		}
	}
	for _, r := range b.all() {
		if r.shape != nil && r.shape.name == spoken && has(listens+ended+r.status) && heard[ended+r.status+" "+r.id] == "" {
			b.violated("I7", r.id, "it is %s, and no run was started by that event", r.status)
		}
	}
	if has(listens+updated) && (versions < acknowledged || versions > tried) {
		b.violated("I7", "", "%d changes of a blueprint were acknowledged, %d were sent, and %d were delivered", acknowledged, tried, versions)
	}
	b.count(func(n *counts) { n.Told, n.Changes = len(heard)-versions, versions })
}
