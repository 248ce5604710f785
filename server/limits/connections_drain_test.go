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

// testServer is a server with its Connections, and helpers for its clients.
type testServer struct {
	*testing.T
	conns    *Connections
	server   *http.Server
	draining chan struct{}
	served   chan error
}

func newTestServer(t *testing.T) *testServer {
	t.Helper()
	var listening net.ListenConfig
	listening.SetMultipathTCP(false) // as the program does
	listener, err := listening.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{T: t, conns: NewConnections(listener, 0), draining: make(chan struct{}), served: make(chan error, 1)}
	answers := NewAnswers(1<<20, s.draining)
	s.server = &http.Server{ConnState: State, ConnContext: ConnContext, ReadTimeout: time.Minute, Handler: answers.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "in")
	}))}
	return s
}

func (s *testServer) serve() { go func() { s.served <- s.server.Serve(s.conns) }() }

func (s *testServer) dial() (net.Conn, *bufio.Reader) {
	s.Helper()
	conn, err := net.Dial("tcp", s.conns.Addr().String())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	return conn, bufio.NewReader(conn)
}

func (s *testServer) send(conn net.Conn) {
	s.Helper()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		s.Fatal(err)
	}
}

// readResponse reads a response and reports whether it is the last one of its connection.
func (s *testServer) readResponse(in *bufio.Reader) bool {
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

// opaque is a listener whose socket is out of reach: the kernel cannot refuse its new
// connections, as on systems other than Linux.
type opaque struct{ net.Listener }

func (o opaque) SetDeadline(at time.Time) error {
	return o.Listener.(*net.TCPListener).SetDeadline(at)
}

// Clients that connect again and again, such as health checks, do not prolong the drain.
func TestDrainUnderLoad(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.conns.Listener = opaque{s.conns.Listener}
	s.serve()
	busy, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for answered := 0; ; {
			conn, err := net.Dial("tcp", s.conns.Addr().String())
			if err != nil {
				return
			}
			io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			io.Copy(io.Discard, conn)
			conn.Close()
			if answered++; answered == 100 {
				close(busy)
			}
		}
	}()
	<-busy
	close(s.draining)
	s.conns.Drain(t.Context())
	<-s.served
	<-ended
}

// Connections in the accept queue are answered while the server drains.
func TestDrainAnswersQueued(t *testing.T) {
	s := newTestServer(t)
	var clients []*bufio.Reader
	for range 20 {
		conn, in := s.dial()
		s.send(conn)
		clients = append(clients, in)
	}
	close(s.draining)
	drained := make(chan struct{})
	go func() {
		s.conns.Drain(t.Context())
		close(drained)
	}()
	s.serve()
	for _, in := range clients {
		if !s.readResponse(in) {
			t.Error("the response does not close the connection")
		}
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("after the last answer: %v, want %v", err, io.EOF)
		}
	}
	if err := <-s.served; !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v, want %v", err, net.ErrClosed)
	}
	<-drained
	if _, err := net.DialTimeout("tcp", s.conns.Addr().String(), 5*time.Second); err == nil {
		t.Error("the listener is open, want an error")
	}
}

// Idle connections are closed, and none is left when Drain returns.
func TestDrainClosesIdle(t *testing.T) {
	s := newTestServer(t)
	s.serve()
	_, unused := s.dial()
	conn, in := s.dial()
	s.send(conn)
	if s.readResponse(in) {
		t.Error("a response closes its connection before the server stops")
	}
	close(s.draining)
	s.conns.Drain(t.Context())
	for _, in := range []*bufio.Reader{unused, in} {
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("an idle connection: %v, want %v", err, io.EOF)
		}
	}
	<-s.served
	if err := s.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// With SingleClient draining takes no time, and requests still end.
func TestDrainSingleClient(t *testing.T) {
	s := newTestServer(t)
	s.conns.SingleClient = true
	s.serve()
	conn, in := s.dial()
	s.send(conn)
	s.readResponse(in)
	close(s.draining)
	began := time.Now()
	s.conns.Drain(t.Context())
	if took := time.Since(began); took > acceptGrace { // otherwise it takes twice as long
		t.Errorf("draining took %s, want at most %v", took, acceptGrace)
	}
	if _, err := in.ReadByte(); err != io.EOF {
		t.Errorf("an idle connection: %v, want %v", err, io.EOF)
	}
	<-s.served
}

// An active request keeps its connection.
func TestDrainKeepsActiveRequests(t *testing.T) {
	s := newTestServer(t)
	s.serve()
	conn, in := s.dial()
	s.send(conn)
	s.readResponse(in)
	if _, err := io.WriteString(conn, "GET / HT"); err != nil {
		t.Fatal(err)
	}
	for read := false; !read; { // until the server has read it
		s.conns.mu.Lock()
		for one := range s.conns.opened {
			one.mu.Lock()
			read = one.idleSince.IsZero()
			one.mu.Unlock()
		}
		s.conns.mu.Unlock()
	}
	close(s.draining)
	s.conns.Drain(t.Context())
	if _, err := io.WriteString(conn, "TP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if !s.readResponse(in) {
		t.Error("the response does not close the connection")
	}
	<-s.served
}

// slowConn returns reads in order; "" is an exceeded deadline.
type slowConn struct {
	net.Conn
	reads []string
}

func (c *slowConn) SetReadDeadline(time.Time) error { return nil }

func (c *slowConn) Read(p []byte) (int, error) {
	next := c.reads[0]
	c.reads = c.reads[1:]
	if next == "" {
		return 0, os.ErrDeadlineExceeded
	}
	return copy(p, next), nil
}

// Data that arrives just before the deadline is read.
func TestFinalRead(t *testing.T) {
	conns := NewConnections(nil, 0)
	p := make([]byte, 10)
	open := conns.add(&slowConn{reads: []string{"", "GET"}})
	if _, err := open.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a deadline while the server runs: %v, want %v", err, os.ErrDeadlineExceeded)
	}
	conns.draining.Store(true)
	late := conns.add(&slowConn{reads: []string{"", "GET", ""}})
	if n, err := late.Read(p); n != 3 || err != nil {
		t.Errorf("read %d bytes, %v; want 3", n, err)
	}
	if _, err := late.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a deadline within a request: %v, want %v", err, os.ErrDeadlineExceeded)
	}
	quiet := conns.add(&slowConn{reads: []string{"", ""}})
	if _, err := quiet.Read(p); err != io.EOF {
		t.Errorf("no data: %v, want %v", err, io.EOF)
	}
}

// Drain returns when its context ends.
func TestDrainCancelled(t *testing.T) {
	s := newTestServer(t)
	s.serve()
	s.dial()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.conns.Drain(ctx)
	if err := s.server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	<-s.served
}

func TestCloseTwice(t *testing.T) {
	s := newTestServer(t)
	for range 2 {
		if err := s.conns.Close(); err != nil {
			t.Error(err)
		}
	}
}
