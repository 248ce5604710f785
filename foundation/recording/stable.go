package recording

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// stable replaces by {"$any": true} what differs in an output when the run is repeated.
//
// Inputs, constants of the blueprint and answers of other services are the same in
// every run. Any other text differs if it contains a generated id, a time at which
// the run was running, a secret or a random value; a number, if it is such.
type stable struct {
	Volatile
	known, random map[string]bool
	ids           []string

	randomNodes map[string]bool // nodes whose code uses random values, by id
	// starts are the beginnings of long random values, at most most bytes each, and heads
	// the beginnings of those, so that the time for a text does not depend on their number.
	starts, heads map[string]bool
	lengths       []int // of starts
}

// anyValue matches anything in a test file.
func anyValue() any { return map[string]any{"$any": true} }

func newStable(f *File) *stable {
	s := &stable{Volatile: f.Volatile(), known: map[string]bool{}, random: map[string]bool{}, ids: []string{f.Run.ID}, randomNodes: map[string]bool{}, starts: map[string]bool{}, heads: map[string]bool{}}
	learn := func(text string) { s.known[text] = true }
	for _, value := range []any{f.Blueprint.Map, f.Run.InputVariables, f.Run.InputData} {
		eachLeaf(value, true, learn)
	}
	if f.Cassette != nil {
		for i := range f.Cassette.Exchanges {
			if answer := f.Cassette.Exchanges[i].Response; answer != nil {
				eachLeaf(answer.Body, true, learn)
				for _, value := range answer.Headers {
					learn(value)
				}
			}
		}
	}
	s.learnRandom(f)
	return s
}

// Volatile returns the rules for the volatile parts of the run.
func (f *File) Volatile() Volatile {
	begin, end := f.Run.CreatedAt.Time(), f.Run.EndTime.Time()
	if start := f.Run.StartTime; start != 0 && start.Time().Before(begin) {
		begin = start.Time()
	}
	if f.Run.EndTime == 0 {
		end = f.ExportedAt.Time()
	}
	return NewVolatile(begin.Add(-time.Second), end.Add(time.Second), f.Cassette, f.Blueprint.Map, f.Run.InputVariables, f.Run.InputData)
}

// value returns the expectation for an output.
func (s *stable) value(value any) any {
	switch v := value.(type) {
	case string:
		if s.text(v) {
			return v
		}
		return anyValue()
	case json.Number:
		if s.number(v) {
			return v
		}
		return anyValue()
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = s.value(element)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, element := range v {
			if strings.HasPrefix(name, "$") || !s.text(name) {
				return anyValue() // the name is an operator of test files, or not stable
			}
			out[name] = s.value(element)
		}
		return out
	}
	return value
}

func (s *stable) text(text string) bool {
	switch {
	case strings.Contains(text, secret.Mask), s.sent(text), s.hasRandom(text):
		return false
	case s.known[text]:
		return true
	}
	for _, id := range s.ids {
		if id != "" && strings.Contains(text, id) {
			return false
		}
	}
	return !s.Contains(text)
}

func (s *stable) number(number json.Number) bool {
	return !s.Number(number) && !s.random[number.String()]
}

// tooLong reports whether an output is too large to be readable in a test.
func tooLong(value any) bool {
	data, err := blueprint.Encode(value)
	return err != nil || len(data) > 64<<10
}

// randomCall matches the sources of randomness in JavaScript.
var randomCall = regexp.MustCompile(`\bMath\s*\.\s*random\b|\bcrypto\s*\.\s*(?:randomUUID|getRandomValues)\b`)

// IsRandom reports whether the code of the step at an address uses random values.
func (f *File) IsRandom(address string) bool {
	found := map[string]bool{}
	findRandom(f.Blueprint.Map, found)
	return found[nodeOf(address)]
}

// nodeOf returns the id of the node at an address.
func nodeOf(address string) string { return address[strings.LastIndexByte(address, '/')+1:] }

