package connections

import (
	"strconv"
	"testing"

	"blueprintd/foundation/ids"
)

// The caches never exceed their limit and hold the latest value.
func TestCachesAreBounded(t *testing.T) {
	s := New(Options{IDs: ids.New(nil)})
	for i := range 5 * maxCached {
		key := strconv.Itoa(i)
		cachePut(s, s.tokens, key, token{})
		cachePut(s, s.styles, key, style(1))
		cachePut(s, s.names, key, channelName{name: key})
		if got, ok := cacheGet(s, s.names, key); !ok || got.name != key {
			t.Fatalf("%s is not cached", key)
		}
	}
	if len(s.tokens) > maxCached || len(s.styles) > maxCached || len(s.names) > maxCached {
		t.Errorf("cached %d tokens, %d styles and %d names, want at most %d", len(s.tokens), len(s.styles), len(s.names), maxCached)
	}
}
