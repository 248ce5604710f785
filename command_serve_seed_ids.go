package main

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
)

func seedIDsFlag() cli.Flag {
	return &cli.StringFlag{Name: "seed-ids", Usage: "draw every id, key and random part from this `NUMBER`, for tests: with --clock virtual the same calls, one after the other, give the same answers; only with --ephemeral"}
}

// chooseSeedIDs reads what ids are drawn from. What anybody can draw again is
// no secret, so such a server keeps nothing.
func chooseSeedIDs(c *cli.Context, o *options) error {
	text := c.String("seed-ids")
	if text == "" {
		return nil
	}
	seed, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return usage("--seed-ids 1", "%s %s: is no whole number", given(c, "seed-ids"), text)
	}
	if !o.ephemeral {
		return usage("add --ephemeral, or leave it out", "%s: keys and ids that follow from a number are for servers that keep nothing", given(c, "seed-ids"))
	}
	o.seedIDs = &seed
	return nil
}

// sourceOf gives the source of ids: of chance without a seed.
func sourceOf(seed *int64) *ids.Source {
	if seed == nil {
		return ids.New(nil)
	}
	return ids.Seeded(*seed)
}

// still gives the virtual clock of a server that is to do the same each time;
// nil for any other.
func (s *server) still() *clock.Virtual {
	virtual, ok := s.options.clock.(*clock.Virtual)
	if !ok || s.options.seedIDs == nil {
		return nil
	}
	return virtual
}

// turn gives how runs take turns; nil when they need not.
func (s *server) turn() func(func()) {
	if virtual := s.still(); virtual != nil {
		return virtual.Turn
	}
	return nil
}

// settleFor is how long, in real time, a request waits for what those before it
// began to come to rest. One that comes from a run itself would wait for ever.
const settleFor = time.Second

// repeatable makes answers follow the virtual clock: their Date is that of the
// clock, and where ids are seeded a request is looked at once what others began
// has come to rest, so that it finds the same each time.
func (s *server) repeatable(next http.Handler) http.Handler {
	virtual, ok := s.options.clock.(*clock.Virtual)
	if !ok {
		return next
	}
	seeded := s.still() != nil
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", virtual.Now().Format(http.TimeFormat))
		if seeded && waits(r.URL.Path) {
			defer virtual.Settled(r.Context(), settleFor)()
			w.Header().Set("Date", virtual.Now().Format(http.TimeFormat))
		}
		next.ServeHTTP(w, r)
	})
}

// waits tells whether a path may show what is under way. Those about the server
// itself answer at once.
func waits(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/metrics", "/clock/advance":
		return false
	}
	return !strings.HasPrefix(path, "/assets/")
}
