package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// call is one request of an http-request node.
type call struct {
	run, node string
	key       string // Idempotency-Key
	caller    string // name of the node of the server; "" = unknown
	prior     any    // what the body says about the output of the node before
	read      bool   // it has no effect
	number    int    // of the calls under this key, from 1 on
	from, to  time.Time
	answered  bool
}

// service receives the calls of all runs. It is part of the harness and never ends.
type service struct {
	listener net.Listener
	callers  func(pid int) string

	mu    sync.Mutex
	calls map[string][]*call // by key
	wrong []string
}

func newService(callers func(pid int) string) (*service, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{listener: listener, callers: callers, calls: map[string][]*call{}}
	server := &http.Server{Handler: s, ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, callerKey{}, s.callerOf(conn))
	}}
	go func() { _ = server.Serve(listener) }()
	return s, nil
}

type callerKey struct{}

func (s *service) address() string { return "http://" + s.listener.Addr().String() }

// hashOf returns a number that depends only on the text.
func hashOf(text string) uint32 {
	hash := fnv.New32a()
	io.WriteString(hash, text)
	return hash.Sum32() >> 3
}

// readDelay is how long a call without effects takes, so that a run of such calls outlasts a
// lease.
const readDelay = 2500 * time.Millisecond

// ServeHTTP records a call and answers with its number, after a time that depends on the
// key: mostly some milliseconds, sometimes a second.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		From  string
		Prior any
	}
	data, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(data, &body)
	caller, _ := r.Context().Value(callerKey{}).(string)
	c := &call{key: r.Header.Get("Idempotency-Key"), caller: caller, prior: body.Prior, from: now()}
	if key := r.URL.Query().Get("key"); key != "" {
		c.key, c.read, body.From = key, true, key
	}
	c.run, c.node, _ = strings.Cut(c.key, "/")
	s.mu.Lock()
	if body.From != c.key {
		s.wrong = append(s.wrong, fmt.Sprintf("the call of %q arrived with the key %q", body.From, c.key))
	}
	s.calls[c.key] = append(s.calls[c.key], c)
	c.number = len(s.calls[c.key])
	s.mu.Unlock()
	dice := hashOf(c.key)
	delay := time.Duration(dice%20) * time.Millisecond
	switch {
	case dice%10 > 8:
		delay = time.Duration(300+dice/10%1200) * time.Millisecond
	case dice%10 > 5:
		delay = time.Duration(50+dice/10%250) * time.Millisecond
	}
	if c.read {
		delay = readDelay
	}
	select {
	case <-time.After(delay):
	case <-r.Context().Done():
	}
	s.mu.Lock()
	c.to, c.answered = now(), r.Context().Err() == nil
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(object{"n": c.number})
}

// callerOf returns the name of the node whose process has opened a connection. The kernel
// tells which process has the other end of it.
func (s *service) callerOf(conn net.Conn) string {
	local, _ := conn.LocalAddr().(*net.TCPAddr)
	remote, _ := conn.RemoteAddr().(*net.TCPAddr)
	if local == nil || remote == nil {
		return ""
	}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return ""
	}
	ends := fmt.Sprintf(":%04X", remote.Port)
	other := fmt.Sprintf(":%04X", local.Port)
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) > 9 && strings.HasSuffix(fields[1], ends) && strings.HasSuffix(fields[2], other) {
			return s.holder("socket:[" + fields[9] + "]")
		}
	}
	return ""
}

// holder returns the name of the node whose process has an open file.
func (s *service) holder(file string) string {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		name := s.callers(pid)
		if name == "" {
			continue
		}
		folder := filepath.Join("/proc", e.Name(), "fd")
		files, _ := os.ReadDir(folder)
		for _, f := range files {
			if target, _ := os.Readlink(filepath.Join(folder, f.Name())); target == file {
				return name
			}
		}
	}
	return ""
}

// under returns the calls under a key, in the order of their arrival.
func (s *service) under(key string) []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []call
	for _, c := range s.calls[key] {
		list = append(list, *c)
	}
	return list
}

func (s *service) all() map[string][]call {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string][]call{}
	for key, calls := range s.calls {
		for _, c := range calls {
			all[key] = append(all[key], *c)
		}
	}
	return all
}