// findRandom adds the ids of the nodes whose code uses random values.
func findRandom(value any, found map[string]bool) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			findRandom(element, found)
		}
	case map[string]any:
		config, _ := v["config"].(map[string]any)
		if source, is := config["source"].(string); is {
			if id, named := v["id"].(string); named && randomCall.MatchString(source) {
				found[id] = true
			}
		}
		for _, element := range v {
			findRandom(element, found)
		}
	}
}

// learnRandom records the outputs of steps that use random values; those outputs are not
// stable wherever they occur.
func (s *stable) learnRandom(f *File) {
	findRandom(f.Blueprint.Map, s.randomNodes)
	for i := range f.Run.Steps {
		if at := &f.Run.Steps[i]; at.Status == blueprint.StepCompleted && s.randomNodes[nodeOf(at.NodeID)] {
			eachLeaf(at.Output, false, func(text string) {
				if !s.known[text] {
					s.addRandom(text)
				}
			})
		}
	}
}

// A random value is found in other texts if it has at least long bytes, by its first most.
const long, most = 6, 64

func (s *stable) addRandom(text string) {
	if s.random[text] = true; len(text) >= long {
		start := text[:min(len(text), most)]
		s.starts[start], s.heads[start[:long]] = true, true
		if !slices.Contains(s.lengths, len(start)) {
			s.lengths = append(s.lengths, len(start))
		}
	}
}

// hasRandom reports whether a text contains a random value or is a short one itself.
func (s *stable) hasRandom(text string) bool {
	if s.random[text] {
		return true
	}
	for from := 0; from+long <= len(text); from++ {
		if s.heads[text[from:from+long]] && slices.ContainsFunc(s.lengths, func(n int) bool { return from+n <= len(text) && s.starts[text[from:from+n]] }) {
			return true
		}
	}
	return false
}

// Volatile finds the parts of a recorded run that differ when it is repeated: times
// at which it was running, as text or as seconds or milliseconds since 1970, and
// generated ids. Values that the run received are not volatile unless the run
// had sent them before. The zero value only recognizes execution ids.
type Volatile struct {
	// From and To bound when the run was running; zero From is unknown.
	From, To time.Time

	received, generated map[string]bool
}

// NewVolatile returns the Volatile of a run with the given inputs and exchanges.
func NewVolatile(from, to time.Time, c *Cassette, inputs ...any) Volatile {
	p := Volatile{From: from, To: to, received: map[string]bool{}, generated: map[string]bool{}}
	for _, value := range inputs {
		eachLeaf(value, true, func(text string) { p.collect(text, p.received, nil) })
	}
	if c == nil {
		return p
	}
	for i := range c.Exchanges {
		x := &c.Exchanges[i]
		send := func(text string) { p.collect(text, p.generated, p.received) }
		send(x.Request.URL)
		for _, value := range x.Request.Headers {
			send(value)
		}
		eachLeaf(x.Request.Body, true, send)
		if x.Response == nil {
			continue
		}
		receive := func(text string) { p.collect(text, p.received, p.generated) }
		for _, value := range x.Response.Headers {
			receive(value)
		}
		eachLeaf(x.Response.Body, true, receive)
	}
	return p
}

// collect adds the candidates in a text to one set unless they are in another.
func (p *Volatile) collect(text string, into, unless map[string]bool) {
	for _, at := range candidates.FindAllStringIndex(text, -1) {
		if found := text[at[0]:at[1]]; !unless[found] {
			into[found] = true
		}
	}
}

