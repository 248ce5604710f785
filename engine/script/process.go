package script

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const (
	// grace is how long a script may go on after its time, to tell what came of
	// it, before its process is killed.
	grace = 200 * time.Millisecond
	// startTime bounds the start of a child.
	startTime = 30 * time.Second
	// maxStderr is how much of what a child complains of is kept.
	maxStderr = 4 << 10
)

// process is a child, as its parent sees it. One script at a time uses it.
type process struct {
	owner   string
	size    int64 // in units of 64 MiB
	scripts int   // that it has run
	cmd     *exec.Cmd
	in, out *os.File
	reader  *bufio.Reader
	stderr  tail
	ended   chan struct{} // closes when it is gone
	idle    *time.Timer   // while it waits for a script
}

// startProcess starts a child and waits until it has closed itself in.
func startProcess(ctx context.Context, f forker, owner string, size int64) (*process, error) {
	path, err := executable()
	if err != nil {
		return nil, err
	}
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		childIn.Close()
		in.Close()
		return nil, err
	}
	p := &process{owner: owner, size: size, in: in, out: out, reader: bufio.NewReaderSize(out, 32<<10), ended: make(chan struct{})}
	p.cmd = &exec.Cmd{
		Path: path, Args: []string{os.Args[0], childArgument, strconv.FormatInt(size, 10)}, Env: []string{}, Dir: rootFolder,
		Stdin: childIn, Stdout: childOut, Stderr: &p.stderr, SysProcAttr: attributes(),
	}
	err = f.start(p.cmd)
	// At once: while an end of the child's is open here, too, its death shows nowhere.
	childIn.Close()
	childOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // how it ended is in its state
	}()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := p.greeted(ctx); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

func (p *process) greeted(ctx context.Context) error {
	defer p.killAfter(ctx)()
	frame, err := readFrame(p.reader, nil, maxStderr)
	var hello greeting
	if err == nil {
		err = json.Unmarshal(frame, &hello)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("the child did not start: %w %s", err, &p.stderr)
	case hello.Problem != "":
		return errors.New(hello.Problem)
	}
	return nil
}

// killAfter ends the child when ctx ends, unless it is told before that it need
// not.
func (p *process) killAfter(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })
}

// exchange runs one script. Any error is the end of the child.
func (p *process) exchange(ctx context.Context, q *request, values []byte) (*answer, error) {
	defer p.killAfter(ctx)()
	p.scripts++
	head, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	if err := writeFrame(p.in, head); err != nil {
		return nil, err
	}
	if err := writeFrame(p.in, values); err != nil {
		return nil, err
	}
	frame, err := readFrame(p.reader, nil, maxAnswer)
	if err != nil {
		return nil, err
	}
	var a answer
	if err := json.Unmarshal(frame, &a); err != nil {
		return nil, err
	}
	if a.ID != q.ID || p.reader.Buffered() > 0 {
		return nil, errors.New("the child answers what it was not asked")
	}
	return &a, nil
}

// gone reports whether the child has ended.
func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// kill ends the child and returns when it is gone.
func (p *process) kill() {
	if p.idle != nil {
		p.idle.Stop()
	}
	_ = p.cmd.Process.Kill()
	p.in.Close()
	p.out.Close()
	<-p.ended
}

// tail keeps the first that is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, data[:min(len(data), maxStderr-len(t.text))]...)
	return len(data), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// forker starts the children of a pool, all from one thread. The system takes
// the thread that started a process for its parent, and ends the process with
// it; and what that thread has given up its children do not have from their
// first instruction, on all their threads.
type forker chan forking

type forking struct {
	cmd  *exec.Cmd
	done chan error
}

// run starts what it is asked to until f closes.
func (f forker) run() {
	// It is never unlocked: the thread is of no use to others, and ends with this
	// goroutine.
	runtime.LockOSThread()
	problem := shedRights()
	for job := range f {
		if problem != nil {
			job.done <- problem
			continue
		}
		job.done <- job.cmd.Start()
	}
}

// start is cmd.Start.
func (f forker) start(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	f <- forking{cmd, done}
	return <-done
}
