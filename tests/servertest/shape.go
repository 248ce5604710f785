package servertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/process"
)

// shapes are the forms that a string in an expected value may require.
var shapes = map[string]*regexp.Regexp{
	"<uuid>":      regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`),
	"<ulid>":      regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{26}$`),
	"<execution>": regexp.MustCompile(`^exec_[0-9]{12,15}_[0-9a-z]{26}$`),
	"<time>":      regexp.MustCompile(`^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$`),
	"<text>":      regexp.MustCompile(`.`),
}

// Shape checks that a response matches the JSON want: the same keys, and the same values of
// the same types. A string of shapes matches any string of that form, "<count>" a whole
// number of 0 or more, "<any>" anything.
func Shape(t testing.TB, what string, got any, want string) {
	t.Helper()
	if problem := unlike(got, Decoded(t, want), ""); problem != "" {
		t.Errorf("%s%s\n%.3000s", what, problem, Encoded(t, got))
	}
}

// unlike returns where a value differs from the expected one, "" if it does not.
func unlike(got, want any, path string) string {
	switch want := want.(type) {
	case process.Object:
		have, ok := got.(process.Object)
		if !ok {
			return fmt.Sprintf("%s is %v, want an object", path, got)
		}
		for _, key := range slices.Sorted(maps.Keys(have)) {
			if _, known := want[key]; !known {
				return fmt.Sprintf("%s has a key %q = %v that is not wanted", path, key, have[key])
			}
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if _, given := have[key]; !given {
				return fmt.Sprintf("%s lacks the key %q", path, key)
			}
			if problem := unlike(have[key], want[key], path+"."+key); problem != "" {
				return problem
			}
		}
		return ""
	case []any:
		have, ok := got.([]any)
		if !ok || len(have) != len(want) {
			return fmt.Sprintf("%s is %v, want %d elements", path, got, len(want))
		}
		for i := range want {
			if problem := unlike(have[i], want[i], fmt.Sprintf("%s[%d]", path, i)); problem != "" {
				return problem
			}
		}
		return ""
	case string:
		if want == "<any>" {
			return ""
		}
		if want == "<count>" {
			number, ok := got.(json.Number)
			if n, err := number.Int64(); !ok || err != nil || n < 0 {
				return fmt.Sprintf("%s is %v, want a count", path, got)
			}
			return ""
		}
		if shape := shapes[want]; shape != nil {
			if text, ok := got.(string); !ok || !shape.MatchString(text) {
				return fmt.Sprintf("%s is %v, want %s", path, got, want)
			}
			return ""
		}
	}
	if !blueprint.Equal(got, want) || fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Sprintf("%s is %#v, want %#v", path, got, want)
	}
	return ""
}
