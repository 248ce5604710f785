package main

import "blueprintd/tests/process"

// What listens to the events of the service itself, each narrowed to one shape.
const (
	spoken  = "spoken" // whose ends are heard
	hears   = "hears-"
	ended   = "execution."
	updated = "blueprint.updated"
)

// hearingShapes returns the shape whose ends are heard, and those that hear.
func hearingShapes(ledger string) []*shape {
	listener := func(event, of string) *shape {
		before := process.Node("before", "set", object{"values": object{"kept": "{{execution.id}}", "of": "{{inputData.executionId ?? null}}", "version": "{{inputData.data.version ?? null}}"}})
		return &shape{name: hears + event, hears: event, narrowed: of, spared: true, nodes: []any{before, lastNode}}
	}
	return []*shape{
		{name: spoken, weight: 3, modes: []string{""}, nodes: []any{firstNode, callOf(ledger, "call", "call", "doomed"), lastNode}},
		listener(ended+"completed", spoken), listener(ended+"failed", spoken), listener(updated, edited),
	}
}

// unheard tells how many events of the service are still to be heard, as far as
// clients know; those of one kind are not weighed against others.
func (b *book) unheard(has func(shape string) bool) (missing int) {
	ends, heard := map[string]int{}, map[string]int{}
	all := b.all()
	for _, r := range all {
		switch {
		case r.shape == nil:
		case r.shape.name == spoken:
			ends[ended+r.status]++
		case r.shape.narrowed != "":
			heard[r.shape.hears]++
		}
	}
	b.count(func(n *counts) { ends[updated] = n.Updates })
	for event, n := range ends {
		if has(hears + event) {
			missing += max(0, n-heard[event])
		}
	}
	return missing
}

// judgeHearers holds what was heard against what was: each end of a run of the
// spoken shape by exactly one run of the listener, and each change of the edited
// shape, of which acknowledged ones were made and tried ones may have been.
func (b *book) judgeHearers(has func(shape string) bool, acknowledged, tried int) {
	heard := map[string]string{} // event and what it is of -> run
	versions := 0
	for _, r := range b.all() {
		if r.shape == nil || r.shape.narrowed == "" {
			continue
		}
		output, done := r.output("before")
		of := process.At(output, "of")
		if r.shape.hears == updated {
			of = process.At(output, "version")
			versions++
		}
		what, _ := of.(string)
		if !done || what == "" {
			b.violated("I7", r.id, "it heard %s, and does not say of what: %v", r.shape.hears, output)
			continue
		}
		if other := heard[r.shape.hears+" "+what]; other != "" {
			b.violated("I7", r.id, "%s of %s was heard by it and by %s", r.shape.hears, what, other)
		}
		heard[r.shape.hears+" "+what] = r.id
		if of := b.runs[what]; r.shape.hears != updated && (of == nil || of.shape == nil || of.shape.name != spoken || ended+of.status != r.shape.hears) {
			b.violated("I7", r.id, "it heard %s of %s, which did not end so", r.shape.hears, what)
		}
	}
	for _, r := range b.all() {
		if r.shape != nil && r.shape.name == spoken && has(hears+ended+r.status) && heard[ended+r.status+" "+r.id] == "" {
			b.violated("I7", r.id, "it is %s, and nobody heard that", r.status)
		}
	}
	if has(hears+updated) && (versions < acknowledged || versions > tried) {
		b.violated("I7", "", "%d changes of a blueprint were acknowledged, %d were sent, and %d were heard", acknowledged, tried, versions)
	}
	b.count(func(n *counts) { n.Told, n.Changes = len(heard)-versions, versions })
}
