package simulation

import (
	"context"
	"fmt"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// errLost is the error of a process that was declared dead.
var errLost = &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "this process was declared dead"}

// errMayBeStored is returned for a command whose commit has no outcome yet.
var errMayBeStored = &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "this may have been stored"}

// How long a command waits until its process takes it, and then for its answer.
const (
	commandPatience = 5 * time.Second
	answerPatience  = 10 * time.Second
)

// peers are the other processes of a world: engine.Peers over the disk.
type peers struct{ *process }

// peers returns the other processes, nil if the world has only one.
func (p *process) peers() engine.Peers {
	if p.cluster() == nil {
		return nil
	}
	return peers{p}
}

func (p *process) cluster() *cluster { return p.world.cluster }

// upSince returns since when the server is up; nil if the process is the only one.
func (p *process) upSince() func() time.Time {
	if p.cluster() == nil {
		return nil
	}
	return func() time.Time { return p.begun }
}

func (p peers) Lease(ctx context.Context) error {
	for {
		var left time.Duration
		var changes chan struct{}
		p.set(func() { left, changes = p.beats.lease(p.world.now(), p.world.Flaw), p.changes })
		if left > 0 {
			return nil
		}
		select {
		case <-changes:
		case <-p.lost:
			return errLost
		case <-p.dead:
			return errDead
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// clientKey is the key of the number of a client in the context of its request, which
// orders commands.
type clientKey struct{}

func (p peers) Ask(ctx context.Context, executionID string, command []byte) ([]byte, error) {
	client, _ := ctx.Value(clientKey{}).(int)
	var s *signal
	err := p.perform(&write{key: fmt.Sprintf("ask %d", client), what: "a command", run: executionID}, func() { s = p.world.disk.ask(executionID, p.id, command) })
	if err != nil || s == nil {
		return nil, err
	}
	if p.await(s, commandPatience) {
		return s.answer, nil
	}
	withdrawn := false
	err = p.perform(&write{key: fmt.Sprintf("withdraw %d", s.seq), what: "the withdrawal of a command", run: executionID}, func() { withdrawn = p.world.disk.withdraw(s) })
	if err == nil && !withdrawn && p.await(s, answerPatience) {
		return s.answer, nil
	}
	return nil, blueprint.Errorf(blueprint.CodeUnavailable, "the process that has the run does not answer")
}

// await waits for the answer to a command.
func (p peers) await(s *signal, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-s.answered:
		return true
	case <-timer.C:
	case <-p.dead:
	}
	return false
}

func (p peers) Answer(_ context.Context, seq int64, answer []byte) error {
	return p.perform(&write{key: fmt.Sprintf("answer %d", seq), what: fmt.Sprintf("the answer to command %d", seq)}, func() { p.world.disk.answer(seq, answer) })
}

func (p peers) Answered(_ context.Context, executionID string) ([]byte, error) {
	if err := journal(p).readable(); err != nil {
		return nil, err
	}
	return p.world.disk.answerAbout(executionID), nil
}

// perform makes a write of the cluster.
func (p peers) perform(w *write, act func()) error {
	w.act = func() error { act(); return nil }
	return journal(p).send(w)
}

// takeOver takes over the runs of dead processes, as the server does.
func (p *process) takeOver() {
	_ = p.engine.TakeOver(p.ctx, func(context.Context) (rows []blueprint.ExecutionRow, err error) {
		err = peers{p}.perform(&write{key: "take over", what: "runs are taken over", waits: true}, func() {
			rows = p.world.disk.takeOver(p.id)
			p.world.moved(rows, p)
		})
		return rows, err
	})
	p.set(func() { p.takesOver = false })
}

// performCommands performs the commands of other processes, as the server does.
func (p *process) performCommands() {
	var list []blueprint.RunCommand
	_ = peers{p}.perform(&write{key: "commands", what: "commands are taken", waits: true}, func() {
		var again bool
		if list, again = p.world.disk.commands(p.id); again {
			p.world.fail("I23: a command is taken for the second time")
		}
	})
	for _, c := range list {
		p.begin(func() { p.engine.Perform(p.ctx, c) })
	}
	p.set(func() { p.listens = false })
}

// begin calls f in a goroutine that the end of the process waits for.
func (p *process) begin(f func()) {
	p.set(func() { p.work++ })
	go func() {
		f()
		p.set(func() { p.work-- })
	}()
}

// awaitDuties waits until the process has the duties; false if ctx ends first.
func (p *process) awaitDuties(ctx context.Context) bool {
	if p.cluster() == nil {
		return true
	}
	select {
	case <-p.duties:
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitWake waits until the process is no longer frozen.
func (p *process) awaitWake() {
	for {
		var wake chan struct{}
		p.set(func() { wake = p.wake })
		if wake == nil {
			return
		}
		select {
		case <-wake:
		case <-p.dead:
			return
		}
	}
}
