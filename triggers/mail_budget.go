package triggers

import (
	"sync"
	"time"

	"blueprintd/blueprint"
)

// Whoever knows the address of a mailbox can write to it, and the ledger keeps
// what starts a run, once as it came and once as the run's input. So a trigger
// has mailBurst bytes of that to spare and gets mailRate of them back in each
// mailSpan: 8.5 GB in a day. A mail is let in while any of it is left, whatever
// its size, and owes what it takes beyond.
const (
	mailBurst = 64 << 20
	mailRate  = 1 << 20
	mailSpan  = 10 * time.Second
)

// mailBudget bounds the bytes of accepted mail. Its zero value is one in which
// nothing was taken.
type mailBudget struct {
	mu    sync.Mutex
	taken map[string]mailTaken // by trigger; one that took nothing lately is dropped
	swept time.Time            // when such were looked for last
}

// mailTaken is what a trigger took.
type mailTaken struct {
	bytes float64
	at    time.Time // when that was right
}

// take counts a mail for its trigger; not ok when nothing is left for it. Back
// gives back what it took.
func (b *mailBudget) take(a *activation, now time.Time) (back func(), ok bool) {
	input, err := blueprint.Encode(a.input)
	if err != nil {
		input = nil // starting it says so
	}
	id, size := a.firing.TriggerID, float64(len(a.firing.Delivery.Body)+len(input))
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := now.Sub(b.swept); passed < 0 || passed >= mailSpan {
		b.swept = now
		for other := range b.taken {
			b.put(other, b.at(other, now))
		}
	}
	have := b.at(id, now)
	if have.bytes >= mailBurst {
		return nil, false
	}
	have.bytes += size
	b.put(id, have)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		have := b.taken[id]
		have.bytes -= size
		b.put(id, have)
	}, true
}

// at gives what a trigger took as it stands now.
func (b *mailBudget) at(id string, now time.Time) mailTaken {
	have, there := b.taken[id]
	if passed := now.Sub(have.at); there && passed > 0 {
		have.bytes = max(0, have.bytes-mailRate*float64(passed)/float64(mailSpan))
	}
	have.at = now
	return have
}

func (b *mailBudget) put(id string, have mailTaken) {
	if b.taken == nil {
		b.taken = map[string]mailTaken{}
	}
	if have.bytes <= 0 {
		delete(b.taken, id)
		return
	}
	b.taken[id] = have
}
