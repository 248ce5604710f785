package limits

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"blueprintd/foundation/clock"
)

const (
	// idleGrace is how long an idle connection stays open when the server stops, from its
	// last answer or its beginning, so that an active client receives an answer with
	// Connection: close instead of a reset.
	idleGrace = 200 * time.Millisecond
	// finalRead is a read deadline for data that has arrived already.
	finalRead = time.Millisecond
	// acceptGrace is how long the listener accepts queued connections, from the last one.
	acceptGrace = 100 * time.Millisecond
)

// Drain accepts the queued connections, closes the listener, and closes each connection
// once it has been idle for a while. Requests that arrive before that are answered. Drain
// returns when no connection is idle, or when ctx ends; it leaves connections with an
// active request open.
func (c *Connections) Drain(ctx context.Context) {
	c.draining.Store(true)
	if listener, ok := c.Listener.(interface{ SetDeadline(time.Time) error }); ok {
		dropNewSYNs(c.Listener)
		_ = listener.SetDeadline(clock.Real{}.Now()) // wakes Accept, which does the rest
	} else {
		_ = c.Listener.Close()
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for c.limitIdleAll() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// limitIdleAll sets the deadlines of idle connections and returns how many there are, plus one
// while the listener is open.
func (c *Connections) limitIdleAll() int {
	idle := 0
	select {
	case <-c.closed:
	default:
		idle++
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.opened {
		if one.limitIdle() {
			idle++
		}
	}
	return idle
}

// acceptQueued returns the next queued connection. If there is none it closes the
// listener.
func (c *Connections) acceptQueued() (net.Conn, error) {
	if listener, ok := c.Listener.(interface{ SetDeadline(time.Time) error }); ok {
		_ = listener.SetDeadline(clock.Real{}.Now().Add(c.grace(acceptGrace)))
		if conn, err := c.Listener.Accept(); err == nil {
			return conn, nil
		}
	}
	return nil, errors.Join(net.ErrClosed, c.Close())
}

// grace returns patience, or less if c.SingleClient.
func (c *Connections) grace(patience time.Duration) time.Duration {
	if c.SingleClient {
		return min(patience, finalRead)
	}
	return patience
}

// Close closes the listener. It may be called several times, also concurrently.
func (c *Connections) Close() (err error) {
	c.closeOnce.Do(func() {
		err = c.Listener.Close()
		close(c.closed)
	})
	return err
}

func (c *connection) markIdle() {
	c.mu.Lock()
	c.idleSince = clock.Real{}.Now()
	c.mu.Unlock()
}

// limitIdle limits how long the connection may stay idle, and reports whether it is.
func (c *connection) limitIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idleSince.IsZero() {
		return false
	}
	_ = c.wait()
	return true
}

// wait sets the read deadline: the requested one, or an earlier one if the server stops and
// the connection is idle. The caller holds c.mu.
func (c *connection) wait() error {
	until := c.deadline
	if end := c.idleSince.Add(c.all.grace(idleGrace)); !c.idleSince.IsZero() && c.all.draining.Load() && (until.IsZero() || end.Before(until)) {
		until = end
	}
	return c.Conn.SetReadDeadline(until)
}

func (c *connection) SetReadDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = at
	return c.wait()
}

// Read implements net.Conn. When the server stops, an idle connection ends with io.EOF.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.mustEnd() {
		// Data may have arrived before the deadline.
		_ = c.Conn.SetReadDeadline(clock.Real{}.Now().Add(finalRead))
		if n, err = c.Conn.Read(p); n == 0 {
			return 0, io.EOF
		}
	}
	if n > 0 {
		if end := c.received(p[:n]); end != nil {
			return 0, end
		}
	}
	return n, err
}

// mustEnd reports whether the connection is idle and the server stops.
func (c *connection) mustEnd() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.idleSince.IsZero() && c.all.draining.Load()
}

func (c *connection) markActive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.idleSince.IsZero() {
		c.idleSince = time.Time{}
		if c.all.draining.Load() {
			_ = c.wait()
		}
	}
}
