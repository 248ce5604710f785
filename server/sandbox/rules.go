package sandbox

import (
	"maps"
	"net/http"
	"sync"
	"time"

	"blueprintd/blueprint"
)

// MaxRules is how many rules there may be.
const MaxRules = 1000

// rule says what is answered to what fits it.
type rule struct {
	match    match
	times    int // 0 = always
	answer   answer
	answered int
	source   map[string]any // as it was given
}

// answer is what a rule says.
type answer struct {
	status int // 0 = whatever would be answered without the rule, or nothing when cut
	header http.Header
	body   any
	delay  time.Duration // in real time
	whole  bool          // of a call of a procedure: all calls of its request are refused
	cut    bool          // the connection breaks: half way through the answer, or before it
	pause  *blueprint.Await
	refuse string  // there is no connection, for this reason
	script *script // what a model answers
}

// answers tells whether a rule has an answer of its own.
func (a *answer) answers() bool { return a != nil && (a.status != 0 || a.cut || a.script != nil) }

// before tells whether an answer keeps a connection from coming about.
func (a *answer) before() bool { return a.pause != nil || a.refuse != "" }

func (a *answer) reply(to *asked) *reply {
	r := &reply{status: a.status, header: a.header, body: a.body}
	if to.said["id"] != nil && a.body != nil && a.status < 300 {
		r.body = to.result(a.body)
	}
	return r
}

// rules is the list that is in force.
type rules struct {
	mu   sync.Mutex
	list []*rule
}

func (s *rules) set(list []*rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = list
}

// take gives the answer of the first rule that fits, and counts it; nil when
// there is none.
func (s *rules) take(a *asked) *answer { return s.takeOf(a, nil) }

// takeOf is take for rules whose answers are such; nil = all.
func (s *rules) takeOf(a *asked, such func(*answer) bool) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.list {
		if (r.times == 0 || r.answered < r.times) && (such == nil || such(&r.answer)) && r.match.fits(a) && r.answer.script.fits(a) {
			r.answered++
			return &r.answer
		}
	}
	return nil
}

// SetRules puts rules in the place of those there are: {"rules": [{"match",
// "times"?, "answer"}]} as a plain JSON value. Errors are CodeBadRequest and name
// what is wrong, as rules[0].answer.status; then nothing has changed.
func (s *Sandbox) SetRules(value any) error {
	list, err := readRules(value, s.Known)
	if err == nil {
		s.rules.set(list)
	}
	return err
}

// Rules gives the rules as they were given, each with how often it has answered.
func (s *Sandbox) Rules() []any {
	s.rules.mu.Lock()
	defer s.rules.mu.Unlock()
	out := []any{}
	for _, r := range s.rules.list {
		shown := maps.Clone(r.source)
		shown["answered"] = r.answered
		out = append(out, shown)
	}
	return out
}