// candidates matches what may be volatile: times, HTTP dates, seconds and
// milliseconds since 1970, and ids.
var candidates = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)` +
	`|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT` +
	`|(?i:\bexec_\d+_[0-9a-z]{26}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-7][0-9a-hjkmnp-tv-z]{25}\b|\b[0-9a-f]{32}\b)` +
	`|\b(?:\d{13}|\d{10})\b`)

// kind returns the kind of a candidate: exec, instant, date, epoch, or id and length.
func kind(text string) string {
	switch {
	case strings.HasPrefix(strings.ToLower(text), "exec_"):
		return "exec"
	case strings.HasSuffix(text, "GMT"):
		return "date"
	case len(text) > 10 && strings.Contains(text, ":"):
		return "instant"
	case len(text) == 10 || len(text) == 13:
		return "epoch"
	}
	return "id" + strconv.Itoa(len(text))
}

// isVolatile reports whether a candidate differs between runs.
func (p *Volatile) isVolatile(text string) bool {
	switch of := kind(text); of {
	case "exec":
		return true
	case "instant", "date", "epoch":
		return (p.generated[text] || !p.received[text]) && p.during(instantOf(of, text))
	}
	return p.received != nil && !p.received[text]
}

func instantOf(kind, text string) time.Time {
	var at time.Time
	switch kind {
	case "instant":
		at, _ = time.Parse(time.RFC3339Nano, strings.Replace(text, " ", "T", 1))
	case "date":
		at, _ = time.Parse(http.TimeFormat, text)
	case "epoch":
		n, _ := strconv.ParseInt(text, 10, 64)
		if at = time.Unix(n, 0); len(text) == 13 {
			at = time.UnixMilli(n)
		}
	}
	return at
}

func (p *Volatile) during(at time.Time) bool {
	return !p.From.IsZero() && !at.Before(p.From) && (p.To.IsZero() || !at.After(p.To))
}

// Contains reports whether a text has a volatile part.
func (p *Volatile) Contains(text string) bool {
	for _, at := range candidates.FindAllStringIndex(text, -1) {
		if p.isVolatile(text[at[0]:at[1]]) {
			return true
		}
	}
	return false
}

// sent reports whether a text has a volatile part that the run itself sent.
func (p *Volatile) sent(text string) bool {
	for _, at := range candidates.FindAllStringIndex(text, -1) {
		if found := text[at[0]:at[1]]; p.generated[found] && p.isVolatile(found) {
			return true
		}
	}
	return false
}

// Number reports whether a number is a time at which the run was running.
func (p *Volatile) Number(number json.Number) bool {
	n, err := number.Int64()
	if err != nil {
		return false
	}
	digits := strconv.FormatInt(n, 10)
	if p.received[digits] && !p.generated[digits] {
		return false
	}
	return p.during(time.Unix(n, 0)) || p.during(time.UnixMilli(n))
}

// normalize returns the recorded text and another one with volatile parts of the
// same kind at the same place replaced by their kind.
func (p *Volatile) normalize(recorded, got string) (string, string) {
	was, is := candidates.FindAllStringIndex(recorded, -1), candidates.FindAllStringIndex(got, -1)
	if len(was) == 0 || len(was) != len(is) {
		return recorded, got
	}
	var left, right strings.Builder
	a, b := 0, 0
	for i := range was {
		w, g := recorded[was[i][0]:was[i][1]], got[is[i][0]:is[i][1]]
		if of := kind(w); of == kind(g) && p.isVolatile(w) {
			w, g = of, of
		}
		left.WriteString(recorded[a:was[i][0]] + w)
		right.WriteString(got[b:is[i][0]] + g)
		a, b = was[i][1], is[i][1]
	}
	return left.String() + recorded[a:], right.String() + got[b:]
}

// eachLeaf calls visit for each string and number in a value and, if names is set, for each
// name of an object member.
func eachLeaf(value any, names bool, visit func(string)) {
	switch v := value.(type) {
	case string:
		visit(v)
	case json.Number:
		visit(v.String())
	case []any:
		for _, element := range v {
			eachLeaf(element, names, visit)
		}
	case map[string]any:
		for name, element := range v {
			if names {
				visit(name)
			}
			eachLeaf(element, names, visit)
		}
	}
}
