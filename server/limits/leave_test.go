package limits

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"
)

// stand is a server behind doors, and what its clients do.
type stand struct {
	*testing.T
	doors    *Connections
	server   *http.Server
	draining chan struct{}
	served   chan error
}

func newStand(t *testing.T) *stand {
	t.Helper()
	var listening net.ListenConfig
	listening.SetMultipathTCP(false) // as the program does
	listener, err := listening.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stand{T: t, doors: NewConnections(listener, 0), draining: make(chan struct{}), served: make(chan error, 1)}
	answers := NewAnswers(1<<20, s.draining)
	s.server = &http.Server{ConnState: State, ConnContext: ConnContext, ReadTimeout: time.Minute, Handler: answers.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "in")
	}))}
	return s
}

func (s *stand) serve() { go func() { s.served <- s.server.Serve(s.doors) }() }

func (s *stand) dial() (net.Conn, *bufio.Reader) {
	s.Helper()
	conn, err := net.Dial("tcp", s.doors.Addr().String())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	return conn, bufio.NewReader(conn)
}

func (s *stand) send(conn net.Conn) {
	s.Helper()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		s.Fatal(err)
	}
}

// hear reads an answer and tells whether it is the last of its connection.
func (s *stand) hear(in *bufio.Reader) bool {
	s.Helper()
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		s.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		s.Errorf("status %d, %v", response.StatusCode, err)
	}
	return response.Close
}

// Who has knocked is let in and answered, although the doors close.
func TestLeaveAnswersWhoHasKnocked(t *testing.T) {
	s := newStand(t)
	var clients []*bufio.Reader
	for range 20 {
		conn, in := s.dial()
		s.send(conn)
		clients = append(clients, in)
	}
	close(s.draining)
	left := make(chan struct{})
	go func() {
		s.doors.Leave(t.Context())
		close(left)
	}()
	s.serve()
	for _, in := range clients {
		if !s.hear(in) {
			t.Error("the answer promises another one")
		}
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("after the last answer: %v", err)
		}
	}
	if err := <-s.served; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	<-left
	if _, err := net.DialTimeout("tcp", s.doors.Addr().String(), 5*time.Second); err == nil {
		t.Error("the doors are open")
	}
}

// Connections at rest end by themselves, and none is left when Leave returns.
func TestLeaveEndsConnectionsAtRest(t *testing.T) {
	s := newStand(t)
	s.serve()
	_, unused := s.dial()
	conn, in := s.dial()
	s.send(conn)
	if s.hear(in) {
		t.Error("an answer ends its connection before the server stops")
	}
	close(s.draining)
	s.doors.Leave(t.Context())
	for _, in := range []*bufio.Reader{unused, in} {
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("a connection at rest: %v", err)
		}
	}
	<-s.served
	if err := s.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// Where nobody else calls the server, leaving takes no time, and requests end all
// the same.
func TestLeaveAloneWaitsForNobody(t *testing.T) {
	s := newStand(t)
	s.doors.Alone = true
	s.serve()
	conn, in := s.dial()
	s.send(conn)
	s.hear(in)
	close(s.draining)
	began := time.Now()
	s.doors.Leave(t.Context())
	if took := time.Since(began); took > lastSteps { // with patience it takes twice that
		t.Errorf("leaving took %s", took)
	}
	if _, err := in.ReadByte(); err != io.EOF {
		t.Errorf("a connection at rest: %v", err)
	}
	<-s.served
}

// A request that is under way keeps its connection.
func TestLeaveLeavesRequestsAlone(t *testing.T) {
	s := newStand(t)
	s.serve()
	conn, in := s.dial()
	s.send(conn)
	s.hear(in)
	if _, err := io.WriteString(conn, "GET / HT"); err != nil {
		t.Fatal(err)
	}
	for ended := false; !ended; { // until the server has read it
		s.doors.mu.Lock()
		for one := range s.doors.opened {
			one.mu.Lock()
			ended = one.resting.IsZero()
			one.mu.Unlock()
		}
		s.doors.mu.Unlock()
	}
	close(s.draining)
	s.doors.Leave(t.Context())
	if _, err := io.WriteString(conn, "TP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if !s.hear(in) {
		t.Error("the answer promises another one")
	}
	<-s.served
}

// lateConn has something to read only after its deadline has passed once.
type lateConn struct {
	net.Conn
	reads []string
}

func (c *lateConn) SetReadDeadline(time.Time) error { return nil }

func (c *lateConn) Read(p []byte) (int, error) {
	next := c.reads[0]
	c.reads = c.reads[1:]
	if next == "" {
		return 0, os.ErrDeadlineExceeded
	}
	return copy(p, next), nil
}

// What arrives at the last moment is read, although the deadline has passed.
func TestLastLook(t *testing.T) {
	doors := NewConnections(nil, 0)
	p := make([]byte, 10)
	open := doors.keep(&lateConn{reads: []string{"", "GET"}})
	if _, err := open.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a deadline while the server goes on: %v", err)
	}
	doors.leaving.Store(true)
	late := doors.keep(&lateConn{reads: []string{"", "GET", ""}})
	if n, err := late.Read(p); n != 3 || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if _, err := late.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a deadline within a request: %v", err)
	}
	quiet := doors.keep(&lateConn{reads: []string{"", ""}})
	if _, err := quiet.Read(p); err != io.EOF {
		t.Errorf("nothing came: %v", err)
	}
}

// Leave gives up when it may not wait.
func TestLeaveWithoutPatience(t *testing.T) {
	s := newStand(t)
	s.serve()
	s.dial()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	s.doors.Leave(gone)
	if err := s.server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	<-s.served
}

func TestClosingTwiceIsNoError(t *testing.T) {
	s := newStand(t)
	for range 2 {
		if err := s.doors.Close(); err != nil {
			t.Error(err)
		}
	}
}
