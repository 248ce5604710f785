package script

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"blueprintd/blueprint"
)

const (
	// maxScripts is how many scripts a child runs before it is replaced.
	maxScripts = 1000
	// idleTime is how long a child waits for another script.
	idleTime = time.Minute
	// leastSlots leaves something to share; mostSlots keeps the threads of all
	// children far below what service managers allow.
	leastSlots, mostSlots = 8, 32
)

// Options say how a Pool works.
type Options struct {
	// Slots is how many scripts run at once, each with at most 64 MiB; a larger
	// one takes more slots, at most half of them. 0 = twice the number of processors. It is brought
	// into the range from 8 to 32.
	Slots int
	// Logger hears of children that do not start or break. Nil = nobody does.
	Logger *slog.Logger
}

// Pool runs scripts in child processes. It is safe for concurrent use.
type Pool struct {
	slots  int
	queue  *fairQueue
	forker forker
	logger *slog.Logger
	began  chan struct{}   // closes when Run begins
	life   context.Context // ends when Run begins to end
	finish context.CancelFunc
	// weakness is what this system does not keep scripts from; "" = nothing.
	weakness string
	warned   sync.Once

	mu      sync.Mutex
	alive   int            // children that run or wait
	idle    []*process     // those that wait, the one that waits longest first
	scripts uint64         // that were ever begun
	working sync.WaitGroup // what Run waits for: calls of Do, and children that are being ended
}

// New makes a Pool. It starts nothing: children come with the first scripts,
// once Run was called.
func New(o Options) *Pool {
	if o.Slots == 0 {
		o.Slots = 2 * runtime.NumCPU()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	slots := min(max(o.Slots, leastSlots), mostSlots)
	p := &Pool{slots: slots, queue: newFairQueue(slots), forker: make(forker), logger: o.Logger, began: make(chan struct{}), weakness: systemWeakness}
	p.life, p.finish = context.WithCancel(context.Background())
	return p
}

// Run lets scripts run until ctx ends. Then those under way are ended, and it
// returns when no child is left. It must be called once.
func (p *Pool) Run(ctx context.Context) error {
	var starting sync.WaitGroup
	starting.Go(p.forker.run)
	close(p.began)
	<-ctx.Done()
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.finish() // under the lock: from here on nobody enters, and nothing is given back
	p.mu.Unlock()
	for _, child := range idle {
		child.kill()
	}
	p.working.Wait()
	close(p.forker)
	starting.Wait()
	return nil
}

// Background runs the pool until stop is called, which returns when no child is
// left. It must be called once, instead of Run.
func (p *Pool) Background() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.Run(ctx) // it ends when it is told to
	}()
	return func() {
		cancel()
		<-ended
	}
}

// errClosed is the failure of a script that comes when Run has ended, or is
// under way then.
var errClosed = &blueprint.Failure{Code: CodeUnavailable, Message: "the server is stopping, and runs no more scripts", NotSent: true}

// Do runs a script. It waits for Run to begin and for free slots as long as ctx
// allows; when ctx ends, so does the script, and the error is the cause. Other
// errors are *blueprint.Failure with one of the codes above. The Outcome is
// never nil.
func (p *Pool) Do(ctx context.Context, s Script) (*Outcome, error) {
	none := &Outcome{}
	s, err := s.bounded()
	if err != nil {
		return none, err
	}
	values, err := s.Values.encode(s.size())
	if err != nil {
		return none, err
	}
	select {
	case <-p.began:
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	id, ok := p.enter()
	if !ok {
		return none, errClosed
	}
	defer p.working.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.life, func() { cancel(errClosed) })()
	release, err := p.queue.take(ctx, cmp.Or(s.Tenant, s.Owner), s.size())
	if err != nil {
		return none, err
	}
	defer release()
	p.warn()
	outcome, err := p.run(ctx, &s, id, values)
	if err != nil && ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	return outcome, err
}

// warn tells the log, once and only where scripts are run, what they are not
// kept from.
func (p *Pool) warn() {
	if p.weakness != "" {
		p.warned.Do(func() {
			p.logger.Warn("code of blueprints is not fully confined on this system; run it only for people whom you trust", "missing", p.weakness)
		})
	}
}

