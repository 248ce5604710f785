package testsuite

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

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

// call compares a call with its expectation.
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

// seenAs returns a member of a call for comparison: a host without its port if the
// expected one has none.
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
		of := pair(list, made)
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
			if callFits(list[i], &made[k]) {
				m.differ(Mismatch{Path: below(path, "none", i), What: fmt.Sprintf("call %d", k+1), Got: callOf(&made[k], false), Surplus: true})
			}
		}
	}
}

func callFits(want any, made *blueprint.Exchange) bool {
	m := &matching{}
	m.call(nil, want, made)
	return len(m.found) == 0
}

// pair assigns a different matching call to as many expected calls as possible, -1 to the
// others (a maximum bipartite matching by augmenting paths).
func pair(want []any, made []blueprint.Exchange) []int {
	of, by := make([]int, len(want)), map[int]int{}
	fits := make([][]int, len(want))
	for i := range want {
		of[i] = -1
		for k := range made {
			if callFits(want[i], &made[k]) {
				fits[i] = append(fits[i], k)
			}
		}
	}
	var find func(i int, tried map[int]bool) bool
	find = func(i int, tried map[int]bool) bool {
		for _, k := range fits[i] {
			if tried[k] {
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
