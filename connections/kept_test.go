package connections

import (
	"strconv"
	"testing"

	"blueprintd/foundation/ids"
)

// What a service remembers never grows beyond its bound, and what it has just
// learnt is there.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	s := New(Options{IDs: ids.New(nil)})
	for i := range 5 * mostKept {
		key := strconv.Itoa(i)
		keep(s, s.tokens, key, token{})
		keep(s, s.styles, key, style(1))
		keep(s, s.names, key, channelName{name: key})
		if got, ok := kept(s, s.names, key); !ok || got.name != key {
			t.Fatalf("%s is not remembered", key)
		}
	}
	if len(s.tokens) > mostKept || len(s.styles) > mostKept || len(s.names) > mostKept {
		t.Errorf("%d tokens, %d styles and %d names are kept, at most %d", len(s.tokens), len(s.styles), len(s.names), mostKept)
	}
}
