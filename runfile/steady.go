package runfile

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/secret"
)

// steady tells what of an output is the same whenever the run is repeated.
//
// What the run was given, what stands in the blueprint and what other services
// answered comes again as it was. Of everything else a text is not the same
// twice when it holds the id of the run, of its firing or any other id that was
// made up, an instant at which the run was under way, or a secret; a number is
// not when it is such an instant. In their places stands {"$any": true}.
type steady struct {
	said       map[string]bool
	ids        []string
	begin, end time.Time
}

// someValue stands for what may be anything.
func someValue() any { return map[string]any{"$any": true} }

func newSteady(f *File) *steady {
	s := &steady{said: map[string]bool{}, begin: f.Run.CreatedAt.Time().Add(-time.Second), end: f.Run.EndTime.Time().Add(time.Second)}
	if f.Run.EndTime == 0 {
		s.end = f.ExportedAt.Time()
	}
	s.ids = append(s.ids, f.Run.ID)
	s.hear(f.Blueprint.Map)
	s.hear(f.Run.InputVariables)
	s.hear(f.Run.InputData)
	if f.Cassette != nil {
		for i := range f.Cassette.Exchanges {
			if answer := f.Cassette.Exchanges[i].Response; answer != nil {
				s.hear(answer.Body)
				for _, value := range answer.Headers {
					s.hear(value)
				}
			}
		}
	}
	return s
}

// hear remembers the texts and numbers of a value.
func (s *steady) hear(value any) {
	switch v := value.(type) {
	case string:
		s.said[v] = true
	case json.Number:
		s.said[v.String()] = true
	case []any:
		for _, element := range v {
			s.hear(element)
		}
	case map[string]any:
		for _, element := range v {
			s.hear(element)
		}
	}
}

// value gives what to expect in the place of an output.
func (s *steady) value(value any) any {
	switch v := value.(type) {
	case string:
		if s.text(v) {
			return v
		}
		return someValue()
	case json.Number:
		if s.number(v) {
			return v
		}
		return someValue()
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
				return someValue() // it would read as something else, or its name is not the same twice
			}
			out[name] = s.value(element)
		}
		return out
	}
	return value
}

var (
	instants = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)`)
	madeUp   = regexp.MustCompile(`(?i)\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|exec_\d+_[0-9a-z]{26}|[0-7][0-9a-hjkmnp-tv-z]{25}|[0-9a-f]{32})\b`)
)

func (s *steady) text(text string) bool {
	switch {
	case strings.Contains(text, secret.Mask):
		return false
	case s.said[text]:
		return true
	case madeUp.MatchString(text):
		return false
	}
	for _, id := range s.ids {
		if id != "" && strings.Contains(text, id) {
			return false
		}
	}
	for _, found := range instants.FindAllString(text, -1) {
		at, err := time.Parse(time.RFC3339Nano, strings.Replace(found, " ", "T", 1))
		if err == nil && s.during(at) {
			return false
		}
	}
	return true
}

func (s *steady) number(number json.Number) bool {
	n, err := number.Int64()
	if err != nil || s.said[number.String()] {
		return true
	}
	return !s.during(time.Unix(n, 0)) && !s.during(time.UnixMilli(n))
}

func (s *steady) during(at time.Time) bool { return !at.Before(s.begin) && !at.After(s.end) }

// tooLong tells whether an output is larger than people want to read in a test.
func tooLong(value any) bool {
	data, err := blueprint.Encode(value)
	return err != nil || len(data) > 64<<10
}
