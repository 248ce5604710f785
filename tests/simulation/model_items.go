package simulation

import (
	"fmt"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// runItems runs an attempt of a for-each node over its items. It settles the node unless it
// returns a failure, after which another attempt may follow; chance is true if it is
// unknown which items are finished then. With one item at a time, all is known: those
// before the failing one are finished, those after it have not started. Concurrent items
// stop each other.
func (m *model) runItems(w *graphResult, i int, items []any) (failure *blueprint.Failure, chance bool) {
	f, n := &w.results[i], &w.graph.nodes[i]
	before := f.items
	f.items = make([]*graphResult, len(items))
	left, doubt := 0, false
	f.uncertainItems = false
	for k := range before {
		if k < len(items) && len(before) == len(items) && before[k] != nil && before[k].isFinished() {
			f.items[k] = before[k]
			continue
		}
		if before[k] != nil {
			f.addUsage(before[k])
			doubt = m.keepResults(before[k]) || doubt
			m.lost = m.lost || !before[k].exact || before[k].uncertain
		}
	}
	for _, kept := range f.items {
		if kept == nil {
			left++
		} else {
			f.uncertainItems = f.uncertainItems || kept.uncertain
		}
	}
	turns := n.most == 1 || left <= 1
	sum := graphResult{failed: -1, exact: true}
	for k, item := range items {
		if f.items[k] != nil {
			continue
		}
		one := m.runGraph(n.body, atItem(w.address+n.ID, k), atRound(w.place+n.ID, k, f.attempt), item)
		f.items[k] = one
		sum.exact, sum.fails = sum.exact && one.exact, sum.fails || one.fails
		sum.quits, sum.open, sum.uncertain = sum.quits || one.quits, sum.open || one.open, sum.uncertain || one.uncertain
		sum.halts = sum.halts || one.halts
		if one.exact && one.failed >= 0 && sum.failed < 0 {
			sum.failed = k
		}
		if turns && !one.isFinished() {
			break
		}
	}
	f.uncertainItems = f.uncertainItems || sum.uncertain || !sum.exact || sum.fails && !turns
	switch {
	case sum.quits, doubt:
		m.markUncertain(f, n)
		return nil, false
	case sum.open && !sum.halts:
		f.open = true
		return nil, false
	case sum.fails && turns && sum.exact:
		return f.items[sum.failed].failure(sum.failed), false
	case sum.fails && !sum.open:
		f.uncertainItem = true
		return &blueprint.Failure{}, true
	case !sum.exact || sum.fails || sum.open:
		m.markUncertain(f, n)
		return nil, false
	}
	f.status, f.output = blueprint.StepCompleted, unknown
	f.uncertainItem = false
	list := make([]any, len(items))
	for k, one := range f.items {
		if one.output == unknown {
			return nil, false
		}
		list[k] = one.output
	}
	f.output = list
	return nil, false
}

// markUncertain marks the outcome of a for-each node as dependent on timing, in this attempt or a
// later one. If a node of its items can end the run, it may.
func (m *model) markUncertain(f *nodeResult, n *node) {
	f.uncertain, f.uncertainItems, f.attempt = true, true, max(f.attempt, n.tries())
	f.quits = n.body.has(func(inner *node) bool { return inner.Type == kindStop || inner.effect() == blueprint.EffectOnce })
}

// isFinished reports whether an item is finished in any case, so that its for-each node never
// runs it again.
func (w *graphResult) isFinished() bool { return w.exact && w.failed < 0 && !w.quits && !w.open }

// failure returns why a for-each node failed on an item.
func (w *graphResult) failure(item int) *blueprint.Failure {
	f := &w.results[w.failed]
	return &blueprint.Failure{Code: f.failure.Code, Message: fmt.Sprintf("item %d: node %q failed: %s", item, w.graph.nodes[w.failed].ID, f.failure.Message), Permanent: f.final}
}

// addUsage accounts for the budget used by an item whose steps are replaced by those of another
// attempt.
func (f *nodeResult) addUsage(w *graphResult) {
	for i := range w.results {
		one := &w.results[i]
		f.tokens += one.tokens
		f.calls += one.calls
		for _, inner := range one.items {
			if inner != nil {
				f.addUsage(inner)
			}
		}
	}
}

// keepResults keeps the results of the nodes of a restarted item; a settled for-each node
// keeps its items. It reports whether it is uncertain which ones there are: those of the
// items of a for-each node within it that stopped each other.
func (m *model) keepResults(w *graphResult) (doubt bool) {
	for i := range w.results {
		one, n := &w.results[i], &w.graph.nodes[i]
		doubt = doubt || one.uncertainItems
		if one.isSettled() {
			kept := *one
			kept.forgetUsage()
			m.kept[w.address+n.ID] = kept
			delete(m.used, w.address+n.ID)
			continue
		}
		for _, inner := range one.items {
			if inner != nil {
				doubt = m.keepResults(inner) || doubt
			}
		}
	}
	return doubt
}

// isSettled reports whether a node of an item ended in a way that another attempt keeps.
func (f *nodeResult) isSettled() bool {
	return !f.halts && (f.status == blueprint.StepCompleted || f.status == blueprint.StepFailed)
}

// forgetUsage clears the usage, which addUsage has accounted for.
func (f *nodeResult) forgetUsage() {
	f.tokens, f.calls = 0, 0
	for _, item := range f.items {
		if item != nil {
			for i := range item.results {
				item.results[i].forgetUsage()
			}
		}
	}
}

// mayHaveActed reports whether a node of the failed item with effect "once" may have acted
// without finishing.
func (f *nodeResult) mayHaveActed() bool {
	for _, item := range f.items {
		if item == nil || item.isFinished() {
			continue
		}
		for i := range item.results {
			one, n := &item.results[i], &item.graph.nodes[i]
			if (n.effect() == blueprint.EffectOnce || one.acted) && one.begun && one.status == blueprint.StepFailed && one.halts && !one.notSent || !one.isSettled() && one.mayHaveActed() {
				return true
			}
		}
	}
	return false
}

// called returns the result of the run that an attempt starts, nil until it has ended.
func (m *model) called(n *node, here at) *returned {
	switch {
	case m.deep:
		return &returned{failure: &blueprint.Failure{Code: "too_deep", Message: "runs are nested more than 16 deep", Permanent: true}}
	case m.missing(n.runs):
		return &returned{failure: &blueprint.Failure{Code: "blueprint_unavailable", Message: "there is no blueprint " + n.runs + " that this run may start", Permanent: true}}
	default:
		return m.child(here)
	}
}

// at returns the result of the node at a place, if its for-each nodes reach it.
func (m *model) at(place string) *nodeResult {
	w, rest := m.graphResult, place
	for {
		head, inner, within := strings.Cut(rest, "]@")
		if !within {
			return &w.results[w.graph.index[rest]]
		}
		number, inner, _ := strings.Cut(inner, "/")
		open := strings.LastIndexByte(head, '[')
		loop := head[:open]
		item, _ := strconv.Atoi(head[open+1:])
		round, _ := strconv.Atoi(number)
		items := m.items(w.place + loop)
		if item >= len(items) {
			return &nodeResult{place: place}
		}
		w, rest = m.runGraph(w.graph.nodes[w.graph.index[loop]].body, atItem(w.address+loop, item), atRound(w.place+loop, item, round), items[item]), inner
	}
}

// listed is a step that a record must contain.
type listed struct {
	address string
	result  *nodeResult
}

// steps returns the steps of a record in order.
func (w *graphResult) steps(list []listed) []listed {
	for i := range w.results {
		list = append(list, listed{w.address + w.graph.nodes[i].ID, &w.results[i]})
		for _, item := range w.results[i].items {
			if item != nil {
				list = item.steps(list)
			}
		}
	}
	return list
}
