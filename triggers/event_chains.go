package triggers

import (
	"sync"

	"blueprintd/blueprint"
)

// maxChains is how many chains of events are remembered at least, those that grew
// last; there may be twice as many.
const maxChains = 10_000

// chains counts the runs that events led to, by the key of the first event of
// each chain: that runs cause events, and events runs, must end however many
// listen. The count is in memory: a chain that outlives a restart is counted anew,
// and ends by its depth at the latest. It is safe for concurrent use, and its zero
// value is ready for use.
type chains struct {
	mu          sync.Mutex
	now, before map[string]*chain
}

// chain is what one event led to.
type chain struct {
	runs    int
	refused map[string]bool // the triggers whose ledger says that it led to too many
}

// grow counts a run that a chain is to start for a trigger. When that would be
// one too many, tell says whether the trigger's ledger has no word of it yet.
func (c *chains) grow(root, triggerID string) (grows, tell bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.of(root)
	if one.runs < blueprint.MaxEventRuns {
		one.runs++
		return true, false
	}
	if one.refused[triggerID] || len(one.refused) >= blueprint.MaxEventRuns {
		return false, false
	}
	if one.refused == nil {
		one.refused = map[string]bool{}
	}
	one.refused[triggerID] = true
	return false, true
}

// unstarted takes back a run that was counted and could not be started.
func (c *chains) unstarted(root string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.of(root); one.runs > 0 {
		one.runs--
	}
}

// of gives a chain, and keeps it from being forgotten for a while. c.mu is held.
func (c *chains) of(root string) *chain {
	one := c.now[root]
	if one != nil {
		return one
	}
	if one = c.before[root]; one == nil {
		one = &chain{}
	}
	if c.now == nil || len(c.now) >= maxChains {
		c.now, c.before = map[string]*chain{}, c.now
	}
	c.now[root] = one
	return one
}
