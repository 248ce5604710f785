package engine_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// peers connects two engines: commands go to the owner, which has all runs.
type peers struct {
	owner  *engine.Engine
	taken  atomic.Bool   // the other process has taken over all runs
	stored chan struct{} // new runs of groups may be stored; see sharedJournal.hold

	mu      sync.Mutex
	answers map[int64][]byte
	before  func() // is called before a command is performed
	asked   int64
	lease   chan struct{} // closes when the processes may act; nil = they may
}

func (p *peers) Lease(ctx context.Context) error {
	if p.lease == nil {
		return nil
	}
	select {
	case <-p.lease:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *peers) Ask(ctx context.Context, executionID string, command []byte) ([]byte, error) {
	p.mu.Lock()
	p.asked++
	seq, before := p.asked, p.before
	p.mu.Unlock()
	if before != nil {
		before()
	}
	if p.taken.Load() {
		return nil, nil
	}
	p.owner.Perform(ctx, blueprint.RunCommand{Seq: seq, ExecutionID: executionID, Data: command})
	return p.answered(seq), nil
}

func (p *peers) Answer(_ context.Context, seq int64, answer []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[seq] = answer
	return nil
}

// handed is the seq of the announcement of a run.
const handed = -1

func (p *peers) Answered(context.Context, string) ([]byte, error) { return p.answered(handed), nil }

func (p *peers) answered(seq int64) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answers[seq]
}

// sharedJournal is the journal as the process sees it that has no runs. New runs of
// concurrency groups are handed to the owner.
type sharedJournal struct {
	*journal
	peers *peers
	hold  chan struct{} // closes when new runs of groups may be stored; nil = they may
	fails int           // how often its runs cannot be listed
}

func (j *sharedJournal) Load(ctx context.Context, id string) (*blueprint.StoredExecution, error) {
	stored, err := j.journal.Load(ctx, id)
	if err == nil {
		stored.Elsewhere = !stored.Row.Status.Terminal() && !j.peers.taken.Load()
	}
	return stored, err
}

func (j *sharedJournal) Unfinished(context.Context) ([]blueprint.ExecutionRow, error) {
	if j.fails > 0 {
		j.fails--
		return nil, blueprint.Errorf(blueprint.CodeUnavailable, "the database cannot be reached")
	}
	return nil, nil
}

func (j *sharedJournal) Commit(ctx context.Context, c *blueprint.JournalCommit) error {
	if c.New && c.Group != nil && j.hold != nil {
		<-j.hold
	}
	err := j.journal.Commit(ctx, c)
	if err == nil && c.New && c.Group != nil && !j.peers.taken.Load() {
		c.Handed = true
		go j.peers.owner.Perform(ctx, blueprint.RunCommand{Seq: handed, ExecutionID: c.Row.ID})
	}
	return err
}

// ownJournal is the journal as the owner of all runs sees it.
type ownJournal struct {
	*journal
	peers *peers
}

func (j *ownJournal) Commit(ctx context.Context, c *blueprint.JournalCommit) error {
	err := j.journal.Commit(ctx, c)
	if err == nil && c.Response != nil {
		j.peers.mu.Lock()
		defer j.peers.mu.Unlock()
		j.peers.answers[handed] = c.Response
	}
	return err
}

// testPeers runs a test with the owner of all runs and another process.
func testPeers(t *testing.T, f func(t *testing.T, p *peers, owner, other *fixture)) {
	t.Helper()
	testPeersWith(t, func(*peers, *engine.Options, *sharedJournal) {}, f)
}

// testPeersWith is testPeers with options for the other process.
func testPeersWith(t *testing.T, set func(p *peers, o *engine.Options, j *sharedJournal), f func(t *testing.T, p *peers, owner, other *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &peers{answers: map[int64][]byte{}}
		stored := newJournal()
		first := newFixture(t, stored, newLab(), masterKey, func(o *engine.Options) { o.Peers, o.Journal = p, &ownJournal{stored, p} })
		defer first.stop()
		p.owner = first.Engine
		second := newFixture(t, first.journal, first.lab, masterKey, func(o *engine.Options) {
			shared := &sharedJournal{journal: first.journal, peers: p}
			o.Peers, o.Journal = p, shared
			set(p, o, shared)
		})
		defer second.stop()
		f(t, p, first, second)
	})
}

// A process of several starts although the database is away for a moment.
func TestStartOfAPeerThroughAnOutage(t *testing.T) {
	testPeersWith(t, func(_ *peers, _ *engine.Options, j *sharedJournal) { j.fails = 3 }, func(t *testing.T, _ *peers, _, other *fixture) {
		if x := other.run(other.define("a pass")); x.Status != blueprint.StatusCompleted {
			t.Errorf("%s, want Status %v", sum(x), blueprint.StatusCompleted)
		}
	})
}

