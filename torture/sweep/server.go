package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

var (
	readyLine = regexp.MustCompile(`is ready on (http://\S+)`)
	keyLine   = regexp.MustCompile(`API key +(bpd_\S+)`)
)

// build compiles the server of the module in the working directory.
func build(ctx context.Context, folder string) (string, error) {
	path := filepath.Join(folder, "blueprintd")
	command := exec.CommandContext(ctx, "go", "build", "-o", path, "blueprintd")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// server is one process of the program on trial.
type server struct {
	cmd     *exec.Cmd
	log     text          // its standard error
	ready   chan struct{} // closed when it has said all that a start says, or has ended
	ended   chan struct{} // closed when it is gone; then the rest is set
	err     error
	endedAt time.Time

	mu      sync.Mutex
	address string // "" = it is not ready
	key     string // that it printed
}

// text collects what a process writes.
type text struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

// launch starts a server on the database in a folder.
func launch(binary, folder string, more ...string) (*server, error) {
	s := &server{ready: make(chan struct{}), ended: make(chan struct{})}
	arguments := append([]string{"serve", "--db", filepath.Join(folder, "blueprintd.db"), "--addr", "127.0.0.1:0", "--rate-limit", "0"}, more...)
	s.cmd = exec.Command(binary, arguments...)
	s.cmd.Stderr = &s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go s.listen(out)
	return s, nil
}

// listen reads the lines of a start: the one with the address comes first, and
// the announcement is written at once.
func (s *server) listen(out io.Reader) {
	var once sync.Once
	reader := bufio.NewReader(out)
	for {
		line, err := reader.ReadString('\n')
		s.mu.Lock()
		if match := readyLine.FindStringSubmatch(line); match != nil {
			s.address = match[1]
		}
		if match := keyLine.FindStringSubmatch(line); match != nil {
			s.key = match[1]
		}
		s.mu.Unlock()
		if err != nil {
			break
		}
		if address, _ := s.said(); address != "" && reader.Buffered() == 0 {
			once.Do(func() { close(s.ready) })
		}
	}
	s.err = s.cmd.Wait()
	s.endedAt = now()
	close(s.ended)
	once.Do(func() { close(s.ready) })
}

// said gives the address and the key that the server printed.
func (s *server) said() (address, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.address, s.key
}

// await waits until the server is ready, and says whether it is.
func (s *server) await(most time.Duration) bool {
	select {
	case <-s.ready:
	case <-time.After(most):
	}
	address, _ := s.said()
	return address != ""
}

// gone waits for the end of the server, and says whether it came in time.
func (s *server) gone(most time.Duration) bool {
	select {
	case <-s.ended:
		return true
	case <-time.After(most):
		return !s.running()
	}
}

func (s *server) running() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// kill ends the server as nothing else does, and waits until it is gone.
func (s *server) kill() {
	if s != nil {
		s.cmd.Process.Kill()
		<-s.ended
	}
}

// stop asks the server to end, which it must do well.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if !s.gone(20 * time.Second) {
		s.kill()
		return errors.New("it did not end within 20 s of SIGTERM")
	}
	return s.err
}

// lastWords gives the end of the log, on one line.
func (s *server) lastWords() string {
	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-4):], " / ")
}

func now() time.Time { return time.Now() }
