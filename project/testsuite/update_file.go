package testsuite

import (
	"bytes"
	"maps"
	"slices"

	"blueprintd/blueprint"
)

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

// rewriteAll changes all expectations at once, or one by one if the result is not as
// intended.
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
	return now, equal(meant, again.document.Value)
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
