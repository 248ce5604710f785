package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"blueprintd/clients/go/program"
)

// readyLines are the lines of a ready server, on the first start with its API key. They are
// written together.
var readyLines = regexp.MustCompile(`is ready on (http://\S+)(?:[\s\S]*API key +(bpd_\S+))?`)

// server is one process of the program under test.
type server struct {
	*program.Process
	log text // its standard error
}

// text collects the output of a process.
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

// launch starts a server on the database in a folder. Its working directory is not that
// folder, because this program may serve it.
func (w *worker) launch(folder string, more ...string) (s *server, err error) {
	s = &server{}
	arguments := append([]string{"serve", "--db", filepath.Join(folder, "blueprintd.db"), "--addr", w.host + ":0", "--rate-limit", "0"}, more...)
	s.Process, err = program.Start(program.Command{Path: w.binary, Args: arguments, Errors: &s.log, Ready: readyLines})
	return s, err
}

// await waits until the server is ready and returns the address and the key that it
// printed, or no address if it did not become ready.
func (s *server) await(most time.Duration) (address, key string) {
	address, err := s.Address(context.Background(), most)
	if err != nil {
		return "", ""
	}
	return address, s.Found[2]
}

// stop stops the server, which must succeed.
func (s *server) stop() error { return s.Stop(20 * time.Second) }

// logTail returns the end of the log, on one line.
func (s *server) logTail() string {
	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-4):], " / ")
}

func now() time.Time { return time.Now() }
