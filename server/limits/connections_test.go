package limits

import (
	"net"
	"testing"
)

// connect opens n connections to a listener and accepts them.
func connect(t *testing.T, c *Connections, n int) (accepted []net.Conn) {
	t.Helper()
	for range n {
		client, err := net.Dial("tcp", c.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		served, err := c.Accept()
		if err != nil {
			t.Fatal(err)
		}
		accepted = append(accepted, served)
	}
	return accepted
}

func TestOnShrink(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c := NewConnections(listener, 0)
	called := make(chan struct{}, 10)
	c.OnShrink = func() { called <- struct{}{} }

	few := connect(t, c, 10)
	for _, conn := range few {
		conn.Close()
	}
	many := connect(t, c, minPeak)
	for i, conn := range many {
		if i == minPeak*3/4 {
			<-called // three quarters have been closed
		}
		conn.Close()
		conn.Close() // has no effect
	}
	if len(called) != 0 {
		t.Errorf("OnShrink was called again without a new peak: %v, want none", called)
	}
}
