package limits

import (
	"net"
	"testing"
)

// crowd opens connections to a listener that takes them in at once.
func crowd(t *testing.T, c *Connections, n int) (accepted []net.Conn) {
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

func TestCrowdThatDispersesIsTold(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c := NewConnections(listener, 0)
	told := make(chan struct{}, 10)
	c.Dispersed = func() { told <- struct{}{} }

	few := crowd(t, c, 10)
	for _, conn := range few {
		conn.Close()
	}
	many := crowd(t, c, leastCrowd)
	for i, conn := range many {
		if i == leastCrowd*3/4 {
			<-told // it came by the time that three quarters have gone
		}
		conn.Close()
		conn.Close() // once more changes nothing
	}
	if len(told) != 0 {
		t.Error("told again although no new crowd had come")
	}
}
