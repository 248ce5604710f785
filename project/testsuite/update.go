package testsuite

import "maps"

// Present returns the expectation of a test changed to match the outcome. Matching parts
// and matchers stay, and nothing is added to partial expectations. A test without
// expectations gets status, output and error.
func (t *Test) Present(o *Outcome) map[string]any {
	actual := expectationOf(o)
	if len(t.Expect) == 0 {
		out := map[string]any{"status": actual["status"]}
		for _, name := range []string{"output", "error"} {
			if value := actual[name]; value != nil {
				out[name] = exactly(value)
			}
		}
		return out
	}
	out := maps.Clone(t.Expect)
	for _, name := range []string{"output", "error"} {
		want, given := out[name]
		got, there := actual[name]
		switch {
		case given && there:
			out[name] = merged(want, got, false)
		case given:
			delete(out, name)
		}
	}
	out["status"] = actual["status"]
	if steps, given := t.Expect["steps"].(map[string]any); given {
		out["steps"] = presentSteps(steps, actual["steps"].(map[string]any))
	}
	if branches, given := t.Expect["branches"].(map[string]any); given {
		present := maps.Clone(actual["branches"].(map[string]any))
		maps.DeleteFunc(present, func(address string, _ any) bool { return !has(branches, address) })
		out["branches"] = present
	}
	if calls, given := t.Expect["calls"]; given {
		out["calls"] = mergedCalls(calls, o.Recording.Exchanges)
	}
	return out
}

func presentSteps(want, actual map[string]any) map[string]any {
	out := map[string]any{}
	for address, value := range want {
		done, there := actual[address].(map[string]any)
		if !there {
			continue
		}
		step := map[string]any{}
		expected, _ := value.(map[string]any)
		for name, value := range expected {
			if got, there := done[name]; there {
				step[name] = merged(value, got, false)
			}
		}
		out[address] = step
	}
	return out
}
