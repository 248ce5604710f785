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

// readyLines are what a server says when it is ready, the first time also with
// the key that it made. They are written at once.
var readyLines = regexp.MustCompile(`is ready on (http://\S+)(?:[\s\S]*API key +(bpd_\S+))?`)

// server is one process of the program on trial.
type server struct {
	*program.Process
	log text // its standard error
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

// launch starts a server on the database in a folder. It has no folder of its
// own: this program may serve that one.
func (b *bench) launch(folder string, more ...string) (s *server, err error) {
	s = &server{}
	arguments := append([]string{"serve", "--db", filepath.Join(folder, "blueprintd.db"), "--addr", b.host + ":0", "--rate-limit", "0"}, more...)
	s.Process, err = program.Start(program.Command{Path: b.binary, Args: arguments, Errors: &s.log, Ready: readyLines})
	return s, err
}

// await waits until the server is ready, and gives the address and the key that
// it printed; no address when it did not get ready.
func (s *server) await(most time.Duration) (address, key string) {
	address, err := s.Address(context.Background(), most)
	if err != nil {
		return "", ""
	}
	return address, s.Found[2]
}

// stop asks the server to end, which it must do well.
func (s *server) stop() error { return s.Stop(20 * time.Second) }

// lastWords returns the end of the log, on one line.
func (s *server) lastWords() string {
	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-4):], " / ")
}

func now() time.Time { return time.Now() }
