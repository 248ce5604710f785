package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"
)

const apiKey = "key-of-the-torturer"

var readyLine = regexp.MustCompile(`is ready on (http://\S+)`)

// build compiles a program of the module in the working directory.
func build(ctx context.Context, folder, program string, flags ...string) (string, error) {
	path := filepath.Join(folder, filepath.Base(program))
	command := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-o", path}, flags, []string{program})...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// process is a program that this one started.
type process struct {
	cmd     *exec.Cmd
	started time.Time
	ready   chan string   // gets its address once; closed without one when it ends first
	ended   chan struct{} // closed when it is gone; then err says how
	err     error
}

// launch starts a program that prints its address, found by pattern, on its
// standard output. Its standard error is appended to the file log.
func launch(log string, pattern *regexp.Regexp, path string, args ...string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &process{cmd: exec.Command(path, args...), ready: make(chan string, 1), ended: make(chan struct{})}
	p.cmd.Stderr = file
	p.cmd.Dir = filepath.Dir(log)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if _, err := p.cmd.StdinPipe(); err != nil { // its end is the end of this program
		return nil, err
	}
	p.started = now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		lines := bufio.NewScanner(out)
		for found := false; lines.Scan(); {
			if match := pattern.FindStringSubmatch(lines.Text()); match != nil && !found {
				p.ready <- match[1]
				found = true
			}
		}
		io.Copy(io.Discard, out)
		p.err = p.cmd.Wait()
		close(p.ready)
		close(p.ended)
	}()
	return p, nil
}

// kill ends the process as a power cut would and waits until it is gone. No
// process, and one that has ended, are killed already.
func (p *process) kill() {
	if p == nil {
		return
	}
	p.cmd.Process.Kill()
	<-p.ended
}

// stop asks the process to end, which it must do well.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	late := time.AfterFunc(30*time.Second, func() { p.cmd.Process.Kill() })
	<-p.ended
	if !late.Stop() {
		return errors.New("it did not end within 30 s of SIGTERM")
	}
	return p.err
}

// address waits until the process is ready.
func (p *process) address(ctx context.Context, most time.Duration) (string, error) {
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case address, ok := <-p.ready:
		if !ok {
			return "", fmt.Errorf("it ended before it was ready: %v", p.err)
		}
		return address, nil
	case <-late.C:
		return "", fmt.Errorf("it is not ready after %s", most)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
