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
	// killDelay is how long a script may exceed its timeout, to report its outcome,
	// before its process is killed.
	killDelay    = 200 * time.Millisecond
	startTimeout = 30 * time.Second
	// maxStderr is how much of a child's standard error is kept.
	maxStderr = 4 << 10
)

// process is a child in its parent. One script at a time uses it.
type process struct {
	owner   string
	size    int64 // in units of 64 MiB
	scripts int   // that it has run
	cmd     *exec.Cmd
	in, out *os.File
	reader  *bufio.Reader
	stderr  stderrBuffer
	ended   chan struct{} // closed when it has exited
	idle    *time.Timer   // expires an idle child
}

// startProcess starts a child and waits until it has confined itself.
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
	// While the child's ends are open here too, its exit cannot be detected.
	childIn.Close()
	childOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // see ProcessState
	}()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.awaitGreeting(ctx); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

func (p *process) awaitGreeting(ctx context.Context) error {
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

// killAfter kills the child when ctx ends, unless stop is called before.
func (p *process) killAfter(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })
}

// exchange runs one script. After an error the child must be killed.
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
		return nil, errors.New("the child sent an answer to another request")
	}
	return &a, nil
}

func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// kill kills the child and returns when it has exited.
func (p *process) kill() {
	if p.idle != nil {
		p.idle.Stop()
	}
	_ = p.cmd.Process.Kill()
	p.in.Close()
	p.out.Close()
	<-p.ended
}

// stderrBuffer keeps the beginning of the data written to it.
type stderrBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (t *stderrBuffer) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, data[:min(len(data), maxStderr-len(t.text))]...)
	return len(data), nil
}

func (t *stderrBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// forker starts the children of a pool, all from one thread: on Linux the parent of a
// process is a thread, whose exit ends the process (Pdeathsig), and whose dropped
// capabilities the child lacks from its first instruction on.
type forker chan forkRequest

type forkRequest struct {
	cmd  *exec.Cmd
	done chan error
}

// run starts commands until f closes.
func (f forker) run() {
	// Never unlocked: the thread ends with this goroutine.
	runtime.LockOSThread()
	problem := dropCapabilities()
	for job := range f {
		if problem != nil {
			job.done <- problem
			continue
		}
		job.done <- job.cmd.Start()
	}
}

func (f forker) start(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	f <- forkRequest{cmd, done}
	return <-done
}
