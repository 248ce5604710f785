package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// pid returns the process that runs the scripts of an owner.
func pid(t *testing.T, p *Pool, owner string) int {
	t.Helper()
	s := script("return 1")
	s.Owner = owner
	if got := do(p, s); got != "1" {
		t.Fatalf("%v, want 1", got)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, child := range p.idle {
		if child.owner == owner {
			return child.cmd.Process.Pid
		}
	}
	t.Fatalf("no process of %s waits", owner)
	return 0
}

func TestChildrenAreOfOneOwner(t *testing.T) {
	p := running(t)
	first := pid(t, p, "a")
	if again := pid(t, p, "a"); again != first {
		t.Errorf("the next script ran in process %d, not %d", again, first)
	}
	if other := pid(t, p, "b"); other == first {
		t.Errorf("two owners share a process: %v, want other than %v", other, first)
	}
	for i := range 3 * p.slots {
		pid(t, p, fmt.Sprint(i))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive != p.slots || len(p.idle) != p.slots {
		t.Errorf("%d processes, %d of which wait, for %d slots", p.alive, len(p.idle), p.slots)
	}
}

func TestSpoiledChildrenAreReplaced(t *testing.T) {
	p := running(t)
	before := pid(t, p, "o")
	spoil := script("for (;;);")
	spoil.Timeout = 20 * time.Millisecond
	do(p, spoil)
	after := pid(t, p, "o")
	if after == before {
		t.Errorf("a process in which time ran out is used again: %v, want other than %v", after, before)
	}
	for _, child := range p.idle {
		if err := child.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-child.ended
	}
	if pid(t, p, "o") == after || p.alive != 1 {
		t.Errorf("%d processes after one was killed, want other than %v and 1", p.alive, after)
	}
	p.idle[0].scripts = maxScripts - 1
	do(p, script("return 1"))
	if len(p.idle) != 0 || p.alive != 0 {
		t.Error("a process that has run its number of scripts is kept")
	}
	child := p.idleOf(t)
	p.expireIdle(child)
	if len(p.idle) != 0 || p.alive != 0 || !child.gone() {
		t.Error("a process that waited too long is kept")
	}
}

// idleOf returns a process that waits.
func (p *Pool) idleOf(t *testing.T) *process {
	pid(t, p, "o")
	return p.idle[0]
}

func TestRunEnds(t *testing.T) {
	p := New(Options{})
	early, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Do(early, script("return 1")); !errors.Is(err, context.Canceled) {
		t.Errorf("before Run: %v, want %v", err, context.Canceled)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	child := p.idleOf(t)
	busy := make(chan error, 1)
	go func() {
		s := script("for (;;);")
		s.Owner, s.Timeout = "busy", MaxTimeout
		_, err := p.Do(context.Background(), s)
		busy <- err
	}()
	for p.count() < 2 { // until the busy one has been let in
		do(p, script("return 1"))
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := <-busy; !errors.Is(err, errClosed) {
		t.Errorf("a running script: %v, want %v", err, errClosed)
	}
	if !child.gone() {
		t.Error("a process that waited is left")
	}
	if _, err := p.Do(context.Background(), script("return 1")); !errors.Is(err, errClosed) {
		t.Errorf("after Run: %v, want %v", err, errClosed)
	}
}

func (p *Pool) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.alive
}

// A large script takes the slots of several, and who finds none free waits only
// as long as its context lets it.
func TestSlots(t *testing.T) {
	p := running(t)
	large := script("return new ArrayBuffer(9e7).byteLength")
	large.Memory = MaxMemory
	if got := do(p, large); got != "90000000" {
		t.Errorf("%v, want 90000000", got)
	}
	var taken []func()
	for _, tenant := range []string{"a", "b"} {
		release, err := p.queue.acquire(context.Background(), tenant, int64(p.slots))
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, release)
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), time.Millisecond, errors.New("no patience"))
	defer cancel()
	if _, err := p.Do(ctx, script("return 1")); err == nil || err.Error() != "no patience" {
		t.Errorf("got %v, want an error and no patience", err)
	}
	for _, release := range taken {
		release()
	}
	if got := do(p, script("return 1")); got != "1" {
		t.Errorf("%v, want 1", got)
	}
}

// A child that is killed before it has greeted is noticed at once.
func TestStartIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("no patience")
	cancel(cause)
	p := running(t)
	for range 20 {
		if child, err := startProcess(ctx, p.forker, "o", 1); err == nil {
			child.kill()
		} else if !errors.Is(err, cause) {
			t.Errorf("%v, want %v", err, cause)
		}
	}
}

// Where the system does not confine scripts the log says so with the first, once.
func TestWeaknessIsToldOnce(t *testing.T) {
	var log bytes.Buffer
	p := New(Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	p.missingProtection = "a fence"
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	for range 3 {
		if log.Len() > 0 && !strings.Contains(log.String(), `missing="a fence"`) {
			t.Error(log.String())
		}
		do(p, script("return 1"))
	}
	stop()
	if err := <-ended; err != nil || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("%v, the log is\n%s", err, &log)
	}
}
