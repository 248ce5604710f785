package testsuite

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// change replaces the differing parts of a value at a path, as deep in it as possible. ok
// is false if that cannot be done in place.
func (t *text) change(path []any, old, present any) (ok bool) {
	switch present := present.(type) {
	case map[string]any:
		before, is := old.(map[string]any)
		if !is || !slices.ContainsFunc(slices.Collect(maps.Keys(before)), func(name string) bool { return has(present, name) }) {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(before)) {
			if value, stays := present[name]; !stays && !t.remove(below(path, name)) || stays && !t.change(below(path, name), before[name], value) {
				return false
			}
		}
		for _, name := range inOrder(present) {
			if !has(before, name) && !t.insert(path, name, present[name]) {
				return false
			}
		}
		return true
	case []any:
		before, is := old.([]any)
		if !is || len(before) != len(present) {
			break
		}
		for i := range present {
			if !t.change(below(path, i), before[i], present[i]) {
				return false
			}
		}
		return true
	default:
		if equal(old, present) {
			return true
		}
	}
	return t.replace(path, old, present)
}

func has(object map[string]any, name string) bool {
	_, there := object[name]
	return there
}

// equal reports whether two JSON values are equal, numbers by their value.
func equal(a, b any) bool {
	m := &matching{literal: true}
	m.value(nil, a, b, false)
	return len(m.found) == 0
}

// replace replaces the whole value at a path.
func (t *text) replace(path []any, old, present any) bool {
	start := t.valueAt(path)
	name, member := path[len(path)-1].(string)
	if !member && old == nil {
		return false // an element that may not be written at all
	}
	flow := t.inFlow(path)
	key, from := start, start
	if member {
		var ok bool
		key, _ = t.keyAt(path)
		if from, ok = t.colon(key); !ok {
			return false
		}
		if old == nil && start <= key { // an empty value
			start = from
		}
	}
	if flow {
		end := start
		lead := ""
		if start == from && member {
			lead = " "
		} else {
			end = t.end(start, true)
		}
		written, ok := t.flowText(present, t.margin(start), bytes.IndexByte(t.data[start:end], '\n') >= 0)
		t.splice(start, end, lead+written)
		return ok
	}
	indent := t.column(key)
	multiline := t.lineOf(start) != t.lineOf(from) || strings.IndexByte("|>", t.byteAt(start)) >= 0
	if !member {
		_, object := old.(map[string]any)
		_, list := old.([]any)
		multiline = (object || list) && t.byteAt(start) != '{' && t.byteAt(start) != '[' || strings.IndexByte("|>", t.byteAt(start)) >= 0
	}
	end := start
	switch {
	case multiline && member:
		end = t.blockEnd(key, indent, false)
	case multiline:
		end = t.blockEnd(start, indent, true)
	case start != from || !member:
		end = t.end(start, false)
	}
	if multiline {
		end -= len(t.data[:end]) - len(bytes.TrimRight(t.data[:end], "\n"))
	}
	written, lines := blockText(name, present, indent, member)
	switch {
	case !member:
		t.splice(start, end, written)
	case !lines:
		t.splice(from, end, " "+written)
	case multiline:
		t.splice(from, end, "\n"+written)
	default: // a comment after the value stays on its line
		t.splice(from, end, "")
		t.after(end, written)
	}
	return true
}

// after inserts lines after the line of an offset.
func (t *text) after(offset int, lines string) {
	for t.byteAt(offset) != '\n' {
		offset++
	}
	t.splice(offset, offset, "\n"+lines)
}

// insert adds a member to a non-empty object.
func (t *text) insert(path []any, name string, value any) bool {
	start := t.valueAt(path)
	if c := t.byteAt(start); c == '{' {
		end := t.closing(start) - 1
		body := bytes.TrimRight(t.data[:end], " \t\n")
		several := bytes.IndexByte(t.data[start:end], '\n') >= 0
		last := len(body)
		margin := t.margin(last - 1)
		lead := ", "
		if several {
			lead = ",\n" + margin
			if last == start+1 || t.lineOf(last) == t.lineOf(start) {
				lead = ",\n" + margin + "  "
			}
		}
		if c := body[last-1]; c == ',' || c == '{' {
			lead = strings.TrimPrefix(lead, ",")
		}
		if !several && body[last-1] == '{' {
			lead = ""
		}
		written, ok := t.flowText(value, margin, several || t.isJSON)
		t.splice(last, last, lead+t.flowKey(name)+": "+written)
		return ok
	}
	if t.inFlow(path) {
		return false
	}
	indent := t.column(start)
	end := t.blockEnd(start, indent, true)
	written, lines := blockText(name, value, indent, true)
	pad := strings.Repeat(" ", indent) + keyText(name) + ":"
	if lines {
		pad += "\n" + written + "\n"
	} else {
		pad += " " + written + "\n"
	}
	if end > 0 && t.data[end-1] != '\n' {
		pad = "\n" + pad
	}
	t.splice(end, end, pad)
	return true
}

// remove removes a member of an object with others.
func (t *text) remove(path []any) bool {
	key, line := t.keyAt(path)
	if !t.inFlow(path) {
		if len(bytes.TrimSpace(t.data[line:key])) > 0 {
			return false // after the dash of an element
		}
		t.splice(line, t.blockEnd(key, t.column(key), false), "")
		return true
	}
	from, ok := t.colon(key)
	if !ok {
		return false
	}
	end := from
	if at := t.valueAt(path); at > key {
		end = t.end(at, true)
	}
	for next := end; ; next++ {
		switch t.byteAt(next) {
		case ' ', '\t':
			continue
		case '\n':
			if next < len(t.data) {
				continue
			}
		case ',':
			next++
			for strings.IndexByte(" \t\n", t.byteAt(next)) >= 0 && next < len(t.data) {
				next++
			}
			t.splice(key, next, "")
			return true
		}
		break
	}
	before := bytes.TrimRight(t.data[:key], " \t\n")
	if !bytes.HasSuffix(before, []byte(",")) {
		return false
	}
	t.splice(len(before)-1, end, "")
	return true
}
