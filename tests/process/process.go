package process

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

// ServerReady finds the address, http://host:port, in what a server says when
// it is ready.
var ServerReady = regexp.MustCompile(`is ready on (http://\S+)`)

// Program is how to start a process.
type Program struct {
	Path        string
	Args        []string
	Folder      string         // its working directory; "" = that of this program
	Environment []string       // besides that of this program
	Log         string         // the file that its standard error is appended to
	Errors      io.Writer      // takes its standard error where there is no Log
	Ready       *regexp.Regexp // finds its address, by the first group, in all that its standard output said so far; nil = it says none
}

// Process is a program that runs. Several goroutines may use it at once.
type Process struct {
	Started time.Time
	Found   []string  // what Ready found; set once Address has given one
	Err     error     // how it ended; set once it is gone
	EndedAt time.Time // set once it is gone

	cmd   *exec.Cmd
	ready chan struct{} // closed when it has said where it is, or is gone
	ended chan struct{} // closed when it is gone
}

// Launch starts a program. It does not wait until it is ready. The standard
// input of the process ends when this program does.
func Launch(p Program) (*Process, error) {
	running := &Process{cmd: exec.Command(p.Path, p.Args...), ready: make(chan struct{}), ended: make(chan struct{})}
	running.cmd.Stderr, running.cmd.Dir = p.Errors, p.Folder
	running.cmd.Env = append(running.cmd.Environ(), p.Environment...)
	if p.Log != "" {
		file, err := os.OpenFile(p.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		running.cmd.Stderr = file
	}
	out, err := running.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if _, err := running.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	running.Started = now()
	if err := running.cmd.Start(); err != nil {
		return nil, err
	}
	go running.listen(out, p.Ready)
	return running, nil
}

// listen reads what the process says until it is gone. It looks at whole lines
// only; what is written at once is read at once.
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
	io.Copy(io.Discard, out)
	p.Err = p.cmd.Wait()
	p.EndedAt = now()
	close(p.ended)
	if p.Found == nil {
		close(p.ready)
	}
}

// Address waits until the process has said where it is.
func (p *Process) Address(ctx context.Context, most time.Duration) (string, error) {
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-p.ready:
		if p.Found == nil {
			return "", fmt.Errorf("it ended before it was ready: %v", p.Err)
		}
		return p.Found[1], nil
	case <-late.C:
		return "", fmt.Errorf("it is not ready after %s", most)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Pid is its number.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Running tells whether it is still there.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Gone waits for its end, and says whether that came in time.
func (p *Process) Gone(most time.Duration) bool {
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-p.ended:
		return true
	case <-late.C:
		return !p.Running()
	}
}

// Signal sends a signal and does not wait for what comes of it.
func (p *Process) Signal(signal os.Signal) error { return p.cmd.Process.Signal(signal) }

// Kill ends the process as a power cut would and waits until it is gone. No
// process, and one that has ended, are killed already.
func (p *Process) Kill() {
	if p == nil {
		return
	}
	p.cmd.Process.Kill()
	<-p.ended
}

// Stop asks the process to end, which it must do well and in time. It is an
// error that it had ended by itself.
func (p *Process) Stop(most time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); errors.Is(err, os.ErrProcessDone) {
		<-p.ended
		return cmp.Or(p.Err, err)
	} else if err != nil {
		return err
	}
	if !p.Gone(most) {
		p.Kill()
		return fmt.Errorf("it did not end within %.0f s of SIGTERM", most.Seconds())
	}
	return p.Err
}
