package blueprintdtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// How long, in real time, a server may take. Machines that run many tests at once
// are slow; a server that is well is ready, and gone, within milliseconds.
const (
	startPatience = time.Minute
	stopPatience  = 20 * time.Second
	callPatience  = time.Minute
)

// Server is a running server. Its fields do not change.
type Server struct {
	URL     string // of the procedures: http://127.0.0.1:port/api/trpc
	APIHost string // http://127.0.0.1:port
	APIKey  string // of the server's owner
	PID     int    // of the server's process
	Seed    Seed   // what the seed file made

	t       testing.TB
	http    *http.Client
	command *exec.Cmd
	input   io.Closer // closing it stops the server
	ended   chan error
	log     *tail
	program string
}

// Start starts a server and waits until it is ready. It ends when the test does,
// and its log is shown when the test has failed.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	var s settings
	for _, option := range options {
		option(&s)
	}
	program, err := find(s.binary)
	if err != nil {
		t.Fatalf("blueprintdtest: %v", err)
	}
	server, err := launch(program, s.arguments())
	if err != nil {
		t.Fatalf("blueprintdtest: %v", err)
	}
	server.t = t
	t.Cleanup(server.end)
	return server
}

// launch starts the program and waits for the line that says where it is.
func launch(program string, args []string) (*Server, error) {
	s := &Server{
		APIKey: Key, program: program, command: exec.Command(program, args...), ended: make(chan error, 1), log: &tail{},
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}, Timeout: callPatience},
	}
	s.command.Stderr, s.command.Env = s.log, environment()
	input, err := s.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.input = input
	output, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("%s cannot be started: %w", program, err)
	}
	late := time.AfterFunc(startPatience, func() { _ = s.command.Process.Kill() })
	reader := bufio.NewReader(output)
	line, readErr := reader.ReadBytes('\n')
	inTime := late.Stop()
	go func() {
		_, _ = io.Copy(io.Discard, reader)
		s.ended <- s.command.Wait()
	}()
	var ready struct {
		BaseURL string `json:"baseUrl"`
		APIHost string `json:"apiHost"`
		PID     int    `json:"pid"`
		Seed    Seed   `json:"seed"`
	}
	if readErr == nil {
		readErr = json.Unmarshal(line, &ready)
	}
	if readErr != nil {
		_ = s.input.Close()
		_ = s.command.Process.Kill()
		err := <-s.ended
		if !inTime {
			return nil, fmt.Errorf("%s was not ready within %s\n%s", program, startPatience, s.log)
		}
		return nil, fmt.Errorf("%s did not become ready (%v); is it as new as this package?\n%s%s", program, err, line, s.log)
	}
	s.URL, s.APIHost, s.PID, s.Seed = ready.BaseURL, ready.APIHost, ready.PID, ready.Seed
	return s, nil
}

// environment is that of this process without settings of other servers: a
// service container beside the tests is configured by the same names.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(setting string) bool { return strings.HasPrefix(setting, "BLUEPRINTD_") })
}

// end stops the server at the end of its test.
func (s *Server) end() {
	err := s.stop()
	switch {
	case err != nil:
		s.t.Errorf("blueprintdtest: the server ended badly: %v\n%s", err, s.log)
	case s.t.Failed():
		s.t.Logf("log of the server:\n%s", s.log)
	}
}

// stop ends the server as its own process's end would, and waits for it.
func (s *Server) stop() error {
	s.http.CloseIdleConnections()
	_ = s.input.Close()
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	select {
	case err := <-s.ended:
		return err
	case <-ctx.Done():
		_ = s.command.Process.Kill()
		return fmt.Errorf("it did not stop within %s: %v", stopPatience, <-s.ended)
	}
}

// Logs gives what the server has written to its log, the latest 256 KiB.
func (s *Server) Logs() string { return s.log.String() }
