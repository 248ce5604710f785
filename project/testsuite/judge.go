package testsuite

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/expression"
	"blueprintd/blueprint/jsonschema"
	"blueprintd/foundation/recording"
)

// judge returns the mismatches between the outcome of a test and its expectations. They are
// incomplete if ctx ends meanwhile.
func (t *Test) judge(ctx context.Context, o *Outcome) []Mismatch {
	m := &matching{ended: ctx.Done()}
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

// Mismatch is a difference between an outcome and its expectation.
type Mismatch struct {
	Path     []any // of the expectation in the test file
	What     string
	Expected any
	Got      any
	Missing  bool // there is no value
	Surplus  bool // no value was expected
}

// maxMismatches is the largest number of mismatches of a test.
const maxMismatches = 50

// matching compares an outcome with its expectations.
type matching struct {
	found   []Mismatch
	literal bool            // no object is a matcher
	ended   <-chan struct{} // closed when the comparison is to stop; nil = never
}

// stopped reports whether m.ended is closed.
func (m *matching) stopped() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

func (m *matching) differ(d Mismatch) {
	if len(m.found) < maxMismatches {
		d.Path = slices.Clone(d.Path)
		m.found = append(m.found, d)
	}
}

// value compares two values. partial allows objects to have more members, and arrays to
// have more elements, than expected.
func (m *matching) value(path []any, want, got any, partial bool) {
	switch want := want.(type) {
	case map[string]any:
		if name, argument, is := matcherOf(want); is && !m.literal {
			m.matcher(path, name, argument, want, got)
			return
		}
		have, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if value, there := have[name]; there {
				m.value(below(path, name), want[name], value, partial)
			} else {
				m.differ(Mismatch{Path: below(path, name), Expected: want[name], Missing: true})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(have)) {
			if _, there := want[name]; !there && !partial {
				m.differ(Mismatch{Path: below(path, name), Got: have[name], Surplus: true})
			}
		}
		return
	case []any:
		have, ok := got.([]any)
		if !ok {
			break
		}
		for i := range max(len(want), len(have)) {
			switch {
			case i >= len(have):
				m.differ(Mismatch{Path: below(path, i), Expected: want[i], Missing: true})
			case i < len(want):
				m.value(below(path, i), want[i], have[i], partial)
			case !partial:
				m.differ(Mismatch{Path: below(path, i), Got: have[i], Surplus: true})
			}
		}
		return
	default:
		if recording.EqualScalars(want, got) {
			return
		}
	}
	m.differ(Mismatch{Path: path, Expected: want, Got: got})
}

func (m *matching) matcher(path []any, name string, argument any, want, got any) {
	fits := false
	switch name {
	case "$any":
		fits = true
	case "$type":
		fits = jsonschema.TypeName(got) == argument
	case "$match":
		text, isText := got.(string)
		pattern, _ := argument.(string)
		compiled, problem := expression.CompilePattern(pattern)
		fits = isText && problem == "" && compiled.MatchReader(&untilEnded{Reader: strings.NewReader(text), matching: m})
	case "$exact":
		literal := m.literal
		m.literal = true
		m.value(below(path, name), argument, got, false)
		m.literal = literal
		return
	case "$partial":
		m.value(below(path, name), argument, got, true)
		return
	}
	if !fits {
		m.differ(Mismatch{Path: path, Expected: want, Got: got})
	}
}

// untilEnded ends a text when the comparison is to stop.
type untilEnded struct {
	*strings.Reader
	matching *matching
	read     int // characters
}

func (r *untilEnded) ReadRune() (c rune, size int, err error) {
	if r.read++; r.read%1024 == 0 && r.matching.stopped() {
		return 0, 0, io.EOF
	}
	return r.Reader.ReadRune()
}

// callOf returns a call as a JSON value, with whole including headers and host.
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
		out["host"] = strings.ToLower(u.Host)
	}
	return out
}

