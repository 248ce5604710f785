package recording

import (
	"encoding/json"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// steady tells what of an output is the same whenever the run is repeated.
//
// What the run was given, what stands in the blueprint and what other services
// answered comes again as it was. Of everything else a text is not the same
// twice when it holds the id of the run, of its firing or any other id that was
// made up, an instant at which the run was under way, a secret, or what a source
// drew at random; a number is not when it is such an instant, or was drawn. In their places stands {"$any": true}.
type steady struct {
	Volatile
	said, drawn map[string]bool
	ids         []string
}

// someValue stands for what may be anything.
func someValue() any { return map[string]any{"$any": true} }

func newSteady(f *File) *steady {
	s := &steady{Volatile: f.Volatile(), said: map[string]bool{}, drawn: map[string]bool{}, ids: []string{f.Run.ID}}
	say := func(text string) { s.said[text] = true }
	for _, value := range []any{f.Blueprint.Map, f.Run.InputVariables, f.Run.InputData} {
		eachLeaf(value, true, say)
	}
	if f.Cassette != nil {
		for i := range f.Cassette.Exchanges {
			if answer := f.Cassette.Exchanges[i].Response; answer != nil {
				eachLeaf(answer.Body, true, say)
				for _, value := range answer.Headers {
					say(value)
				}
			}
		}
	}
	s.draw(f)
	return s
}

// Passing tells what of the run is another one each time.
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

// value returns what to expect in the place of an output.
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

func (s *steady) text(text string) bool {
	switch {
	case strings.Contains(text, secret.Mask), s.sent(text), s.hasDrawn(text):
		return false
	case s.said[text]:
		return true
	}
	for _, id := range s.ids {
		if id != "" && strings.Contains(text, id) {
			return false
		}
	}
	return !s.Contains(text)
}

func (s *steady) number(number json.Number) bool {
	return !s.Number(number) && !s.drawn[number.String()]
}

// tooLong reports whether an output is larger than people want to read in a test.
func tooLong(value any) bool {
	data, err := blueprint.Encode(value)
	return err != nil || len(data) > 64<<10
}
