package simulation

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/triggers"
)

// owner is the owner of all blueprints.
var owner = blueprint.Principal{UserID: "11111111-1111-4111-8111-111111111111"}

// errDead is the error of every call of a crashed process. Nothing that it does afterwards
// reaches the disk.
var errDead = errors.New("the process has crashed")

// process is one life of the server: engine and scheduler over the disk.
type process struct {
	world *world
	member
	engine       *engine.Engine
	triggers     *triggers.Service
	dead         chan struct{}
	halt         context.CancelCauseFunc
	clock        *timers
	begun        time.Time
	stopping     bool
	openRequests int // that wait for it

	mu     sync.Mutex
	ready  bool
	ended  int  // of the two loops
	idle   bool // its schedules have stopped
	held   []*engine.Handle
	fault  error
	rounds map[string]int // the attempt of each for-each node, by run and address
}

// visit is a running attempt of a node.
type visit struct {
	task    *blueprint.Task
	ctx     context.Context
	let     chan struct{} // closed when it may end
	at      at
	out     outcome
	until   time.Time // when it times out; zero for never
	process *process
	life    int // of the run
	begun   time.Time
}

// write is a pending write to the disk.
type write struct {
	process *process
	key     string       // the order of writes; no two pending ones have the same
	what    string       // the title of act
	act     func() error // a write of the cluster, when it reaches the disk
	run     string       // that act is about
	waits   bool         // its caller waits for the outcome, however long that takes
	commit  *blueprint.JournalCommit
	trigger string
	rows    []blueprint.Firing
	cursor  blueprint.Time
	answer  chan error
	shared  bool // several nodes wait for it
}

// inbox holds the events since the world last read it.
type inbox struct {
	mu     sync.Mutex
	visits []*visit
	writes []*write
	calls  []*clientCall
}

// timers is the clock of the machine in the bubble, and records the planned instants.
type timers struct {
	clock.Real
	process  *process
	mu       sync.Mutex
	instants []time.Time
}

func (d *timers) At(t time.Time, f func()) *clock.Timer {
	d.mu.Lock()
	d.instants = append(d.instants, t)
	d.mu.Unlock()
	if d.process.cluster() == nil {
		return d.Real.At(t, f)
	}
	return d.Real.At(t, func() { d.process.awaitWake(); f() })
}

func (d *timers) Upkeep(t time.Time, f func()) *clock.Timer { return d.At(t, f) }

// next returns the first planned instant after now, and drops earlier ones.
func (d *timers) next(now time.Time) (first time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.instants = slices.DeleteFunc(d.instants, func(t time.Time) bool { return !t.After(now) })
	if len(d.instants) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(d.instants, time.Time.Compare)
}

// boot starts a process on the disk. Its name matters only among several.
func (w *world) boot(name string) {
	w.boots++
	ctx, halt := context.WithCancelCause(context.Background())
	p := &process{world: w, dead: make(chan struct{}), halt: halt, begun: w.now(), rounds: map[string]int{}, member: newMember(name, w.now())}
	for _, h := range w.order {
		p.restoreRounds(h)
	}
	p.clock = &timers{process: p}
	w.processes = append(w.processes, p)
	p.ctx = ctx
	w.join(p)
	source := ids.New(newRandom(w.Seed, 1000+uint64(w.boots)))
	logger := slog.New(slog.DiscardHandler)
	p.engine = engine.New(engine.Options{
		Catalogue: catalogue(p), Journal: journal{p}, Clock: p.clock, IDs: source, Sealer: sealer, Logger: logger, Blueprints: blueprintSource{p}, Connections: connections{p},
		MaxRunning: w.maxRunning, MaxQueued: w.maxQueued, Peers: p.peers(), Lost: p.lost,
	})
	p.triggers = triggers.New(triggers.Options{Store: journal{p}, Runner: starter{p}, Clock: p.clock, IDs: source, Logger: logger, UpSince: p.upSince()})
	recovered := make(chan struct{})
	go func() {
		err := p.engine.Run(ctx, func() { p.set(func() { p.ready = true }); close(recovered) })
		halt(err) // a failed start ends everything
		p.set(func() { p.ended++; p.fault = cmp.Or(p.fault, err) })
	}()
	go func() {
		var err error
		select {
		case <-recovered:
			if p.awaitDuties(ctx) {
				err = p.triggers.Run(ctx)
			}
		case <-ctx.Done():
		}
		halt(err)
		p.set(func() { p.ended++; p.idle = true; p.fault = cmp.Or(p.fault, err) })
	}()
}

