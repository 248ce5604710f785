package document

import "blueprintd/blueprint"

// Position is a place in a text. Line and column count from 1, columns in characters.
// The zero Position is unknown.
type Position struct{ Line, Column int }

// Span is a part of a line. End is exclusive; zero = unknown, or on another line.
type Span struct{ Start, End Position }

// place is the position of a value and of the values in it.
type place struct {
	key      Position // of its name, for the members of an object
	keyName  int      // characters of the name, with its quotes; 0 = unknown
	at       Position // of the value, or of the name if there is none
	text     Position // of the text of a string or number; else zero
	members  map[string]*place
	elements []*place
}

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

// find returns the place of the value at a path and the value, or those of the nearest
// enclosing value in the text.
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

// At returns the position of the value at a path, or of the nearest enclosing value in
// the text. That of an empty value is the position of its name.
func (d *Document) At(path []any) Position {
	here, _, _ := d.find(path)
	return d.source.clamp(here.at)
}

// SpanOf returns the span of an issue: a value, a name, or a part of a string.
func (d *Document) SpanOf(issue blueprint.Issue) Span {
	span := d.spanOf(issue)
	span.Start = d.source.clamp(span.Start)
	return span
}

func (d *Document) spanOf(issue blueprint.Issue) Span {
	here, value, whole := d.find(issue.Path)
	spot := issue.Spot
	switch {
	case !whole: // a missing value
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

// within returns the span of length characters at a position.
func (d *Document) within(at Position, length int) Span {
	if length <= 0 {
		return Span{Start: at}
	}
	return Span{Start: at, End: Position{at.Line, at.Column + length}}
}
