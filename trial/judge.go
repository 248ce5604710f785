package trial

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// Judge tells where the outcome of a test is not as it expects.
func (t *Test) Judge(o *Outcome) []Mismatch {
	m := &matching{}
	at := func(parts ...any) []any { return t.path(append([]any{"expect"}, parts...)...) }
	x := o.Recording
	actual := Actual(o)
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
			m.differ(Mismatch{Path: at("steps", address), What: "the node never began", Expected: steps[address], Missing: true})
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
			m.differ(Mismatch{Path: at("branches", address), What: "the handle that was taken", Expected: branches[address], Got: got})
		}
	}
	if want, given := t.Expect["calls"].([]any); given {
		m.calls(at("calls"), want, x.Exchanges)
	}
	return m.found
}

func failure(f *blueprint.RunError) string {
	if f.NodeID == "" {
		return f.Message
	}
	return fmt.Sprintf("node %q: %s", f.NodeID, f.Message)
}

// Actual gives an outcome as an expectation that fits it: status, output, error
// when there is one, steps, branches and calls.
func Actual(o *Outcome) map[string]any {
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

// callOf gives a call as it is compared; whole has all of it.
func callOf(x *blueprint.Exchange, whole bool) map[string]any {
	out := map[string]any{"nodeId": x.NodeID, "method": x.Request.Method, "url": x.Request.URL}
	if x.Request.Body != nil {
		out["body"] = x.Request.Body
	}
	if !whole {
		return out
	}
	headers := map[string]any{}
	for name, value := range x.Request.Headers {
		headers[name] = value
	}
	out["headers"] = headers
	if u, err := url.Parse(x.Request.URL); err == nil {
		out["host"] = u.Host
	}
	return out
}

// calls compares the calls in their order.
func (m *matching) calls(path []any, want []any, made []blueprint.Exchange) {
	for i := range max(len(want), len(made)) {
		if i >= len(made) {
			m.differ(Mismatch{Path: below(path, i), What: fmt.Sprintf("only %d went out", len(made)), Expected: want[i], Missing: true})
			continue
		}
		got := callOf(&made[i], true)
		if i >= len(want) {
			m.differ(Mismatch{Path: path, What: fmt.Sprintf("call %d", i+1), Got: callOf(&made[i], false), Surplus: true})
			continue
		}
		expected, _ := want[i].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(expected)) {
			value := expected[name]
			if headers, is := value.(map[string]any); is && name == "headers" {
				value = lowered(headers)
			}
			if host, is := value.(string); is && name == "host" && !strings.Contains(host, ":") {
				plain, _, _ := strings.Cut(fmt.Sprint(got["host"]), ":")
				m.value(below(path, i, name), host, plain, true)
				continue
			}
			m.value(below(path, i, name), value, got[name], true)
		}
	}
}

func lowered(headers map[string]any) map[string]any {
	out := make(map[string]any, len(headers))
	for name, value := range headers {
		out[strings.ToLower(name)] = value
	}
	return out
}
