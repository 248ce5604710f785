// Package program finds the program blueprintd and runs it as a process: it starts it,
// waits until it is ready, and stops or kills it. Package blueprintdtest uses it.
package program

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"
)

// ServerReady matches the address, http://host:port, in the output of blueprintd serve when
// it is ready.
var ServerReady = regexp.MustCompile(`is ready on (https?://\S+)`)

// Command describes a process to start.
type Command struct {
	Path   string
	Args   []string
	Folder string    // working directory; "" = that of the caller
	Env    []string  // environment; nil = that of the caller
	Log    string    // file that the standard error is appended to
	Errors io.Writer // receives the standard error if there is no Log
	// Ready matches the address, as its first group, in the standard output; nil if the
	// process prints none.
	Ready *regexp.Regexp
}

// Process is a started process. It is safe for concurrent use.
type Process struct {
	Started time.Time
	Found   []string  // the groups of Ready; set once Address has returned one
	Err     error     // the exit error of the process; set once it has ended
	EndedAt time.Time // set once the process has ended

	cmd   *exec.Cmd
	input io.Closer
	ready chan struct{} // closed when the process has printed its address or has ended
	ended chan struct{} // closed when the process has ended
}

// Start starts a process without waiting until it is ready. The standard input of the
// process is closed when the caller's process ends.
func Start(c Command) (*Process, error) {
	p := &Process{cmd: exec.Command(c.Path, c.Args...), ready: make(chan struct{}), ended: make(chan struct{})}
	p.cmd.Stderr, p.cmd.Dir, p.cmd.Env = c.Errors, c.Folder, c.Env
	if c.Log != "" {
		file, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		p.cmd.Stderr = file
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p.Started = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.listen(out, c.Ready)
	return p, nil
}

// listen reads the standard output until the process has ended. It looks for the
// address in whole lines only.
func (p *Process) listen(out io.Reader, ready *regexp.Regexp) {
	var said []byte
	buffer := make([]byte, 4096)
	for ready != nil && p.Found == nil {
		n, err := out.Read(buffer)
		said = append(said, buffer[:n]...)
		if err != nil || bytes.HasSuffix(said, []byte("\n")) {
			p.Found = ready.FindStringSubmatch(string(said))
		}
		if err != nil {
			break
		}
	}
	if p.Found != nil {
		close(p.ready)
	}
	_, _ = io.Copy(io.Discard, out)
	p.Err = p.cmd.Wait()
	p.EndedAt = time.Now()
	close(p.ended)
	if p.Found == nil {
		close(p.ready)
	}
}

// Address waits until the process has printed its address and returns it.
func (p *Process) Address(ctx context.Context, timeout time.Duration) (string, error) {
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case <-p.ready:
		if p.Found == nil {
			return "", fmt.Errorf("it ended before it was ready: %v", p.Err)
		}
		return p.Found[1], nil
	case <-late.C:
		return "", fmt.Errorf("it is not ready after %s", timeout)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Pid returns the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Running reports whether the process has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Gone waits for the process to end and reports whether it ended in time.
func (p *Process) Gone(timeout time.Duration) bool {
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case <-p.ended:
		return true
	case <-late.C:
		return !p.Running()
	}
}

// Signal sends a signal and does not wait for its effect.
func (p *Process) Signal(signal os.Signal) error { return p.cmd.Process.Signal(signal) }

// CloseInput closes the standard input of the process, which stops a server started with
// --until-eof.
func (p *Process) CloseInput() { _ = p.input.Close() }

// Kill kills the process and waits until it has ended. It does nothing for a nil process
// and for one that has ended.
func (p *Process) Kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Stop asks the process to end, waits for that, and returns its exit error. It kills a
// process that takes too long. A process that had ended by itself is an error.
func (p *Process) Stop(timeout time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); errors.Is(err, os.ErrProcessDone) {
		<-p.ended
		return cmp.Or(p.Err, err)
	} else if err != nil {
		return err
	}
	if !p.Gone(timeout) {
		p.Kill()
		return fmt.Errorf("it did not end within %.0f s of SIGTERM", timeout.Seconds())
	}
	return p.Err
}
