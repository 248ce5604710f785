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
	// At least 8 slots are worth sharing; at most 32 keep the threads of all children
	// far below the limits of service managers.
	leastSlots, mostSlots = 8, 32
)

type Options struct {
	// Slots is the number of scripts that run at once, each with at most 64 MiB; a larger
	// one takes more slots, at most half of them. 0 = twice the number of processors. The
	// value is clamped to 8 to 32.
	Slots int
	// Logger reports children that do not start or break; nil = none.
	Logger *slog.Logger
}

// Pool runs scripts in child processes. It is safe for concurrent use.
type Pool struct {
	slots   int
	queue   *fairQueue
	forker  forker
	logger  *slog.Logger
	running chan struct{}   // closed when Run begins
	ctx     context.Context // of Run
	cancel  context.CancelFunc
	// missingProtection is what this system lacks to confine scripts; "" = nothing.
	missingProtection string
	warned            sync.Once

	mu      sync.Mutex
	alive   int            // children that run or wait
	idle    []*process     // longest first
	scripts uint64         // ever begun
	working sync.WaitGroup // calls of Do, and children being killed, that Run waits for
}

// New returns a Pool. Children start with the first scripts after Run was called.
func New(o Options) *Pool {
	o.Slots = cmp.Or(o.Slots, 2*runtime.NumCPU())
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	slots := min(max(o.Slots, leastSlots), mostSlots)
	p := &Pool{slots: slots, queue: newFairQueue(slots), forker: make(forker), logger: o.Logger, running: make(chan struct{}), missingProtection: systemProtectionGap}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Run runs scripts until ctx ends, kills those in progress and returns when no child is
// left. It must be called once.
func (p *Pool) Run(ctx context.Context) error {
	var starting sync.WaitGroup
	starting.Go(p.forker.run)
	close(p.running)
	<-ctx.Done()
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.cancel() // under the lock: nothing enters or becomes idle from here on
	p.mu.Unlock()
	for _, child := range idle {
		child.kill()
	}
	p.working.Wait()
	close(p.forker)
	starting.Wait()
	return nil
}

// Background runs the pool until stop is called, which returns when no child is left.
// It must be called once, instead of Run.
func (p *Pool) Background() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.Run(ctx) // always nil
	}()
	return func() {
		cancel()
		<-ended
	}
}

var errClosed = &blueprint.Failure{Code: CodeUnavailable, Message: "the server is stopping, and runs no more scripts", NotSent: true}

// Do runs a script. It waits for Run to begin and for free slots until ctx ends; when
// ctx ends, the script is killed and the error is the cause. Other errors are
// *blueprint.Failure with one of the codes above. The Outcome is never nil.
func (p *Pool) Do(ctx context.Context, s Script) (*Outcome, error) {
	none := &Outcome{}
	s, err := s.withDefaults()
	if err != nil {
		return none, err
	}
	values, err := s.Values.encode(s.size())
	if err != nil {
		return none, err
	}
	select {
	case <-p.running:
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	id, ok := p.begin()
	if !ok {
		return none, errClosed
	}
	defer p.working.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.ctx, func() { cancel(errClosed) })()
	release, err := p.queue.acquire(ctx, cmp.Or(s.Tenant, s.Owner), s.size())
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

func (p *Pool) warn() {
	if p.missingProtection != "" {
		p.warned.Do(func() {
			p.logger.Warn("scripts are not fully confined on this system; run code of trusted authors only", "missing", p.missingProtection)
		})
	}
}

// begin counts a script, unless the pool is closed.
func (p *Pool) begin() (id uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return 0, false
	}
	p.working.Add(1)
	p.scripts++
	return p.scripts, true
}

// run runs a script in a child. Its error is meaningless once ctx has ended.
func (p *Pool) run(ctx context.Context, s *Script, id uint64, values []byte) (*Outcome, error) {
	child, err := p.takeProcess(ctx, s.Owner, s.size())
	if err != nil {
		if ctx.Err() == nil {
			p.logger.Error("sandbox start failed", "error", err)
		}
		return &Outcome{}, &blueprint.Failure{Code: CodeUnavailable, Message: "the sandbox for scripts did not start; the server's log has the reason", NotSent: true}
	}
	limited, stop := context.WithTimeout(ctx, s.Timeout+killDelay)
	defer stop()
	a, err := child.exchange(limited, &request{ID: strconv.FormatUint(id, 10), Source: s.Source, Timeout: s.Timeout, Memory: s.Memory, Now: s.Now.UnixMilli(), Still: s.Still, Seed: s.Seed, Compile: s.compile}, values)
	if err != nil || a.Last || child.scripts >= maxScripts {
		p.discard(child)
	} else {
		p.putIdle(child)
	}
	switch {
	case err == nil:
		if a.Fault == faultCrash {
			p.logBroken(s, child, errCrash)
		}
		return s.outcome(a)
	case limited.Err() != nil:
		return &Outcome{}, s.timeoutFailure()
	}

	failure := s.processFailure(child, err)
	if (failure.Code == CodeFailed || child.stderr.String() != "") && ctx.Err() == nil {
		p.logBroken(s, child, err)
	}
	return &Outcome{}, failure
}

var errCrash = errors.New("the interpreter crashed")

func (p *Pool) logBroken(s *Script, child *process, err error) {
	p.logger.Error("sandbox broke", "owner", s.Owner, "error", err, "state", child.cmd.ProcessState.String(), "stderr", child.stderr.String())
}

// takeProcess returns an idle child of an owner and a size or a new one, which may
// replace an idle child of another owner.
func (p *Pool) takeProcess(ctx context.Context, owner string, size int64) (*process, error) {
	p.mu.Lock()
	p.idle = slices.DeleteFunc(p.idle, func(child *process) bool {
		gone := child.gone()
		if gone { // killed while idle
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

// putIdle keeps a child for another script for idleTime.
func (p *Pool) putIdle(child *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		p.alive--
		p.working.Go(child.kill)
		return
	}
	p.idle = append(p.idle, child)
	child.idle = time.AfterFunc(idleTime, func() { p.expireIdle(child) })
}

func (p *Pool) expireIdle(child *process) {
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

func (p *Pool) discard(child *process) {
	child.kill()
	p.mu.Lock()
	p.alive--
	p.mu.Unlock()
}
