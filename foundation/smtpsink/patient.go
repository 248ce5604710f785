package smtpsink

import (
	"io"
	"net"
	"sync"
	"time"
)

// patient is a connection on which nobody waits for the other side to read. A
// pipe keeps nothing: two sides that write at the same moment, such as to say
// goodbye, would wait for each other.
type patient struct {
	net.Conn
	done chan struct{} // closed when all is written, or cannot be, after Close

	mu      sync.Mutex
	more    *sync.Cond
	unsent  []byte
	closing bool
}

func newPatient(conn net.Conn) *patient {
	p := &patient{Conn: conn, done: make(chan struct{})}
	p.more = sync.NewCond(&p.mu)
	go p.send()
	return p
}

// Write keeps what is to be sent.
func (p *patient) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return 0, net.ErrClosed
	}
	p.unsent = append(p.unsent, data...)
	p.more.Signal()
	return len(data), nil
}

// Close ends the connection once all is sent. What still comes is let go.
func (p *patient) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closing {
		p.closing = true
		p.more.Signal()
		go func() { _, _ = io.Copy(io.Discard, p.Conn) }()
	}
	return nil
}

// SetWriteDeadline does nothing: writing takes no time. TLS sets one when it
// closes, which would cut off what is on its way.
func (p *patient) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline is for reading alone.
func (p *patient) SetDeadline(at time.Time) error { return p.Conn.SetReadDeadline(at) }

func (p *patient) send() {
	defer close(p.done)
	defer p.Conn.Close()
	for {
		p.mu.Lock()
		for len(p.unsent) == 0 && !p.closing {
			p.more.Wait()
		}
		data := p.unsent
		p.unsent = nil
		p.mu.Unlock()
		if len(data) == 0 {
			return
		}
		if _, err := p.Conn.Write(data); err != nil {
			_ = p.Close()
			return
		}
	}
}