// sealer is never used: no simulated run has secrets.
var sealer, _ = secret.NewSealer(make([]byte, 32))

func (p *process) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *process) isReady() (ready bool) {
	p.set(func() { ready = p.ready })
	return ready
}

func (p *process) hasEnded() (ended bool) {
	p.set(func() { ended = p.ended == 2 && p.work == 0 })
	return ended
}

// starter is the engine for the triggers.
type starter struct{ process *process }

func (s starter) Start(_ context.Context, request *blueprint.StartRequest, patience time.Duration) (triggers.Run, error) {
	handle, err := s.process.keepHandle(s.process.engine.Start(request, engine.Urgency(patience)))
	if err != nil {
		return nil, err
	}
	return handle, nil
}

// keepHandle keeps a handle for the lifetime of the process. Otherwise its release would depend
// on the garbage collector.
func (p *process) keepHandle(handle *engine.Handle, err error) (*engine.Handle, error) {
	p.set(func() { p.held = append(p.held, handle) })
	return handle, err
}

// run is the function of every node: it reports its start, and continues when the world
// allows it.
func (p *process) run(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
	select {
	case <-p.dead:
		return blueprint.Result{}, errDead
	default:
	}
	s, place := p.scriptOf(task)
	v := &visit{task: task, ctx: ctx, let: make(chan struct{}), at: at{place, task.Attempt}, out: s.outcome(place, task.Attempt), process: p, begun: p.world.now()}
	v.until, _ = ctx.Deadline()
	p.world.inbox.add(func(in *inbox) { in.visits = append(in.visits, v) })
	select {
	case <-v.let:
	case <-p.dead:
		return blueprint.Result{}, errDead
	}
	if err := ctx.Err(); err != nil && (!v.out.stubborn || v.out.ending == hangs) {
		return blueprint.Result{}, fmt.Errorf("cut off: %w", err)
	}
	if r, err := v.out.prepare(ctx, task, place); err != nil {
		return r, err
	}
	return v.out.result(task, s.node(place), place)
}

// prepare obtains what an outcome requires: a connection, or calls to a language model,
// each of which takes a token.
func (o *outcome) prepare(ctx context.Context, task *blueprint.Task, place string) (r blueprint.Result, err error) {
	if o.ending == links {
		_, err := task.Connect(ctx, place)
		return r, err
	}
	if o.asks == 0 || o.ending == fails || o.ending == panics {
		return r, nil
	}
	made := 0
	if task.State != nil {
		_, _ = fmt.Sscan(fmt.Sprint(task.State), &made)
	}
	for ; made < o.asks; made++ {
		if err := task.Budget(ctx, 1); err != nil {
			var pause *blueprint.Pause
			if errors.As(err, &pause) {
				pause.State = json.Number(fmt.Sprint(made))
			}
			return r, err
		}
		task.Spend(1)
	}
	return r, nil
}

// scriptOf returns the script and the place of a node.
func (p *process) scriptOf(task *blueprint.Task) (script, string) {
	s := p.world.script(task.BlueprintID, task.ExecutionID)
	place := ""
	p.set(func() {
		if s.blueprint.find(task.Address).body != nil {
			p.rounds[task.ExecutionID+"/"+task.Address] = task.Attempt
		}
		place = placeOf(task.Address, func(loop string) int { return p.rounds[task.ExecutionID+"/"+loop] })
	})
	return s, place
}

// restoreRounds reads from the disk the attempts of the for-each nodes of a run.
func (p *process) restoreRounds(h *history) {
	p.set(func() {
		for address, attempt := range h.attempt {
			p.rounds[h.id+"/"+address] = attempt
		}
	})
}

