package testsuite

import (
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// exactly returns an expectation that only this value matches. Objects that look like
// matchers are wrapped in {"$exact": ...}.
func exactly(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if _, _, is := matcherOf(v); is {
			return map[string]any{"$exact": v}
		}
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = exactly(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = exactly(value)
		}
		return out
	}
	return value
}

// merged returns an expectation that a value matches, and keeps the parts of the old one
// that it matches already. partial is that of matching.value.
func merged(want, got any, partial bool) any {
	m := &matching{}
	if m.value(nil, want, got, partial); len(m.found) == 0 {
		return want
	}
	switch want := want.(type) {
	case map[string]any:
		have, ok := got.(map[string]any)
		name, argument, is := matcherOf(want)
		switch {
		case is && name == "$partial" && typeOf(argument) == typeOf(got):
			return map[string]any{name: merged(argument, got, true)}
		case is || !ok:
			return exactly(got)
		}
		out := map[string]any{}
		for name, value := range have {
			if old, there := want[name]; there {
				out[name] = merged(old, value, partial)
			} else if !partial {
				out[name] = exactly(value)
			}
		}
		if _, _, is := matcherOf(out); is {
			return exactly(got)
		}
		return out
	case []any:
		have, ok := got.([]any)
		if !ok {
			break
		}
		out := []any{}
		for i, value := range have {
			if i < len(want) {
				out = append(out, merged(want[i], value, partial))
			} else if !partial {
				out = append(out, exactly(value))
			}
		}
		return out
	}
	return exactly(got)
}

// mergedCalls is merged for calls.
func mergedCalls(want any, made []blueprint.Exchange) any {
	object, is := want.(map[string]any)
	if !is {
		list, _ := want.([]any)
		out := []any{}
		for i := range made {
			if i < len(list) {
				out = append(out, mergedCall(list[i], &made[i]))
			} else {
				out = append(out, exactly(callOf(&made[i], false)))
			}
		}
		return out
	}
	out := maps.Clone(object)
	for _, name := range []string{"unordered", "some"} {
		list, given := object[name].([]any)
		if !given {
			continue
		}
		of := pair(list, made)
		kept := []any{}
		for i, call := range of {
			for k := 0; call < 0 && k < len(made); k++ { // the next unexpected call of its node
				if sameNode(list[i], &made[k]) && !slices.Contains(of, k) {
					call = k
					of[i] = k
				}
			}
			if call >= 0 {
				kept = append(kept, mergedCall(list[i], &made[call]))
			}
		}
		for i := range made {
			if name == "unordered" && !slices.Contains(of, i) {
				kept = append(kept, exactly(callOf(&made[i], false)))
			}
		}
		out[name] = kept
	}
	if list, given := object["none"].([]any); given {
		kept := []any{}
		for _, unwanted := range list {
			if !slices.ContainsFunc(made, func(x blueprint.Exchange) bool { return callFits(unwanted, &x) }) {
				kept = append(kept, unwanted)
			}
		}
		out["none"] = kept
	}
	return out
}

func sameNode(want any, made *blueprint.Exchange) bool {
	expected, _ := want.(map[string]any)
	return expected["nodeId"] == made.NodeID
}

func mergedCall(want any, made *blueprint.Exchange) any {
	if callFits(want, made) {
		return want
	}
	expected, _ := want.(map[string]any)
	got, out := callOf(made, true), map[string]any{}
	for name, value := range expected {
		have, there := got[name]
		if headers, is := value.(map[string]any); is && name == "headers" {
			out[name] = mergedHeaders(headers, have.(map[string]any))
		} else if there {
			out[name] = merged(value, seenAs(name, value, have), true)
			if callFits(map[string]any{name: value}, made) {
				out[name] = value
			}
		}
	}
	return out
}

func mergedHeaders(want, got map[string]any) any {
	if _, _, is := matcherOf(want); is {
		return merged(want, got, true)
	}
	out := map[string]any{}
	for name, value := range want {
		if have, there := got[strings.ToLower(name)]; there {
			out[name] = merged(value, have, true)
		}
	}
	return out
}
