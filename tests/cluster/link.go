package main

import (
	"net"
	"sync"
	"time"
)

// link is a proxy between one process and PostgreSQL.
type link struct {
	listener net.Listener
	target   func() string // the address of PostgreSQL

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with every change of the state
	state   linkState
	open    map[net.Conn]bool
	commit  *commitCut // for the next COMMIT; nil = none
}

// linkState is what a link does to connections, also to those that are open.
type linkState struct {
	cut   bool          // connections are closed, new ones at once
	up    bool          // what the process sends stays in the link
	down  bool          // what PostgreSQL sends stays in the link
	delay time.Duration // of each direction
}

// commitCut resets a connection at the COMMIT of a transaction with changes.
type commitCut struct {
	reaches bool          // PostgreSQL commits, and only its answer is lost
	stays   bool          // the link is cut from then on
	done    chan struct{} // closed when it has happened
}

func newLink(target func() string) (*link, error) {
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
	l.change(state, sever)
}

func (l *link) change(state linkState, sever bool) {
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

// cutCommit resets a connection at the next COMMIT of a transaction with changes.
func (l *link) cutCommit(cut *commitCut) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.commit = cut
}

// takeCut returns the cut to apply at the COMMIT of a connection; nil for none.
func (l *link) takeCut() *commitCut {
	l.mu.Lock()
	defer l.mu.Unlock()
	cut := l.commit
	l.commit = nil
	return cut
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

// connection is one connection of the process, with that of the link to PostgreSQL.
type connection struct {
	link           *link
	client, server net.Conn

	mu    sync.Mutex
	wrote bool       // its transaction has changes
	cut   *commitCut // its COMMIT was passed on, and the answer will not be
}

func (l *link) serve(client net.Conn) {
	server, err := net.Dial("tcp", l.target())
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
	c := &connection{link: l, client: client, server: server}
	var both sync.WaitGroup
	both.Go(func() {
		l.pass(server, client, func(s linkState) bool { return s.up }, c.readRequests(), c.mayPassRequest)
	})
	both.Go(func() {
		l.pass(client, server, func(s linkState) bool { return s.down }, c.readAnswers(), c.mayPassAnswer)
	})
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, client)
	delete(l.open, server)
}

// readRequests returns a function that splits what the process sends, so that a COMMIT is a
// chunk of its own.
func (c *connection) readRequests() func(data []byte) []chunk {
	sent := messages{startup: true}
	return func(data []byte) (chunks []chunk) {
		from := 0
		for at := 0; at < len(data); {
			size, kind, text := sent.next(data[at:])
			if kind == messageQuery && text == "COMMIT" {
				chunks = append(chunks, chunk{data: data[from:at]}, chunk{data: data[at : at+size], commit: true})
				from = at + size
			}
			at += size
		}
		return append(chunks, chunk{data: data[from:]})
	}
}

// readAnswers returns a function that notes in what PostgreSQL sends whether the transaction
// has changes.
func (c *connection) readAnswers() func(data []byte) []chunk {
	var received messages
	return func(data []byte) []chunk {
		for at := 0; at < len(data); {
			size, kind, text := received.next(data[at:])
			if at += size; kind != messageComplete {
				continue
			}
			wrote, ended := readTag(text)
			c.mu.Lock()
			c.wrote = (c.wrote || wrote) && !ended
			c.mu.Unlock()
		}
		return []chunk{{data: data}}
	}
}

// mayPassRequest reports whether a chunk may be passed on to PostgreSQL. If not, both
// connections have been reset.
func (c *connection) mayPassRequest(request *chunk) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !request.commit || !c.wrote {
		return true
	}
	cut := c.link.takeCut()
	if cut == nil {
		return true
	}
	if c.cut = cut; cut.reaches {
		return true
	}
	c.reset()
	return false
}

// mayPassAnswer does so for what PostgreSQL answers.
func (c *connection) mayPassAnswer(*chunk) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut == nil {
		return true
	}
	c.reset()
	return false
}

// reset resets the connection for its commitCut. The caller holds c.mu.
func (c *connection) reset() {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	select {
	case <-c.cut.done: // its other direction did
		return
	default:
	}
	abort(c.client)
	abort(c.server)
	if c.cut.stays {
		c.link.change(linkState{cut: true}, true)
	}
	close(c.cut.done)
}

// chunk is what one side has sent; without data it closed its side.
type chunk struct {
	data   []byte
	due    time.Time
	commit bool // it is a COMMIT
}

// pass copies what one side sends to the other, also that it ends. split divides it into
// chunks, and may reports for each whether it is passed on.
func (l *link) pass(to, from net.Conn, held func(linkState) bool, split func(data []byte) []chunk, may func(*chunk) bool) {
	chunks := make(chan chunk, 1024)
	go func() {
		defer close(chunks)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			l.mu.Lock()
			due := now().Add(l.state.delay)
			l.mu.Unlock()
			for _, c := range split(data[:n]) {
				if c.due = due; len(c.data) > 0 {
					chunks <- c
				}
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
		if c.data == nil || !may(&c) {
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