// TestCommandsOfPeers answers and cancels runs of another process, whose errors reach the
// caller unchanged.
func TestCommandsOfPeers(t *testing.T) {
	testPeers(t, func(t *testing.T, p *peers, owner, other *fixture) {
		d := owner.define(`
			a ask
			b pass`)
		h := owner.start(d)
		synctest.Wait()
		own, foreign := owner.answer(h.ID, "nowhere", 1), other.answer(h.ID, "nowhere", 1)
		other.code(foreign, blueprint.CodeBadRequest)
		if own == nil || foreign == nil || own.Error() != foreign.Error() {
			t.Errorf("the other process refuses with %v, the owner with %v", foreign, own)
		}
		other.answerOK(h.ID, "a", 1)
		owner.expect(owner.settle(h.ID), `completed: a=completed b=completed -> {"answer":1,"input":{"n":1},"prompt":null}`)
		other.code(other.answer(h.ID, "a", 1), blueprint.CodeConflict)

		h = owner.start(d)
		synctest.Wait()
		if err := other.Cancel(t.Context(), h.ID, "no longer needed"); err != nil {
			t.Fatal(err)
		}
		owner.expect(owner.settle(h.ID), "failed: a=skipped b=pending !:cancelled: no longer needed")

		h = owner.start(d)
		synctest.Wait()
		p.owner = other.Engine // which has no runs either
		other.code(other.answer(h.ID, "a", 1), blueprint.CodeUnavailable)
	})
}

