package limits

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// While the listener drains under load, every connection that was opened is answered;
// further clients cannot connect.
func TestDrainResetsNothing(t *testing.T) {
	t.Parallel()
	for range 5 {
		s := newTestServer(t)
		s.serve()
		address := s.conns.Addr().String()
		var answered, refused, reset atomic.Int64
		var group sync.WaitGroup
		enough := make(chan struct{})
		for range 8 {
			group.Go(func() {
				for {
					conn, err := net.DialTimeout("tcp", address, 300*time.Millisecond)
					if err != nil {
						refused.Add(1)
						return
					}
					io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
					response, err := http.ReadResponse(bufio.NewReader(conn), nil)
					conn.Close()
					if err != nil {
						reset.Add(1)
						return
					}
					response.Body.Close()
					if answered.Add(1) == 100 {
						close(enough)
					}
				}
			})
		}
		<-enough
		close(s.draining)
		s.conns.Drain(t.Context())
		group.Wait()
		<-s.served
		if reset.Load() != 0 || refused.Load() != 8 {
			t.Errorf("%d answered, %d reset, %d refused; want 0 and 8", answered.Load(), reset.Load(), refused.Load())
		}
	}
}
