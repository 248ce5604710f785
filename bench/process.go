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
	"syscall"
	"time"
)

// buildServer compiles the server of the module in the working directory, with
// the settings of `make build` but with its symbols, which profiles need.
func buildServer(ctx context.Context, folder string) (string, error) {
	path := filepath.Join(folder, "blueprintd")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "urfave_cli_no_docs", "-o", path, "blueprintd")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// program is how to start a process.
type program struct {
	path        string
	args        []string
	folder      string         // its working directory
	environment []string       // besides ours
	log         string         // where its standard error goes
	ready       *regexp.Regexp // finds its address in its standard output
}

// process is a program that runs.
type process struct {
	cmd     *exec.Cmd
	started time.Time
	ready   chan string   // gets its address once; closed without one when it ends first
	ended   chan struct{} // closed when it is gone; then err says how
	err     error
}

// launch starts a program. It does not wait until it is ready.
func launch(p program) (*process, error) {
	file, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	running := &process{cmd: exec.Command(p.path, p.args...), ready: make(chan string, 1), ended: make(chan struct{})}
	running.cmd.Stderr, running.cmd.Dir, running.cmd.Env = file, p.folder, append(os.Environ(), p.environment...)
	out, err := running.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if _, err := running.cmd.StdinPipe(); err != nil { // its end is the end of this program
		return nil, err
	}
	running.started = now()
	if err := running.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		lines := bufio.NewScanner(out)
		for found := false; lines.Scan(); {
			if match := p.ready.FindStringSubmatch(lines.Text()); match != nil && !found {
				running.ready <- match[1]
				found = true
			}
		}
		io.Copy(io.Discard, out)
		running.err = running.cmd.Wait()
		close(running.ready)
		close(running.ended)
	}()
	return running, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the process at once and waits until it is gone. No process, and
// one that has ended, are killed already.
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

// address waits until the process has said where it is.
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
