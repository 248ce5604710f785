package recording

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// Difference is one way in which a run is not like its
type Difference struct {
	Node      string // its address; "" = the run as a whole
	What      string // such as "output" or "call POST https://... body"
	InPayload bool   // it is in the headers or the body of a call
	Path      []any  // within that
	Expected  any    // as it was recorded
	Got       any
	Missing   bool // it is not in the recording
	Unused    bool // it is in the recording alone
}

// Rules say what counts as the same besides what is equal: "***" in a recording
// stands for any text, and what passes with the run, such as an instant of it or
// an id that it made up, for any other of its kind, alone or inside a text.
type Rules struct {
	// Passing tells what passes.
	Volatile Volatile
}

// Mask stands for a secret in a
const Mask = "***"

// text compares two texts.
func (r Rules) text(recorded, got string) bool {
	if recorded == got || recorded == Mask {
		return true
	}
	recorded, got = r.Volatile.blank(recorded, got)
	recorded = strings.ReplaceAll(recorded, "%2A%2A%2A", Mask) // in an address
	if recorded == got {
		return true
	}
	parts := strings.Split(recorded, Mask)
	if len(parts) == 1 || !strings.HasPrefix(got, parts[0]) {
		return false
	}
	rest := got[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// Compare tells where a value differs from the recorded one, at most 20 places.
func (r Rules) Compare(node, what string, recorded, got any) []Difference {
	c := &comparison{rules: r, node: node, what: what}
	c.value(nil, recorded, got)
	return c.found
}

type comparison struct {
	rules      Rules
	node, what string
	found      []Difference
}

// maxFound bounds the differences of one value.
const maxFound = 20

func (c *comparison) value(path []any, recorded, got any) {
	if len(c.found) >= maxFound || recorded == Mask {
		return
	}
	switch want := recorded.(type) {
	case map[string]any:
		have, ok := got.(map[string]any)
		if !ok {
			break
		}
		names := maps.Clone(want)
		maps.Copy(names, have)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			w, recorded := want[name]
			h, there := have[name]
			below := append(slices.Clone(path), name)
			switch {
			case recorded && there:
				c.value(below, w, h)
			case recorded:
				c.differ(Difference{Path: below, Expected: w, Unused: true})
			default:
				c.differ(Difference{Path: below, Got: h, Missing: true})
			}
		}
		return
	case []any:
		have, ok := got.([]any)
		if !ok || len(have) != len(want) {
			break
		}
		for i := range want {
			c.value(append(slices.Clone(path), i), want[i], have[i])
		}
		return
	case string:
		if have, ok := got.(string); ok && c.rules.text(want, have) {
			return
		}
	case json.Number:
		if have, ok := got.(json.Number); ok && (EqualScalars(want, have) || whole(have) && c.rules.Volatile.Number(want)) {
			return
		}
	default:
		if EqualScalars(recorded, got) {
			return
		}
	}
	c.differ(Difference{Path: path, Expected: recorded, Got: got})
}

func (c *comparison) differ(d Difference) {
	if len(c.found) < maxFound {
		d.Node, d.What = c.node, c.what
		c.found = append(c.found, d)
	}
}

func whole(n json.Number) bool {
	_, err := n.Int64()
	return err == nil
}

// Same reports whether two values that hold no others are equal; numbers are
// compared by their values.
func EqualScalars(a, b any) bool {
	x, isNumber := a.(json.Number)
	y, both := b.(json.Number)
	if !isNumber || !both {
		switch a.(type) {
		case map[string]any, []any:
			return false
		}
		switch b.(type) {
		case map[string]any, []any:
			return false
		}
		return a == b
	}
	if x == y {
		return true
	}
	if len(x) > maxDigits || len(y) > maxDigits || hugeExponent(x) || hugeExponent(y) {
		return false
	}
	p, ok := new(big.Rat).SetString(string(x))
	q, fine := new(big.Rat).SetString(string(y))
	return ok && fine && p.Cmp(q) == 0
}

// maxDigits bounds the numbers that are compared by value.
const maxDigits = 1000

func hugeExponent(n json.Number) bool {
	at := strings.IndexAny(string(n), "eE")
	return at >= 0 && len(n)-at > 5
}

// String tells the difference in one line.
func (d Difference) String() string {
	where := d.What
	if d.Node != "" {
		where = fmt.Sprintf("node %q: %s", d.Node, d.What)
	}
	for _, part := range d.Path {
		if name, ok := part.(string); ok {
			where += "." + name
		} else {
			where += fmt.Sprintf("[%v]", part)
		}
	}
	switch {
	case d.Missing && d.Got == nil:
		return where + ": is not in the recording"
	case d.Missing:
		return fmt.Sprintf("%s: is not in the recording: %s", where, short(d.Got))
	case d.Unused && d.Expected == nil:
		return where + ": was recorded, and did not happen"
	case d.Unused:
		return fmt.Sprintf("%s: was recorded as %s, and is missing", where, short(d.Expected))
	}
	return fmt.Sprintf("%s: recorded %s, got %s", where, short(d.Expected), short(d.Got))
}
