package ids

import (
	"strconv"
	"sync"
	"time"
)

// turnsKept is for how long, by the clock, a source remembers how often it was
// asked for a purpose at an instant.
const turnsKept = time.Minute

// turns counts how often a seeded source was asked for each purpose at each
// instant. What is older than turnsKept is forgotten, so that it does not grow
// for as long as the program runs.
type turns struct {
	mu      sync.Mutex
	since   time.Time
	present map[string]int
	past    map[string]int
}

// At gives a source for something that is made at an instant and that the names
// tell from whatever else is made then: of a seeded source one whose parts follow
// from the seed, the instant, the names, and how often they were given before at
// that instant. Whatever is drawn for other names meanwhile, by whichever
// goroutine, plays no part. Any other source gives itself.
func (s *Source) At(now time.Time, names ...string) *Source {
	if s.seed == "" {
		return s
	}
	of := s.Stream(append([]string{strconv.FormatInt(now.UnixMilli(), 10)}, names...)...)
	if n := s.turns.count(now, of.seed); n > 0 {
		return of.Stream(strconv.Itoa(n))
	}
	return of
}

// count gives how often it was asked about a name before.
func (t *turns) count(now time.Time, name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.present == nil || now.Sub(t.since) >= turnsKept {
		t.past, t.present, t.since = t.present, map[string]int{}, now
	}
	n, known := t.present[name]
	if !known {
		n = t.past[name]
	}
	t.present[name] = n + 1
	return n
}
