package api

import (
	"strings"
	"testing"

	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestSeededFirstKey: the key and the link of a first start are derived from the seed too.
func TestSeededFirstKey(t *testing.T) {
	t.Parallel()
	known := map[string]int64{}
	for _, seed := range []int64{1, 2, 1, 2, -1} {
		s := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.APIKey, o.SeedIDs = "", &seed })
		shown := s.Bootstrap.APIKey + " " + s.Bootstrap.Setup
		if was, ok := known[shown]; ok && was != seed || !strings.HasPrefix(shown, "bpd_") {
			t.Errorf("seed %d shows %s, as seed %d", seed, shown, was)
		}
		known[shown] = seed
		(servertest.Caller{Server: s, Authorization: "Bearer " + s.Bootstrap.APIKey}).OK(t, "apiKey.list", nil)
	}
	if len(known) != 3 {
		t.Errorf("three seeds show %d keys, want 3", len(known))
	}
}
