package recording

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// stable replaces the parts of an output that differ when the run is repeated by
// {"$any": true}.
//
// Inputs, constants of the blueprint and answers of other services are the same in
// every run. Any other text differs if it contains a generated id, a time at which
// the run was running, a secret or a random value; a number, if it is such a time
// or random.
type stable struct {
	Volatile
	known, random map[string]bool
	ids           []string
}

// anyValue matches anything in a test file.
func anyValue() any { return map[string]any{"$any": true} }

func newStable(f *File) *stable {
	s := &stable{Volatile: f.Volatile(), known: map[string]bool{}, random: map[string]bool{}, ids: []string{f.Run.ID}}
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
	id := address[strings.LastIndexByte(address, '/')+1:]
	return isRandomSource(f.Blueprint.Map, id)
}

func isRandomSource(value any, id string) bool {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			if isRandomSource(element, id) {
				return true
			}
		}
	case map[string]any:
		config, _ := v["config"].(map[string]any)
		if source, is := config["source"].(string); is && v["id"] == id {
			return randomCall.MatchString(source)
		}
		for _, element := range v {
			if isRandomSource(element, id) {
				return true
			}
		}
	}
	return false
}

// learnRandom records the outputs of steps that use random values; they are not
// stable wherever they occur.
func (s *stable) learnRandom(f *File) {
	for i := range f.Run.Steps {
		if at := &f.Run.Steps[i]; at.Status == blueprint.StepCompleted && f.IsRandom(at.NodeID) {
			eachLeaf(at.Output, false, func(text string) {
				if !s.known[text] {
					s.random[text] = true
				}
			})
		}
	}
}

// hasRandom reports whether a text contains a random value, or is a short one.
func (s *stable) hasRandom(text string) bool {
	if s.random[text] {
		return true
	}
	const long = 6
	for value := range s.random {
		if len(value) >= long && strings.Contains(text, value) {
			return true
		}
	}
	return false
}
