package recording

import (
	"regexp"
	"strings"

	"blueprintd/blueprint"
)

// random finds in a source that it draws what is another one each time.
var random = regexp.MustCompile(`\bMath\s*\.\s*random\b|\bcrypto\s*\.\s*(?:randomUUID|getRandomValues)\b`)

// Draws reports whether the source of the step at an address draws at random, so that
// what it gives is another one each time.
func (f *File) IsRandom(address string) bool {
	id := address[strings.LastIndexByte(address, '/')+1:]
	return sourceDraws(f.Blueprint.Map, id)
}

func sourceDraws(value any, id string) bool {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			if sourceDraws(element, id) {
				return true
			}
		}
	case map[string]any:
		config, _ := v["config"].(map[string]any)
		if source, is := config["source"].(string); is && v["id"] == id {
			return random.MatchString(source)
		}
		for _, element := range v {
			if sourceDraws(element, id) {
				return true
			}
		}
	}
	return false
}

// draw remembers what the steps gave that draw: it is not the same twice wherever
// it comes to.
func (s *steady) draw(f *File) {
	for i := range f.Run.Steps {
		if at := &f.Run.Steps[i]; at.Status == blueprint.StepCompleted && f.IsRandom(at.NodeID) {
			eachLeaf(at.Output, false, func(text string) {
				if !s.said[text] {
					s.drawn[text] = true
				}
			})
		}
	}
}

// hasDrawn reports whether a text holds something that was drawn; what is short is
// looked for alone.
func (s *steady) hasDrawn(text string) bool {
	if s.drawn[text] {
		return true
	}
	const long = 6
	for drawn := range s.drawn {
		if len(drawn) >= long && strings.Contains(text, drawn) {
			return true
		}
	}
	return false
}
