package sandbox

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"blueprintd/blueprint"
)

// expectation says what has to be asked before the end, and how often.
type expectation struct {
	match       match
	request     map[string]any // method, url, headers, body: as much of them as is given
	least, most int
	met         int
	near        []string // what fitted match and not request, the latest
	source      map[string]any
}

// maxNear is how many of these are told.
const maxNear = 3

// expectations is the list of what is expected.
type expectations struct {
	mu   sync.Mutex
	list []*expectation
	all  int      // what was asked at all
	last []string // the latest of it
}

// Unmet is an expectation that was not met.
type Unmet struct {
	Expect   any    `json:"expect"` // as it was given
	Came     int    `json:"came"`   // how often it was met
	Problem  string `json:"problem"`
	Position int    `json:"index"` // in the list
}

// SetExpectations puts expectations in the place of those there are, and counts
// anew: {"expect": [{"match", "times"?, "request"?}]} as a plain JSON value. Errors
// are as with SetRules.
func (s *Sandbox) SetExpectations(value any) error {
	list, err := readExpectations(value, s.Known)
	if err != nil {
		return err
	}
	e := &s.expectations
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list, e.all, e.last = list, 0, nil
	return nil
}

// Expectations gives them as they were given, each with how often it was met.
func (s *Sandbox) Expectations() []any {
	e := &s.expectations
	e.mu.Lock()
	defer e.mu.Unlock()
	out := []any{}
	for _, one := range e.list {
		shown := maps.Clone(one.source)
		shown["came"] = one.met
		out = append(out, shown)
	}
	return out
}

// Unmet gives the expectations that are not met (any more), in their order.
func (s *Sandbox) Unmet() []Unmet {
	e := &s.expectations
	e.mu.Lock()
	defer e.mu.Unlock()
	list := []Unmet{}
	for i, one := range e.list {
		if one.met < one.least || one.met > one.most {
			list = append(list, Unmet{Expect: one.source, Came: one.met, Position: i, Problem: e.problem(i, one)})
		}
	}
	return list
}

// problem says in a line what was expected and what came. e.mu is held.
func (e *expectations) problem(i int, one *expectation) string {
	written, _ := blueprint.Encode(map[string]any{"match": one.source["match"], "request": one.source["request"]})
	line := fmt.Sprintf("expect[%d] %s: expected %s, came %s", i, strings.Replace(string(written), `,"request":null`, "", 1), times(one.least, one.most), times(one.met, one.met))
	switch {
	case one.met > one.most:
	case len(one.near) > 0:
		line += "; with another request: " + strings.Join(one.near, "; ")
	case e.all == 0:
		line += "; nothing was asked at all"
	default:
		line += fmt.Sprintf("; of %d asked, the latest: %s", e.all, strings.Join(e.last, ", "))
	}
	return line
}

func times(least, most int) string {
	switch {
	case least == most && least == 1:
		return "once"
	case least == most:
		return count(least)
	case most == math.MaxInt:
		return "at least " + count(least)
	}
	return fmt.Sprintf("%d to %d times", least, most)
}

func count(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}

// saw counts what was asked.
func (e *expectations) saw(a *asked) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.list == nil {
		return
	}
	e.all++
	e.last = latest(e.last, a.brief())
	for _, one := range e.list {
		switch {
		case !one.match.fits(a):
		case one.request == nil || contains(seenRequest(a), one.request):
			one.met++
		default:
			one.near = latest(one.near, a.told())
		}
	}
}

func latest(list []string, one string) []string {
	if list = append(list, one); len(list) > maxNear {
		list = slices.Delete(list, 0, 1)
	}
	return list
}

// brief names what was asked.
func (a *asked) brief() string {
	if a.procedure != "" {
		return a.procedure
	}
	shown := a.veiled()
	return shown.Method + " " + shown.URL
}

// told is brief with the body.
func (a *asked) told() string {
	shown := a.veiled().Body
	body, err := blueprint.Encode(shown)
	if err != nil || shown == nil {
		return a.brief()
	}
	return a.brief() + " " + shorten(string(body))
}

// seenRequest is the request as expectations see it: as it was sent, and as it is
// shown, with *** for what looks like a credential.
func seenRequest(a *asked) map[string]any {
	shown, sent := a.request, a.whole()
	headers := make(map[string]any, len(sent.Headers))
	for name, value := range sent.Headers {
		headers[name] = either{shown.Headers[name], value}
	}
	return map[string]any{"method": shown.Method, "url": either{shown.URL, sent.URL}, "headers": headers, "body": either{shown.Body, sent.Body}}
}

// either is a value that is compared in both of its forms.
type either struct{ shown, sent any }

// contains tells whether a value has all that another one has: the members of
// objects, the elements of lists in their places, texts with * for anything.
func contains(value, wanted any) bool {
	if two, ok := value.(either); ok {
		return contains(two.shown, wanted) || contains(two.sent, wanted)
	}
	switch want := wanted.(type) {
	case map[string]any:
		object, isObject := value.(map[string]any)
		for name, inner := range want {
			if has, given := object[name]; !given || !contains(has, inner) {
				return false
			}
		}
		return isObject
	case []any:
		list, _ := value.([]any)
		if len(list) != len(want) {
			return false
		}
		for i := range want {
			if !contains(list[i], want[i]) {
				return false
			}
		}
		return true
	case string:
		text, isText := value.(string)
		return isText && (text == want || glob(want, text))
	}
	return blueprint.Equal(value, wanted)
}