// TestHandedRun begins a run in the process that has its concurrency group. The process that
// accepted it gets its response and its outcome.
func TestHandedRun(t *testing.T) {
	testPeers(t, func(t *testing.T, _ *peers, owner, other *fixture) {
		r := request(owner.define(`
			a act
			b respond {"body": "hello"}
			c wait {"ms": 1000}`))
		r.Concurrency = &blueprint.ConcurrencyGroup{Key: "trigger", Limit: 1, OnLimit: blueprint.LimitQueue}
		h := other.startWith(r, engine.AtEnd)
		if err := h.Accepted(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-h.Responded()
		if response := h.Response(); response == nil || response.Body != "hello" {
			t.Errorf("response %+v, want hello", response)
		}
		owner.advance(time.Second)
		x := other.wait(h)
		if x.Status != blueprint.StatusCompleted || len(owner.actions()) != 1 {
			t.Errorf("%s with %d actions, want completed with 1", sum(x), len(owner.actions()))
		}
	})
}

// TestNoLease does not act outside while the process has no lease, and does once it has one.
func TestNoLease(t *testing.T) {
	for _, effect := range []string{"idempotent", "once", "pure"} {
		t.Run(effect, func(t *testing.T) {
			testPeers(t, func(t *testing.T, p *peers, owner, _ *fixture) {
				p.lease = make(chan struct{})
				h := owner.start(owner.define(`a act {} | {"effect": "` + effect + `"}`))
				synctest.Wait()
				if n := len(owner.actions()); n != 0 {
					t.Errorf("%d actions without a lease, want none", n)
				}
				close(p.lease)
				owner.wait(h)
				if n := len(owner.actions()); n != 1 {
					t.Errorf("%d actions with a lease, want 1", n)
				}
			})
		})
	}
}

// TestCancelWithoutLease ends a run that is cancelled while its node waits for the lease. The
// node never acts.
func TestCancelWithoutLease(t *testing.T) {
	testPeers(t, func(t *testing.T, p *peers, owner, _ *fixture) {
		p.lease = make(chan struct{})
		h := owner.start(owner.define(`a once {} | {"retry": {"maxAttempts": 2}}`))
		synctest.Wait()
		if err := owner.Cancel(t.Context(), h.ID, "no longer needed"); err != nil {
			t.Fatal(err)
		}
		owner.expect(owner.view(h.ID), `failed: a=failed(cancelled) !:cancelled: no longer needed`)
		close(p.lease)
		synctest.Wait()
		if n := len(owner.actions()); n != 0 {
			t.Errorf("%d actions of a cancelled run, want none", n)
		}
	})
}

// TestTakeOver continues the runs of a process that has ended.
func TestTakeOver(t *testing.T) {
	testPeers(t, func(t *testing.T, p *peers, owner, other *fixture) {
		h := owner.start(owner.define(`
			a ask
			b pass
			c wait {"ms": 1000}`))
		waiting := owner.start(owner.define(`w wait {"ms": 1000}`))
		synctest.Wait()
		rows, err := owner.journal.Unfinished(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		owner.stop()
		p.owner = other.Engine
		other.code(other.answer(h.ID, "a", 1), blueprint.CodeUnavailable)
		err = other.TakeOver(t.Context(), func(context.Context) ([]blueprint.ExecutionRow, error) {
			p.taken.Store(true)
			return rows, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		other.answerOK(h.ID, "a", 1)
		other.advance(time.Second)
		other.expect(other.settle(h.ID), `completed: a=completed b=completed c=completed -> {"answer":1,"input":{"n":1},"prompt":null}`)
		if got := other.view(waiting.ID).Status; got != blueprint.StatusCompleted {
			t.Errorf("the run that waited is %s, want completed", got)
		}
	})
}

// TestOutcomeFromPeer checks that the caller of a run gets its outcome after another process
// took the run over, whether or not it has ended there.
func TestOutcomeFromPeer(t *testing.T) {
	for name, step := range map[string]struct{ ended bool }{"still working": {false}, "ended": {true}} {
		t.Run(name, func(t *testing.T) {
			testPeers(t, func(t *testing.T, p *peers, owner, other *fixture) {
				h := other.start(other.define(`
					a wait {"ms": 1000}
					b wait {"ms": 1000}`))
				synctest.Wait()
				rows, err := owner.journal.Unfinished(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := owner.TakeOver(t.Context(), func(context.Context) ([]blueprint.ExecutionRow, error) { return rows, nil }); err != nil {
					t.Fatal(err)
				}
				if step.ended {
					owner.advance(2 * time.Second)
				}
				other.advance(time.Second) // it notices
				owner.advance(2 * time.Second)
				other.expect(other.wait(h), `completed: a=completed b=completed -> {"n":1}`)
			})
		})
	}
}

// TestTakeOverFillsGroup begins no new run of a concurrency group beyond its limit when the
// process that accepted it takes over the runs of the group before the new one is stored.
func TestTakeOverFillsGroup(t *testing.T) {
	hold := func(p *peers, _ *engine.Options, j *sharedJournal) {
		p.stored = make(chan struct{})
		j.hold = p.stored
	}
	testPeersWith(t, hold, func(t *testing.T, p *peers, owner, other *fixture) {
		group := &blueprint.ConcurrencyGroup{Key: "trigger", Limit: 1, OnLimit: blueprint.LimitQueue}
		first, second := request(owner.define(`a ask`)), request(owner.define(`b act`))
		first.Concurrency, second.Concurrency = group, group
		h := owner.startWith(first, engine.AtOnce)
		synctest.Wait()
		rows, err := owner.journal.Unfinished(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		handle := other.startWith(second, engine.AtOnce)
		owner.stop()
		err = other.TakeOver(t.Context(), func(context.Context) ([]blueprint.ExecutionRow, error) {
			p.taken.Store(true)
			close(p.stored)
			return rows, handle.Accepted(t.Context())
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := len(other.actions()); n != 0 {
			t.Errorf("%d actions beyond the limit of the group, want none", n)
		}
		other.answerOK(h.ID, "a", 1)
		if x := other.wait(handle); x.Status != blueprint.StatusCompleted || len(other.actions()) != 1 {
			t.Errorf("%s with %d actions, want completed with 1", sum(x), len(other.actions()))
		}
	})
}

// TestAnnouncedAfterTakeOver begins a run once that a process both takes over and finds
// announced, because the process that should have begun it has died.
func TestAnnouncedAfterTakeOver(t *testing.T) {
	testPeers(t, func(t *testing.T, p *peers, owner, other *fixture) {
		d := owner.define(`a act`)
		var ids []string
		for _, accepts := range []*fixture{owner, other} {
			r := request(d)
			r.Concurrency = &blueprint.ConcurrencyGroup{Key: "trigger", Limit: 1, OnLimit: blueprint.LimitQueue}
			owner.journal.setFault(func(n int, c *blueprint.JournalCommit) error {
				if c.New {
					return nil
				}
				return blueprint.Errorf(blueprint.CodeUnavailable, "the process is cut off")
			})
			h := accepts.startWith(r, engine.AtOnce)
			if err := h.Accepted(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			ids = append(ids, h.ID)
		}
		rows, err := owner.journal.Unfinished(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		owner.fail(blueprint.Errorf(blueprint.CodeUnavailable, "declared dead"))
		owner.stop()
		owner.journal.setFault(nil)
		gate := other.hold("a")
		err = other.TakeOver(t.Context(), func(context.Context) ([]blueprint.ExecutionRow, error) {
			p.taken.Store(true)
			return rows, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		<-gate.came
		for i, id := range ids {
			go other.Perform(t.Context(), blueprint.RunCommand{Seq: int64(i), ExecutionID: id})
		}
		synctest.Wait()
		if got := other.begunNodes(); got != "a" {
			t.Errorf("began %s, want a", got)
		}
		close(gate.open)
		for _, id := range ids {
			other.expect(other.settle(id), `completed: a=completed -> {"done":"a"}`)
		}
	})
}

// TestTakeOverWhatWasHandedOver begins a run in the process that handed it over while the run
// waited for a slot there, and takes it over later.
func TestTakeOverWhatWasHandedOver(t *testing.T) {
	set := func(_ *peers, o *engine.Options, _ *sharedJournal) { o.MaxRunning = 1 }
	testPeersWith(t, set, func(t *testing.T, p *peers, owner, other *fixture) {
		busy := other.hold("busy")
		other.start(other.define(`busy pass`))
		<-busy.came
		r := request(owner.define(`a act`))
		r.Concurrency = &blueprint.ConcurrencyGroup{Key: "trigger", Limit: 1, OnLimit: blueprint.LimitQueue}
		gate := owner.hold("a")
		h := other.startWith(r, engine.AtOnce)
		if err := h.Accepted(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-gate.came
		owner.fail(blueprint.Errorf(blueprint.CodeUnavailable, "declared dead"))
		owner.stop()
		rows, err := owner.journal.Unfinished(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = other.TakeOver(t.Context(), func(context.Context) ([]blueprint.ExecutionRow, error) {
			p.taken.Store(true)
			return slices.DeleteFunc(rows, func(row blueprint.ExecutionRow) bool { return row.ID != h.ID }), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		close(busy.open)
		close(gate.open)
		other.expect(other.wait(h), `completed: a=completed -> {"done":"a"}`)
	})
}

// TestLateAnswer refuses an answer that arrives when its question has been answered and the
// run asks another one.
func TestLateAnswer(t *testing.T) {
	for name, node := range map[string]string{"by node": "a", "without a node": ""} {
		t.Run(name, func(t *testing.T) {
			testPeers(t, func(t *testing.T, p *peers, owner, other *fixture) {
				h := owner.start(owner.define(`
					a ask
					b wait {"ms": 1000}
					c ask`))
				synctest.Wait()
				p.before = func() {
					owner.answerOK(h.ID, "a", 1)
					owner.advance(time.Second)
					synctest.Wait()
				}
				other.code(other.answer(h.ID, node, 2), blueprint.CodeConflict)
				p.before = nil
				owner.expect(owner.settle(h.ID), `paused: a=completed b=completed c=paused`)
				other.answerOK(h.ID, node[:0], 3)
				owner.expect(owner.settle(h.ID), `completed: a=completed b=completed c=completed -> {"answer":3,"input":{"answer":1,"input":{"n":1},"prompt":null},"prompt":null}`)
			})
		})
	}
}

// TestLateAnswerBesideAnother refuses an answer to the first of two questions of the same time,
// which is answered meanwhile.
func TestLateAnswerBesideAnother(t *testing.T) {
	testPeers(t, func(t *testing.T, p *peers, owner, other *fixture) {
		h := owner.start(owner.define(`
			s pass
			a ask
			b ask
			s -> a
			s -> b`))
		synctest.Wait()
		p.before = func() { owner.answerOK(h.ID, "a", 1) }
		other.code(other.answer(h.ID, "", 2), blueprint.CodeConflict)
		owner.expect(owner.settle(h.ID), `paused: s=completed a=completed b=paused`)
	})
}

// TestAnswerToAnEarlierQuestion sends an answer to the process that has a run, which is taken
// over meanwhile and asks another question: the answer is refused.
func TestAnswerToAnEarlierQuestion(t *testing.T) {
	testPeers(t, func(t *testing.T, p *peers, owner, other *fixture) {
		h := owner.start(owner.define(`
			a ask
			b ask`))
		synctest.Wait()
		p.before = func() {
			owner.advance(time.Second) // the next question has another time
			owner.answerOK(h.ID, "a", 1)
			synctest.Wait()
			err := other.TakeOver(context.Background(), func(ctx context.Context) ([]blueprint.ExecutionRow, error) {
				owner.stop()
				p.taken.Store(true)
				return owner.journal.Unfinished(ctx)
			})
			if err != nil {
				t.Error(err)
			}
		}
		other.code(other.answer(h.ID, "", 2), blueprint.CodeConflict)
		other.answerOK(h.ID, "", 3)
		other.expect(other.settle(h.ID), `completed: a=completed b=completed -> {"answer":3,"input":{"answer":1,"input":{"n":1},"prompt":null},"prompt":null}`)
	})
}
