package recording

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Passing tells what of a recorded run is another one when the run is repeated:
// instants at which it was under way, as texts and as milliseconds or seconds of
// the epoch, and ids that it made up. What it was given is no such thing, unless
// the run itself had sent it before. The zero value knows of nothing but ids of
// executions.
type Volatile struct {
	// From and To are when the run was under way; without From nobody knows.
	From, To time.Time

	given, made map[string]bool
}

// NewVolatile tells it of a run that was given these values, and exchanged these.
func NewVolatile(from, to time.Time, c *Cassette, given ...any) Volatile {
	p := Volatile{From: from, To: to, given: map[string]bool{}, made: map[string]bool{}}
	for _, value := range given {
		eachLeaf(value, true, func(text string) { p.hear(text, p.given, nil) })
	}
	if c == nil {
		return p
	}
	for i := range c.Exchanges {
		x := &c.Exchanges[i]
		send := func(text string) { p.hear(text, p.made, p.given) }
		send(x.Request.URL)
		for _, value := range x.Request.Headers {
			send(value)
		}
		eachLeaf(x.Request.Body, true, send)
		if x.Response == nil {
			continue
		}
		receive := func(text string) { p.hear(text, p.given, p.made) }
		for _, value := range x.Response.Headers {
			receive(value)
		}
		eachLeaf(x.Response.Body, true, receive)
	}
	return p
}

// hear notes in one set what passes of a text and is not in the other.
func (p *Volatile) hear(text string, into, unless map[string]bool) {
	for _, at := range passingPlaces.FindAllStringIndex(text, -1) {
		if found := text[at[0]:at[1]]; !unless[found] {
			into[found] = true
		}
	}
}

// passingPlaces finds what may pass: instants, the dates of HTTP, milliseconds and
// seconds of the epoch, and ids.
var passingPlaces = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)` +
	`|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT` +
	`|(?i:\bexec_\d+_[0-9a-z]{26}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-7][0-9a-hjkmnp-tv-z]{25}\b|\b[0-9a-f]{32}\b)` +
	`|\b(?:\d{13}|\d{10})\b`)

// kind is what a place holds: "exec", "id", "instant", "date" or "epoch".
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

// passes reports whether a place is another one each time.
func (p *Volatile) passes(text string) bool {
	switch of := kind(text); of {
	case "exec":
		return true
	case "instant", "date", "epoch":
		return (p.made[text] || !p.given[text]) && p.during(instantOf(of, text))
	}
	return p.given != nil && !p.given[text]
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

// In reports whether a text holds what passes.
func (p *Volatile) Contains(text string) bool {
	for _, at := range passingPlaces.FindAllStringIndex(text, -1) {
		if p.passes(text[at[0]:at[1]]) {
			return true
		}
	}
	return false
}

// sent reports whether a text holds what passes and the run itself had sent.
func (p *Volatile) sent(text string) bool {
	for _, at := range passingPlaces.FindAllStringIndex(text, -1) {
		if found := text[at[0]:at[1]]; p.made[found] && p.passes(found) {
			return true
		}
	}
	return false
}

// Number reports whether a number is an instant of the run.
func (p *Volatile) Number(number json.Number) bool {
	n, err := number.Int64()
	if err != nil {
		return false
	}
	digits := strconv.FormatInt(n, 10)
	if p.given[digits] && !p.made[digits] {
		return false
	}
	return p.during(time.Unix(n, 0)) || p.during(time.UnixMilli(n))
}

// blank returns two texts, the recorded one and another, without what passes: in the
// place of it, and of what stands there in the other, is its kind.
func (p *Volatile) blank(recorded, got string) (string, string) {
	was, is := passingPlaces.FindAllStringIndex(recorded, -1), passingPlaces.FindAllStringIndex(got, -1)
	if len(was) == 0 || len(was) != len(is) {
		return recorded, got
	}
	var left, right strings.Builder
	a, b := 0, 0
	for i := range was {
		w, g := recorded[was[i][0]:was[i][1]], got[is[i][0]:is[i][1]]
		if of := kind(w); of == kind(g) && p.passes(w) {
			w, g = of, of
		}
		left.WriteString(recorded[a:was[i][0]] + w)
		right.WriteString(got[b:is[i][0]] + g)
		a, b = was[i][1], is[i][1]
	}
	return left.String() + recorded[a:], right.String() + got[b:]
}

// eachLeaf tells of every text and number of a value, and if wanted of the names in it.
func eachLeaf(value any, names bool, tell func(string)) {
	switch v := value.(type) {
	case string:
		tell(v)
	case json.Number:
		tell(v.String())
	case []any:
		for _, element := range v {
			eachLeaf(element, names, tell)
		}
	case map[string]any:
		for name, element := range v {
			if names {
				tell(name)
			}
			eachLeaf(element, names, tell)
		}
	}
}
