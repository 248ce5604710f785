//go:build unix

package e2e

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

// interrupt sends a signal repeatedly until the process has ended, and returns the signal
// that ended it, 0 if it exited.
func interrupt(t *testing.T, p *program.Process, signal syscall.Signal) syscall.Signal {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	patience := time.NewTimer(8 * time.Second) // less than the drain timeout
	defer patience.Stop()
	for {
		select {
		case <-p.Ended():
			if ended, ok := p.Err.(*exec.ExitError); ok {
				if status := ended.Sys().(syscall.WaitStatus); status.Signaled() {
					return status.Signal()
				}
			}
			return 0
		case <-again.C:
			p.Signal(signal)
		case <-patience.C:
			t.Fatalf("the process does not end at %v", signal)
		}
	}
}

// TestFirstSignalEndsATool interrupts a command that waits for its input.
func TestFirstSignalEndsATool(t *testing.T) {
	t.Parallel()
	path := process.Path(t)
	for _, command := range []string{"validate", "run", "import"} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			writer, err := os.OpenFile(pipe, os.O_RDWR, 0) // a writer that never writes
			if err != nil {
				t.Fatal(err)
			}
			defer writer.Close()
			cmd := exec.Command(path, command, pipe)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case err := <-ended:
				t.Fatalf("%s did not wait: %v", command, err)
			case <-time.After(100 * time.Millisecond): // it is most likely reading its pipe
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ended:
				if code := cmd.ProcessState.ExitCode(); code == 0 {
					t.Errorf("%s ended with %v at %v, want other than 0", command, err, signal)
				}
			case <-time.After(8 * time.Second):
				cmd.Process.Kill()
				t.Errorf("%s does not end at %v", command, signal)
			}
		}
	}
}

// TestSecondSignalKillsTheServer stops a server whose run hangs, and sends a second signal.
func TestSecondSignalKillsTheServer(t *testing.T) {
	t.Parallel()
	world := newOutside(t)
	defer close(world.release)
	s := process.Serve(t, "--ephemeral", "--allow-net", "127.0.0.0/8")
	call := node("call", "http-request", object{"method": "POST", "url": world.URL + "/hang"})
	s.Launch(s.Create("hang", call), call)
	<-world.arrived
	if err := s.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for { // until the server has received the signal
		response, err := http.Get(s.Host + "/readyz")
		if err != nil {
			break
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			break
		}
	}
	if by := interrupt(t, s.Process, syscall.SIGTERM); by != syscall.SIGTERM {
		t.Errorf("the second SIGTERM did not end the server; what did: %v, want %v", by, syscall.SIGTERM)
	}
}

// TestClosingTerminalStopsTheServer sends what a server in the foreground gets when its
// terminal closes: SIGHUP from the kernel and another one from the shell.
func TestClosingTerminalStopsTheServer(t *testing.T) {
	t.Parallel()
	// A process started from here inherits that a signal is ignored, but not that it is handled.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGHUP)
	defer signal.Stop(handled)
	s := process.Serve(t, "--db", filepath.Join(t.TempDir(), "my.db"))
	for range 2 {
		if err := s.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	if <-s.Ended(); s.Err != nil {
		t.Errorf("the server ended with %v", s.Err)
	}
	if !containsAll(s.Log.String(), "msg=stopped") {
		t.Errorf("the log is %s", s.Log)
	}
}

// programAfter returns a script that executes a command of the shell and becomes the program.
func programAfter(t *testing.T, command string) string {
	t.Helper()
	script, path := filepath.Join(t.TempDir(), "start.sh"), process.Path(t)
	syscall.ForkLock.RLock() // see openProgram
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"+command+"\nexec "+path+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return script
}

// TestServerUnderNohup starts a server that is to outlive its terminal.
func TestServerUnderNohup(t *testing.T) {
	t.Parallel()
	s := process.ServeProgram(t, programAfter(t, "trap '' HUP"), nil, "--ephemeral")
	if err := s.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	set := node("set", "set", object{"values": object{"n": 1}})
	for range 20 {
		s.Until(s.Launch(s.Create("on", set), set), "completed")
	}
	s.Stop()
}

// TestServerOutlivesTheReaderOfItsLog closes the pipe that the server writes its log to.
func TestServerOutlivesTheReaderOfItsLog(t *testing.T) {
	t.Parallel()
	reader, log, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := program.Start(program.Command{
		Path: process.Path(t), Folder: t.TempDir(), Env: os.Environ(), Errors: log, Ready: program.ServerReady,
		Args: []string{"serve", "--addr", "127.0.0.1:0", "--api-key", process.Key, "--until-eof", "--ephemeral"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	host, err := p.Address(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	log.Close()
	s := process.Connect(t, host)
	fail := node("fail", "stop", object{"failed": true, "message": "for the log"})
	for range 2 {
		s.Until(s.Launch(s.Create("fail", fail), fail), "failed")
	}
	p.Signal(syscall.SIGTERM)
	if <-p.Ended(); p.Err != nil {
		t.Errorf("the server ended with %v", p.Err)
	}
}

// TestShutdownDelay stops a server that goes on serving while it is not ready, so that load
// balancers learn of it first. A second signal ends it at once.
func TestShutdownDelay(t *testing.T) {
	t.Parallel()
	s := process.Serve(t, "--ephemeral", "--shutdown-delay", "10m")
	if err := s.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for status := http.StatusOK; status == http.StatusOK; {
		response, err := http.Get(s.Host + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		status = response.StatusCode
	}
	set := node("set", "set", object{"values": object{"n": 1}})
	s.Until(s.Launch(s.Create("late", set), set), "completed")
	response, err := http.Get(s.Host + "/readyz?verbose")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || !containsAll(string(text), "stops 10m0s after the signal, and serves until then") {
		t.Errorf("/readyz?verbose is %s, %v", text, err)
	}
	if by := interrupt(t, s.Process, syscall.SIGTERM); by != syscall.SIGTERM {
		t.Errorf("the second SIGTERM did not end the server; what did: %v, want %v", by, syscall.SIGTERM)
	}

	short := process.Serve(t, "--ephemeral", "--shutdown-delay", "1ms")
	if err := short.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if <-short.Ended(); short.Err != nil {
		t.Errorf("the server ended with %v", short.Err)
	}
}

// TestInterruptedRunTellsWhatItDid cancels a run of a file.
func TestInterruptedRunTellsWhatItDid(t *testing.T) {
	t.Parallel()
	path := process.Path(t)
	world := newOutside(t)
	defer close(world.release)
	name := filepath.Join(t.TempDir(), "hang.yaml")
	text := "title: Hang\nblueprint_map:\n  nodes:\n    - {id: call, type: http-request, title: Call, config: {method: POST, url: '" + world.URL + "/hang'}}\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(path, "run", name, "--allow-net", "127.0.0.0/8")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-world.arrived
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
	if !containsAll(stdout.String(), `"status": "failed"`) || !containsAll(stderr.String(), "blueprintd: the run failed: cancelled", "interrupted", "hint: ") {
		t.Errorf("it said:\n%s%s", stdout.String(), stderr.String())
	}
}
