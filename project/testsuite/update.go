package testsuite

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
)

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

// rewritten is a test file with changed expectations.
type rewritten struct {
	Data []byte
	Bare bool // comments inside changed values are lost
}

// withExpectations returns a test file with changed expectations, by the indices of their
// tests. Everything else stays the same, byte for byte, including comments between
// unchanged parts. The result is parsed again to verify that. Expectations that cannot
// be changed alone, such as shared ones, fail with CodeBadRequest.
func (f *File) withExpectations(data []byte, expectations map[int]map[string]any) (*rewritten, error) {
	bare := bytes.TrimPrefix(data, []byte("\ufeff"))
	mark := data[:len(data)-len(bare)]
	returns := bytes.Count(bare, []byte("\r\n"))
	if n := bytes.Count(bare, []byte("\r")); n != returns || returns > 0 && returns != bytes.Count(bare, []byte("\n")) {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the file mixes \\n and \\r\\n, so nothing is written; convert all line ends to \\n")
	}
	before := bytes.ReplaceAll(bare, []byte("\r\n"), []byte("\n"))
	now, err := f.rewriteAll(before, expectations)
	if err != nil {
		return nil, err
	}
	out := &rewritten{Data: now, Bare: comments(now) < comments(before)}
	if returns > 0 {
		out.Data = bytes.ReplaceAll(now, []byte("\n"), []byte("\r\n"))
	}
	out.Data = append(slices.Clone(mark), out.Data...)
	return out, nil
}

// rewriteAll changes all expectations at once, or one by one if that fails.
func (f *File) rewriteAll(data []byte, expectations map[int]map[string]any) ([]byte, error) {
	t, err := newText(f.Document.Name, data)
	if err != nil {
		return nil, err
	}
	for _, index := range slices.Sorted(maps.Keys(expectations)) {
		if why := t.shared(index); why != "" {
			return nil, cannot(index, why)
		}
	}
	if now, ok := f.rewrite(data, expectations, false); ok {
		return now, nil
	}
	for _, index := range slices.Sorted(maps.Keys(expectations)) {
		one := map[int]map[string]any{index: expectations[index]}
		now, ok := f.rewrite(data, one, false)
		if !ok {
			now, ok = f.rewrite(data, one, true)
		}
		if !ok {
			return nil, cannot(index, "the change would affect something else")
		}
		data = now
	}
	return data, nil
}

// rewrite changes the differing parts of expectations, or with whole all of them. ok
// reports whether the result parses as intended.
func (f *File) rewrite(data []byte, expectations map[int]map[string]any, whole bool) (now []byte, ok bool) {
	t, err := newText(f.Document.Name, data)
	if err != nil {
		return nil, false
	}
	object, _ := t.document.Value.(map[string]any)
	list, _ := object["tests"].([]any)
	wanted := slices.Clone(list)
	for index, expect := range expectations {
		test, _ := list[index].(map[string]any)
		at := []any{"tests", index, "expect"}
		old, given := test["expect"]
		switch {
		case !given:
			ok = t.insert(at[:2], "expect", any(expect))
		case whole:
			ok = t.replace(at, old, any(expect))
		default:
			ok = t.change(at, old, any(expect))
		}
		if !ok {
			return nil, false
		}
		changed := maps.Clone(test)
		changed["expect"] = any(expect)
		wanted[index] = changed
	}
	if now, ok = t.done(); !ok {
		return nil, false
	}
	again, err := newText(f.Document.Name, now)
	if err != nil {
		return nil, false
	}
	meant := maps.Clone(object)
	meant["tests"] = wanted
	return now, blueprint.EqualValues(meant, again.document.Value)
}

// shared returns how the expectation of a test is shared, "" if it is not.
func (t *text) shared(index int) string {
	object, _ := t.document.Value.(map[string]any)
	list, _ := object["tests"].([]any)
	test, _ := list[index].(map[string]any)
	if !has(test, "expect") {
		return ""
	}
	at := []any{"tests", index}
	key, _ := t.keyAt(below(at, "expect"))
	from, ok := t.colon(key)
	switch c := t.byteAt(t.blanks(from)); {
	case !ok, key < t.valueAt(at), index+1 < len(list) && key >= t.valueAt([]any{"tests", index + 1}):
		return "it comes from an alias or a merge"
	case c == '&' || c == '*':
		return "it is shared by an anchor or an alias"
	}
	return ""
}

// comments counts the lines of YAML with a comment.
func comments(data []byte) (n int) {
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if i := bytes.IndexByte(line, '#'); i == 0 || i > 0 && (line[i-1] == ' ' || line[i-1] == '\t') {
			n++
		}
	}
	return n
}

func cannot(index int, why string) error {
	return blueprint.Errorf(blueprint.CodeBadRequest, "tests[%d].expect cannot be written, and the file is unchanged: %s; write it without sharing, or edit it yourself", index, why)
}

// exactly returns an expectation that matches only this value. Objects that look like
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

// merged returns an expectation that a value matches, keeping the parts of the old one that
// already match. partial is that of matching.value.
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
		case is && name == "$partial" && jsonschema.TypeName(argument) == jsonschema.TypeName(got):
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
		of := new(matching).pair(list, made)
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
			if !slices.ContainsFunc(made, func(x blueprint.Exchange) bool { return new(matching).callFits(unwanted, &x) }) {
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
	if new(matching).callFits(want, made) {
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
			if new(matching).callFits(map[string]any{name: value}, made) {
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
