package engine

import (
	"time"

	"blueprintd/blueprint"
)

// orderPatience is how long, in real time, who orders something of a run waits for
// a disk that takes nothing.
const orderPatience = 3 * time.Second

// errOrderWaits tells whoever ordered something of a run that the disk does not take
// it. The run has it already, and its commit is tried until the disk does.
var errOrderWaits = &blueprint.Error{
	Code: blueprint.CodeUnavailable, Message: "the disk does not take it now; it takes effect once the disk does, unless the server ends before",
	RetryAfter: orderPatience, Hint: "look at the run before you order it again",
}

// carryOut makes an order to a run durable, and gives back the unit of the run that
// acquire took. It waits no longer than orderPatience, but also for who has hung up:
// what was done is told of in the audit log.
func (e *Engine) carryOut(r *run) error {
	done := make(chan error, 1)
	go func() {
		err := r.flush()
		e.changed(r.id)
		r.mu.Lock()
		e.release(r)
		done <- err
	}()
	patience := time.NewTimer(orderPatience)
	defer patience.Stop()
	select {
	case err := <-done:
		return err
	case <-patience.C:
		return errOrderWaits
	}
}
