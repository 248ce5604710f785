package testsuite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"blueprintd/blueprint"
)

// judge returns the mismatches between the outcome of a test and its expectations.
func (t *Test) judge(o *Outcome) []Mismatch {
	m := &matching{}
	at := func(parts ...any) []any { return below(t.path("expect"), parts...) }
	x := o.Recording
	actual := expectationOf(o)
	if want, given := t.Expect["status"]; given && want != string(x.Status) {
		d := Mismatch{Path: at("status"), Expected: want, Got: string(x.Status)}
		switch {
		case x.Failure != nil:
			d.What = "the run failed: " + failure(x.Failure)
		case x.AwaitingInput != nil:
			d.What = fmt.Sprintf("the run waits for %s at node %q: %s", x.AwaitingInput.Kind, x.AwaitingInput.NodeID, x.AwaitingInput.Prompt)
		}
		m.differ(d)
	}
	for _, name := range []string{"output", "error"} {
		if want, given := t.Expect[name]; given {
			m.value(at(name), want, actual[name], false)
		}
	}
	steps, _ := t.Expect["steps"].(map[string]any)
	done := actual["steps"].(map[string]any)
	for _, address := range slices.Sorted(maps.Keys(steps)) {
		step, there := done[address].(map[string]any)
		if !there {
			m.differ(Mismatch{Path: at("steps", address), What: "the node did not start", Expected: steps[address], Missing: true})
			continue
		}
		want, _ := steps[address].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if got, there := step[name]; there {
				m.value(at("steps", address, name), want[name], got, false)
			} else {
				m.differ(Mismatch{Path: at("steps", address, name), Expected: want[name], Missing: true})
			}
		}
	}
	branches, _ := t.Expect["branches"].(map[string]any)
	for _, address := range slices.Sorted(maps.Keys(branches)) {
		if got := actual["branches"].(map[string]any)[address]; got != branches[address] {
			m.differ(Mismatch{Path: at("branches", address), What: "the taken handle", Expected: branches[address], Got: got})
		}
	}
	if want, given := t.Expect["calls"]; given {
		m.calls(at("calls"), want, x.Exchanges)
	}
	t.order(m.found)
	if _, hasStatus := t.Expect["status"]; !hasStatus && x.Failure != nil && len(m.found) > 0 {
		first := &m.found[0]
		if first.What != "" {
			first.What += "; "
		}
		first.What += "the run failed: " + failure(x.Failure)
	}
	return m.found
}

// order sorts mismatches by their positions in the file.
func (t *Test) order(found []Mismatch) {
	if t.File == nil || t.File.Document == nil {
		return
	}
	slices.SortStableFunc(found, func(a, b Mismatch) int {
		p, q := t.File.Document.At(a.Path), t.File.Document.At(b.Path)
		return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
	})
}

func failure(f *blueprint.RunError) string {
	if f.NodeID == "" {
		return f.Message
	}
	return fmt.Sprintf("node %q: %s", f.NodeID, f.Message)
}

// expectationOf returns the expectation that an outcome matches exactly: status, output,
// error if there is one, steps, branches and calls.
func expectationOf(o *Outcome) map[string]any {
	x := o.Recording
	out := map[string]any{"status": string(x.Status), "output": x.Output}
	if x.Failure != nil {
		out["error"] = x.Failure.Message
	}
	steps, branches := map[string]any{}, map[string]any{}
	for i := range x.Steps {
		s := &x.Steps[i]
		step := map[string]any{"status": string(s.Status), "output": s.Output}
		if s.Error != nil {
			step["error"] = s.Error.Message
		}
		steps[s.NodeID] = step
		if s.Status == blueprint.StepCompleted {
			branches[s.NodeID] = "main"
		}
	}
	for address, handle := range x.Handles {
		branches[address] = handle
	}
	calls := []any{}
	for i := range x.Exchanges {
		calls = append(calls, callOf(&x.Exchanges[i], false))
	}
	out["steps"], out["branches"], out["calls"] = steps, branches, calls
	return out
}
