package main

import (
	"net"
	"sync"
	"time"
)

// link is a proxy between one process and PostgreSQL.
type link struct {
	listener net.Listener
	target   string

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with every change of the state
	state   linkState
	open    map[net.Conn]bool
}

// linkState is what a link does to connections, also to those that are open.
type linkState struct {
	cut   bool          // connections are closed, new ones at once
	up    bool          // what the process sends stays in the link
	down  bool          // what PostgreSQL sends stays in the link
	delay time.Duration // of each direction
}

func newLink(target string) (*link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{listener: listener, target: target, changed: make(chan struct{}), open: map[net.Conn]bool{}}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go l.serve(client)
		}
	}()
	return l, nil
}

func (l *link) address() string { return l.listener.Addr().String() }

// set changes the state. With sever, all open connections are closed, and what they hold is
// lost; otherwise it is passed on once the state allows it.
func (l *link) set(state linkState, sever bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state
	close(l.changed)
	l.changed = make(chan struct{})
	if !sever && !state.cut {
		return
	}
	for conn := range l.open {
		abort(conn)
	}
	clear(l.open)
}

// abort closes a connection with a reset.
func abort(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}

func (l *link) close() {
	l.listener.Close()
	l.set(linkState{cut: true}, true)
}

func (l *link) serve(client net.Conn) {
	server, err := net.Dial("tcp", l.target)
	if err != nil {
		abort(client)
		return
	}
	l.mu.Lock()
	l.open[client], l.open[server] = true, true
	if l.state.cut {
		abort(client)
		abort(server)
	}
	l.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { l.pass(server, client, func(s linkState) bool { return s.up }) })
	both.Go(func() { l.pass(client, server, func(s linkState) bool { return s.down }) })
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, client)
	delete(l.open, server)
}

// chunk is what one side has sent; without data it closed its side.
type chunk struct {
	data []byte
	due  time.Time
}

// pass copies what one side sends to the other, also that it ends.
func (l *link) pass(to, from net.Conn, held func(linkState) bool) {
	chunks := make(chan chunk, 1024)
	go func() {
		defer close(chunks)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			l.mu.Lock()
			due := now().Add(l.state.delay)
			l.mu.Unlock()
			if n > 0 {
				chunks <- chunk{data[:n], due}
			}
			if err != nil {
				chunks <- chunk{due: due}
				return
			}
		}
	}()
	for c := range chunks {
		time.Sleep(c.due.Sub(now()))
		for {
			l.mu.Lock()
			state, changed := l.state, l.changed
			l.mu.Unlock()
			if !held(state) {
				break
			}
			<-changed
		}
		if c.data == nil {
			break
		}
		if _, err := to.Write(c.data); err != nil {
			break
		}
	}
	to.Close()
	from.Close()
	for range chunks { // so that its reader ends
	}
}
