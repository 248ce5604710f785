package sandbox

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
)

// MaxExpectations is how many there may be.
const MaxExpectations = 1000

const maxTimes = 1_000_000_000

func readExpectations(value any, known Known) ([]*expectation, error) {
	r := &reader{known: known}
	object := r.object(value, nil, "expect")
	var list []*expectation
	for i, element := range r.list(object["expect"], MaxExpectations, "expect") {
		path := []any{"expect", i}
		members := r.object(element, path, "match", "times", "request", "came") // the last as Expectations gives it
		if members == nil {
			continue
		}
		one := &expectation{source: maps.Clone(members)}
		delete(one.source, "came")
		one.match = r.match(members, path)
		one.least, one.most = r.times(members["times"], append(slices.Clone(path), "times"))
		one.request = r.request(members["request"], append(slices.Clone(path), "request"))
		list = append(list, one)
	}
	return list, r.err()
}

// times reads how often: a number, {"min"?, "max"?}, or at least once.
func (r *reader) times(value any, path []any) (least, most int) {
	const words = "must be a whole number from 0"
	switch v := value.(type) {
	case nil:
		return 1, math.MaxInt
	case json.Number:
		n := r.whole(map[string]any{"times": v}, "times", 0, maxTimes, words, path[:len(path)-1])
		return n, n
	}
	object := r.object(value, path, "min", "max")
	least, most = r.whole(object, "min", 0, maxTimes, words, path), math.MaxInt
	if object["max"] != nil {
		most = r.whole(object, "max", 0, maxTimes, words, path)
	}
	if least > most {
		r.wrong("min must not be above max", path...)
	}
	return least, most
}

// request reads what a request has to hold; names of headers in small letters.
func (r *reader) request(value any, path []any) map[string]any {
	if value == nil {
		return nil
	}
	object := maps.Clone(r.object(value, path, "method", "url", "headers", "body"))
	r.text(object, "method", path)
	r.text(object, "url", path)
	if headers, given := object["headers"]; given {
		named, isObject := headers.(map[string]any)
		if !isObject {
			r.wrong("must be an object", append(slices.Clone(path), "headers")...)
		}
		small := map[string]any{}
		for name, value := range named {
			small[strings.ToLower(name)] = value
		}
		object["headers"] = small
	}
	return object
}

// CheckExpectations tells what is wrong with expectations, as SetExpectations
// would.
func CheckExpectations(value any, known Known) error {
	_, err := readExpectations(value, known)
	return err
}
