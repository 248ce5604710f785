package trpc

import "strings"

// joinedSegments is how many pieces of an unescaped path are tried as one key.
const joinedSegments = 8

// follow goes down from a place along a path, and tells whether it came as
// far as the object or list that would hold its end. It reads no further than
// the value reaches, so a path costs no more than the value is deep.
func (r *annotationReading) follow(at place, path string) (place, bool, error) {
	for {
		segment, rest, more, err := r.cut(path)
		if err != nil {
			return place{}, false, err
		}
		below, inside := at.step(segment)
		_, found := below.get()
		if !found && more && !r.escaped {
			below, rest, more, found = at.stepJoined(path)
			inside = found
		}
		switch {
		case !more:
			return below, inside, nil
		case !found:
			return place{}, false, nil
		}
		at, path = below, rest
	}
}

// cut takes the first key off a path. superjson 2 writes \. and \\ for a dot
// and a backslash within a key and nothing else with a backslash; before, a
// backslash stood for itself unless a dot followed.
func (r *annotationReading) cut(path string) (segment, rest string, more bool, err error) {
	var plain strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '.':
			segment = plain.String()
			return segment, path[i+1:], true, checkSegment(segment)
		case c == '\\' && i+1 < len(path) && (path[i+1] == '.' || r.escaped && path[i+1] == '\\'):
			i++
			plain.WriteByte(path[i])
		case c == '\\' && r.escaped:
			return "", "", false, badAnnotation("a path with a stray backslash")
		default:
			plain.WriteByte(c)
		}
	}
	segment = plain.String()
	return segment, "", false, checkSegment(segment)
}

// checkSegment refuses the names that JavaScript objects are built from, as
// every superjson does.
func checkSegment(segment string) error {
	switch segment {
	case "__proto__", "prototype", "constructor":
		return badAnnotation(segment + " in a path")
	}
	return nil
}

// stepJoined goes down by a key that holds dots itself, which superjson 1
// wrote without escapes.
func (p place) stepJoined(path string) (below place, rest string, more, found bool) {
	end := strings.IndexByte(path, '.')
	for range joinedSegments {
		dot := strings.IndexByte(path[end+1:], '.')
		key := path
		if dot >= 0 {
			end += 1 + dot
			key = path[:end]
		}
		below, _ = p.step(key)
		if _, found = below.get(); found {
			return below, strings.TrimPrefix(path[len(key):], "."), dot >= 0, true
		}
		if dot < 0 {
			break
		}
	}
	return place{}, "", false, false
}