// enter counts a script, unless the end has begun.
func (p *Pool) enter() (id uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil {
		return 0, false
	}
	p.working.Add(1)
	p.scripts++
	return p.scripts, true
}

// run runs a script in a child. What kind of error it gives when ctx has ended
// means nothing.
func (p *Pool) run(ctx context.Context, s *Script, id uint64, values []byte) (*Outcome, error) {
	child, err := p.take(ctx, s.Owner, s.size())
	if err != nil {
		if ctx.Err() == nil {
			p.logger.Error("the sandbox of a script did not start", "error", err)
		}
		return &Outcome{}, &blueprint.Failure{Code: CodeUnavailable, Message: "the sandbox for scripts did not start; the server's log has the reason", NotSent: true}
	}
	limited, stop := context.WithTimeout(ctx, s.Timeout+grace)
	defer stop()
	a, err := child.exchange(limited, &request{ID: strconv.FormatUint(id, 10), Source: s.Source, Timeout: s.Timeout, Memory: s.Memory, Now: s.Now.UnixMilli(), Still: s.Still, Seed: s.Seed, Compile: s.compile}, values)
	if err != nil || a.Last || child.scripts >= maxScripts {
		p.discard(child)
	} else {
		p.giveBack(child)
	}
	switch {
	case err == nil:
		if a.Fault == faultCrash {
			p.complain(s, child, errCrash)
		}
		return s.outcome(a)
	case limited.Err() != nil:
		return &Outcome{}, s.late()
	}
	failure := s.broken(child, err)
	if (failure.Code == CodeFailed || child.stderr.String() != "") && ctx.Err() == nil {
		p.complain(s, child, err)
	}
	return &Outcome{}, failure
}

var errCrash = errors.New("the interpreter crashed")

// complain tells the log of a child that broke, and is gone, what it said.
func (p *Pool) complain(s *Script, child *process, err error) {
	p.logger.Error("the sandbox of a script broke", "owner", s.Owner, "error", err, "state", child.cmd.ProcessState.String(), "stderr", child.stderr.String())
}

// take returns a child of an owner and a size: one that waits, or a new one, for
// which one of another owner may have to go.
func (p *Pool) take(ctx context.Context, owner string, size int64) (*process, error) {
	p.mu.Lock()
	p.idle = slices.DeleteFunc(p.idle, func(child *process) bool {
		gone := child.gone()
		if gone { // somebody killed it while it waited
			p.alive--
			p.working.Go(child.kill)
		}
		return gone
	})
	for i, child := range slices.Backward(p.idle) {
		if child.owner == owner && child.size == size {
			p.idle = slices.Delete(p.idle, i, i+1)
			p.mu.Unlock()
			child.idle.Stop()
			return child, nil
		}
	}
	var old *process
	if p.alive >= p.slots && len(p.idle) > 0 {
		old, p.idle = p.idle[0], p.idle[1:]
	} else {
		p.alive++
	}
	p.mu.Unlock()
	if old != nil {
		old.kill()
	}
	child, err := startProcess(ctx, p.forker, owner, size)
	if err != nil {
		p.mu.Lock()
		p.alive--
		p.mu.Unlock()
	}
	return child, err
}

// giveBack lets a child wait for another script, but not for ever.
func (p *Pool) giveBack(child *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil {
		p.alive--
		p.working.Go(child.kill)
		return
	}
	p.idle = append(p.idle, child)
	child.idle = time.AfterFunc(idleTime, func() { p.forget(child) })
}

// forget ends a child that has waited too long.
func (p *Pool) forget(child *process) {
	p.mu.Lock()
	i := slices.Index(p.idle, child)
	if i < 0 {
		p.mu.Unlock()
		return
	}
	p.idle = slices.Delete(p.idle, i, i+1)
	p.alive--
	p.working.Add(1)
	p.mu.Unlock()
	defer p.working.Done()
	child.kill()
}

// discard ends a child that must not run another script.
func (p *Pool) discard(child *process) {
	child.kill()
	p.mu.Lock()
	p.alive--
	p.mu.Unlock()
}