// calls compares the calls with a list of all of them in order, or an object for callSet.
func (m *matching) calls(path []any, want any, made []blueprint.Exchange) {
	if object, is := want.(map[string]any); is {
		m.callSet(path, object, made)
		return
	}
	list, _ := want.([]any)
	for i := range max(len(list), len(made)) {
		switch {
		case i >= len(made):
			m.differ(Mismatch{Path: below(path, i), What: fmt.Sprintf("only %s", blueprint.Counted(len(made), "call")), Expected: list[i], Missing: true})
		case i >= len(list):
			m.differ(Mismatch{Path: path, What: fmt.Sprintf("call %d", i+1), Got: callOf(&made[i], false), Surplus: true})
		default:
			m.call(below(path, i), list[i], &made[i])
		}
	}
}

func (m *matching) call(path []any, want any, made *blueprint.Exchange) {
	got := callOf(made, true)
	expected, _ := want.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		value := expected[name]
		if headers, is := value.(map[string]any); is && name == "headers" {
			m.headers(below(path, name), headers, got[name].(map[string]any))
			continue
		}
		m.value(below(path, name), hostAsWritten(name, value), seenAs(name, value, got[name]), true)
	}
}

// headers compares headers; their names are case-insensitive.
func (m *matching) headers(path []any, want, got map[string]any) {
	if _, _, is := matcherOf(want); is {
		m.value(path, want, got, true)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if value, there := got[strings.ToLower(name)]; there {
			m.value(below(path, name), want[name], value, true)
		} else {
			m.differ(Mismatch{Path: below(path, name), Expected: want[name], Missing: true})
		}
	}
}

// hostAsWritten returns an expected host in lower case, and other members unchanged.
func hostAsWritten(name string, want any) any {
	if host, is := want.(string); is && name == "host" {
		return strings.ToLower(host)
	}
	return want
}

// seenAs returns a member of a call for comparison: a host without an unexpected port.
func seenAs(name string, want, got any) any {
	host, is := want.(string)
	if !is || name != "host" || strings.Contains(host, ":") {
		return got
	}
	plain, _, _ := strings.Cut(fmt.Sprint(got), ":")
	return plain
}

// callSet compares the calls with an object of unordered, some and none.
func (m *matching) callSet(path []any, want map[string]any, made []blueprint.Exchange) {
	for _, name := range []string{"unordered", "some"} {
		list, given := want[name].([]any)
		if !given {
			continue
		}
		of := m.pair(list, made)
		for i, call := range of {
			if call < 0 {
				m.differ(Mismatch{Path: below(path, name, i), What: fmt.Sprintf("no match among %s", blueprint.Counted(len(made), "call")), Expected: list[i], Missing: true})
			}
		}
		for i := range made {
			if name == "unordered" && !slices.Contains(of, i) {
				m.differ(Mismatch{Path: below(path, name), What: fmt.Sprintf("call %d", i+1), Got: callOf(&made[i], false), Surplus: true})
			}
		}
	}
	list, _ := want["none"].([]any)
	for i := range list {
		for k := range made {
			if m.callFits(list[i], &made[k]) {
				m.differ(Mismatch{Path: below(path, "none", i), What: fmt.Sprintf("call %d", k+1), Got: callOf(&made[k], false), Surplus: true})
			}
		}
	}
}

// callFits reports whether a call fits; none does once the comparison is to stop.
func (m *matching) callFits(want any, made *blueprint.Exchange) bool {
	one := &matching{ended: m.ended}
	if m.stopped() {
		return false
	}
	one.call(nil, want, made)
	return len(one.found) == 0
}

// pair assigns a different matching call to as many expected calls as possible, -1 to the
// others (a maximum bipartite matching by augmenting paths).
func (m *matching) pair(want []any, made []blueprint.Exchange) []int {
	of, by := make([]int, len(want)), map[int]int{}
	fits := make([][]int, len(want))
	for i := range want {
		of[i] = -1
		for k := range made {
			if m.callFits(want[i], &made[k]) {
				fits[i] = append(fits[i], k)
			}
		}
	}
	var find func(i int, tried map[int]bool) bool
	find = func(i int, tried map[int]bool) bool {
		for _, k := range fits[i] {
			if tried[k] || m.stopped() {
				continue
			}
			tried[k] = true
			if other, taken := by[k]; !taken || find(other, tried) {
				of[i], by[k] = k, i
				return true
			}
		}
		return false
	}
	for i := range want {
		find(i, map[int]bool{})
	}
	return of
}
