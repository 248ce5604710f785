package trial

import (
	"maps"
	"slices"

	"blueprintd/blueprint"
)

// Present gives what the expectation of a test would have to be for the outcome
// to fit it. What fits stays as it was written, matchers too, and what nobody
// looked at stays out; a test without an expectation gets status, output and
// error.
func (t *Test) Present(o *Outcome) map[string]any {
	actual := Actual(o)
	if len(t.Expect) == 0 {
		out := map[string]any{"status": actual["status"]}
		for _, name := range []string{"output", "error"} {
			if value := actual[name]; value != nil {
				out[name] = value
			}
		}
		return out
	}
	out := maps.Clone(t.Expect)
	for _, name := range []string{"status", "output", "error"} {
		if want, given := out[name]; given && !fits(want, actual[name]) {
			out[name] = actual[name]
		}
		if _, given := actual[name]; !given {
			delete(out, name)
		}
	}
	out["status"] = actual["status"]
	if steps, given := t.Expect["steps"].(map[string]any); given {
		out["steps"] = presentSteps(steps, actual["steps"].(map[string]any))
	}
	if branches, given := t.Expect["branches"].(map[string]any); given {
		present := map[string]any{}
		for address := range branches {
			if handle, taken := actual["branches"].(map[string]any)[address]; taken {
				present[address] = handle
			}
		}
		out["branches"] = present
	}
	if calls, given := t.Expect["calls"].([]any); given {
		m := &matching{}
		if m.calls(nil, calls, o.Recording.Exchanges); len(m.found) > 0 {
			out["calls"] = actual["calls"]
		}
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
			got, there := done[name]
			switch {
			case there && fits(value, got):
				step[name] = value
			case there:
				step[name] = got
			}
		}
		out[address] = step
	}
	return out
}

// expectOrder is the order in which an expectation is written.
var expectOrder = []string{"status", "error", "output", "branches", "steps", "calls"}

// Rewrite gives a test file with other expectations, by the places of their
// tests. All else stays as it is, byte for byte. Errors are CodeBadRequest: a
// test that is written in braces on its line of YAML cannot be changed.
func (f *File) Rewrite(data []byte, expectations map[int]map[string]any) ([]byte, error) {
	text := newText(f.Document, data)
	places := slices.Sorted(maps.Keys(expectations))
	slices.Reverse(places) // so that the places before stay where they are
	for _, index := range places {
		var err error
		if text.isJSON {
			err = text.rewriteJSON(index, expectations[index])
		} else {
			err = text.rewriteYAML(index, expectations[index])
		}
		if err != nil {
			return nil, err
		}
	}
	return text.data, nil
}

func cannot(index int, why string) error {
	return blueprint.Errorf(blueprint.CodeBadRequest, "tests[%d].expect cannot be written: %s", index, why)
}
