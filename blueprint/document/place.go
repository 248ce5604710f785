package document

import "blueprintd/blueprint"

// Position is a place in a text; both count from 1, and columns count
// characters. The zero Position is unknown.
type Position struct{ Line, Column int }

// Span is a piece of one line. End is just behind it; the zero End is unknown,
// as it is for what does not end on the line where it begins.
type Span struct{ Start, End Position }

// place is where a value stands, and the values in it.
type place struct {
	key      Position // of its name, for the members of an object
	keyName  int      // characters of the name, with its quotes; 0 = unknown
	at       Position // of the value; that of the name where nothing is written for it
	text     Position // where the text of a string or number is written; zero for others
	members  map[string]*place
	elements []*place
}

// member makes the place of an object's member, element that of the next
// element of an array.
func (p *place) member(name string, at Position) *place {
	if p.members == nil {
		p.members = map[string]*place{}
	}
	made := &place{key: at, at: at}
	p.members[name] = made
	return made
}

func (p *place) element(at Position) *place {
	made := &place{at: at}
	p.elements = append(p.elements, made)
	return made
}

// find returns the place of the value at a path and the value, or those of the
// nearest above it that stand in the text.
func (d *Document) find(path []any) (here *place, value any, whole bool) {
	here, value = &d.root, d.Value
	for _, part := range path {
		var below *place
		var inside any
		switch part := part.(type) {
		case string:
			below = here.members[part]
			object, _ := value.(map[string]any)
			inside = object[part]
		case int:
			list, _ := value.([]any)
			if part >= 0 && part < len(here.elements) && part < len(list) {
				below, inside = here.elements[part], list[part]
			}
		}
		if below == nil {
			return here, value, false
		}
		here, value = below, inside
	}
	return here, value, true
}

// At returns the position of the value at a path, or of the nearest value above
// it that stands in the text. A value that is left out behind its name is where
// the name is.
func (d *Document) At(path []any) Position {
	here, _, _ := d.find(path)
	return d.source.clamp(here.at)
}

// SpanOf returns the piece of the text that an issue is about: a value, a name, or
// a place within the text of a value.
func (d *Document) SpanOf(issue blueprint.Issue) Span {
	span := d.spanOf(issue)
	span.Start = d.source.clamp(span.Start)
	return span
}

func (d *Document) spanOf(issue blueprint.Issue) Span {
	here, value, whole := d.find(issue.Path)
	spot := issue.Spot
	switch {
	case !whole: // of what has it not, the beginning is enough
		return Span{Start: here.at}
	case spot.OnKey && here.key != Position{}:
		return d.within(here.key, here.keyName)
	case spot.Line > 0:
		if text, ok := value.(string); ok {
			if span, ok := d.spot(here, text, spot); ok {
				return span
			}
		}
	}
	return d.valueSpan(here, value)
}

// within returns the piece of so many characters that begins at a position.
func (d *Document) within(at Position, length int) Span {
	if length <= 0 {
		return Span{Start: at}
	}
	return Span{Start: at, End: Position{at.Line, at.Column + length}}
}
