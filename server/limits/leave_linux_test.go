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

// Whoever has a connection gets an answer, however many knock while the doors
// close; the others find them shut.
func TestLeaveResetsNobody(t *testing.T) {
	t.Parallel()
	for range 5 {
		s := newStand(t)
		s.serve()
		address := s.doors.Addr().String()
		var answered, shut, reset atomic.Int64
		var group sync.WaitGroup
		enough := make(chan struct{})
		for range 8 {
			group.Go(func() {
				for {
					conn, err := net.DialTimeout("tcp", address, 300*time.Millisecond)
					if err != nil {
						shut.Add(1)
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
		s.doors.Leave(t.Context())
		group.Wait()
		<-s.served
		if reset.Load() != 0 || shut.Load() != 8 {
			t.Errorf("%d answered, %d reset, %d found the doors shut", answered.Load(), reset.Load(), shut.Load())
		}
	}
}
