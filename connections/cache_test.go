package connections

import (
	"strconv"
	"testing"

	"blueprintd/foundation/ids"
)

// A cache holds as many values as its limit, and is emptied when it is full.
func TestCachesAreBounded(t *testing.T) {
	s := New(Options{IDs: ids.New(nil)})
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			cachePut(s, s.names, strconv.Itoa(i), channelName{name: strconv.Itoa(i)})
		}
	}
	check := func(want int, keys ...string) {
		t.Helper()
		if len(s.names) != want {
			t.Errorf("cached %d names, want %d", len(s.names), want)
		}
		for _, key := range keys {
			if got, ok := cacheGet(s, s.names, key); !ok || got.name != key {
				t.Errorf("got %q for %s, want it cached", got.name, key)
			}
		}
	}
	fill(0, 1000)
	check(1000, "0", "999")
	fill(1000, 1001)
	check(1, "1000")
	fill(1001, 5000)
	check(1000, "4000", "4999")
}
