package recording

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

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

// kind returns the kind of a candidate: "exec", "instant", "date", "epoch", or "id"
// with its length.
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

// isVolatile reports whether a candidate differs each time.
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

// eachLeaf calls visit for every string and number of a value, and with names set
// for the names of members.
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