// result returns an outcome in the form of the engine.
func (o *outcome) result(task *blueprint.Task, n *node, place string) (blueprint.Result, error) {
	r := blueprint.Result{Output: o.output, Handle: o.handle, Tokens: o.tokens, Calls: o.calls}
	switch o.ending {
	case passes:
		r.PassInput = true
	case fails:
		return r, o.failure
	case panics:
		panic("simulated")
	case waits:
		r.Wait = &blueprint.Wait{Until: task.Now.Add(o.wait)}
	case asks:
		r.Await = &blueprint.Await{Kind: blueprint.AwaitHuman, Prompt: "?", Expires: o.expires}
	case responds:
		r.PassInput, r.Respond = true, &blueprint.Response{Status: 200, Body: task.Address}
	case stops:
		r.PassInput, r.Stop = true, &blueprint.Stop{Failed: o.failed, Item: o.item}
	case loops:
		r.Each = &blueprint.Each{Items: o.items, Concurrency: n.most}
	case calls:
		r.Run = &blueprint.SubRun{BlueprintID: n.runs, InputData: map[string]any{"from": place}}
	case links:
		r.Output = linked(place)
	}
	return r, nil
}

// wrongAnswer is an answer that every question refuses.
const wrongAnswer = "wrong"

func (p *process) answer(task *blueprint.Task, answer any) (blueprint.Result, error) {
	if answer == wrongAnswer {
		return blueprint.Result{}, blueprint.Errorf(blueprint.CodeBadRequest, "input: is wrong")
	}
	return p.expired(task)
}

func (p *process) expired(task *blueprint.Task) (blueprint.Result, error) {
	s, place := p.scriptOf(task)
	o := s.answered(place)
	return o.result(task, s.node(place), place)
}

func (in *inbox) add(f func(*inbox)) {
	in.mu.Lock()
	defer in.mu.Unlock()
	f(in)
}

// random makes all decisions of a world.
type random struct{ *rand.Rand }

func newRandom(seed, stream uint64) random { return random{rand.New(rand.NewPCG(seed, stream))} }

// chance returns true in a percentage of cases.
func (r random) chance(percent int) bool { return r.IntN(100) < percent }

// between returns a number from low to high, inclusive.
func (r random) between(low, high int) int { return low + r.IntN(high-low+1) }

// Read fills p, for the source of identifiers.
func (r random) Read(p []byte) (int, error) {
	var word [8]byte
	for i := range p {
		if i%8 == 0 {
			binary.LittleEndian.PutUint64(word[:], r.Uint64())
		}
		p[i] = word[i%8]
	}
	return len(p), nil
}

// mix returns a hash of its arguments.
func mix(key uint64, texts ...string) uint64 {
	const prime = 1099511628211
	h := key ^ 14695981039346656037
	for _, text := range texts {
		for i := range len(text) {
			h = (h ^ uint64(text[i])) * prime
		}
		h = (h ^ 0xff) * prime
	}
	h ^= h >> 31
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// FiringWithDelivery returns a firing that started a run; the disk keeps no other part of
// the ledger.
func (j journal) FiringWithDelivery(_ context.Context, _ blueprint.Principal, id string) (blueprint.Firing, error) {
	if err := j.readable(); err != nil {
		return blueprint.Firing{}, err
	}
	return j.world.disk.firingByID(id)
}

// FiringsToRedeliver returns none, as the simulation has no bulk redelivery.
func (j journal) FiringsToRedeliver(context.Context, blueprint.Principal, *blueprint.RedeliverRequest) ([]blueprint.RedeliveryCandidate, int, error) {
	return nil, 0, nil
}

func (d *disk) firingByID(id string) (blueprint.Firing, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unreadable {
		return blueprint.Firing{}, errUnreadable
	}
	for _, row := range d.started {
		if row.ID == id {
			return row, nil
		}
	}
	return blueprint.Firing{}, blueprint.Errorf(blueprint.CodeNotFound, "no such firing")
}
