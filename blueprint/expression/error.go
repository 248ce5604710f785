package expression

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hbollon/go-edlib"

	"blueprintd/blueprint"
)

// The codes of Error.
const (
	CodeUnknownName      = "unknown_name"      // no such path or name
	CodeBadTemplate      = "bad_template"      // the text after a {{ is malformed
	CodeBadExpression    = "bad_expression"    // malformed, or not supported
	CodeExpressionFailed = "expression_failed" // the values do not fit the operations
	CodeNotBoolean       = "not_boolean"       // the value of a condition is neither true nor false
	CodeBudgetExceeded   = "budget_exceeded"   // too much work, memory or text
)

// Error is a mistake in a template or an expression, or in the values it was evaluated
// with. It contains source text, names and keys, but never a value, which may be secret.
type Error struct {
	Source  string // the template or expression
	Path    string // the offending path or name, for CodeUnknownName
	Message string // without the position
	Code    string
	Line    int // where in Source, from 1, in characters; 0 = unknown
	Column  int

	template             bool // Source is a template
	openLine, openColumn int  // of the enclosing {{
}

// Error returns the path, or an excerpt and the position in the source, and the message.
func (e *Error) Error() string {
	if e.Path != "" {
		return e.Path + ": " + e.Message
	}
	if e.Source == "" && e.Column == 0 {
		return e.Message
	}
	kind := "expression"
	if e.template {
		kind = "template"
	}
	where := ""
	switch {
	case e.Column == 0:
	case strings.Contains(e.Source, "\n"):
		where = fmt.Sprintf(", line %d, column %d", e.Line, e.Column)
	default:
		where = fmt.Sprintf(", column %d", e.Column)
	}
	return fmt.Sprintf("%s %s%s: %s", kind, excerpt(e.Source, e.Line, e.Column), where, e.Message)
}

// excerptReach is how many bytes of a source an error shows around a place.
const excerptReach = 40

// excerpt quotes the part of a source around a place.
func excerpt(source string, line, column int) string {
	for ; line > 1; line-- {
		_, source, _ = strings.Cut(source, "\n")
	}
	if line > 0 {
		source, _, _ = strings.Cut(source, "\n")
	}
	from := max(0, byteOffset(source, column-1)-excerptReach)
	to := min(len(source), from+2*excerptReach)
	for range utf8.UTFMax - 1 { // cut between characters
		if from > 0 && !utf8.RuneStart(source[from]) {
			from--
		}
		if to < len(source) && !utf8.RuneStart(source[to]) {
			to++
		}
	}
	before, after := "", ""
	if from > 0 {
		before = "…"
	}
	if to < len(source) {
		after = "…"
	}
	return before + strconv.Quote(source[from:to]) + after
}

// byteOffset returns the offset of the character at a position, len(text) past the end.
func byteOffset(text string, position int) int {
	for offset := range text {
		if position <= 0 {
			return offset
		}
		position--
	}
	return len(text)
}

// place returns the line and column of a byte offset, both from 1.
func place(source string, offset int) (line, column int) {
	before := source[:min(max(offset, 0), len(source))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

const (
	hintNames  = 8    // how many known names an error lists
	hintLength = 64   // how much of a name it shows
	hintSearch = 1000 // with more names, none are listed
)

// known lists the names nearest to a wrong one for the end of an error message.
func known(wrong string, names []string) string {
	switch {
	case len(names) == 0:
		return "(no names are known here)"
	case len(names) > hintSearch:
		return fmt.Sprintf("(%d others are known here)", len(names))
	}
	wrong = blueprint.Shorten(wrong, hintLength)
	type candidate struct {
		name     string
		distance int
	}
	candidates := make([]candidate, len(names))
	for i, name := range names {
		name = blueprint.Shorten(name, hintLength)
		candidates[i] = candidate{name, edlib.OSADamerauLevenshteinDistance(strings.ToLower(wrong), strings.ToLower(name))}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	shown := make([]string, 0, hintNames)
	for _, c := range candidates[:min(hintNames, len(candidates))] {
		shown = append(shown, displayKey(c.name))
	}
	more := ""
	if hidden := len(names) - len(shown); hidden > 0 {
		more = fmt.Sprintf(" and %d more", hidden)
	}
	return "(known here: " + strings.Join(shown, ", ") + more + ")"
}

// knownKeys is known for the keys of an object.
func knownKeys(wrong string, object map[string]any) string {
	if len(object) > hintSearch {
		return fmt.Sprintf("(%d others are known here)", len(object))
	}
	return known(wrong, slices.Collect(maps.Keys(object)))
}

// displayKey quotes a key unless it can appear in a path.
func displayKey(key string) string {
	if isName(key) {
		return key
	}
	return fmt.Sprintf("%q", key)
}
